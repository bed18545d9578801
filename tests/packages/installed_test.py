#!/usr/bin/env python3
"""The archive and the Debian packages on a bare system: installed there, they transcribe a sample.

Usage: installed_test.py BUILD Tarball|Deb|Lintian. They are made of the programs in BUILD. Lintian examines the packages alone.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import bare_system  # noqa: E402
import python_packages  # noqa: E402

BUILD = ROOT / "build"
NANO = ROOT / "models/nano"
CLIP = ROOT / "samples/george.wav"  # spoken digits
NEEDED = {"Tarball": ["patchelf", "objdump"], "Deb": ["patchelf", "dpkg-shlibdeps"], "Lintian": ["patchelf", "dpkg-shlibdeps", "lintian"]}


class Installed(unittest.TestCase):
    def made(self, tool):
        """What a tool makes of the build: the paths it prints."""
        out = tempfile.TemporaryDirectory()
        self.addCleanup(out.cleanup)
        done = subprocess.run([ROOT / "tools" / tool, BUILD, out.name], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [pathlib.Path(line) for line in done.stdout.split()]

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_transcribes(self, system, tutti):
        """As the programs of the build do: the same text, the same build id."""
        here = subprocess.run([BUILD / "bin/tutti", "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.assert_done(system.run(tutti, "--version")), here)
        model, clip = system.put(NANO, "/srv"), system.put(CLIP, "/srv")
        line = ["transcribe", "--model", model, "-f", "json", "-o", "/srv/out", "--device", "cpu", clip]
        self.assert_done(system.run(tutti, *line))
        text = json.loads((system.root / "srv/out/george.json").read_text())["text"]
        expected = subprocess.run([BUILD / "bin/tutti", "transcribe", "--model", NANO, "-f", "txt", "-o", system.folder, "--device",
                                   "cpu", CLIP], capture_output=True, text=True, check=False)
        self.assert_done(expected)
        self.assertEqual(text.split(), (system.folder / "george.txt").read_text().split())


class Tarball(Installed):
    def test_archive_runs_where_it_is_unpacked(self):
        archive, = self.made("tarball.sh")
        with bare_system.BareSystem() as system:
            subprocess.run(["tar", "-xf", archive, "-C", system.root / "opt"], check=True)
            name = archive.name.removesuffix(".tar.gz")
            self.assert_transcribes(system, f"/opt/{name}/bin/tutti")
            self.assertTrue((system.root / f"opt/{name}/share/man/man1/tutti-transcribe.1").is_file())


class Deb(Installed):
    def test_packages_install_transcribe_and_go(self):
        packages = self.made("deb.sh")
        with bare_system.BareSystem() as system:
            self.assert_done(system.run("apt-get", "update", "-q"))
            files = [system.put(package, "/srv") for package in packages]
            self.assert_done(system.run("apt-get", "install", "-y", "-q", "--no-install-recommends", *files))
            self.assert_transcribes(system, "/usr/bin/tutti")
            units = system.root / "usr/lib/systemd/system"
            self.assertIn("ExecStart=/usr/bin/tutti ", (units / "tutti-serve.service").read_text())
            self.assertTrue((system.root / "usr/share/bash-completion/completions/tutti").is_file())
            self.assert_done(system.run("apt-get", "purge", "-y", "-q", "tutti", "tutti-engine"))
            left = [path for path in system.root.glob("usr/**/*tutti*")]
            self.assertEqual(left, [])


class Lintian(Installed):
    def test_lintian_finds_nothing(self):
        packages = self.made("deb.sh")
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", *packages],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    for program in NEEDED[sys.argv[1]]:
        if not shutil.which(program):
            python_packages.skip(f"another program: {program} (tools/setup.sh package)")
    unittest.main()
