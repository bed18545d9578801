#!/usr/bin/env python3
"""Tests of tools/gpu_day.sh: a dry run of all stages, limits and signals, and the loads that travel to the card's machine.

Usage: gpu_day_test.py BIN. BIN is the folder of the programs.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/gpu_day.sh"
sys.path.insert(0, str(ROOT / "tools/gpu_day"))

import check_stages
import machine
from load import shared_data

BIN = ROOT / "build/bin"


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class WithFolder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.out = self.folder / "results/out"  # the run makes it

    def command(self, *words):
        return [str(word) for word in (SCRIPT, "--scratch", self.folder / "scratch", *words)]

    def run_day(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, env={**os.environ, "OUT": str(self.out)})
        return done, lines_of(done.stdout)

    def programs(self, check):
        """A folder of programs whose gpu-check is a script."""
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        for name, text in {"tutti": "exit 0", "tutti-engine": "exit 0", "libtutti-cuda.so": "", "tutti-gpu-check": check}.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        return programs


class DryRun(WithFolder):
    def test_every_stage_works_or_names_what_it_needs(self):
        shared_data()  # a stage takes a tokenizer from there
        done, lines = self.run_day("--dry", "--bin", BIN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(len(lines), 8)
        for line in lines:
            self.assertIn(line["status"], ("ok", "skipped"), line)
            if line["status"] == "skipped":
                self.assertTrue(line["reason"], line)
        working = [line["stage"] for line in lines if line["status"] == "ok"]
        for stage in ("environment", "parity", "worker", "batch", "training", "losses", "two-workers", "kill"):
            self.assertIn(stage, working)
        self.assertEqual(next(line["reason"] for line in lines if line["stage"] == "memory"), "needs a GPU")
        self.assertEqual(next(line["figures"] for line in lines if line["stage"] == "environment")["copies_checked"], 1)
        found = {line["figure"]: line["value"] for line in lines_of((self.out / "figures.jsonl").read_text())}
        self.assertEqual(found["alignment of a voice's clips"], 0)
        self.assertEqual(found["random weights float32, words' probabilities"], 0)
        self.assertIn("# CPU (dry run)", done.stdout)
        self.assertEqual(lines_of((self.out / "gpu_day.jsonl").read_text()), lines)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["figures.jsonl", "gpu_day.jsonl", "gpu_day.log", "table.txt"])


class Stages(WithFolder):
    def test_failed_check_fails_run_and_later_stages_go_on(self):
        programs = self.programs("""echo '{"check":"x","what":"logits","value":3,"unit":"relative error","passed":false}'; exit 1""")
        done, lines = self.run_day("--dry", "--bin", programs, "--stages", "parity,worker,memory")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line["status"] for line in lines], ["failed", "failed", "skipped"])
        self.assertIn("logits: 3 relative error", lines[0]["reason"])

    def test_fall_back_to_slower_steps_is_a_failure(self):
        programs = self.programs("""echo '{"check":"x","what":"y","value":1,"unit":"z","passed":true}'
          echo 'warning: static decoder steps are off: logits of 8 sequences differ by 0.02' >&2""")
        _, lines = self.run_day("--dry", "--bin", programs, "--stages", "parity")
        self.assertEqual(lines[0]["status"], "failed")
        self.assertIn("0.02", lines[0]["reason"])

    def test_crashed_check_is_a_failure_with_its_exit_code(self):
        _, lines = self.run_day("--dry", "--bin", self.programs("kill -SEGV $$"), "--stages", "worker")
        self.assertEqual(lines[0]["status"], "failed")
        self.assertIn("exit code", lines[0]["reason"])

    def test_hung_stage_is_ended_and_keeps_its_figures(self):
        programs = self.programs("""echo '{"check":"x","what":"before","value":1,"unit":"z","passed":true}'; sleep 60""")
        done, lines = self.run_day("--dry", "--bin", programs, "--stages", "worker,memory", "--limit", "9")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(lines[0]["status"], "timed out")
        self.assertIn("before", (self.out / "figures.jsonl").read_text())

    def test_peer_access_is_in_the_line_of_the_environment(self):
        programs = self.programs("""echo '{"check":"device","what":"peer access, cuda:0 to cuda:1","value":1,"unit":"directly"}'
            echo '{"check":"device","what":"cuda:0 to cuda:1 and back","value":7,"unit":"numbers that differ","passed":false}'; exit 1""")
        _, lines = self.run_day("--dry", "--bin", programs, "--stages", "environment")
        self.assertEqual(lines[0]["figures"]["peer access, cuda:0 to cuda:1"], 1)
        self.assertIn("cuda:0 to cuda:1 and back: 7 numbers that differ", lines[0]["reason"])

    def test_stage_without_time_left_is_skipped(self):
        done, lines = self.run_day("--dry", "--bin", self.programs(""), "--stages", "worker", "--limit", "2")
        self.assertEqual((done.returncode, lines[0]["status"]), (1, "skipped"))
        self.assertIn("--limit", lines[0]["reason"])

    def test_terminated_run_prints_its_table(self):
        programs = self.programs("""echo '{"check":"x","what":"before","value":1,"unit":"z","passed":true}'; sleep 60""")
        process = subprocess.Popen(self.command("--dry", "--bin", programs, "--stages", "memory,worker"), stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "OUT": str(self.out)})
        figures = self.out / "figures.jsonl"
        while not (figures.exists() and "before" in figures.read_text()) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=60)[0]
        self.assertIn("# CPU (dry run)", text)
        self.assertEqual([line["status"] for line in lines_of(text)], ["skipped", "timed out"])

    def test_programs_of_a_stage_with_its_own_timeout_end_with_the_run(self):
        started = self.folder / "started"
        programs = self.programs(f"echo $$ >{started}; exec sleep 60")
        process = subprocess.Popen(self.command("--dry", "--bin", programs, "--stages", "step"), stdout=subprocess.PIPE, text=True)
        while not (started.exists() and started.read_text()) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        status = pathlib.Path("/proc", started.read_text().strip(), "stat")
        deadline = time.monotonic() + 10
        while status.exists() and ") Z " not in status.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(not status.exists() or ") Z " in status.read_text())

    def test_missing_programs_are_named(self):
        done, lines = self.run_day("--dry", "--bin", self.folder / "nowhere", "--stages", "parity,batch")
        self.assertEqual(done.returncode, 1, "no stage ran")
        for line in lines:
            self.assertEqual(line["status"], "skipped")
            self.assertIn("no programs", line["reason"])

    def test_unknown_stage_is_refused(self):
        done, _ = self.run_day("--stages", "sped")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no stage is called sped", done.stderr)

    def test_prefix_chooses_all_speeds(self):
        _, lines = self.run_day("--dry", "--bin", self.folder / "nowhere", "--stages", "speed", "--skip", "speed-small")
        self.assertEqual([line["stage"] for line in lines], ["speed-large", "speed-beams"])


class Metrics(unittest.TestCase):
    HEADER = '"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type"'

    def test_rows_shorter_than_the_header_are_read(self):
        lines = ["==PROF== Connected", self.HEADER, '"0","7","AttendBody","GPU Speed Of Light Throughput","Duration","ns","6,240",',
                 '"0","7","AttendBody","GPU Speed Of Light Throughput","SM Frequency","hz","1,973,597,756.41",',
                 '"0","7","AttendBody","SpeedOfLight","","","","SOLBottleneck","OPT"']
        self.assertEqual(check_stages.ncu_metrics(lines), {("0", "AttendBody", "Duration"): ("6,240", "ns")})

    def test_output_without_metrics_gives_none(self):
        self.assertEqual(check_stages.ncu_metrics(["==ERROR== no kernel", self.HEADER]), {})


class Loads(WithFolder):
    def setUp(self):
        super().setUp()
        self.weights = os.urandom(5001) * 3
        programs, model, clips = self.programs("exit 0"), self.folder / "model", self.folder / "data/speech/lj"
        for name in ("tutti", "tutti-engine", "tutti-gpu-check", "libtutti-cuda.so"):
            (programs / name).write_bytes(pathlib.Path("/bin/true").read_bytes())
        model.mkdir()
        (model / "model.bin").write_bytes(self.weights)
        (model / "config.json").write_text("{}")
        clips.mkdir(parents=True)
        (clips / "metadata.csv").write_text("LJ001-0001|x|x\n")
        os.environ["TUTTI_CACHE"] = str(self.folder / "cache")
        self.addCleanup(os.environ.pop, "TUTTI_CACHE")
        done = subprocess.run(self.command("--pack", "--bin", programs, "--model", model, "--data", self.folder / "data", "--into", self.folder),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.first, self.second = self.folder / "gpu-load-1", self.folder / "gpu-load-2"

    def test_weights_are_whole_once_both_loads_came(self):
        joined = self.folder / "scratch/model/model.bin"
        _, lines = self.run_day("--dry", "--load", self.first, "--stages", "memory")
        self.assertEqual([line["stage"] for line in lines], ["load", "memory"])
        self.assertIn("they came in 2 loads; not in this call: gpu-load-2", lines[0]["reason"])
        self.assertTrue((self.folder / "scratch/load/bin/tutti").exists())
        self.assertFalse(joined.exists())
        _, lines = self.run_day("--dry", "--load", self.second, "--stages", "memory")
        self.assertEqual(lines[0]["status"], "ok", lines)
        self.assertEqual(joined.read_bytes(), self.weights)
        self.assertTrue((self.folder / "scratch/model/config.json").exists())

    def test_damaged_load_is_a_failure(self):
        archive = self.first / "programs.tar.xz"
        archive.write_bytes(archive.read_bytes()[:-1] + b"?")
        done, lines = self.run_day("--dry", "--load", self.first, "--stages", "load")
        self.assertEqual((done.returncode, lines[0]["status"]), (1, "failed"))
        self.assertIn("damaged", lines[0]["reason"])


class Parts(WithFolder):
    def test_numbered_flac_has_same_audio_and_other_bytes(self):
        flac = (ROOT / "samples/jfk.flac").read_bytes()
        first, second = machine.numbered_flac(flac, 1), machine.numbered_flac(flac, 2)
        self.assertNotEqual(first, second)
        self.assertEqual(len(first), len(flac) + 16)
        self.assertTrue(first.endswith(flac[-100_000:]))

    def test_card_of_a_run_is_the_first_visible_one(self):
        cards = [{"index": "0", "uuid": "GPU-1", "name": "A"}, {"index": "1", "uuid": "GPU-2", "name": "B"}]
        for visible, name in (("", "A"), ("1", "B"), ("1,0", "B"), ("GPU-2", "B"), ("MIG-3", "A")):
            self.assertEqual(machine.visible_card(cards, visible)["name"], name)

    def test_card_that_doctor_describes_otherwise_is_a_failure(self):
        card = dict(zip(machine.CARD_FIELDS, ("0", "NVIDIA H100", "GPU-1", "00000000:01:00.0", "580", "81559", "0", "81000", "345", "1980",
                                              "2619", "30", "70.5", "700.00", "0")))
        gpu = {"uuid": "GPU-1", "name": "NVIDIA H100", "pci_bus_id": "00000000:01:00.0", "memory_total_bytes": 81559 << 20,
               "memory_free_bytes": 81000 << 20, "power_watts": 71, "power_limit_watts": 700, "temperature_celsius": 30, "utilization_ratio": 0}
        self.assertEqual(self.faults({"gpus": [gpu]}, [card]), [])
        self.assertIn("temperature_celsius", " ".join(self.faults({"gpus": [{**gpu, "temperature_celsius": 300}]}, [card])))
        self.assertIn("name", " ".join(self.faults({"gpus": [{**gpu, "name": "NVIDIA"}]}, [card])))
        self.assertIn("does not list GPU-1", " ".join(self.faults({"gpus": [{**gpu, "uuid": "GPU-2"}]}, [card])))

    def faults(self, report, cards):
        found = []
        kept, check_stages.failed = check_stages.failed, found.append
        try:
            check_stages.compare_card(report, cards, loaded=False)
        finally:
            check_stages.failed = kept
        return found


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=0)
