"""The wheel of this tree, built and installed into a folder of its own, with a libtorch beside it as the package torch has it."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import python_packages  # noqa: E402


def lines_of(*command):
    """What a command prints; a test that cannot get its packages is left out."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        python_packages.skip(f"another download: {command[0]} failed: {last}")
    return done.stdout.split()


def python_of_build():
    """The Python that the module is made for, with NumPy and mypy."""
    return pathlib.Path(lines_of(ROOT / "tools/wheel.sh", "--python")[-1])


def needs_module(build):
    if not list((build / "python").glob("_tutti*.so")):
        python_packages.skip("another download: this build has no Python module, because PyPI was not there: run make wheel")


def copy_package(build, site):
    """What the wheel has, in seconds: its programs still look for libtorch where the build has it."""
    needs_module(build)
    shutil.copytree(ROOT / "python/tutti", site / "tutti", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["cmake", "--install", build, "--component", "wheel", "--prefix", site], stdout=subprocess.DEVNULL, check=True)


def install_wheel(build, folder):
    """Builds the wheel and installs it alone into `folder`/site. Returns the wheel."""
    needs_module(build)
    wheel = subprocess.run([ROOT / "tools/wheel.sh", build, folder / "dist"], capture_output=True, text=True, check=False)
    if wheel.returncode != 0:
        sys.exit(wheel.stderr)
    path = pathlib.Path(wheel.stdout.split()[-1])
    subprocess.run([python_of_build(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target",
                    folder / "site", path], check=True)
    return path


def put_torch(site, version="2.11.0+cu130"):
    """A package torch of that version, whose libraries are those that set-up has fetched from PyPI's torch."""
    libtorch = pathlib.Path(lines_of(ROOT / "tools/fetch_libtorch.py", "--print")[-1])
    (site / "torch").mkdir(exist_ok=True)
    (site / "torch/__init__.py").write_text("raise ImportError('the package tutti imports torch')\n")
    (site / "torch/version.py").write_text(f"__version__ = '{version}'\n")
    if not (site / "torch/lib").exists():
        (site / "torch/lib").symlink_to(libtorch / "lib")


def environment(site, **more):
    """For a Python that has the installed package and nothing of this tree."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")}
    return {**kept, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", **more}
