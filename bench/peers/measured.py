"""A whole command, measured: seconds, processor seconds, and the memory of all its processes together at its peak."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK_EVERY = 0.05  # seconds; a look reads a few files of /proc


class CommandFailed(Exception):
    pass


@dataclasses.dataclass
class Measured:
    seconds: float
    cpu_seconds: float
    peak_mib: float  # resident, summed over the processes that lived at the same moment; shared pages count in each
    output: str


def tree(pid):
    """`pid` and its descendants, as far as they can still be seen."""
    yield pid
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                yield from tree(int(child))
        except OSError:
            continue


def resident(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class Watch(threading.Thread):
    """Looks at the memory of a process tree until told to stop."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0, threading.Event()

    def run(self):
        while not self.over.wait(LOOK_EVERY):
            self.peak = max(self.peak, sum(map(resident, tree(self.pid))))


def measure(command, within=None):
    """Runs `command`. None where it took longer than `within` seconds and was stopped. Raises CommandFailed."""
    words = [str(word) for word in command]
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    watch = Watch(process.pid)
    watch.start()
    try:
        output, errors = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    finally:
        watch.over.set()
    seconds, after = time.perf_counter() - start, os.times()
    if process.returncode:
        raise CommandFailed(f"{' '.join(words)}\nended with {process.returncode}: {errors.strip()[-1500:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Measured(seconds, cpu, watch.peak / 2**20, output)
