"""The stages. Each one prints what it found as JSON lines (machine.figure, failed, note) and is a process of its own."""
import array
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import wave

import load
from machine import Skip, descendants, failed, figure, note, parsed

GREEDY = ["--beam-size", "None", "--temperature-increment-on-fallback", "None"]
GPU_TYPES = ("float32", "tf32", "bfloat16", "float16", "int8_float16")
FAST_TYPES = "float16,bfloat16,int8_float16"
SLOTS = "1,8,32,64,128"
SLOWER = re.compile(r"static decoder steps are off|decoder steps are not recorded|tokens are selected on the host|"
                    r"encodings are not recorded|recorded encodings are off", re.I)
TRAINING_FLOPS = 1.29e12  # whisper-small, a sample of 30 s with 128 tokens, forward and backward
CARD_FLOPS = {"H100": 989e12, "H200": 989e12}  # dense bfloat16, by the datasheet
BYTES_OF_A_WINDOW = 12 << 20  # tiny.en in float16: cross and self keys and values of one slot


def load_stage(machine, given):
    load.unpack(machine, given.load or sorted(load.ROOT.glob("gpu-load-*")))


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
        return
    if not machine.cards():
        return failed("nvidia-smi names no GPU here (--dry runs on the CPU)")
    machine.run(["nvidia-smi", "-q"])
    card = machine.query_cards()[0]
    for name in ("driver_version", "memory.total", "clocks.sm", "clocks.max.sm", "temperature.gpu", "power.draw", "power.limit"):
        figure(name, card[name], key=name == "driver_version")
    compare_card(report, machine.query_cards(), loaded=False)


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


def gpu_check(machine, check, flags=(), soft=None, prefix=""):
    """One check of tutti-gpu-check. With `soft` seconds it may be ended early: what it printed until then counts."""
    machine.need_device()
    words = [machine.program("tutti-gpu-check"), "--json", "--check", check, *(["--cpu"] if machine.dry else []), *flags]
    counts = {"passed": 0, "failed": 0}

    def on_line(line):
        found = parsed(line)
        if not isinstance(found, dict) or "what" not in found:
            return
        figure(prefix + found["what"], found.get("value"), found.get("unit", ""), key=False)
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


def speed(machine, given, parts):
    """`parts`: lists of flags, one run of gpu-check each, so that one that dies costs the others nothing."""
    machine.need_device()
    if not knows_sizes(machine):
        raise Skip("this tutti-gpu-check has no --sizes")
    for flags in parts:
        gpu_check(machine, "speed", flags)


def speed_large(machine, given):
    if machine.dry:
        return speed(machine, given, [["--sizes", "tiny", "--types", "float32", "--slots", "1,4", "--seconds", "0.05"]])
    speed(machine, given, [["--sizes", size, "--types", FAST_TYPES, "--slots", SLOTS, "--seconds", "0.3"] for size in ("large-v3", "turbo")])


def speed_beams(machine, given):
    if machine.dry:
        return speed(machine, given, [["--sizes", "tiny", "--types", "float32", "--slots", "1", "--seconds", "0.05", "--beams", "5"]])
    speed(machine, given, [["--sizes", size, "--types", "float16", "--slots", "8,32,64", "--seconds", "0.3", "--beams", "5"]
                           for size in ("large-v3", "turbo")])


def speed_small(machine, given):
    machine.need_gpu()
    speed(machine, given, [["--sizes", "small,base,tiny,medium", "--types", "float16", "--slots", SLOTS, "--seconds", "0.2"],
                           ["--sizes", "large-v3,tiny", "--types", "float32,tf32", "--slots", "8,32", "--seconds", "0.2"]])


def kernels(machine, given):
    """Which kernels an encoding and a step wait for."""
    machine.need_gpu()
    gpu_check(machine, "kernels", ["--sizes", "large-v3,turbo", "--types", "float16", "--slots", "1,8,32,128"])


# The program on recordings.


def transcribe(machine, name, files, device, compute_type, flags=(), model=None, language="en", environment=None):
    """(texts by recording's stem, summary) of one run, or None where it failed."""
    out = machine.fresh(f"transcripts/{name}")
    done = machine.run([machine.program("tutti"), "transcribe", "--model", model or machine.model, "--json", "-f", "json", "-o", out,
                        "--device", device, "--compute-type", compute_type, *(["--language", language] if language else []), *flags, *files],
                       environment=environment)
    if not done.expect():
        return None
    for line in done.log.splitlines():
        if SLOWER.search(line) and not line.startswith("{"):
            failed(f"{name}: slower steps: {line.strip()}")
    summary = next((event for event in done.events if event.get("event") == "summary"), {})
    return texts_of(out), {**summary, "log": done.log}


def texts_of(folder):
    """The text of every JSON transcript of a folder, by the recording's name."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        found[path.name.split(".")[0]] = (parsed(path.read_text()) or {}).get("text", "").strip()
    return found


def word_errors(machine, name, clips, texts):
    """In percent over all clips, by `tutti wer` with the normaliser that `tutti evaluate --normaliser english` uses."""
    folder = machine.fresh(f"errors/{name}")
    (folder / "references").write_text("".join(text + "\n" for _, text in clips))
    (folder / "texts").write_text("".join(texts.get(path.stem, "").replace("\n", " ") + "\n" for path, _ in clips))
    done = machine.run([machine.program("tutti"), "wer", "--by-line", "--normalizer", "english", "--json", "--ref", folder / "references",
                        "--hyp", folder / "texts"])
    return 100 * (parsed("\n".join(done.lines)) or {}).get("wer", 1) if done.expect() else None


def rate_of(summary):
    """Audio over wall time, without the time in which the model was loaded."""
    seconds = summary.get("elapsed_seconds", 0) - summary.get("model_load_seconds", 0)
    return summary.get("audio_seconds", 0) / seconds if seconds > 0 else 0


def real_model(machine, given):
    machine.need_device()
    machine.need_model()
    clips = machine.clips(2 if machine.dry else None)
    files = [path for path, _ in clips]
    figure("clips", len(clips))
    reference = transcribe(machine, "cpu-float32", files, "cpu", "float32", GREEDY)
    if reference is None:
        return
    wanted = reference[0]
    least = word_errors(machine, "cpu-float32", clips, wanted)
    figure("cpu float32, word errors", least, "%")
    figure("cpu float32, x real time", rate_of(reference[1]), "x", key=False)
    runs = [(type_, type_, GREEDY, None) for type_ in (("int8",) if machine.dry else GPU_TYPES)]
    if not machine.dry:
        runs += [("float16 batched", "float16", [*GREEDY, "--batched"], None), ("float16 five beams", "float16", [], None),
                 ("float16 eager", "float16", GREEDY, {"TUTTI_STEP": "eager"})]
    for name, type_, flags, environment in runs:
        found = transcribe(machine, name.replace(" ", "-"), files, machine.device, type_, flags, environment=environment)
        if found is None:
            continue
        texts, summary = found
        other = [path.stem for path in files if texts.get(path.stem) != wanted.get(path.stem)]
        errors = word_errors(machine, name.replace(" ", "-"), clips, texts)
        figure(f"{name}, word errors", errors, "%")
        figure(f"{name}, other words", len(other), "clips")
        figure(f"{name}, x real time", rate_of(summary), "x")
        if name == "float32" and other:
            failed(f"float32: other words than the CPU's in {len(other)} clips: {', '.join(other[:5])}: "
                   f"{texts.get(other[0])!r} instead of {wanted.get(other[0])!r}")
        if errors is not None and least is not None and errors > least + (10 if machine.dry else 2):
            failed(f"{name}: {errors:.2f} % word errors, the CPU's float32 {least:.2f} %")


def speech(machine, count, seconds):
    """Recordings of 16 kHz of that length, all different: the digits of a sample, over and over."""
    folder = machine.fresh("speech")
    with wave.open(str(load.ROOT / "samples/george.wav")) as file:
        rate, digits = file.getframerate(), array.array("h", file.readframes(file.getnframes()))
    doubled = array.array("h", (digits[at * rate // 16000] for at in range(len(digits) * 16000 // rate)))
    for number in range(count):
        turned = doubled[number * 977 % len(doubled):] + doubled[:number * 977 % len(doubled)]
        samples = (turned * (seconds * 16000 // len(turned) + 1))[:seconds * 16000]
        with wave.open(str(folder / f"{number:03}.wav"), "wb") as file:
            file.setnchannels(1), file.setsampwidth(2), file.setframerate(16000), file.writeframes(samples.tobytes())
    return sorted(folder.iterdir())


def recite(machine, given):
    """The whole program at large sizes: models that decode to 100 tokens a window whatever the audio (bench/peers/reciting.py)."""
    machine.need_device()
    source = machine.load / "reciting"
    if not source.exists():
        source = load.ROOT / "../shared/data/whisper-tiny.en"
    if not (source / "tokenizer.json").exists():
        raise Skip("tiny.en's tokenizer is missing: it comes with the first load")
    files = speech(machine, 1 if machine.dry else 48, 60 if machine.dry else 600)
    make = "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import reciting, torch; reciting.reciting_model(sys.argv[4], pathlib.Path(sys.argv[2]), sys.argv[3])"
    for size in ("base",) if machine.dry else ("turbo", "large-v3"):
        made = machine.run([sys.executable, "-c", make, load.ROOT / "bench/peers", source, machine.scratch, size])
        if made.code != 0:
            raise Skip(f"this Python makes no model: {(made.log.strip().splitlines() or ['no reason'])[-1]}")
        model = next(machine.scratch.glob(f"reciting-{size}.en-*"))
        for name, flags in (("", ["--batch-size", "32"]), (" batched", ["--batched", "--batch-size", "32"]),
                            (" batched, 96 slots", ["--batched", "--batch-size", "96"])):
            found = transcribe(machine, f"recited-{size}{name}".replace(" ", "-").replace(",", ""), files, machine.device,
                               "float32" if machine.dry else "float16", [*GREEDY, *flags], model)
            if found is None:
                continue
            texts, summary = found
            figure(f"{size}{name}", rate_of(summary), "x real time")
            figure(f"{size}{name}, model loaded in", summary.get("model_load_seconds"), "s", key=False)
            for what, seconds in summary.get("seconds", {}).items():
                figure(f"{size}{name}, {what}", seconds, "s", key=False)
            if len(texts) != len(files) or not all(texts.values()):
                failed(f"{size}{name}: {sum(map(bool, texts.values()))} of {len(files)} recordings have a transcript with text")


def batch_words(machine, source, name, flags=()):
    """`tutti batch` over a folder. Without the real model, models/nano: its words are wrong and what they cost is right."""
    out = machine.fresh(name)
    model = machine.model if machine.model and not machine.dry else load.ROOT / "models/nano"
    return [machine.program("tutti"), "batch", source, "-o", out / "out", "--state", out / "state", "--report", out / "report.json", "-f",
            "json", "-y", "--devices", machine.device, "--model", model, "--beam-size", "None", *flags], out


def check_outputs(name, source, out, wanted=None):
    """Whether every recording has its transcript, and where `wanted` is given the same text."""
    texts = texts_of(out / "out")
    names = [path.name.split(".")[0] for path in sorted(source.iterdir())]
    lost = [one for one in names if one not in texts]
    if lost:
        failed(f"{name}: {len(lost)} of {len(names)} recordings have no transcript: {', '.join(lost[:3])}")
    if wanted is not None:
        other = [one for one in names if one in texts and texts[one] != wanted.get(one)]
        figure(f"{name}, other words", len(other), f"of {len(names)}")
    return texts


def report_figures(out):
    report = parsed((out / "report.json").read_text()) if (out / "report.json").exists() else None
    if not report:
        return {}
    figure("recordings", report.get("successful"))
    if report.get("duration_seconds"):
        figure("x real time, start included", report["audio_seconds"] / report["duration_seconds"], "x")
    for device in report.get("devices", []):
        figure(f"{device['id']} speed while busy", device.get("speed"), "x")
        figure(f"{device['id']} busy", device.get("busy_share"), "share")
        figure(f"{device['id']} restarts", device.get("restarts"), key=False)
        if device.get("idle"):
            figure(f"{device['id']} idle", json.dumps(device["idle"]), key=False)
    if report.get("failed") or report.get("copied_in_this_run"):
        failed(f"{report.get('failed')} recordings failed, {report.get('copied_in_this_run')} were taken for copies")
    return report


def batch(machine, given):
    machine.need_device()
    if not machine.model and not machine.dry:
        note("models/nano instead of tiny.en: the weights are missing")
    source = machine.copies("many", 3 if machine.dry else 1500, 1 if machine.dry else None)
    words, out = batch_words(machine, source, "batch")
    if machine.run(words).expect():
        report_figures(out)
        check_outputs("batch", source, out)


def two_workers(machine, given):
    """Two programs on one card at once: both must end well, with the words of one alone."""
    machine.need_device()
    model = machine.model if machine.model and not machine.dry else load.ROOT / "models/nano"
    language = ["--language", "en"] if model == machine.model else []
    files = [path for path, _ in machine.clips(1 if machine.dry else None)]
    words = [machine.program("tutti"), "transcribe", "--model", model, "-f", "json", "--quiet", "--device", machine.device, "--beam-size", "None",
             "--deterministic", *language]
    alone = machine.fresh("alone")
    if not machine.run([*words, "-o", alone, *files]).expect():
        return
    wanted, folders = texts_of(alone), [machine.fresh("first"), machine.fresh("second")]
    both = [machine.start([*words, "-o", folder, *files]) for folder in folders]
    for process, folder in zip(both, folders):
        if process.wait() != 0:
            failed(f"one of two ended with exit code {process.returncode}")
        other = sum(texts_of(folder).get(name) != text for name, text in wanted.items())
        figure(f"{folder.name}, other words", other, f"of {len(wanted)} clips")
        if other:
            failed(f"{other} of {len(wanted)} clips differ from those of one program alone (--deterministic)")


def kill(machine, given):
    """kill -9 of the worker while a batch runs: nothing may be lost, and the words are those of an undisturbed run."""
    machine.need_device()
    source = machine.copies("killed-in", 4 if machine.dry else 300, 1 if machine.dry else None)
    words, calm = batch_words(machine, source, "undisturbed", ["--deterministic"])
    if not machine.run(words).expect():
        return
    wanted = check_outputs("undisturbed", source, calm)
    words, out = batch_words(machine, source, "killed", ["--deterministic"])
    process, killed, least = machine.start(words), 0, 1
    while process.poll() is None:
        time.sleep(0.01)
        if killed < (1 if machine.dry else 3) and len(list((out / "out").glob("*.json"))) >= least:
            for worker in descendants(process.pid, "tutti-engine"):
                os.kill(worker, signal.SIGKILL)
                killed += 1
                least += len(wanted) // 4
    figure("workers killed", killed)
    if process.returncode != 0:
        failed(f"the batch ended with exit code {process.returncode}")
    if killed == 0:
        failed("no worker was killed: the batch was over before")
    found = check_outputs("killed", source, out, wanted)
    other = sum(found.get(name) != text for name, text in wanted.items())
    if other:
        failed(f"{other} texts differ from those of the undisturbed run (--deterministic)")


# Training.


def metrics_of(out):
    path = out / "metrics.jsonl"
    lines = [parsed(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for line in lines if line and "loss" in line]


def training(machine, given):
    """whisper-small from new weights: what the card does, not what it learns."""
    machine.need_device()
    data, out = machine.data_set(1 if machine.dry else 2048), machine.fresh("trained")
    words = [machine.program("tutti"), "train", "whisper", "--data", data, "--out", out / "small", "--device", machine.device, "--epochs", "0",
             "--eval-samples", "1", "--log-steps", "1" if machine.dry else "5", "--save-steps", "0", "--seed", "1"]
    if machine.dry:
        words += ["--config", load.ROOT / "recipes/smoke.toml", "--max-steps", "4"]
    else:
        words += ["--width", "768", "--heads", "12", "--encoder-layers", "12", "--decoder-layers", "12", "--vocabulary", "multilingual",
                  "--precision", "bfloat16", "--batch-size", "32", "--max-steps", "100000", "--max-minutes", "0.6", "--cache", out / "cache",
                  "--data-set", "device"]
    done = machine.run(words)
    if not done.expect():
        return
    lines = metrics_of(out / "small")
    steady = lines[len(lines) // 3:]  # behind graphs, tuned kernels and a full ring
    rates = [line["samples"] / line["seconds"] for line in steady if line.get("seconds")]
    if not rates:
        return failed("metrics.jsonl has no line with a loss")
    rate = statistics.median(rates)
    figure("samples/s", rate, "samples/s")
    figure("loss, first and last", f"{lines[0]['loss']:.4f} {lines[-1]['loss']:.4f}")
    figure("waited", sum(line["waited"] for line in steady) / max(1e-9, sum(line["seconds"] for line in steady)), "share")
    mfu = [line["mfu"] for line in steady if line.get("mfu")]
    if mfu:
        figure("MFU", statistics.median(mfu), "share")
    peak = next((flops for name, flops in CARD_FLOPS.items() if name in machine.card_text()), None)
    if peak and not machine.dry:
        figure("MFU by 1.29 TFLOP a sample", rate * TRAINING_FLOPS / peak, "share")


def losses(machine, given):
    """The losses of a tiny training beside those of the CPU. In a dry run: twice the CPU, which must be equal."""
    machine.need_device()
    data, out = machine.data_set(), machine.fresh("losses")
    steps = "5" if machine.dry else "20"
    found = {}
    for name, device in (("cpu", "cpu"), ("again" if machine.dry else "gpu", machine.device)):
        done = machine.run([machine.program("tutti"), "train", "whisper", "--config", load.ROOT / "recipes/smoke.toml", "--data", data, "--out",
                            out / name, "--device", device, "--epochs", "0", "--max-steps", steps, "--save-steps", "0", "--eval-samples", "1"])
        if not done.expect():
            return
        found[name] = [line["loss"] for line in metrics_of(out / name)]
    (cpu, other) = found.values()
    if len(cpu) != len(other) or not cpu:
        return failed(f"{len(cpu)} losses on the CPU, {len(other)} on {machine.device}")
    difference = max(abs(a - b) / abs(a) for a, b in zip(cpu, other))
    figure("losses", len(cpu))
    figure("largest difference", difference, "of the loss")
    figure("losses cpu", " ".join(f"{one:.4f}" for one in cpu), key=False)
    figure(f"losses {machine.device}", " ".join(f"{one:.4f}" for one in other), key=False)
    if difference > (0 if machine.dry else 1e-2):
        failed(f"the losses differ by {difference:.2g} of their size")


# Faults of the machine.


def memory(machine, given):
    """Another process holds the card's memory, and slots are asked for that do not fit: the worker must back off, with all its words."""
    machine.need_device()
    machine.need_gpu()
    model = machine.need_model()
    files = sorted(machine.copies("ladder", 160).iterdir())
    calm = transcribe(machine, "ladder-calm", files, machine.device, "float16", [*GREEDY, "--batch-size", "32"], model)
    if calm is None:
        return
    for left in (6 << 30, 2 << 30, 1 << 30):
        holder = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).with_name("main.py")), "--hold", str(left)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        try:
            held = holder.stdout.readline().strip()
            note(held)
            if not held.startswith("held"):
                failed(f"the memory could not be held: {held}")
                continue
            name = f"{left >> 30} GiB left"
            found = transcribe(machine, "ladder-" + str(left >> 30), files, machine.device, "float16", [*GREEDY, "--batch-size", "1024"], model)
            if found is None:
                continue
            texts, summary = found
            back_offs = [line for line in summary["log"].splitlines() if "sequences at a time instead of" in line and not line.startswith("{")]
            other = sum(texts.get(one) != text for one, text in calm[0].items())
            figure(f"{name}, back-offs", len(back_offs))
            figure(f"{name}, other words", other, f"of {len(files)}")
            figure(f"{name}, x real time", rate_of(summary), "x")
            if len(texts) != len(files):
                failed(f"{name}: {len(files) - len(texts)} recordings have no transcript")
            if left < 1024 * BYTES_OF_A_WINDOW // 3 and not back_offs:
                note(f"{name}: no line about a back-off: see the log for what the plan allowed")
        finally:
            holder.kill()
            holder.wait()


def nvml(machine, given):
    """doctor's figures beside nvidia-smi's while a batch keeps the card busy."""
    machine.need_device()
    machine.need_gpu()
    source = machine.copies("busy", 1500)
    words, _ = batch_words(machine, source, "busy-out")
    process, differences, busiest, looks = machine.start(words), {}, 0, 0
    try:
        while process.poll() is None and looks < 20:
            looks += 1
            cards = machine.query_cards()
            doctor = machine.run([machine.program("tutti"), "doctor", "--json"])
            found = compare_card(parsed("\n".join(doctor.lines)) or {}, cards, loaded=True)
            differences = {key: max(found.get(key, 0), differences.get(key, 0)) for key in {*found, *differences}}
            busiest = max([busiest, *(float(card["utilization.gpu"]) for card in cards if card["utilization.gpu"].isdigit())])
            time.sleep(0.5)
    finally:
        process.terminate()
        process.wait()
    figure("busiest, nvidia-smi", busiest, "%")
    for key, value in sorted(differences.items()):
        figure(f"largest difference, {key}", value)
    figure("looks", looks)
    if busiest == 0:
        failed(f"the card was never seen busy in {looks} looks: see the log for how the batch ended")


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
                        "regex:[Aa]ttend", "--launch-skip", "200", "--launch-count", "3", "--csv", "--page", "details", "--section", "SpeedOfLight",
                        "--section", "LaunchStats", "--section", "Occupancy", "--section", "MemoryWorkloadAnalysis",
                        machine.program("tutti-gpu-check"), "--json", *flags], limit=max(10, given.seconds - 8))
    wanted = ("Duration", "Memory Throughput", "DRAM Throughput", "Compute (SM) Throughput", "Registers Per Thread", "Achieved Occupancy",
              "Max Bandwidth", "L2 Hit Rate")
    rows = list(csv.reader(line for line in done.lines if line.startswith('"')))
    header = rows[0] if rows else []
    if "Metric Name" not in header:
        return failed(f"ncu gave no metrics (exit code {done.code}): {' / '.join((done.lines + done.log.splitlines())[-3:])}")
    at = {name: header.index(name) for name in ("ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value")}
    seen = set()
    for row in rows[1:]:
        if len(row) == len(header) and row[at["Metric Name"]] in wanted:
            key = (row[at["ID"]], row[at["Metric Name"]])
            if key not in seen:
                seen.add(key)
                figure(f"launch {row[at['ID']]}, {row[at['Metric Name']]}", row[at["Metric Value"]], row[at["Metric Unit"]], key=row[at["ID"]] == "0")
    note(rows[1][at["Kernel Name"]] if len(rows) > 1 else "")


# Name, what it does, its longest seconds on a GPU and in a dry run; in the order that a run of minutes should have.
STAGES = {
    "load": (load_stage, 60, 60),
    "environment": (environment, 45, 30),
    "step": (plain_check("step", 20), 90, 40),
    "parity": (parity, 60, 60),
    "selection": (plain_check("selection", 20), 60, 40),
    "worker": (plain_check("worker"), 60, 60),
    "speed-large": (speed_large, 150, 60),
    "speed-beams": (speed_beams, 45, 60),
    "recite": (recite, 150, 60),
    "kernels": (kernels, 60, 10),
    "real-model": (real_model, 120, 60),
    "batch": (batch, 60, 60),
    "training": (training, 90, 120),
    "losses": (losses, 60, 120),
    "memory": (memory, 75, 30),
    "two-workers": (two_workers, 45, 60),
    "kill": (kill, 75, 60),
    "nvml": (nvml, 40, 30),
    "speed-small": (speed_small, 60, 30),
    "sanitizer": (sanitizer, 60, 30),
    "ncu": (ncu, 60, 30),
}
