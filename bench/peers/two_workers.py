"""What a second worker brings: `tutti batch` on two cores beside itself on one of them, in turn."""
import pathlib
import shutil
import statistics
import tempfile

from clips import part, seconds_of
from contract import Line
from measured import measure
from side_by_side import row

SIZE = "base"
LINES = ("batch/base/two-workers",)
WAYS = ("cpu:0,cpu:1", "cpu:0")


def two_worker_lines(bench, name):
    """The ten minutes and the forty clips on cpu:0 and cpu:1, the peer on cpu:0: the ratio is by how much two are faster.
    Every run has a store of its own that knows the devices' speeds from another run, as that of any machine but a new one does:
    on that the devices are timed first, which takes seconds, and one device alone needs no timing."""
    files = [*bench.files(Line("batched", SIZE, "greedy")), *bench.files(Line("short40", SIZE, "greedy"))]
    model = bench.model(Line("batched", SIZE, "greedy"), "hugging-face")
    runs = {devices: [] for devices in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        learned = pathlib.Path(folder, "learned")
        measure(bench.tutti.batch(model, learned, others(bench), WAYS[0]))
        for number in range(bench.runs):
            for devices in WAYS:
                place = pathlib.Path(folder, f"{number}-{devices}")
                shutil.copytree(learned / "state", place / "state")
                runs[devices].append(measure(bench.tutti.batch(model, place, files, devices), memory=False))
    audio = sum(map(seconds_of, files))
    two, one = ({field: statistics.median(getattr(run, field) for run in runs[devices]) for field in ("seconds", "cpu_seconds")}
                for devices in WAYS)
    yield row(name, "x real time", audio / two["seconds"], "cpu:0 alone", audio / one["seconds"], less_is_better=False)
    yield row(f"{name}/cpu", "cpu seconds", two["cpu_seconds"], "cpu:0 alone", one["cpu_seconds"])


def others(bench):
    """Enough that both devices get some, and none of those measured: a batch knows a recording again by its sound."""
    speech = bench.options.data / "speech/gb0.wav"
    return [part(speech, start, 15, bench.audio / f"other-{start}.flac") for start in range(2, 107, 5)]
