"""Stages of what is here, of tutti-gpu-check and of the toolkit's own tools."""
import csv
import os
import re
import shutil

from machine import Skip, failed, figure, note, parsed

FAST_TYPES = "float16,bfloat16,int8_float16"
SLOTS = "1,8,32,64,128"
SLOWER = re.compile(r"static decoder steps are off|decoder steps are not recorded|tokens are selected on the host|"
                    r"encodings are not recorded|recorded encodings are off|tokens are selected by torch's operators|"
                    r"log-mels are not made ready|prepared at first use", re.I)


# What is here.


def environment(machine, given):
    figure("cores", os.cpu_count())
    programs = machine.need_programs()
    figure("programs", str(programs), key=False)
    figure("torch", str(machine.torch or "not found"), key=False)
    brought = sorted(path.name for path in (machine.scratch / "missing").glob("*"))
    if brought:
        figure("libraries_brought", ", ".join(brought), key=False)
    for name in ("tutti", "tutti-engine", "tutti-gpu-check", "libtutti-cuda.so"):
        done = machine.run(["ldd", programs / name])
        lost = [line.split()[0] for line in done.lines if "not found" in line]
        # The program has loaded torch's half by then, and the driver comes with the card.
        if lost and not (machine.dry and name == "libtutti-cuda.so"):
            failed(f"{name} does not find {', '.join(lost)}")
    version = machine.run([programs / "tutti", "--version"])
    if version.expect():
        figure("version", " / ".join(version.lines))
    doctor = machine.run([programs / "tutti", "doctor", "--json"])
    report = parsed("\n".join(doctor.lines)) or {}
    if not report:
        failed(f"tutti doctor --json printed no JSON (exit code {doctor.code})")
    broken = [f"{one['thing']}: {one['found']}" for one in report.get("findings", []) if one.get("level") in ("broken", "fatal")]
    for text in broken:
        note(f"doctor: {text}")
    figure("doctor_broken", len(broken))
    if machine.dry:
        return devices(machine)
    if not machine.cards():
        return failed("nvidia-smi names no GPU here (--dry runs on the CPU)")
    machine.run(["nvidia-smi", "-q"])
    card = machine.query_cards()[0]
    for name in ("driver_version", "memory.total", "clocks.sm", "clocks.max.sm", "temperature.gpu", "power.draw", "power.limit"):
        figure(name, card[name], key=name == "driver_version")
    compare_card(report, machine.query_cards(), loaded=False)
    devices(machine)


def devices(machine):
    """Whether torch's copies work, and of several GPUs which read which one's memory directly."""
    figure("copies_checked", gpu_check(machine, "device", is_key=lambda name, _: "peer access" in name)["passed"])


def compare_card(report, cards, loaded):
    """Whether tutti's NVML and nvidia-smi say the same. Returns the largest differences."""
    mine = {gpu.get("uuid"): gpu for gpu in report.get("gpus", [])}
    if len(mine) != len(cards):
        failed(f"doctor lists {len(mine)} GPUs, nvidia-smi {len(cards)}")
    differences = {}
    for card in cards:
        gpu = mine.get(card["uuid"])
        if gpu is None:
            failed(f"doctor does not list {card['uuid']} ({card['name']}), only {', '.join(map(str, mine))}")
            continue
        if gpu.get("name") != card["name"]:
            failed(f"name: doctor {gpu.get('name')!r}, nvidia-smi {card['name']!r}")
        if gpu.get("pci_bus_id", "").lower()[-12:] != card["pci.bus_id"].lower()[-12:]:
            failed(f"PCI bus id: doctor {gpu.get('pci_bus_id')!r}, nvidia-smi {card['pci.bus_id']!r}")
        pairs = (("memory_total_bytes", "memory.total", 2**20, 8), ("memory_free_bytes", "memory.free", 2**20, 4096 if loaded else 1024),
                 ("power_watts", "power.draw", 1, 150 if loaded else 30), ("power_limit_watts", "power.limit", 1, 1),
                 ("temperature_celsius", "temperature.gpu", 1, 4), ("utilization_ratio", "utilization.gpu", 0.01, 60 if loaded else 20))
        for key, field, unit, most in pairs:
            try:
                theirs = float(card[field])
            except ValueError:
                note(f"nvidia-smi gives no {field}: {card[field]}")
                continue
            if key not in gpu:
                failed(f"doctor gives no {key}; nvidia-smi's {field} is {card[field]}")
                continue
            difference = abs(float(gpu[key]) / unit - theirs)
            differences[key] = max(differences.get(key, 0), difference)
            if difference > most:
                failed(f"{key}: doctor {float(gpu[key]) / unit:g}, nvidia-smi {theirs:g}")
    return differences


# gpu-check.


def knows_sizes(machine):
    return "--sizes" in machine.run([machine.program("tutti-gpu-check"), "--help"], limit=30).log


def gpu_check(machine, check, flags=(), soft=None, prefix="", is_key=lambda name, unit: False):
    """One check of tutti-gpu-check. With `soft` seconds it may be ended early: what it printed until then counts. `is_key` picks by
    name and unit the figures for the stage's line."""
    machine.need_device()
    words = [machine.program("tutti-gpu-check"), "--json", "--check", check, *(["--cpu"] if machine.dry else []), *flags]
    counts = {"passed": 0, "failed": 0}

    def on_line(line):
        found = parsed(line)
        if not isinstance(found, dict) or "what" not in found:
            return
        figure(prefix + found["what"], found.get("value"), found.get("unit", ""), key=is_key(found["what"], found.get("unit", "")))
        if "passed" in found:
            counts["passed" if found["passed"] else "failed"] += 1
        if found.get("passed") is False:
            failed(f"{found['what']}: {found.get('value')} {found.get('unit', '')}")

    done = machine.run(words, on_line, limit=soft)
    ended_early = soft and done.code in (124, 137)
    if ended_early:
        if sum(counts.values()) == 0:
            raise Skip(f"no result within {soft} s")
        note(f"{check} was ended after {soft} s, with {counts['passed']} results")
    elif done.code != 0 and counts["failed"] == 0:
        done.expect()
    elif not any(parsed(line) for line in done.lines):
        if machine.dry:
            raise Skip(f"needs a GPU: on a CPU {check} has nothing for these flags (test_model runs the kernels' host side)")
        failed(f"{check} printed nothing")
    for line in done.log.splitlines():
        if SLOWER.search(line) and not line.startswith("{"):
            failed(f"slower steps: {line.strip()}")
    return counts


def parity(machine, given):
    machine.need_device()
    flags = ["--model", machine.model] if machine.model and not machine.dry else []
    if not flags:
        note("random weights alone" + ("" if machine.dry else ": the real model is missing"))
    figure("passed", gpu_check(machine, "parity", flags)["passed"])


def plain_check(check, soft_dry=None):
    def stage(machine, given):
        flags = []
        if machine.dry and check in ("step", "selection") and knows_sizes(machine):
            flags = ["--types", "float16", "--slots", "1"]  # int8 by plain loops takes minutes
        counts = gpu_check(machine, check, flags, soft=soft_dry if machine.dry else None)
        figure("passed", counts["passed"])
    return stage


def speed(machine, given, parts, prefix=""):
    """`parts`: lists of flags, one run of gpu-check each, so that one that dies costs the others nothing."""
    machine.need_device()
    if not knows_sizes(machine):
        raise Skip("this tutti-gpu-check has no --sizes")
    for flags in parts:
        gpu_check(machine, "speed", flags, prefix=prefix, is_key=lambda name, unit: unit in ("x real time", "windows/s"))


def speed_large(machine, given):
    if machine.dry:
        return speed(machine, given, [["--sizes", "tiny", "--types", "float32", "--slots", "1,4", "--seconds", "0.05"]])
    speed(machine, given, [["--sizes", size, "--types", FAST_TYPES, "--slots", SLOTS, "--seconds", "0.3"] for size in ("large-v3", "turbo")])


def speed_beams(machine, given):
    if machine.dry:
        return speed(machine, given, [["--sizes", "tiny", "--types", "float32", "--slots", "1", "--seconds", "0.05", "--beams", "5"]], "five beams, ")
    speed(machine, given, [["--sizes", size, "--types", "float16", "--slots", "8,32,64", "--seconds", "0.3", "--beams", "5"]
                           for size in ("large-v3", "turbo")], "five beams, ")


def speed_small(machine, given):
    machine.need_gpu()
    speed(machine, given, [["--sizes", "small,base,tiny,medium", "--types", "float16", "--slots", SLOTS, "--seconds", "0.2"],
                           ["--sizes", "large-v3,tiny", "--types", "float32,tf32", "--slots", "8,32", "--seconds", "0.2"]])


def kernels(machine, given):
    """Which kernels an encoding and a step wait for."""
    machine.need_gpu()
    gpu_check(machine, "kernels", ["--sizes", "large-v3,turbo", "--types", "float16", "--slots", "1,8,32,128"])


# Tools of the toolkit.


def tool(name):
    found = shutil.which(name) or next((path for path in (f"/usr/local/cuda/bin/{name}",) if os.access(path, os.X_OK)), None)
    if not found:
        raise Skip(f"{name} is not here")
    return found


def sanitizer(machine, given):
    machine.need_device()
    machine.need_gpu()
    words = [tool("compute-sanitizer"), "--tool", "memcheck", "--print-limit", "20", "--target-processes", "all",
             machine.program("tutti-gpu-check"), "--json", "--check", "step",
             *(["--sizes", "tiny", "--types", "float16,int8_float16", "--slots", "1,8"] if knows_sizes(machine) else [])]
    done = machine.run(words, limit=max(10, given.seconds - 8))
    figure("results", sum('"what"' in line for line in done.lines))
    figure("ended", "whole" if done.code not in (124, 137) else "early, by its time")
    errors = [line.strip() for line in done.log.splitlines() if re.search(r"Invalid|Program hit|Misaligned|ERROR SUMMARY: [1-9]", line)]
    figure("errors", len(set(errors)))
    for line in sorted(set(errors))[:5]:
        failed(line)
    if done.code not in (0, 124, 137) and not errors:
        done.expect()


def ncu(machine, given):
    machine.need_device()
    machine.need_gpu()
    program = tool("ncu")
    if not knows_sizes(machine):
        raise Skip("this tutti-gpu-check has no --sizes")
    flags = ["--check", "speed", "--sizes", "large-v3", "--types", "float16", "--slots", "32", "--seconds", "0.05"]
    done = machine.run([program, "--clock-control", "none", "--target-processes", "all", "--kernel-name-base", "demangled", "--kernel-name",
                        "regex:AttendBody", "--launch-skip", "200", "--launch-count", "3", "--csv", "--page", "details", "--section", "SpeedOfLight",
                        "--section", "LaunchStats", "--section", "Occupancy", "--section", "MemoryWorkloadAnalysis",
                        machine.program("tutti-gpu-check"), "--json", *flags], limit=max(10, given.seconds - 8))
    metrics = ncu_metrics(done.lines)
    if not metrics:
        return failed(f"ncu gave no metrics (exit code {done.code}): {' / '.join((done.lines + done.log.splitlines())[-3:])}")
    for (launch, kernel, metric), (value, unit) in metrics.items():
        figure(f"launch {launch}, {metric}", value, unit, key=launch == "0")
    note(next(iter(metrics))[1])


def ncu_metrics(lines):
    """(launch, kernel, metric): (value, unit) of what ncu printed as CSV; its rows may end before the header's last columns."""
    wanted = ("Duration", "Memory Throughput", "DRAM Throughput", "Compute (SM) Throughput", "Registers Per Thread", "Achieved Occupancy",
              "Max Bandwidth", "L2 Hit Rate")
    rows = list(csv.reader(line for line in lines if line.startswith('"')))
    if not rows or "Metric Name" not in rows[0]:
        return {}
    launch, kernel, metric, unit, value = (rows[0].index(name) for name in ("ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"))
    found = {}
    for row in rows[1:]:
        if len(row) > value and row[metric] in wanted:
            found.setdefault((row[launch], row[kernel], row[metric]), (row[value], row[unit]))
    return found
