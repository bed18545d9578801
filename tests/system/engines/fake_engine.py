#!/usr/bin/env python3
"""An engine without a model: its text of a window is the window's length and check sum, and it misbehaves as its arguments say.

  name=NAME            in its Hello; default "fake 1.0"
  abilities=A,B        in its Hello
  protocol=N           the version that it speaks
  languages=A,B        of its model
  seconds=S            that a window takes
  faults=FAULT@S,...   die, hang, garble or nonsense: each in one window of about S seconds, by the process that first
                       creates FOLDER/FAULT
  folder=FOLDER        for these
  poison=N             dies of windows with N samples and more, every time
"""
import ctypes
import os
import pathlib
import socket
import struct
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/engines"))
import tutti_engine

script = dict(argument.split("=", 1) for argument in sys.argv[1:])


def is_due(fault):
    try:
        os.close(os.open(pathlib.Path(script["folder"]) / fault, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def misbehave(seconds):
    for fault in filter(None, script.get("faults", "").split(",")):
        fault, _, length = fault.partition("@")
        if abs(seconds - float(length)) > 1 or not is_due(fault):
            continue
        print(f"the last words before {fault}", flush=True)
        if fault == "die":
            os._exit(7)
        if fault == "hang":
            ctypes.PyDLL(None).pause()  # and holds the interpreter: no thread answers pings
        if fault == "garble":
            socket.socket(fileno=os.dup(tutti_engine.SOCKET)).sendall(struct.pack("<II", 3, 0) + b"\xff\xff\xff")
        if fault == "nonsense":
            return [{"start": 0, "end": "soon", "text": " never to be seen"}]
    return None


def load(model, device, compute_type, threads, batch_size):
    if model == "none":
        raise tutti_engine.Failure(tutti_engine.MISSING, "none: no such model")
    return f"fake {device}", compute_type, list(filter(None, script.get("languages", "").split(",")))


def transcribe(pcm, language, options):
    if len(pcm) >= int(script.get("poison", 1 << 40)):
        os._exit(9)
    nonsense = misbehave(len(pcm) / 16000)
    if nonsense:
        return language, nonsense
    time.sleep(float(script.get("seconds", 0)))
    end = len(pcm) / 16000
    segment = {"start": 0, "end": end, "text": f" {len(pcm)} {zlib.crc32(pcm):08x}", "avg_logprob": -0.25}
    if options.get("word_timestamps"):
        segment["words"] = [{"word": segment["text"], "start": 0, "end": end, "probability": 0.5}]
    if options:
        segment["text"] += f" {sorted(options.items())}"
    return language or "en", [segment]


tutti_engine.PROTOCOL = int(script.get("protocol", tutti_engine.PROTOCOL))
tutti_engine.serve(script.get("name", "fake 1.0"), filter(None, script.get("abilities", "language").split(",")), load, transcribe)
