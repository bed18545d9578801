"""Training beside PyTorch eager: steps a second of a Whisper of tiny's shape, batches of 30 s windows, on this processor."""
import json
import pathlib
import statistics
import sys
import tempfile

from measured import measure
from side_by_side import row

WIDTH, HEADS, LAYERS, VOCABULARY = 384, 6, 4, 51864
TOKENS = 4  # of a text of one letter, as the set has them: start, no-timestamps, the letter, end
ROWS, STEPS = 8, 12

PRECISIONS = ("float32", "bfloat16")
NAMES = [f"train/tiny/{precision}" for precision in PRECISIONS]


def our_command(bench, out, manifest, precision):
    shape = ["--width", WIDTH, "--heads", HEADS, "--encoder-layers", LAYERS, "--decoder-layers", LAYERS, "--vocabulary", "english"]
    return [bench.tutti.program, "train", "whisper", "--data", manifest, "--out", out, *shape, "--batch-size", ROWS, "--padding",
            "window", "--max-steps", STEPS, "--precision", precision, "--log-steps", 1, "--save-steps", 0]


def our_seconds(out):
    """Of a step, without what it waited for the feed: the peer has its batch in memory."""
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [line["seconds"] - line["waited"] for line in lines if "loss" in line]
    return statistics.median(steps[3:])


def training_lines(bench, name, manifest):
    precision = name.rsplit("/", 1)[1]
    ours, theirs, our_runs, peer_runs = [], [], [], []
    for _ in range(bench.runs):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            our_runs.append(measure(our_command(bench, out, manifest, precision)))
            ours.append(our_seconds(out))
        peer = [sys.executable, pathlib.Path(__file__).with_name("train_step.py"), precision, ROWS, STEPS]
        peer_runs.append(measure(peer))
        theirs.append(json.loads(peer_runs[-1].output.splitlines()[-1])["seconds"])
    setting = f"PyTorch eager {precision}"
    yield row(name, "steps/s", 1 / statistics.median(ours), setting, 1 / statistics.median(theirs), less_is_better=False)
    yield row(f"{name}/peak-memory", "MiB", max(run.peak_mib for run in our_runs), setting, max(run.peak_mib for run in peer_runs))
