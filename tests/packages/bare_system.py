"""A Debian system with nothing on it but what Debian calls essential, for tests of packages: made once into the cache."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import python_packages

SUITE = "bookworm"


def without_root():
    return os.geteuid() != 0


def base():
    """The folder of the system in the cache; skips the test where none can be made."""
    if without_root():
        python_packages.skip("another machine: only root may enter another root folder")
    if not shutil.which("debootstrap"):
        python_packages.skip("another program: debootstrap (tools/setup.sh package)")
    folder = python_packages.CACHE / f"bare-{SUITE}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        made = subprocess.run(["debootstrap", "--variant=minbase", SUITE, folder / "root", mirror()], capture_output=True, text=True,
                              check=False)
        if made.returncode:
            last = (made.stdout + made.stderr).strip().splitlines()[-1:]
            python_packages.skip(f"another download: debootstrap made no {SUITE}: {last}")
        (folder / "complete").touch()
    return folder / "root"


def mirror():
    """The one that apt of this machine uses."""
    shown = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"], capture_output=True, text=True, check=False).stdout
    return next((site for site in shown.split() if "security" not in site), "http://deb.debian.org/debian")


class BareSystem:
    """A copy of the base that goes with the block; its /proc is there while it lasts."""

    def __enter__(self):
        source = base()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tutti-bare-"))
        self.root = self.folder / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", source, self.root], check=True)
        for name in ("/etc/resolv.conf", "/etc/hosts"):
            shutil.copy(name, self.root / name[1:])
        mounted = subprocess.run(["mount", "--bind", "/proc", self.root / "proc"], capture_output=True, text=True, check=False)
        self.has_proc = mounted.returncode == 0
        if not self.has_proc:
            self.close()
            python_packages.skip(f"another machine: mount refused /proc in another root folder: {mounted.stderr.strip()}")
        return self

    def close(self):
        if self.has_proc:
            subprocess.run(["umount", "--lazy", self.root / "proc"], check=True)
        shutil.rmtree(self.folder)

    def __exit__(self, *_):
        self.close()

    def put(self, path, into):
        """Copies a file or folder to the folder `into` of the system, and returns its path there."""
        target = self.root / into.lstrip("/") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy(path, target)
        return f"/{into.strip('/')}/{path.name}"

    def run(self, *words):
        """Runs a program of the system, as its root."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        environment |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        return subprocess.run(["chroot", self.root, *words], capture_output=True, text=True, env=environment, check=False)
