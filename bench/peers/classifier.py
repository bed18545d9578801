"""Field note 003's training beside PyTorch: batches of 8,192 segments from memory, and steps of the same network."""
import json
import os
import pathlib
import statistics
import sys

from measured import CommandFailed, measure
from side_by_side import row

NAMES = ["classifier/gather", "classifier/step"]
SCRIPT = pathlib.Path(__file__).with_name("classifier_peer.py")


def our_rate(bench, name):
    """Segments a second; bench/train_classifier_bench.cpp makes its set itself."""
    program = bench.tutti.program.with_name("train_classifier_bench")
    found = measure([program, f"--benchmark_filter=^{name}/", "--benchmark_format=json"])
    figures = json.loads(found.output[found.output.index("{"):])["benchmarks"]
    if not figures or "samples" not in figures[0]:
        raise CommandFailed(f"{program} measured no {name}")
    return figures[0]["samples"]


def peer_rate(*words):
    return json.loads(measure([sys.executable, SCRIPT, *words]).output.splitlines()[-1])["rate"]


def classifier_lines(bench, name):
    peers = {"classifier/gather": [("PyTorch DataLoader, 0 workers", ("loader", 0)),
                                   (f"PyTorch DataLoader, {os.cpu_count()} workers", ("loader", os.cpu_count())),
                                   ("PyTorch index_select", ("index_select",))],
             "classifier/step": [("PyTorch eager, 3x3", ("step",))]}[name]
    ours, theirs = [], {peer: [] for peer, _ in peers}
    for _ in range(bench.runs):
        ours.append(our_rate(bench, name))
        for peer, words in peers:
            theirs[peer].append(peer_rate(*words))
    rates = {peer: statistics.median(found) for peer, found in theirs.items()}
    loaders = [peer for peer in rates if "DataLoader" in peer]
    if loaders:
        best = max(loaders, key=rates.get)
        yield row(name, "segments/s", statistics.median(ours), best, rates[best], less_is_better=False)
        yield row(f"{name}/index-select", "segments/s", statistics.median(ours), "PyTorch index_select",
                  rates["PyTorch index_select"], less_is_better=False)
    else:
        (peer, rate), = rates.items()
        yield row(name, "segments/s", statistics.median(ours), peer, rate, less_is_better=False)
