"""What a second worker brings: `tutti batch` on two cores beside itself on one of them, in turn."""
import json
import pathlib
import statistics
import tempfile

from clips import seconds_of
from contract import Line
from measured import measure
from side_by_side import compared, row

LINES = {"batch/base/two-workers": Line("short40", "base", "greedy")}


def two_worker_lines(bench, name):
    """As `compared`, ours on cpu:0 and cpu:1, the peer on cpu:0: the ratio is by how much two are faster. A second line
    leaves out the loading of the model, which a batch of hours does not notice."""
    line = LINES[name]
    files, model = bench.files(line), bench.model(line, "hugging-face")
    runs = {"cpu:0,cpu:1": [], "cpu:0": []}
    working = {devices: [] for devices in runs}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(bench.runs):
            for devices in runs:
                place = pathlib.Path(folder, f"{number}-{devices}")
                runs[devices].append(measure(bench.tutti.batch(model, place, files, devices)))
                working[devices].append(seconds_at_work(json.loads((place / "report.json").read_text())))
    audio = sum(map(seconds_of, files))
    yield from compared(name, "cpu:0 alone", audio, runs["cpu:0,cpu:1"], runs["cpu:0"])
    two, one = (audio / statistics.median(working[devices]) for devices in runs)
    yield row(f"{name}/behind-the-loading", "x real time", two, "cpu:0 alone", one, less_is_better=False)


def seconds_at_work(report):
    """Of a run, from when its last worker had the model."""
    return report["duration_seconds"] - max(device["idle"].get("starting", 0) for device in report["devices"])
