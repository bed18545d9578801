#!/usr/bin/env python3
"""How well `tutti train classifier` names recordings of groups that it has not learned, network and plain baseline side by side.

Usage: bench/classifier.py WORK [--only gpla12,digits,leaks] [--seeds 5] [--tutti build/bin/tutti] [--data ../shared/data] [-- FLAG...]

gpla12: the 684 signals of GPLA-12, of unknown groups; each seed holds out a fifth of each kind. digits: each seed holds out
one speaker of the Free Spoken Digit Dataset, and the next one chooses the network. leaks: synthetic pipes (`tutti synth leaks`); a
third of the sensors, each on a pipe of its own, is held out. The labelled sound gets softer by 5 dB until the baseline names less
than 85 % right; a step of training is enough to know that. No setting is chosen by hand: FLAG goes to every training alike, such as
`-- --tune-minutes 5`.

Each training takes one thread. WORK/results.jsonl has a line for each seed, with date, processor and flags, what was named right of
each label, and how the training ended; what is there already is not trained again. The last lines are the means over the seeds, and
the labels that are found least. Run it with `nice -n 15` beside other work.
"""
import argparse
import array
import csv
import datetime
import hashlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time
import wave

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "recipes"))
from command_line import add_program, parse_line  # noqa: E402

SPEAKERS = ["george", "jackson", "lucas", "nicolas", "theo", "yweweler"]
RATE, FULL_SCALE = 8000, 1024  # GPLA-12's rate is not known: a WAV file has to have one
LEAST_DB, STEP_DB, MOST_DB = -20, 5, 20
HARD = 0.85


def processor():
    """Its name, family and model, and the widest instructions that torch takes: a network's sums depend on these."""
    lines = [line.split(":", 1) for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if ":" in line]
    facts = {key.strip(): value.strip() for key, value in lines}
    widest = next((name for name in ("avx512f", "avx2") if name in facts.get("flags", "").split()), "no avx2")
    return f"{facts.get('model name', 'unknown')} (family {facts.get('cpu family')}, model {facts.get('model')}, {widest})"


def write_list(path, rows):
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["path", "label", "group", "split"])
        lines.writerows(rows)


def gpla12(options, seed, folder):
    audio = options.work / "gpla12"
    data = options.data / "leaks/gpla12"
    labels = [line.strip() for line in (data / "label.csv").read_text().splitlines() if line.strip()]
    if not audio.exists():
        audio.mkdir(parents=True)
        with (data / "data.csv").open() as file:
            for index, line in enumerate(line for line in csv.reader(file) if line):
                values = [float(value) for value in line]
                mean = statistics.fmean(values)
                pcm = array.array("h", (round(max(-1, min(1, (value - mean) / FULL_SCALE)) * 32767) for value in values))
                with wave.open(str(audio / f"{index:03}.wav"), "wb") as wav:
                    wav.setnchannels(1)
                    wav.setsampwidth(2)
                    wav.setframerate(RATE)
                    wav.writeframes(pcm.tobytes())
    draw = random.Random(f"gpla12 {seed}")
    rows = []
    for label in sorted(set(labels)):
        indices = [index for index, other in enumerate(labels) if other == label]
        draw.shuffle(indices)
        fifth, eighth = len(indices) // 5, len(indices) // 10
        for place, index in enumerate(indices):
            part = "test" if place < fifth else "validation" if place < fifth + eighth else "train"
            rows.append([(audio / f"{index:03}.wav").resolve(), f"{int(label):02}", f"signal {index}", part])
    write_list(folder / "list.csv", rows)


def digits(options, seed, folder):
    held, choosing = SPEAKERS[seed % len(SPEAKERS)], SPEAKERS[(seed + 1) % len(SPEAKERS)]
    rows = []
    for path in sorted((options.data / "digits").glob("*_*_*.wav")):
        digit, speaker, _ = path.stem.split("_")
        part = "test" if speaker == held else "validation" if speaker == choosing else "train"
        rows.append([path.resolve(), digit, speaker, part])
    write_list(folder / "list.csv", rows)


def leaks(options, seed, folder, ratio):
    corpus = options.work / f"leaks-{seed}-{ratio}"
    if not (corpus / "metadata.csv").exists():
        subprocess.run([options.tutti, "synth", "leaks", "--count", str(options.clips), "--seed", str(4000 + seed), "--sensors", "36",
                        f"--snr-db={ratio}:{ratio + STEP_DB}", "--threads", "1", "--out", corpus], check=True)
    rows = []
    with (corpus / "metadata.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            sensor = row["sensor"]
            if row["gain_db"] == "1":
                continue
            place = int(sensor[1:]) % 6
            rows.append([(corpus / row["audio_file"]).resolve(), row["label"], sensor,
                         "test" if place < 2 else "validation" if place < 3 else "train"])
    write_list(folder / "list.csv", rows)


def evaluated(options, model, data):
    end = subprocess.run([options.tutti, "evaluate", "--model", model, "--data", data, "--device", "cpu", "--threads", "1", "--json"],
                         check=True, capture_output=True, text=True)
    return json.loads(end.stdout)


def trained(options, folder, more):
    """Trains by FLAG into folder/out, and returns that."""
    out = folder / "out"
    with (folder / "train.log").open("w") as log:
        subprocess.run([options.tutti, "train", "classifier", "--data", folder / "list.csv", "--out", out, "--device", "cpu",
                        "--compute-threads", "1", *more], check=True, stdout=subprocess.DEVNULL, stderr=log)
    return out


def scored(options, out):
    """Accuracies on the part for testing: of the baseline, of the network, and of what ships; of that each label's share, too."""
    result = json.loads((out / "result.json").read_text())
    network = out / ("model" if result["ships"] == "network" else "network")
    ships = evaluated(options, out / "model", out / "set")
    course = result.get("validation_loss", {})
    return {"baseline": evaluated(options, out / "baseline", out / "set")["accuracy"],
            "network": evaluated(options, network, out / "set")["accuracy"],
            "ships": ships["accuracy"], "kind": result["ships"], "files": ships["files"],
            "found": {label: [line[index], sum(line)] for index, (label, line) in enumerate(zip(ships["labels"], ships["confusion"]))},
            "steps": course.get("last_step"), "least_loss_step": course.get("least_step")}


def folder_of(options, name, seed, more, ratio):
    """An empty folder for a training, with its list of files."""
    digest = hashlib.sha256(" ".join(more).encode()).hexdigest()[:8]
    folder = options.work / "-".join(["run", name, str(seed), *([] if ratio is None else [str(ratio)]), digest])
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    if ratio is None:
        {"gpla12": gpla12, "digits": digits}[name](options, seed, folder)
    else:
        leaks(options, seed, folder, ratio)
    return folder


def row_with(known, key):
    return next((row for row in known if all(row.get(field) == value for field, value in key.items())), None)


def keep(options, known, row):
    row |= {"date": datetime.date.today().isoformat(), "processor": processor()}
    with (options.work / "results.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    known.append(row)


def measured(options, name, seed, more, known, ratio=None):
    key = {"set": name, "seed": seed, "flags": more, **({} if ratio is None else {"snr_db": ratio, "clips": options.clips})}
    row = row_with(known, key)
    if row:
        return row
    start = time.monotonic()
    out = trained(options, folder_of(options, name, seed, more, ratio), more)
    row = {**key, "minutes": round((time.monotonic() - start) / 60, 1), **scored(options, out)}
    keep(options, known, row)
    print(f"{name} seed {seed}{'' if ratio is None else f' at {ratio} dB'}: baseline {100 * row['baseline']:.2f} %, "
          f"network {100 * row['network']:.2f} %, ships the {row['kind']}: {100 * row['ships']:.2f} %", flush=True)
    return row


def hard_ratio(options, known):
    """The first ratio at which the baseline is below 85 %: it does not depend on the network, which takes one step."""
    for ratio in range(MOST_DB, LEAST_DB - 1, -STEP_DB):
        key = {"set": "leaks, baseline alone", "snr_db": ratio, "clips": options.clips}
        row = row_with(known, key)
        if not row:
            more = ["--max-steps", "1"]
            out = trained(options, folder_of(options, "leaks", 0, more, ratio), more)
            row = {**key, "baseline": evaluated(options, out / "baseline", out / "set")["accuracy"]}
            keep(options, known, row)
            print(f"leaks at {ratio} dB: the baseline names {100 * row['baseline']:.2f} % right", flush=True)
        if row["baseline"] < HARD:
            return ratio
    sys.exit("leaks: the baseline names 85 % and more right at any ratio")


def rows_of(options, name, more, known):
    """A row for each seed; of leaks at the first ratio at which the baseline is below 85 %."""
    ratio = hard_ratio(options, known) if name == "leaks" else None
    return [measured(options, name, seed, more, known, ratio) for seed in range(options.seeds)]


def least_found(rows):
    """The three labels of which what ships finds the least share, over all seeds."""
    counts = {}
    for row in rows:
        for label, (right, files) in row.get("found", {}).items():
            counts.setdefault(label, []).append((right, files))
    sums = {label: [sum(column) for column in zip(*pairs)] for label, pairs in counts.items()}
    least = sorted(sums.items(), key=lambda one: one[1][0] / max(one[1][1], 1))[:3]
    return ", ".join(f"{label} {right} of {files}" for label, (right, files) in least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="gpla12,digits,leaks")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--clips", type=int, default=1500, help="of the synthetic corpus")
    add_program(parser)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "../shared/data")
    options, more = parse_line(parser)
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.work / "results.jsonl"
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    for name in options.only.split(","):
        if name not in ("gpla12", "digits", "leaks"):
            sys.exit(f"--only: expected gpla12, digits or leaks, found '{name}'")
        rows = rows_of(options, name, more, known)
        mean = {kind: 100 * statistics.fmean(row[kind] for row in rows) for kind in ("baseline", "network", "ships")}
        print(f"{name}: {len(rows)} seeds, baseline {mean['baseline']:.2f} %, network {mean['network']:.2f} %, "
              f"ships {mean['ships']:.2f} % ({mean['ships'] - mean['baseline']:+.2f} points); found least: {least_found(rows)}")


if __name__ == "__main__":
    main()
