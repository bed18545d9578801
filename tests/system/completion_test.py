#!/usr/bin/env python3
"""Completions in their shells, and the manual pages under man.

Usage: completion_test.py BIN. BIN is the folder of the programs.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(__file__).resolve().parents[2] / "build/bin"


def tutti(*words):
    return subprocess.run([BIN / "tutti", *words], capture_output=True, text=True, check=False)


def commands():
    lines = tutti("--help").stdout.split("Commands\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [line.split()[0] for line in lines]


class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        (root / "script").write_text(tutti("completion", "bash").stdout)
        (root / "a talk.wav").touch()
        (root / "archive").mkdir()

    def complete(self, *words):
        """What bash offers for the last of the words; = is a word of its own there."""
        script = 'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tutti; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", "tutti", *words], capture_output=True, text=True,
                              cwd=self.folder.name, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split("\n")[:-1]

    def test_commands_are_offered(self):
        self.assertEqual(self.complete("transc"), ["transcribe"])
        self.assertEqual(set(commands()) - set(self.complete("")), set())

    def test_flags_are_those_of_the_command(self):
        self.assertEqual(self.complete("transcribe", "--output-f"), ["--output-format"])
        self.assertEqual(self.complete("wer", "--output-f"), [""])
        for command in commands():
            self.assertIn("--help", self.complete(command, "--h"), command)

    def test_forms_have_flags_of_their_own(self):
        self.assertEqual(self.complete("train", "voc"), ["vocoder"])
        self.assertIn("--resume", self.complete("train", "tts", "--resu"))
        self.assertEqual(self.complete("queue", "cr"), ["create"])
        self.assertEqual(self.complete("man", "transc"), ["transcribe"])

    def test_values_are_words_files_or_folders(self):
        self.assertEqual(self.complete("convert", "--to", "ct"), ["ctranslate2"])
        self.assertEqual(self.complete("convert", "--to", "=", "gg"), ["ggml"])
        self.assertEqual(self.complete("convert", "--to", "="), ["hf", "openai", "ctranslate2", "ggml"])
        self.assertEqual(self.complete("transcribe", "a"), ["a talk.wav", "archive"])
        self.assertEqual(self.complete("transcribe", "-o", "a"), ["archive"])
        self.assertEqual(self.complete("transcribe", "-f", "sr"), ["srt"])


class OtherShells(unittest.TestCase):
    def check(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        done = subprocess.run([shell, "-n", "/dev/stdin"], input=tutti("completion", shell).stdout, capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_zsh_reads_its_script(self):
        self.check("zsh")

    def test_fish_reads_its_script(self):
        self.check("fish")

    def test_every_command_is_in_each_script(self):
        for shell in ("bash", "zsh", "fish"):
            script = tutti("completion", shell).stdout
            for command in commands():
                self.assertIn(command, script, shell)

    def test_other_shells_are_refused(self):
        self.assertEqual(tutti("completion", "tcsh").returncode, 2)


class Manual(unittest.TestCase):
    def test_pages_are_well_formed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(tutti("man", "-o", folder).returncode, 0)
            pages = sorted(pathlib.Path(folder).iterdir())
            expected = {"tutti.1", "tutti-engine.1", "tutti-train-tts.1", *(f"tutti-{name}.1" for name in commands())}
            self.assertEqual(expected - {page.name for page in pages}, set())
            if not shutil.which("groff"):
                self.skipTest("groff is not installed")
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "-K", "utf8", *pages], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_page_has_what_the_help_has(self):
        page = tutti("man", "transcribe").stdout.replace("\\-", "-")
        for words in ("--output-dir", ".SH EXAMPLES", "TUTTI_", "tutti-transcribe - speech to text"):
            self.assertIn(words, page)
        self.assertIn(".TH TUTTI-TRAIN-TTS 1", tutti("man", "train", "tts").stdout)
        self.assertIn("Did you mean 'tutti man batch'?", tutti("man", "bacth").stderr)

    def test_nothing_of_this_machine_is_in_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            tutti("man", "-o", folder)
            text = "".join(page.read_text() for page in pathlib.Path(folder).iterdir())
            self.assertFalse(f"{pathlib.Path.home()}/" in text)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
