#!/usr/bin/env python3
"""Runs the micro-benchmarks of a build folder and writes BUILD/bench.jsonl, one line for each.

Usage: bench.py BUILD [NAME-PART...]    only programs whose name contains one of the parts

A line is {"what", "unit", "tutti", "peer", "peer_value", "ratio"}. A hot path of ours has no peer that does exactly the
same; where the project promises a limit (bench/limits.json), that is the peer: peer is "limit" and ratio is how many times
faster we are than promised. Elsewhere the three are null and the line is there to be compared with an older one. A promise
about a benchmark's counter ("NAME:COUNTER") has a line of its own; "least" marks one that may not be less. Values are medians
of three runs of at least 0.2 s. Exit status 1 when a promise is broken or a benchmark fails.
"""
import json
import pathlib
import subprocess
import sys

IN_NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def measure(program, counters):
    """(name, unit, value) of every benchmark in a Google Benchmark program, and of its counters ("NAME:COUNTER") among those of
    `counters`, name to unit; value None where one failed."""
    command = [str(program), "--benchmark_format=json", "--benchmark_repetitions=3", "--benchmark_min_time=0.2",
               "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        yield program.name.removesuffix("_bench"), "ns", None
        return
    for entry in json.loads(run.stdout)["benchmarks"]:
        if entry.get("error_occurred"):
            print(f"{entry['name']}: {entry['error_message']}", file=sys.stderr)
            yield f"{program.name.removesuffix('_bench')}/{entry['name']}", "ns", None
        elif entry.get("aggregate_name") == "median":
            name = entry["run_name"].removesuffix("/real_time").removesuffix("/manual_time")
            name = f"{program.name.removesuffix('_bench')}/{name}"
            yield name, entry["time_unit"], entry["real_time"]
            for counter, unit in counters.items():
                if counter.startswith(f"{name}:"):
                    yield counter, unit, entry.get(counter.removeprefix(f"{name}:"))


def line(what, unit, value, limits):
    limit = limits.get(what)
    if limit is None or value is None:
        return {"what": what, "unit": unit, "tutti": value, "peer": None, "peer_value": None, "ratio": None}
    promised = limit["value"] * IN_NANOSECONDS.get(limit["unit"], 1) / IN_NANOSECONDS.get(unit, 1)
    ratio = value / promised if limit.get("least") else promised / max(value, 1e-9)
    return {"what": what, "unit": unit, "tutti": value, "peer": "limit", "peer_value": promised, "ratio": ratio}


def main():
    build, parts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    root = pathlib.Path(__file__).resolve().parent.parent
    limits = json.loads((root / "bench" / "limits.json").read_text())
    programs = [path for path in sorted((build / "bin").glob("*_bench")) if not parts or any(part in path.name for part in parts)]
    counters = {what: limit["unit"] for what, limit in limits.items() if limit["unit"] not in IN_NANOSECONDS}
    good, seen = bool(programs), set()
    with (build / "bench.jsonl").open("w") as out:
        for program in programs:
            for name, unit, value in measure(program, counters):
                result = line(name, unit, value, limits)
                seen.add(result["what"])
                out.write(json.dumps(result) + "\n")
                promise = "" if result["ratio"] is None else f"   {result['ratio']:.2f} x better than promised"
                print(f"{result['what']:60} {'failed' if value is None else f'{value:12.1f} {unit}'}{promise}", flush=True)
                good &= value is not None and (result["ratio"] is None or result["ratio"] >= 1)
    for what in sorted(set(limits) - seen) if not parts else []:
        print(f"bench/limits.json promises {what}, and no benchmark measures it", file=sys.stderr)
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
