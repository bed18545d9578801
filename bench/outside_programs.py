#!/usr/bin/env python3
"""Has `tutti profile -- python3 PROGRAM` name what limits Python programs with a planted cause, none of which knows of Tutti.

Usage: outside_programs.py BUILD

Needs a machine without other work: a busy one takes cores from each of them, and that is then what limits it. Exit status 1 where
a limit is another one than was planted.
"""
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

CORES = len(os.sched_getaffinity(0))
BURN = "import time\ndef burn(seconds=2.5):\n    end = time.monotonic() + seconds\n    while time.monotonic() < end: sum(range(1000))\n"
PROCESSES = BURN + "import multiprocessing as m\nall = [m.Process(target=burn) for _ in range({count})]\n[p.start() for p in all]\n[p.join() for p in all]\n"
READ = """
import mmap, os, time
end = time.monotonic() + 2.5
step, size = 4096, os.path.getsize(PATH)
file = os.open(PATH, os.O_RDONLY)
while time.monotonic() < end:
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    {how}
"""
DIRECT = "direct = os.open(PATH, os.O_RDONLY | os.O_DIRECT); page = mmap.mmap(-1, step)\n    for at in range(0, size, 64 * step): os.preadv(direct, [page], at)\n    os.close(direct)"
SYNC = """
import os, time
end = time.monotonic() + 2.5
file = os.open(PATH + ".log", os.O_RDWR | os.O_CREAT)
while time.monotonic() < end:
    os.pwrite(file, bytes(4096), 0)
    os.fsync(file)
"""
CHILDREN = "import subprocess, sys\n[subprocess.run([sys.executable, '-S', '-c', 'sum(range(1000000))']) for _ in range(60)]\n"
DETACHED = """
import os
done, end = os.pipe()
for _ in range(60):
    if os.fork() == 0:
        if os.fork() == 0:
            sum(range(2000000))
            os.write(end, b"x")
        os._exit(0)
    os.wait()
    os.read(done, 1)
"""
LOCK = BURN + "import threading as t\nall = [t.Thread(target=burn) for _ in range(4)]\n[i.start() for i in all]\n[i.join() for i in all]"
FAULTS = "with mmap.mmap(file, 0, prot=mmap.PROT_READ) as pages:\n        pages.madvise(mmap.MADV_RANDOM)\n        for at in range(0, size, 64 * step): pages[at]"

# Name, program, limits that are right. What waits for a disk depends on how fast that is, so two causes may be named.
PROGRAMS = [
    ("one thread that computes", BURN + "burn()", {"one thread"}),
    ("four threads with Python's one lock", LOCK, {"one thread at a time"}),
    ("four threads with one lock, neighbours on all cores", LOCK, {"other processes"}),
    ("short children, one after the other", CHILDREN, {"one process at a time"}),
    ("children without a parent", DETACHED, {"one process at a time"}),
    ("a process for each core", PROCESSES.format(count=CORES), {"all cores"}),
    ("three processes for each core", PROCESSES.format(count=3 * CORES), {"too many threads"}),
    ("a timer", "import time\nfor _ in range(250): time.sleep(0.01)", {"waiting"}),
    ("a socket whose other end is slow", "import socket, threading, time\na, b = socket.socketpair()\n"
     "threading.Thread(target=lambda: [time.sleep(0.05) or b.send(b'x') for _ in range(50)]).start()\n"
     "[a.recv(1) for _ in range(50)]", {"waiting"}),
    ("a lock that a sleeping thread holds", "import threading, time\nlock = threading.Lock()\n"
     "def hold():\n    for _ in range(25):\n        with lock: time.sleep(0.1)\n"
     "t = threading.Thread(target=hold); t.start(); time.sleep(0.01)\nwhile t.is_alive():\n    with lock: pass", {"waiting"}),
    ("a disk that is read around the page cache", READ.format(how=DIRECT), {"disk"}),
    ("a file that is written and synced", SYNC, {"disk"}),
    ("pages of a file that come from a disk", READ.format(how=FAULTS), {"disk", "memory"}),
    ("neighbours on all cores", BURN + "burn()", {"other processes"}),
]


def neighbour():
    while True:
        sum(range(1000))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tutti = str(pathlib.Path(sys.argv[1]) / "bin" / "tutti")
    wrong = 0
    with tempfile.TemporaryDirectory(dir=".") as folder:
        data = pathlib.Path(folder) / "data"
        data.write_bytes(os.urandom(1 << 20) * 64)
        os.sync()
        for name, program, right in PROGRAMS:
            beside = [multiprocessing.Process(target=neighbour, daemon=True) for _ in range(2 * CORES)] if "other processes" in right else []
            for process in beside:
                process.start()
            source = f"PATH = {str(data)!r}\n{program}"
            ended = subprocess.run([tutti, "profile", "--json", "--", "python3", "-c", source], capture_output=True, text=True)
            for process in beside:
                process.kill()
                process.join()
            if ended.returncode != 0:
                print(f"{name}: exit status {ended.returncode}: {ended.stderr}")
                wrong += 1
                continue
            seen = json.loads(ended.stderr)
            limit, busiest = seen["limit"], seen["busiest"]
            is_right = limit["name"] in right
            wrong += not is_right
            shares = ", ".join(f"{what} {100 * busiest[what]:.0f} %" for what in ("running", "core_wait", "disk", "blocked"))
            print(f"{name}: {limit['name']}{'' if is_right else ', expected ' + ' or '.join(sorted(right))} ({shares})")
    print(f"{len(PROGRAMS) - wrong} of {len(PROGRAMS)} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
