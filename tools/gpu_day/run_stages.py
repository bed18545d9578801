"""Stages that run the program itself: transcribing and training."""
import array
import json
import pathlib
import statistics
import sys
import wave

import load
from check_stages import SLOWER
from machine import Skip, failed, figure, note, parsed

GREEDY = ["--beam-size", "None", "--temperature-increment-on-fallback", "None"]
GPU_TYPES = ("float32", "tf32", "bfloat16", "float16", "int8_float16")
TRAINING_FLOPS = 1.29e12  # whisper-small, a sample of 30 s with 128 tokens, forward and backward
CARD_FLOPS = {"H100": 989e12, "H200": 989e12}  # dense bfloat16, by the datasheet


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
        source = load.shared_data() / "whisper-tiny.en"
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
