#!/usr/bin/env python3
"""How well `tutti train classifier` names recordings of groups that it has not learned, network and plain baseline side by side.

Usage: bench/classifier.py WORK [--only gpla12,digits,leaks] [--seeds 5] [--tutti build/bin/tutti] [--data ../shared/data] [-- FLAG...]

gpla12: the 684 signals of GPLA-12, of unknown groups; each seed holds out a fifth of each kind. digits: each seed holds out
one speaker of the Free Spoken Digit Dataset, and the next one chooses the network. leaks: synthetic pipes (`tutti synth leaks`); a
third of the sensors, each on a pipe of its own, is held out. The labelled sound gets softer by 5 dB until the baseline names less
than 85 % right. No setting is chosen by hand: FLAG goes to every training alike, such as `-- --tune-minutes 5`.

Each training takes one thread. WORK/results.jsonl has a line for each seed, with date, processor and flags; what is there already
is not trained again. The last lines are the means over the seeds. Run it with `nice -n 15` beside other work.
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
import wave

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "recipes"))
from command_line import add_program, parse_line  # noqa: E402

SPEAKERS = ["george", "jackson", "lucas", "nicolas", "theo", "yweweler"]
RATE, FULL_SCALE = 8000, 1024  # GPLA-12's rate is not known: a WAV file has to have one
LEAST_DB, STEP_DB, MOST_DB = -20, 5, 20
HARD = 0.85


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), "unknown")


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
    return json.loads(end.stdout)["accuracy"]


def trained(options, folder, more):
    """Accuracies on the part for testing: of the baseline, of the network, and of what ships."""
    out = folder / "out"
    with (folder / "train.log").open("w") as log:
        subprocess.run([options.tutti, "train", "classifier", "--data", folder / "list.csv", "--out", out, "--device", "cpu",
                        "--compute-threads", "1", *more], check=True, stdout=subprocess.DEVNULL, stderr=log)
    result = json.loads((out / "result.json").read_text())
    network = out / ("model" if result["ships"] == "network" else "network")
    return {"baseline": evaluated(options, out / "baseline", out / "set"), "network": evaluated(options, network, out / "set"),
            "ships": evaluated(options, out / "model", out / "set"), "kind": result["ships"]}


def measured(options, name, seed, more, known, ratio=None):
    key = {"set": name, "seed": seed, "flags": more, **({} if ratio is None else {"snr_db": ratio})}
    for row in known:
        if all(row.get(field) == value for field, value in key.items()):
            return row
    folder = options.work / "-".join(["run", name, str(seed), *([] if ratio is None else [str(ratio)]), hashlib.sha256(' '.join(more).encode()).hexdigest()[:8]])
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    if ratio is None:
        {"gpla12": gpla12, "digits": digits}[name](options, seed, folder)
    else:
        leaks(options, seed, folder, ratio)
    row = {**key, **trained(options, folder, more), "date": datetime.date.today().isoformat(), "processor": processor()}
    with (options.work / "results.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    known.append(row)
    print(f"{name} seed {seed}{'' if ratio is None else f' at {ratio} dB'}: baseline {100 * row['baseline']:.2f} %, "
          f"network {100 * row['network']:.2f} %, ships the {row['kind']}: {100 * row['ships']:.2f} %", flush=True)
    return row


def rows_of(options, name, more, known):
    """A row for each seed; of leaks at the first ratio at which the baseline is below 85 %."""
    seeds = range(options.seeds)
    if name != "leaks":
        return [measured(options, name, seed, more, known) for seed in seeds]
    for ratio in range(MOST_DB, LEAST_DB - 1, -STEP_DB):
        first = measured(options, name, 0, more, known, ratio)
        if first["baseline"] < HARD:
            return [first] + [measured(options, name, seed, more, known, ratio) for seed in seeds[1:]]
    sys.exit("leaks: the baseline names 85 % and more right at any ratio")


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
              f"ships {mean['ships']:.2f} % ({mean['ships'] - mean['baseline']:+.2f} points)")


if __name__ == "__main__":
    main()
