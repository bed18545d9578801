"""A whole command, measured: seconds, processor seconds, and the memory of all its processes together at its peak.

Memory is what each process takes by itself, and its share of the pages that several have (Pss), so that what our two
processes share counts once. Where /proc/PID/smaps_rollup cannot be read it is what is resident, shared pages in each.
"""
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK_EVERY = 0.05  # seconds; a look reads a few files of /proc
KEPT_FREE = 20  # times what a look took, until the next one: adding up the pages of a large process takes its own time


class CommandFailed(Exception):
    pass


@dataclasses.dataclass
class Measured:
    seconds: float
    cpu_seconds: float
    peak_mib: float  # summed over the processes that lived at the same moment
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


def proportional(pid):
    """Bytes, a page that N processes have in memory counted as its Nth part in each; None where the kernel does not say."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def taken(pid):
    """Bytes of memory of one process; 0 once it has ended."""
    share = proportional(pid)
    if share is not None:
        return share
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class Watch(threading.Thread):
    """Looks at the memory of a process tree until stopped."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0, threading.Event()

    def run(self):
        took = 0.0
        while not self.over.wait(max(LOOK_EVERY, KEPT_FREE * took)):
            begun = time.perf_counter()
            self.peak = max(self.peak, sum(map(taken, tree(self.pid))))
            took = time.perf_counter() - begun


def measure(command, within=None, memory=True):
    """Runs `command`. None where it took longer than `within` seconds and was stopped. Without `memory` the peak is 0, as
    measuring it takes up to a twentieth of a core. Raises CommandFailed.
    """
    words = [str(word) for word in command]
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    watch = Watch(process.pid)
    if memory:
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
