"""What a stage finds on this machine: programs, libraries, weights, recordings and the card."""
import csv
import ctypes
import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("tutti", "tutti-engine", "tutti-gpu-check", "libtutti-cuda.so")
CARD_FIELDS = ("index", "name", "uuid", "pci.bus_id", "driver_version", "memory.total", "memory.used", "memory.free", "clocks.sm",
               "clocks.max.sm", "clocks.mem", "temperature.gpu", "power.draw", "power.limit", "utilization.gpu")


def emit(**line):
    print(json.dumps(line), flush=True)


def figure(name, value, unit="", key=True):
    """A number for the table; `key` ones also go into the stage's line."""
    emit(figure=name, value=float(f"{value:.6g}") if isinstance(value, float) else value, unit=unit, key=key)


def failed(why):
    emit(failed=str(why)[:500])


def note(text):
    emit(note=str(text)[:500])


class Skip(Exception):
    """What this stage needs is missing."""


def torch_folder(named):
    """The folder with libtorch_cpu.so of an installed torch, without importing torch (which takes seconds)."""
    found = [pathlib.Path(named)] if named else []
    spec = importlib.util.find_spec("torch")
    if spec and spec.submodule_search_locations:
        found += [pathlib.Path(folder) / "lib" for folder in spec.submodule_search_locations]
    for pattern in ("/opt/torch/.venv/lib/python3*/site-packages/torch/lib", "/opt/*/lib/python3*/site-packages/torch/lib",
                    "/usr/*/lib/python3*/*-packages/torch/lib", str(pathlib.Path.home() / ".cache/tutti/libtorch-*/lib")):
        found += [pathlib.Path(folder) for folder in sorted(glob.glob(pattern))]
    return next((folder for folder in found if (folder / "libtorch_cpu.so").exists()), None)


def system_libraries():
    """Names that the dynamic linker finds by itself."""
    try:
        text = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, timeout=20,
                              env={**os.environ, "PATH": os.environ.get("PATH", "") + ":/sbin:/usr/sbin"}).stdout
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {line.split()[0] for line in text.splitlines() if "=>" in line}


class Machine:
    def __init__(self, given):
        self.dry = given.dry
        self.scratch = pathlib.Path(given.scratch).resolve()
        self.load = self.scratch / "load"
        self.work = self.scratch / "work"
        self.log_path = pathlib.Path(given.log) if given.log else self.scratch / "gpu_day.log"
        self.bin = self.find_programs(given)
        self.torch = torch_folder(given.torch)
        self.environment = self.find_environment()
        self.model = self.find_model(given.model)
        self._cards = None

    def find_programs(self, given):
        choices = [given.bin] if given.bin else [self.load / "bin"] if given.load else [ROOT / "build/bin", self.load / "bin"]
        return next((pathlib.Path(folder).resolve() for folder in choices if (pathlib.Path(folder) / "tutti").exists()), None)

    def find_model(self, named):
        cache = pathlib.Path(os.environ.get("TUTTI_CACHE") or pathlib.Path.home() / ".cache/tutti")
        choices = [named] if named else [self.scratch / "model", cache / "fetched/openai--whisper-tiny.en"]
        return next((pathlib.Path(folder) for folder in choices if (pathlib.Path(folder) / "model.bin").exists()), None)

    def find_environment(self):
        """Libraries that the load brought are used only where the system has none of that name."""
        missing = self.scratch / "missing"
        brought = sorted((self.load / "lib").glob("*.so*")) if (self.load / "lib").exists() else []
        if brought and not missing.exists():
            known, staged = system_libraries(), self.scratch / f"missing.{os.getpid()}"
            staged.mkdir(parents=True, exist_ok=True)
            for library in brought:
                if library.name not in known:
                    (staged / library.name).symlink_to(library)
            staged.rename(missing)
        folders = [str(folder) for folder in (self.torch, missing if missing.exists() else None) if folder]
        folders += [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders), "XDG_STATE_HOME": str(self.scratch / "state")}

    # The card, by nvidia-smi.

    def cards(self):
        if self._cards is None:
            self._cards = [] if self.dry else self.query_cards()
        return self._cards

    def query_cards(self):
        smi = shutil.which("nvidia-smi")
        if not smi:
            return []
        try:
            done = subprocess.run([smi, "--query-gpu=" + ",".join(CARD_FIELDS), "--format=csv,noheader,nounits"],
                                  capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return []
        rows = csv.reader(done.stdout.splitlines(), skipinitialspace=True) if done.returncode == 0 else []
        return [dict(zip(CARD_FIELDS, row)) for row in rows if len(row) == len(CARD_FIELDS)]

    def card_text(self):
        cards = self.cards()
        if not cards:
            return "CPU (dry run)" if self.dry else "no GPU"
        card = visible_card(cards, os.environ.get("CUDA_VISIBLE_DEVICES", ""))
        return f"{card['name']}, {card['memory.total']} MiB, driver {card['driver_version']}"

    @property
    def device(self):
        return "cpu" if self.dry else "cuda:0"

    # What a stage needs.

    def need_programs(self):
        if self.bin is None:
            raise Skip(f"no programs: neither {ROOT / 'build/bin'} nor a load (--load gpu-load-1) has them")
        return self.bin

    def need_gpu(self):
        if self.dry:
            raise Skip("needs a GPU")
        if not self.cards():
            raise Skip("needs a GPU, and nvidia-smi names none")

    def need_device(self):
        self.need_programs()
        if not self.dry:
            self.need_gpu()

    def need_model(self):
        if self.model is None:
            raise Skip("the real tiny.en is missing: it comes with all loads of --pack together, or with --model DIR")
        return self.model

    def program(self, name):
        return str(self.need_programs() / name)

    def fresh(self, name):
        """An empty folder of this stage."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    # Recordings.

    def clips(self, most=None):
        """(recording, true text) pairs at 16 kHz: the load's LJ003 clips, else the sample of the tree."""
        listed = self.load / "clips/metadata.csv"
        pairs = []
        if listed.exists():
            for line in listed.read_text().splitlines():
                name, text = line.split("|")[0], line.split("|")[-1]
                pairs.append((self.load / "clips/wavs" / f"{name}.flac", text))
        else:
            names = ["jfk"]
            if any(name.startswith("libswresample") for name in system_libraries()):
                names += ["LJ003-0002", "LJ003-0009"]
            pairs = [(ROOT / f"samples/{name}.flac", (ROOT / f"samples/{name}.txt").read_text().strip()) for name in names]
        return pairs[:most] if most else pairs

    def data_set(self, least=1):
        """The clips as a folder in LJSpeech's layout, again and again until it has `least`."""
        folder, clips = self.fresh("data"), self.clips()
        (folder / "wavs").mkdir()
        with (folder / "metadata.csv").open("w") as listed:
            for number in range(max(least, len(clips))):
                path, text = clips[number % len(clips)]
                name = f"{number:05}-{path.stem}"
                (folder / "wavs" / f"{name}.flac").symlink_to(path)
                listed.write(f"{name}|{text}|{text}\n")
        return folder

    def copies(self, name, count, most=None):
        """A folder of `count` recordings whose bytes all differ, for equal files are transcribed once."""
        folder, clips = self.fresh(name), self.clips(most)
        for number in range(count):
            path, _ = clips[number % len(clips)]
            (folder / f"{number:05}-{path.stem}.flac").write_bytes(numbered_flac(path.read_bytes(), number))
        return folder

    # Programs.

    def run(self, words, on_line=None, limit=None, environment=None):
        """Runs a command to its end. Its output goes to the log as it comes; what of it went to standard error is returned too."""
        words = [str(word) for word in words]
        began = time.monotonic()
        log, start = self.open_log(words)
        with log:
            process = subprocess.Popen((["timeout", "-k", "5", str(limit)] if limit else []) + words, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=log, env={**self.environment, **(environment or {})})
            lines = []
            for raw in process.stdout:
                os.write(log.fileno(), raw)
                line = raw.decode(errors="replace").rstrip("\n")
                lines.append(line)
                if on_line:
                    on_line(line)
            code = process.wait()
        with self.log_path.open("rb") as written:
            written.seek(start)
            errors = written.read(4_000_000).decode(errors="replace")
        return Done(words, code, lines, errors, time.monotonic() - began)

    def start(self, words, environment=None):
        log, _ = self.open_log([str(word) for word in words])
        with log:
            return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    env={**self.environment, **(environment or {})})

    def open_log(self, words):
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.log_path.exists() and self.log_path.stat().st_size > 12_000_000:
            self.log_path = self.scratch / "rest.log"  # what comes back from the card's machine is limited
        log = self.log_path.open("ab")
        os.write(log.fileno(), f"\n$ {' '.join(words)[:2000]}\n".encode())
        return log, self.log_path.stat().st_size


class Done:
    def __init__(self, words, code, lines, log, seconds):
        self.words, self.code, self.lines, self.log, self.seconds = words, code, lines, log, seconds

    @property
    def events(self):
        return [value for value in map(parsed, self.lines) if isinstance(value, dict)]

    def expect(self, *codes):
        """True where it ended with one of `codes` (default 0); else the stage has failed, with the reason."""
        if self.code in (codes or (0,)):
            return True
        last = [line for line in self.log.splitlines() if line.strip()][-3:]
        failed(f"{pathlib.Path(self.words[0]).name} {' '.join(self.words[1:2])}: exit code {self.code}: {' / '.join(last)}")
        return False


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


def numbered_flac(flac, number):
    """The same audio with an application block of metadata that holds a number."""
    if flac[:4] != b"fLaC":
        raise ValueError("no FLAC")
    size = 4 + int.from_bytes(flac[5:8], "big")
    last = flac[4] & 0x80
    block = bytes([2 | last]) + (12).to_bytes(3, "big") + b"test" + number.to_bytes(8, "big")
    return flac[:4] + bytes([flac[4] & 0x7F]) + flac[5:4 + size] + block + flac[4 + size:]


def visible_card(cards, visible):
    """The card that cuda:0 is, by CUDA_VISIBLE_DEVICES: an index in the order of the bus, or the beginning of a UUID."""
    first = visible.split(",")[0].strip()
    if first.isdigit():
        return next((card for card in cards if card["index"] == first), cards[0])
    return next((card for card in cards if first and card["uuid"].startswith(first)), cards[0])


def descendants(pid, name=""):
    """Process ids of the programs below `pid`: those called `name`, or all."""
    parents, names = {}, {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            found = re.match(r"(\d+) \((.*)\) \S (\d+)", entry.read_text())
        except OSError:
            continue
        if found:
            parents[int(found[1])], names[int(found[1])] = int(found[3]), found[2]
    def below(child):
        while child in parents:
            child = parents[child]
            if child == pid:
                return True
        return False
    return [child for child in parents if (not name or names[child] == name[:15]) and below(child)]


def hold_memory(left):
    """Takes the card's memory until `left` bytes are free, prints so, and waits to be ended. Plain allocations of the driver."""
    cuda = ctypes.CDLL("libcuda.so.1")
    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: error {status}")
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    free, total, taken = ctypes.c_size_t(), ctypes.c_size_t(), 0
    while True:
        call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        size = min(free.value - left, 8 << 30)
        if size < (16 << 20):
            break
        call("cuMemAlloc_v2", ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(size))
        taken += size
    print(f"held {taken} of {total.value}, free {free.value}", flush=True)
    time.sleep(600)
