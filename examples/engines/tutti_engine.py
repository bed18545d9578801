"""The protocol between `tutti batch --engine CMD` and an engine, for engines in Python: docs/engines.md describes it.

An engine calls serve() with a Hello and two functions. This module needs nothing but Python 3.9.
"""
import json
import mmap
import os
import queue
import socket
import struct
import threading
import time

PROTOCOL = 10
SOCKET = 3  # the descriptor that the engine is started with
USAGE, MISSING, EXHAUSTED, UNAVAILABLE, INTERNAL = 0, 1, 5, 7, 10  # why something failed

# Kind and fields of every message. s: text; otherwise as the struct module has them.
LOAD_MODEL, OPEN_WINDOW, RELEASE_WINDOW, PING, TRANSCRIBE_WINDOW = 0, 1, 5, 6, 7
HELLO, READY, OPENED, FAILED, PONG, TRANSCRIBED = 0, 1, 2, 6, 7, 9
FROM_TUTTI = {LOAD_MODEL: "sssiiii??", OPEN_WINDOW: "Qiii", RELEASE_WINDOW: "Q", PING: "Q", TRANSCRIBE_WINDOW: "Qss"}
TO_TUTTI = {HELLO: "Isss", READY: "ssiiiiidds", OPENED: "Qd", FAILED: "QQIs", PONG: "Q", TRANSCRIBED: "Qds"}


class Failure(Exception):
    """What load() or transcribe() raises to have Tutti end the run (load) or the recording (transcribe)."""

    def __init__(self, fault, what):
        super().__init__(what)
        self.fault = fault


def fault_of(error):
    if isinstance(error, MemoryError) or "out of memory" in str(error):
        return EXHAUSTED
    return getattr(error, "fault", INTERNAL)


def packed(kind, *values):
    """A message with its frame's header: its bytes, and how many descriptors come beside it."""
    message = bytes([PROTOCOL % 16 << 4 | kind])
    for code, value in zip(TO_TUTTI[kind], values):
        if code == "s":
            value = value.encode()
            message += struct.pack("<I", len(value)) + value
        else:
            message += struct.pack("<" + code, value)
    return struct.pack("<II", len(message), 0) + message


def fields_of(message):
    """(kind, fields) of a message of Tutti's."""
    if message[0] >> 4 != PROTOCOL % 16:
        raise SystemExit(f"tutti speaks protocol {message[0] >> 4}, and this engine {PROTOCOL}")
    kind, at, values = message[0] & 15, 1, []
    for code in FROM_TUTTI[kind]:
        size = struct.calcsize("<I" if code == "s" else "<" + code)
        value, = struct.unpack_from("<I" if code == "s" else "<" + code, message, at)
        at += size
        if code == "s":
            value, at = message[at:at + value].decode(), at + value
        values.append(value)
    return kind, values


class Connection:
    def __init__(self):
        self.socket = socket.socket(fileno=SOCKET)
        self.sending = threading.Lock()

    def send(self, kind, *values):
        with self.sending:
            self.socket.sendall(packed(kind, *values))

    def receive(self):
        """(kind, fields, descriptor or None) of the next message; EOFError once Tutti has gone."""
        header, descriptors = b"", []
        while len(header) < 8:
            part, more, _, _ = socket.recv_fds(self.socket, 8 - len(header), 1)
            if not part:
                raise EOFError
            header, descriptors = header + part, descriptors + more
        size, _ = struct.unpack("<II", header)
        message = self.socket.recv(size, socket.MSG_WAITALL)
        if len(message) < size:
            raise EOFError
        return (*fields_of(message), descriptors[0] if descriptors else None)


def pcm_at(descriptor, samples):
    """The floats of a window, as a read-only memoryview."""
    with os.fdopen(descriptor, "rb") as file:
        return memoryview(mmap.mmap(file.fileno(), samples * 4, mmap.MAP_PRIVATE, mmap.PROT_READ)).cast("f")


def serve(name, abilities, load, transcribe):
    """Serves Tutti until it closes the connection.

    name: of the engine, with its version. abilities: the options that it takes, as docs/engines.md names them.
    load(model, device, compute_type, threads, batch_size) loads the model and returns (device's name, compute type, languages).
    transcribe(pcm, language, options) returns (language, segments): pcm is a memoryview of floats at 16 kHz, language a code or
    None, options a dict, segments a list of dicts with "start", "end" (seconds), "text" and what else the engine knows.
    """
    connection, windows, orders = Connection(), {}, queue.Queue()

    def compute():
        while True:
            window, language, options = orders.get()
            pcm = windows.get(window)
            if pcm is None:  # released meanwhile: its answer would not be used
                continue
            started = time.monotonic()
            try:
                language, segments = transcribe(pcm, language or None, json.loads(options or "{}"))
                text = json.dumps({"language": language or "", "segments": segments})
                connection.send(TRANSCRIBED, window, time.monotonic() - started, text)
            except Exception as error:
                connection.send(FAILED, window, 0, fault_of(error), f"{type(error).__name__}: {error}")

    connection.send(HELLO, PROTOCOL, name, "", ",".join(abilities))
    try:
        while True:
            kind, fields, descriptor = connection.receive()
            if kind == PING:
                connection.send(PONG, *fields)
            elif kind == LOAD_MODEL:
                model, device, compute_type, threads, batch_size = fields[:5]
                started = time.monotonic()
                try:
                    where, loaded_type, languages = load(model, device, compute_type, threads, batch_size)
                except Exception as error:
                    # What no engine has classified is taken for lasting: the device is left out, not tried for minutes.
                    fault = fault_of(error)
                    if isinstance(error, ConnectionError):
                        fault = UNAVAILABLE
                    elif fault == INTERNAL:
                        fault = MISSING
                    connection.send(FAILED, 0, 0, fault, f"{type(error).__name__}: {error}")
                    continue
                # No mel: PCM; windows of up to 30 s; one at a time.
                connection.send(READY, where, loaded_type, 0, 1500, 0, 0, 1, time.monotonic() - started, 0.0, ",".join(languages))
                threading.Thread(target=compute, daemon=True).start()
            elif kind == OPEN_WINDOW:
                windows[fields[0]] = pcm_at(descriptor, fields[2])
                connection.send(OPENED, fields[0], 0.0)
            elif kind == TRANSCRIBE_WINDOW:
                orders.put(fields)
            elif kind == RELEASE_WINDOW:
                windows.pop(fields[0], None)
    except (EOFError, ConnectionError):
        os._exit(0)  # Tutti has gone: what is being computed would not be used
