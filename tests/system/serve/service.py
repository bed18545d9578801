"""What the tests of `tutti serve` share: the programs, the model, the server, and the client from PyPI."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(ROOT / "tools"))  # shared_data
sys.path.append(str(ROOT / "tests/support"))
import python_packages
from python_packages import CACHE, SKIPPED, skip

TOKEN = "sesame-of-the-tests"


def real_model():
    """OpenAI's tiny.en, where set-up puts it."""
    folder = CACHE / "fetched/openai--whisper-tiny.en"
    if not (folder / "model.bin").exists():
        refused = pathlib.Path(f"{folder}.unavailable")
        if refused.exists():
            skip("another download: set-up could not fetch the real tiny.en")
        skip(f"needs the real tiny.en: run tools/fetch_model.py (expected in {folder})")
    return folder


def use_packages():
    """Makes the packages of requirements.txt importable."""
    python_packages.use(HERE / "requirements.txt", "serve-tests")


class Service:
    """`tutti serve` on a free port, with a token, ready when the object is there. `model` None: over the store in `folder`.

    `trust`: for --tls-cert among `words`, the context that trusts it."""

    def __init__(self, tutti, model, folder, *words, wait=True, trust=None):
        folder = pathlib.Path(folder)
        tokens = folder / "tokens"
        tokens.write_text(f"  {TOKEN} \nanother-one\n")
        tokens.chmod(0o600)
        self.log = folder / "log"
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [tutti, "serve", *(["--model", model] if model else []), "--listen", "127.0.0.1:0", "--token-file", tokens, "--state",
             folder / "state", *words],
            stdout=subprocess.PIPE, stderr=(log := self.log.open("w")), text=True,
            # Without --model the service would take that of TUTTI_MODEL, which the tests may be run with.
            env={**{name: value for name, value in os.environ.items() if name != "TUTTI_MODEL"}, "TMPDIR": str(self.temporary)})
        log.close()
        line = self.process.stdout.readline()
        self.trust = trust
        scheme = "https" if trust else "http"
        if not line.startswith(f"listening on {scheme}://"):
            raise RuntimeError(f"tutti serve printed {line!r}: {self.log.read_text()}")
        self.port = int(line.rsplit(":", 1)[1])
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self):
        for _ in range(600):
            if self.get("/readyz", token=None)[0] == 200:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the model was not loaded: {self.log.read_text()}")

    def get(self, path, token=TOKEN):
        """Status and body."""
        request = urllib.request.Request(self.url + path)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30, context=self.trust) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def stop(self):
        """SIGTERM, and the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
