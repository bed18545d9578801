#!/usr/bin/env python3
"""Speed and processor time beside other programs, as shares of what is fair.

Usage: bench/contention.py [--tutti build/bin/tutti] [--before OTHER/tutti] [--work decode,...] [--loads 0,1,2,4] [--quotas 1,1.5]
                           [--runs 20] [--seconds 10] [--compute-type int8] [--beams None] [--model M] [--data ../shared/data]

Every round runs the work alone, then beside each load, each time as it is and with --threads 1; medians and the worst of all rounds
are held to the targets below. A load is so many busy loops of normal priority in the same session, a quota the processor time that a
control group gives a second (needs root and the cpu controller; skipped by name where that is not allowed).

fair: the part of its processors that a command with t threads has a right to: t / (t + loops) of all processors beside what it has
alone, or the quota beside that. share: speed / (speed alone x fair).

  decode    tutti transcribe of speech that is repeated until a run takes --seconds
  batch     tutti batch over clips in FLAC, beside whose decoding the engine computes
  workers   tutti batch --devices cpu:0,cpu:1 over the same
  features  tutti features           vad      tutti features --vad           (a thread each)
  train     tutti train whisper, steps of two clips, --seconds long

One line of JSON for each run and one for each load; --before measures another build in the same rounds. Exit status 1 where a target
is missed.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import wave

# Of all runs beside a load. speed: share of what is fair; cpu: processor seconds beside those alone; single: speed beside --threads 1.
TARGETS = {"speed_median": 0.85, "speed_worst": 0.70, "cpu_median": 1.25, "cpu_worst": 1.5, "single": 1.0}
NOISE = 0.97  # of two medians that are the same
CORES = len(os.sched_getaffinity(0))


@dataclasses.dataclass(frozen=True)
class Load:
    """Nothing, busy loops, or a quota of processors."""
    loops: int = 0
    quota: float | None = None

    def __str__(self):
        return f"quota {self.quota:g}" if self.quota else f"{self.loops} loops"

    def fair(self, threads):
        """The part that a command with so many threads should keep of the speed it has alone."""
        alone = min(threads, CORES)
        if self.quota:
            return min(1.0, self.quota / alone)
        return min(1.0, CORES * threads / (threads + self.loops) / alone)


@dataclasses.dataclass
class Run:
    seconds: float
    cpu: float


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.2 if loops else 0)  # until they loop
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextlib.contextmanager
def quota_group(quota):
    """The file whose reader joins a control group that has so many processors; None without a quota. OSError where that is not allowed."""
    if quota is None:
        yield None
        return
    first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    folder = (first if (first / "cpu.cfs_quota_us").exists() else second) / f"tutti-contention-{os.getpid()}"
    folder.mkdir()
    try:
        if folder.parent == first:
            (folder / "cpu.cfs_quota_us").write_text(str(int(quota * 100_000)))
        else:
            (folder / "cpu.max").write_text(f"{int(quota * 100_000)} 100000")
        yield folder / "cgroup.procs"
    finally:
        folder.rmdir()


def measure(command, joined=None):
    """Seconds and processor seconds of a command with all its children, in our session: what is in one session shares as one."""
    words = [str(word) for word in command]
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors,
                                 preexec_fn=(lambda: joined.write_text(str(os.getpid()))) if joined else None)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begun
        if child.returncode:
            errors.seek(0)
            sys.exit(f"contention: {' '.join(words)}\nended with {child.returncode}: {errors.read().decode(errors='replace')[-1500:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime)


def repeated(source, times, path):
    """`source` so many times behind itself."""
    with wave.open(str(source)) as read:
        parameters, frames = read.getparams(), read.readframes(read.getnframes())
    with wave.open(str(path), "wb") as written:
        written.setparams(parameters)
        for _ in range(times):
            written.writeframesraw(frames)
    return path


def clips(folder, count):
    """So many clips of LJSpeech; it has 340, and a batch knows by its sound a recording that it has had."""
    found = sorted(folder.glob("wavs/*.flac"), reverse=True)
    if len(found) < count:
        print(f"contention: {folder} has {len(found)} clips; a run with all of them is shorter than asked for", file=sys.stderr)
    return found[:count]


class Work:
    """One kind of work, in an amount that takes long enough."""

    def __init__(self, name, asked, folder):
        self.name, self.asked, self.folder = name, asked, folder
        self.speech = asked.data / "speech/gb0.wav"
        self.threads = {"features": 1, "vad": 1}.get(name, min(2, CORES) if name == "workers" else CORES)
        self.has_single = name in ("decode", "batch", "train")
        self.amount, self.number = 4 if name == "train" else 1, 0
        self.files = self.make()
        first = measure(self.command(asked.tutti))
        self.amount = max(1, round(self.amount * asked.seconds / first.seconds))
        self.files = self.make()

    def make(self):
        if self.name == "train":
            return []
        if self.name in ("batch", "workers"):
            return clips(self.asked.data / "speech/lj", 4 * self.amount)
        return [repeated(self.speech, self.amount, self.folder / f"{self.name}.wav")]

    def command(self, tutti, single=False):
        """Threads are all that there are, or one."""
        few = ["--threads", "1"] if single else []
        asked = self.asked
        out = self.folder / f"out-{self.number}"  # a batch and a training want a folder of their own
        self.number += 1
        bare = ["--model", asked.model, "--compute-type", asked.compute_type, "--beam-size", asked.beams, "--temperature", "0",
                "--temperature-increment-on-fallback", "None", "--condition-on-previous-text", "False", "--language", "en",
                "--output-format", "txt", "--output-dir", out, *few]
        if self.name == "decode":
            return [tutti, "transcribe", *bare, "--quiet", *self.files]
        if self.name in ("batch", "workers"):
            devices = "cpu:0,cpu:1" if self.name == "workers" else "cpu"
            return [tutti, "batch", *bare, "--devices", devices, "--state", out / "state", "--report", out / "report.json",
                    "--review", "False", "--yes", *self.files]
        if self.name == "train":
            few = ["--compute-threads", "1"] if single else []
            return [tutti, "train", "whisper", "--model", asked.model, "--data", asked.data / "speech/ljspeech", "--out", out,
                    "--batch-size", "2", "--epochs", "0", "--max-steps", self.amount, "--save-steps", "0", *few]
        return [tutti, "features", *(["--vad"] if self.name == "vad" else []), *self.files]


def summary(work, load, runs, alone, single):
    """What came of the runs beside a load, and which targets they miss. Runs of one amount of work: speed is its inverse."""
    fair = load.fair(work.threads)
    usual = statistics.median(run.seconds for run in alone)
    cpu = statistics.median(run.cpu for run in alone)
    shares = [usual / run.seconds / fair for run in runs]
    costs = [run.cpu / cpu for run in runs]
    found = {"speed_median": statistics.median(shares), "speed_worst": min(shares), "cpu_median": statistics.median(costs),
             "cpu_worst": max(costs)}
    if single:
        found["single"] = statistics.median(run.seconds for run in single) / statistics.median(run.seconds for run in runs)
    missed = [name for name, value in found.items()
              if (value > TARGETS[name] if name.startswith("cpu") else value < TARGETS[name] * (NOISE if name == "single" else 1))]
    return {"work": work.name, "load": str(load), "fair": round(fair, 3), "seconds_alone": round(usual, 2),
            "seconds": round(statistics.median(run.seconds for run in runs), 2), "cpu_alone": round(cpu, 2),
            **{name: round(value, 3) for name, value in found.items()}, "missed": missed}


def rounds(work, programs, loads, count):
    """{(program, load, single): [runs]}; everything in turn, so that what the machine does meanwhile meets all alike."""
    runs = {}
    for number in range(count):
        for load in loads:
            for name, tutti in programs.items():
                for single in (False, True) if work.has_single and load != Load() else (False,):
                    with busy_loops(load.loops), quota_group(load.quota) as joined:
                        run = measure(work.command(tutti, single), joined)
                    runs.setdefault((name, load, single), []).append(run)
                    print(json.dumps({"work": work.name, "load": str(load), "program": name, "threads": 1 if single else work.threads,
                                      "round": number, "seconds": round(run.seconds, 3), "cpu": round(run.cpu, 3)}), flush=True)
    return runs


def allowed(loads):
    for load in loads:
        try:
            with quota_group(load.quota):
                yield load
        except OSError as error:
            print(json.dumps({"load": str(load), "skipped": f"no control group can be made here: {error}"}), flush=True)


def arguments():
    root = pathlib.Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", type=pathlib.Path, default=root / "build/bin/tutti")
    parser.add_argument("--before", type=pathlib.Path, help="another build, measured in the same rounds")
    parser.add_argument("--work", default="decode", help="comma-separated: decode, batch, workers, features, vad, train")
    parser.add_argument("--loads", default="1,2,4", help="numbers of busy loops")
    parser.add_argument("--quotas", default="", help="processors of a control group, such as 1,1.5")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10, help="of a run alone")
    parser.add_argument("--compute-type", default="int8")
    parser.add_argument("--beams", default="None", help="None: greedy")
    parser.add_argument("--model", default="tiny.en")
    parser.add_argument("--data", type=pathlib.Path, default=root.parent / "shared/data")
    asked = parser.parse_args()
    known = {"decode", "batch", "workers", "features", "vad", "train"}
    if unknown := set(asked.work.split(",")) - known:
        parser.error(f"--work: expected some of {', '.join(sorted(known))}; found {', '.join(sorted(unknown))}")
    return asked


def main():
    asked = arguments()
    loads = [Load(), *(Load(loops=int(n)) for n in asked.loads.split(",") if n and int(n)),
             *allowed(Load(quota=float(q)) for q in asked.quotas.split(",") if q)]
    programs = {"tutti": asked.tutti} | ({"before": asked.before} if asked.before else {})
    good = True
    for name in asked.work.split(","):
        with tempfile.TemporaryDirectory(prefix="contention-") as folder:
            work = Work(name, asked, pathlib.Path(folder))
            runs = rounds(work, programs, loads, asked.runs)
        for program in programs:
            alone = runs[program, Load(), False]
            if program == "before":
                faster = statistics.median(r.seconds for r in alone) / statistics.median(r.seconds for r in runs["tutti", Load(), False])
                print(json.dumps({"work": name, "load": "alone", "speed_beside_before": round(faster, 3)}), flush=True)
            for load in loads[1:]:
                line = summary(work, load, runs[program, load, False], alone, runs.get((program, load, True)))
                print(json.dumps({"program": program, **line}), flush=True)
                good &= program == "before" or not line["missed"]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
