"""The feed beside the usual loader in Python: clips a second from files to batches of log-mel, on this machine's cores."""
import json
import os
import pathlib
import statistics
import sys
import tempfile

from measured import CommandFailed, measure
from side_by_side import row

#: Line, sound format of the corpus, and whether every clip is filled up to 30 s.
LINES = {"feed/wav": ("wav", False), "feed/flac": ("flac", False), "feed/mp3": ("mp3", False), "feed/padded30": ("wav", True)}
SCREENED = 480  # clips


def corpus(sound):
    """Where bench/feed_bench.cpp keeps the clips that both sides read."""
    return pathlib.Path(tempfile.gettempdir(), f"tutti-feed-bench-{sound}", "manifest.jsonl")


class FeedBench:
    def __init__(self, bench):
        self.bench, self.program = bench, bench.tutti.program.with_name("feed_bench")

    def run_ours(self, name):
        """Our rate and processor milliseconds a clip; the first run makes the corpus."""
        found = measure([self.program, f"--benchmark_filter=^{name}/", "--benchmark_format=json"])
        figures = json.loads(found.output)["benchmarks"]
        if not figures or "clips" not in figures[0]:
            raise CommandFailed(f"{self.program} measured no {name}: {figures[0].get('error_message') if figures else 'no such line'}")
        return found, figures[0]["clips"], figures[0]["cpu_ms"]

    def run_peer(self, name, setting, limit=None):
        sound, padded = LINES[name]
        decoder, workers = setting
        words = [sys.executable, pathlib.Path(__file__).with_name("loader.py"), decoder, workers, corpus(sound)]
        found = measure(words + (["--padded"] if padded else []) + (["--limit", limit] if limit else []))
        return found, json.loads(found.output.splitlines()[-1])

    def best_peer(self, name):
        """The decoder and number of workers that are fastest behind the first batch, remembered in the cache."""
        remembered = self.bench.remembered()
        if name not in remembered or self.bench.options.screen:
            remembered = {**self.bench.remembered(), name: self.screen(name)}
            self.bench.choices.write_text(json.dumps(remembered, indent=1))
        decoder, workers = remembered[name].split()
        return decoder, int(workers)

    def screen(self, name):
        rates = {}
        for decoder in ("soundfile", "torchaudio", "librosa"):
            for workers in sorted({0, 1, os.cpu_count(), 2 * os.cpu_count()}):
                try:
                    _, figures = self.run_peer(name, (decoder, workers), SCREENED)
                except CommandFailed as error:
                    print(f"  {name}: {decoder} cannot take part: {str(error).splitlines()[-1]}", flush=True)
                    break
                rates[f"{decoder} {workers}"] = figures["rate"]
                print(f"  {name}: DataLoader {decoder}, {workers} workers: {figures['rate']:.0f} clips/s", flush=True)
        if not rates:
            raise CommandFailed(f"no peer could run {name}")
        return max(rates, key=rates.get)

    def lines(self, name):
        self.run_ours(name)
        setting = self.best_peer(name)
        ours, theirs = [], []
        for _ in range(self.bench.runs):
            ours.append(self.run_ours(name))
            theirs.append(self.run_peer(name, setting))
        peer = f"DataLoader {setting[0]}, {setting[1]} workers"
        median = statistics.median
        yield row(name, "clips/s", median(rate for _, rate, _ in ours), peer, median(figures["rate"] for _, figures in theirs),
                  less_is_better=False)
        yield row(f"{name}/cpu", "ms a clip", median(cpu for _, _, cpu in ours), peer,
                  median(1000 * found.cpu_seconds / figures["clips"] for found, figures in theirs))
        yield row(f"{name}/peak-memory", "MiB", max(found.peak_mib for found, _, _ in ours), peer,
                  max(found.peak_mib for found, _ in theirs))
