#!/usr/bin/env python3
"""Everything that a GPU is needed for, in minutes: checks, speeds, transcripts, training, faults.

A stage has a time limit of its own and prints one JSON line as it ends: name, status (ok, failed, skipped, timed out), seconds, key
figures and the reason. A table that names the card comes last, also when the run is ended by SIGTERM. Where OUT is set, its folder
has the lines (gpu_day.jsonl), every figure (figures.jsonl), the table (table.txt) and what all programs printed (gpu_day.log).

  gpu_day.sh                                              all stages, with the programs of build/bin
  gpu_day.sh --pack                                       here: makes gpu-load-1/, gpu-load-2/ and as many more as it takes
  gpu_day.sh --load gpu-load-1 --limit 240 --stages ...   there: with the programs of the load
  gpu_day.sh --dry                                        the same stages on the CPU, at tiny sizes

All stages together may take 26 minutes. Where a call is cut off earlier, --limit lets the table come before that.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import load
from machine import Machine, Skip, descendants, failed, hold_memory
from stages import STAGES

KILL_AFTER = 5


def arguments(words):
    parser = argparse.ArgumentParser(prog="gpu_day.sh", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--dry", action="store_true", help="on the CPU, at tiny sizes")
    parser.add_argument("--stages", metavar="A,B", help=f"these alone, or those that begin so: {', '.join(STAGES)}")
    parser.add_argument("--skip", metavar="A,B", default="", help="all but these")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of the whole run; a stage that finds too few left is skipped")
    parser.add_argument("--load", action="append", metavar="DIR", help="a load made by --pack; may be given again. Its programs are used")
    parser.add_argument("--bin", metavar="DIR", help="folder of the programs")
    parser.add_argument("--torch", metavar="DIR", help="folder of libtorch_cpu.so; default: that of the installed torch")
    parser.add_argument("--model", metavar="DIR", help="the real tiny.en; default: the load's, else the cache's")
    parser.add_argument("--scratch", metavar="DIR", help="where loads are opened and stages work; survives (default: below the temporary folder)")
    parser.add_argument("--pack", action="store_true", help="make the loads")
    parser.add_argument("--loads", type=int, default=0, metavar="N", help="with --pack: how many (as few as fit, two at least)")
    parser.add_argument("--clips-every", type=int, default=5, metavar="N", help="with --pack: every N-th of the 74 clips (5)")
    parser.add_argument("--data", metavar="DIR", help="with --pack: the shared test data")
    parser.add_argument("--into", metavar="DIR", help="with --pack: where the loads go (the tree)")
    for hidden in ("--stage", "--log", "--hold", "--seconds"):
        parser.add_argument(hidden, help=argparse.SUPPRESS, type=float if hidden == "--seconds" else str)
    given = parser.parse_args(words)
    given.scratch = given.scratch or os.environ.get("TUTTI_GPU_DAY") or str(pathlib.Path(tempfile.gettempdir()) / "tutti-gpu-day")
    for name in [*(given.stages or "").split(","), *given.skip.split(",")]:
        if name and not chosen(name):
            parser.error(f"no stage is called {name}; there are {', '.join(STAGES)}")
    return given


def chosen(name):
    """The stages of that name, or whose names begin with it: `speed`."""
    return [stage for stage in STAGES if stage == name or stage.startswith(name + "-")]


def stages_of(given):
    wanted = [stage for name in given.stages.split(",") if name for stage in chosen(name)] if given.stages else list(STAGES)
    left_out = {stage for name in given.skip.split(",") if name for stage in chosen(name)}
    wanted = [stage for stage in dict.fromkeys(wanted) if stage not in left_out]
    # Whatever runs, runs with the programs of the load.
    return ["load", *wanted] if given.load and "load" not in wanted and "load" not in left_out else wanted


class Run:
    """One run of stages: their lines, and the table."""

    def __init__(self, given, words):
        self.given, self.words = given, words
        self.out = pathlib.Path(os.environ["OUT"]) if os.environ.get("OUT") else None
        if self.out:
            self.out.mkdir(parents=True, exist_ok=True)
        # Everything in OUT grows from run to run, the table too.
        earlier = self.out / "table.txt" if self.out else None
        self.tables_before = earlier.read_text() if earlier and earlier.exists() else ""
        scratch = pathlib.Path(given.scratch)
        scratch.mkdir(parents=True, exist_ok=True)
        self.log = (self.out or scratch) / "gpu_day.log"
        if not self.out:
            self.log.unlink(missing_ok=True)
        self.began = time.monotonic()
        self.card = Machine(argparse.Namespace(**{**vars(given), "log": str(self.log)})).card_text()
        self.lines, self.figures, self.process, self.stopped = [], {}, None, False

    def left(self):
        return float("inf") if self.given.limit is None else self.given.limit - (time.monotonic() - self.began)

    def stage(self, name):
        longest = min(STAGES[name][2 if self.given.dry else 1], self.left() - KILL_AFTER)
        if longest < 3:
            return self.close(name, "skipped", 0, [], ["no time was left of --limit"], 0)
        began = time.monotonic()
        self.write("gpu_day.log", f"\n=== {name}, at most {longest:.0f} s\n")
        command = ["timeout", "-k", str(KILL_AFTER), f"{longest:.1f}", sys.executable, str(pathlib.Path(__file__).resolve()), "--stage", name,
                   "--log", str(self.log), "--seconds", f"{longest:.1f}", *self.words]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        found, faults, notes, skipped = [], [], [], []
        self.current = (name, began, found, faults, notes)
        for raw in self.process.stdout:
            line = parsed(raw.decode(errors="replace"))
            if "figure" in line:
                found.append(line)
                self.write("figures.jsonl", json.dumps({"card": self.card, "stage": name, **line}) + "\n")
            faults += [line["failed"]] if "failed" in line else []
            notes += [line["note"]] if "note" in line else []
            skipped += [line["skip"]] if "skip" in line else []
        code = self.process.wait()
        end_group(self.process.pid, [])
        self.process = None
        seconds = time.monotonic() - began
        if code in (124, 137):
            status, reasons = "timed out", [f"after {longest:.0f} s", *faults]
        elif faults or code != 0:
            status, reasons = "failed", faults or [f"its process ended with exit code {code}: see the log"]
        elif skipped:
            status, reasons = "skipped", skipped
        else:
            status, reasons = "ok", notes
        self.close(name, status, seconds, found, reasons, len(faults))

    def close(self, name, status, seconds, found, reasons, faults):
        key = {one["figure"]: one["value"] for one in found if one.get("key", True)}
        line = {"stage": name, "status": status, "seconds": round(seconds, 2), "card": self.card, "figures": key,
                "reason": "; ".join(reasons)[:1500]}
        if faults:
            line["faults"] = faults
        self.lines.append(line)
        self.figures[name] = found
        print(json.dumps(line), flush=True)
        self.write("gpu_day.jsonl", json.dumps(line) + "\n")
        if self.out:
            (self.out / "table.txt").write_text(self.tables_before + self.table() + "\n")

    def write(self, name, text):
        if self.out or name == "gpu_day.log":
            with ((self.out / name) if self.out else self.log).open("a") as file:
                file.write(text)

    def stop(self):
        """SIGTERM: what the stage in work has found counts, and the table is printed."""
        if self.process:
            name, began, found, faults, notes = self.current
            # Before their parents end: `timeout` gives what it runs a group of its own.
            programs = descendants(self.process.pid)
            self.process.terminate()
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                pass
            end_group(self.process.pid, programs)
            self.close(name, "timed out", time.monotonic() - began, found, ["the run was ended by a signal", *faults, *notes], len(faults))
        print(self.table(), flush=True)

    def table(self):
        """For people, within what the end of a call's output holds (12,000 characters)."""
        counts = {status: sum(line["status"] == status for line in self.lines) for status in ("ok", "failed", "timed out", "skipped")}
        text = [f"\n# {self.card}, {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {time.monotonic() - self.began:.0f} s: "
                + ", ".join(f"{count} {status}" for status, count in counts.items())]
        for line in self.lines:
            key = ", ".join(f"{name} {short(value)}" for name, value in list(line["figures"].items())[:24])
            reason = line["reason"] if line["status"] != "ok" else ""
            text.append(f"{line['stage']:<12} {line['status']:<9} {line['seconds']:6.1f} s  {key[:900]}" + ("  | " if key and reason else "") + reason[:700])
        for unit in ("x real time", "tokens/s", "of a copy"):
            text += self.speeds(unit)
        rest = [one for name, found in self.figures.items() if name.startswith(("speed", "kernels"))
                for one in found if not decoder(one["figure"])]
        text += [f"{one['figure']:<40} {short(one['value'])} {one['unit']}" for one in rest]
        return "\n".join(text)[:11_000]

    def speeds(self, unit):
        """Rows of model and type, columns of sequences together."""
        cells = {}
        for name, found in self.figures.items():
            for one in found:
                at = decoder(one["figure"])
                if name.startswith("speed") and at and one["unit"] == unit:
                    cells.setdefault((at[1] + at[3]).replace(", decoder", ""), {})[int(at[2])] = one["value"]
        if not cells:
            return []
        columns = sorted({column for row in cells.values() for column in row})
        rows = [f"{unit + ', together':<34}" + "".join(f"{column:>9}" for column in columns)]
        for name, row in cells.items():
            rows.append(f"{name:<34}" + "".join(f"{short(row[column]) if column in row else '-':>9}" for column in columns))
        return ["", *rows]


def decoder(what):
    return re.match(r"(.*decoder), (\d+) together(.*)$", what)


def short(value):
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def parsed(line):
    try:
        value = json.loads(line)
        return value if isinstance(value, dict) else {}
    except ValueError:
        return {}


def end_group(group, programs):
    """Kills a process group, and programs that left it."""
    for kill, target in [(os.killpg, group), *((os.kill, program) for program in programs)]:
        try:
            kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def run_stage(given):
    """In the process of one stage."""
    machine = Machine(given)
    machine.work = machine.work / given.stage
    try:
        STAGES[given.stage][0](machine, given)
    except Skip as why:
        print(json.dumps({"skip": str(why)}), flush=True)
    except Exception as why:
        failed(f"{type(why).__name__}: {why}")
        raise
    finally:
        shutil.rmtree(machine.work, ignore_errors=True)
    return 0


class Ended(Exception):
    """By a signal."""


def end(*_):
    raise Ended


def main(words):
    given = arguments(words)
    if given.hold:
        return hold_memory(int(given.hold))
    if given.pack:
        return load.pack(given)
    if given.stage:
        return run_stage(given)
    run = Run(given, words)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        for name in stages_of(given):
            run.stage(name)
    except Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run.stop()
        return 1
    print(run.table(), flush=True)
    states = {line["status"] for line in run.lines}
    return 1 if states & {"failed", "timed out"} or "ok" not in states else 0  # a run of which nothing ran has shown nothing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
