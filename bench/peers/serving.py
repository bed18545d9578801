"""`tutti serve` beside faster-whisper behind an OpenAI-compatible front: sixteen clients that send clips of real English at once."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from clips import seconds_of
from measured import CommandFailed
from natural import fetched_model, spoken
from side_by_side import row

LINES = ("serve/16-clients",)
CLIENTS = 16
# One process with a thread a core, or a process a core: this front takes one request at a time in each.
PEERS = {"faster-whisper-server, int8": (1, 2), "faster-whisper-server, int8, 2 workers": (2, 1)}
PATIENCE = 180  # seconds for a server to load its model, and for one answer


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def form_of(clip):
    fields = "".join(f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                     for name, value in (("model", "whisper-1"), ("language", "en")))
    head = f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{clip.name}"\r\n\r\n'
    return (fields + head).encode() + clip.read_bytes() + b"\r\n--XX--\r\n"


def transcribe(port, token, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": "multipart/form-data; boundary=XX",
                                                                  "Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200:
        raise CommandFailed(f"the server answered with {answer.status}: {text[:300]!r}")
    return json.loads(text)["text"]


@contextlib.contextmanager
def server(command, port, environment=None, ready=None):
    """Runs a server until the block ends; yields its process, which has answered one request before that begins (or is `ready`)."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, start_new_session=True,
                                   env={**os.environ, **(environment or {})})
        try:
            end = time.monotonic() + PATIENCE
            while not (ready or answers)(port):
                if process.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    raise CommandFailed(f"{command[0]} does not serve: {log.read()[-1500:].decode()}")
                time.sleep(0.2)
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)


def processor_seconds(session):
    """Of all processes of a session until now, and of the children that they have waited for."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15])) if int(fields[3]) == session else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def answers(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def load(port, token, clips):
    """{clip: text} and {clip: seconds from its request to its answer} of all clips by CLIENTS clients, and the whole time."""
    waiting, texts, times, failures, lock = list(clips), {}, {}, [], threading.Lock()

    def client():
        while True:
            with lock:
                if not waiting or failures:
                    return
                clip = waiting.pop()
            begun = time.perf_counter()
            try:
                texts[clip] = transcribe(port, token, clips[clip])
            except (OSError, http.client.HTTPException, CommandFailed) as failure:
                failures.append(failure)
            times[clip] = time.perf_counter() - begun

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise CommandFailed(str(failures[0]))
    return texts, times, time.perf_counter() - begun


def measured(command, port, token, clips, environment=None):
    """What load() measures, and the processor seconds of it."""
    with server(command, port, environment) as session:
        for body in list(clips.values())[:4]:
            transcribe(port, token, body)  # models are loaded at the first request
        before = processor_seconds(session)
        return *load(port, token, clips), processor_seconds(session) - before


def our_command(bench, model, folder, port):
    tokens = folder / "tokens"
    tokens.write_text("peers\n")
    tokens.chmod(0o600)
    return [bench.tutti.program, "serve", "--model", model, "--listen", f"127.0.0.1:{port}", "--token-file", tokens, "--state",
            folder / "state", "--compute-type", "int8"]


def peer_command(model, folder, port, workers, threads):
    config = folder / "models.yaml"  # YAML, of which JSON is a part
    config.write_text(json.dumps({"models": [{"name": "whisper-1", "path": str(model),
                                              "model_options": {"compute_type": "int8", "cpu_threads": threads}}]}))
    return [pathlib.Path(sys.executable).with_name("faster-whisper-server"), "--config", config, "--host", "127.0.0.1", "--port",
            port, "--workers", workers]


def error_rate(bench, spoken_texts, texts, folder):
    """Word error rate in percent, by Whisper's normaliser of English."""
    for name, lines in (("ref", spoken_texts), ("hyp", texts)):
        (folder / name).write_text("".join(lines[clip].strip() + "\n" for clip in spoken_texts))
    found = subprocess.run([bench.tutti.program, "wer", "--ref", folder / "ref", "--hyp", folder / "hyp", "--normalizer", "english",
                            "--by-line", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return 100 * json.loads(found)["wer"]


def serve_lines(bench, name):
    """Throughput, the usual latency, processor time and word errors of both; the peer is the faster of its settings. Five beams, as
    both have by default, and int8 on both sides. The model is loaded, and both have answered before the clock runs."""
    true_texts, model = spoken(bench.options.data), fetched_model()
    if bench.options.quick:
        true_texts = dict(list(true_texts.items())[:2 * CLIENTS])
    clips = {clip: form_of(clip) for clip in true_texts}
    audio = sum(map(seconds_of, clips))
    ours, peers = [], {peer: [] for peer in PEERS}
    for _ in range(bench.runs):
        with tempfile.TemporaryDirectory() as folder:
            port = free_port()
            ours.append(measured(our_command(bench, model, pathlib.Path(folder), port), port, "peers", clips))
        for peer, (workers, threads) in PEERS.items():
            with tempfile.TemporaryDirectory() as folder:
                port = free_port()
                peers[peer].append(measured(peer_command(model, pathlib.Path(folder), port, workers, threads), port, "", clips,
                                            {"OMP_NUM_THREADS": str(threads)}))

    def seconds(runs):
        return statistics.median(run[2] for run in runs)

    def latency(runs):
        return statistics.median(statistics.median(run[1].values()) for run in runs)

    peer = min(peers, key=lambda each: seconds(peers[each]))
    yield row(name, "x real time", audio / seconds(ours), peer, audio / seconds(peers[peer]), less_is_better=False)
    yield row(f"{name}/latency", "s", latency(ours), peer, latency(peers[peer]))
    yield row(f"{name}/processor", "s", statistics.median(run[3] for run in ours), peer,
              statistics.median(run[3] for run in peers[peer]))
    with tempfile.TemporaryDirectory() as folder:
        yield row(f"{name}/wer", "%", error_rate(bench, true_texts, ours[-1][0], pathlib.Path(folder)), peer,
                  error_rate(bench, true_texts, peers[peer][-1][0], pathlib.Path(folder)))
