#!/usr/bin/env python3
"""The work of many remote runners on one PostgreSQL store, as a share of what as many batches do, each with a store of its own.

Usage: bench/shared_queue.py BUILD [--runners 20] [--seconds 20] [--speed 2.5]

First every runner is a `tutti batch` on recordings of its own. Then all are `tutti worker --store` on one queue of the same
recordings. The devices are emulated: they sleep, so that two cores are enough. Work is counted while all are at work, by the times of
the outputs. The server is one of its own, and waits for its disk as a user's does. Exit status 1 where the share is under 0.95.
"""
import argparse
import contextlib
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from demo_gpus import recording  # noqa: E402

TARGET = 0.95
LENGTH = 10  # seconds of a recording


class Server:
    """Of the newest version that is installed; as the user postgres where this runs as root."""

    def __init__(self, folder):
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.folder = folder
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        folder.mkdir()
        if self.user:
            shutil.chown(folder, pwd.getpwnam("postgres").pw_uid)
        self.run("initdb", "-D", folder / "data", "-U", "tutti", "-A", "trust", "-E", "UTF8", "--no-instructions")
        self.run("pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o",
                 f"-c listen_addresses= -c max_connections=200 -k {folder}", "start")
        self.url = f"postgres://tutti@/postgres?host={folder}"

    def run(self, program, *words):
        done = subprocess.run([*self.user, self.programs / program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program}: {done.stderr}{done.stdout}")
        return done.stdout

    def query(self, sql):
        return self.run("psql", self.url, "-X", "-t", "-A", "-c", sql).strip()

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")


@contextlib.contextmanager
def running(commands, place):
    """Commands at once, each with sockets and settings of its own; stopped at the end."""
    processes = []
    try:
        for number, command in enumerate(commands):
            own = place / f"own{number}"
            own.mkdir(exist_ok=True)
            environment = dict(os.environ, XDG_RUNTIME_DIR=str(own), XDG_CONFIG_HOME=str(own), TUTTI_CACHE=str(own))
            with open(own / "log", "w") as log:
                processes.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, env=environment))
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def finished(out):
    """When each output appeared."""
    return [path.stat().st_mtime for path in out.glob("*/*.json")]


def await_all(are_at_work, what):
    until = time.monotonic() + 60
    while not are_at_work():
        if time.monotonic() > until:
            sys.exit(f"{what}: not all were at work after a minute; see --keep")
        time.sleep(0.2)


def rate(out, seconds):
    """Outputs a second from now on."""
    began = time.time()
    time.sleep(seconds)
    times = sorted(at for at in finished(out) if at >= began)
    return (len(times) - 1) / (times[-1] - times[0])


def measure(build, place, runners, seconds, speed):
    tutti = build / "bin" / "tutti"
    dice = random.Random(7)
    each = int((seconds + 15) * speed / LENGTH) + 4  # with what is done before all are at work
    for runner in range(runners):
        (place / f"in/{runner}").mkdir(parents=True)
        for number in range(each):
            recording(place / f"in/{runner}/{number}.wav", LENGTH, dice)
    # Few in flight, so that results come evenly and not in waves.
    work = ["-t", "2", "--devices", f"emulated:{speed}x:12GB", "--vad-method", "energy", "-f", "json"]

    alone = place / "alone"
    with running([[tutti, "batch", place / f"in/{runner}", "--output-dir", alone / str(runner), "--state",
                   place / f"state{runner}", "--yes", *work] for runner in range(runners)], place):
        await_all(lambda: all(finished_one(alone / str(runner)) for runner in range(runners)), "the batches")
        without = rate(alone, seconds)

    server = Server(place / "server")
    try:
        shared = place / "shared"
        slow = ["--devices", "emulated:0.001x:12GB", *work[4:]]
        with running([[tutti, "batch", place / "in", "--output-dir", shared, "--state", place / "filling", "--store",
                       server.url, "--yes", *slow]], place):
            await_all(lambda: server.query("SELECT to_regclass('tutti_jobs') IS NOT NULL") == "t" and
                      server.query("SELECT count(*) FROM tutti_jobs") == str(runners * each), "the queue")
        with running([[tutti, "worker", "--store", server.url, "--state", place / f"worker{runner}", *work]
                      for runner in range(runners)], place):
            await_all(lambda: server.query("SELECT count(DISTINCT owner) FROM tutti_attempts WHERE ending = 'done'") ==
                      str(runners), "the runners")
            together = rate(shared, seconds)
    finally:
        server.stop()
    return without, together


def finished_one(out):
    return any(out.glob("*.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runners", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--speed", type=float, default=2.5, help="of a device, in times real time")
    parser.add_argument("--keep", help="folder for all that is made; else it is removed")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        place = pathlib.Path(given.keep or stack.enter_context(tempfile.TemporaryDirectory()))
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        without, together = measure(given.build.resolve(), place, given.runners, given.seconds, given.speed)
    share = together / without
    print(f"{given.runners} runners: {without:.2f} recordings a second each with its own store, {together:.2f} on one store: "
          f"{100 * share:.1f} % (target {100 * TARGET:.0f} %)")
    return share < TARGET


if __name__ == "__main__":
    sys.exit(main())
