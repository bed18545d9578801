#!/usr/bin/env python3
"""Kills `tutti serve` with SIGKILL while it has jobs, over and over, and looks whether every accepted job ends once.

Usage: kill_serve.py TUTTI [--model MODEL] [--jobs 50] [--kills 5] [--seed 1]

First a server that has accepted all jobs is killed, then its successors at random moments, on two emulated cards. Meanwhile a client
sends jobs and, where its connection is lost, the same ones again. In the end every accepted job is done, each client's request is one
job, one attempt of each ended as done, the result is what was recorded, no upload is left, and the store is sound.
"""
import argparse
import http.client
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from kill_batch import store_complaints, write_recording

TOKEN = "sesame"
DEVICES = """time = 0.1
[[device]]
use = "emulated:30x:12GB"
count = 2
jitter = 0.2
"""


class Server:
    """`tutti serve` on the store in `place`."""

    def __init__(self, tutti, model, place):
        self.log = (place / "log").open("a")
        self.process = subprocess.Popen(
            [tutti, "serve", "--model", model, "--devices", place / "devices.toml", "--listen",
             "127.0.0.1:0", "--token-file", place / "tokens", "--state", place / "state", "--no-dashboard"],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://"):
            raise RuntimeError(f"tutti serve printed {line!r}: {(place / 'log').read_text()[-2000:]}")
        self.port = int(line.rsplit(":", 1)[1])

    def call(self, method, path, body=None, kind="multipart/form-data; boundary=XX"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def send(self, recording):
        form = b'--XX\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n'
        form += f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{recording.name}"\r\n\r\n'.encode()
        return self.call("POST", "/v1/jobs", form + recording.read_bytes() + b"\r\n--XX--\r\n")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def send_all(server, recordings, accepted):
    """Sends what has no job yet, until all have one or the server is gone; `accepted` gets their ids."""
    for recording in recordings:
        if recording.name in accepted:
            continue
        try:
            status, job = server.send(recording)
        except (OSError, http.client.HTTPException, ValueError):
            return
        if status not in (200, 202):
            raise RuntimeError(f"{recording.name} was refused with {status}: {job}")
        accepted[recording.name] = job["id"]


def wait_for_all(server, accepted, patience):
    """The states of the jobs once all have ended."""
    end = time.monotonic() + patience
    while True:
        states = {name: server.call("GET", f"/v1/jobs/{job}")[1].get("status") for name, job in accepted.items()}
        if all(state in ("done", "failed", "cancelled") for state in states.values()) or time.monotonic() > end:
            return states
        time.sleep(0.2)


def complaints(place, accepted, states):
    yield from (f"{name}: {state}" for name, state in states.items() if state != "done")
    if len(set(accepted.values())) != len(accepted):
        yield f"{len(accepted)} requests with {len(set(accepted.values()))} ids"
    yield from store_complaints(place / "state/tutti.sqlite", len(accepted))
    yield from (f"{path}: an upload that is left" for path in (place / "state/jobs").glob("*.audio"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tutti")
    parser.add_argument("--model", default=pathlib.Path(__file__).resolve().parents[1] / "models/nano")
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "devices.toml").write_text(DEVICES)
        (place / "tokens").write_text(TOKEN)
        (place / "tokens").chmod(0o600)
        recordings = [place / f"{number:03}.wav" for number in range(given.jobs)]
        for number, recording in enumerate(recordings):
            write_recording(recording, 2 + dice.random() * 20, number)
        accepted, at_kills, wrong = {}, [], []
        for kill in range(given.kills):
            server = Server(given.tutti, given.model, place)
            if kill == 0:
                send_all(server, recordings, accepted)
            else:
                time.sleep(dice.random() * 2)
            at_kills.append(sum(server.call("GET", f"/v1/jobs/{job}")[1]["status"] == "done" for job in accepted.values()))
            server.kill()
        server = Server(given.tutti, given.model, place)
        try:
            send_all(server, recordings, accepted)
            for recording in recordings[::5]:  # as a client whose connection was lost sends it again
                if (again := server.send(recording))[1]["id"] != accepted[recording.name]:
                    wrong.append(f"{recording.name}: sent again, it became another job: {again}")
            wrong += list(complaints(place, accepted, wait_for_all(server, accepted, 300)))
        finally:
            server.kill()
        print(f"{len(accepted)} jobs were accepted; {given.kills} servers were killed, with {at_kills} of the jobs done")
        print("\n".join(wrong) or "nothing lost, nothing twice")
        return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
