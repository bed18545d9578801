#!/usr/bin/env python3
"""What the Containerfile holds: hadolint's rules, no root in what is run, packages that Debian has.

Usage: containerfile_test.py
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import python_packages  # noqa: E402

FILE = ROOT / "Containerfile"
# Debian keeps one version of a package in a release, so a version that is named is one that is gone after the next fix.
ALLOWED = ["DL3008"]


def stages():
    """The lines of each stage, by its name."""
    found, name = {}, None
    for line in FILE.read_text().splitlines():
        begin = re.match(r"FROM \S+ AS (\S+)", line)
        name = begin.group(1) if begin else name
        found.setdefault(name, []).append(line)
    return found


class Containerfile(unittest.TestCase):
    def test_hadolint_finds_nothing(self):
        program = next(iter(pathlib.Path(sys.path[0]).glob("bin/hadolint*")), None)
        if program is None:
            self.skipTest("PyPI's package has no hadolint for this machine")
        ignored = [word for rule in ALLOWED for word in ("--ignore", rule)]
        done = subprocess.run([program, *ignored, FILE], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_images_run_as_another_user_than_root(self):
        for name in ("cpu", "cuda"):
            lines = stages()[name]
            self.assertIn("USER 10001", lines, name)
            self.assertEqual(lines[lines.index("USER 10001") + 1:][:2], ['ENTRYPOINT ["/usr/bin/tutti"]', 'CMD ["--help"]'])

    def test_commands_of_its_steps_are_there(self):
        text = FILE.read_text()
        for target in re.findall(r"make (\w+)", text):
            self.assertRegex((ROOT / "Makefile").read_text(), rf"(?m)^{target}:")
        for preset in re.findall(r"--preset (\w+)", text):
            self.assertIn(f'"name": "{preset}"', (ROOT / "CMakePresets.json").read_text())


if __name__ == "__main__":
    python_packages.use(pathlib.Path(__file__).with_name("hadolint.txt"), "hadolint")
    unittest.main()
