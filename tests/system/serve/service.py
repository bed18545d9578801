"""What the tests of `tutti serve` share: the programs, the model, the server, and the client from PyPI."""
import json
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
ENDED = ("done", "failed", "cancelled")  # of jobs


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
        operators = folder / "operators"
        operators.write_text(f"root {TOKEN}\n")
        for file in (tokens, operators):
            file.chmod(0o600)
        self.log = folder / "log"
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [tutti, "serve", *(["--model", model] if model else []), "--listen", "127.0.0.1:0", "--token-file", tokens,
             "--operator-token-file", operators, "--state", folder / "state", *words],
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


def form_of(fields, content=None, name="clip.flac"):
    body = b"".join(f'--XX\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields)
    if content is not None:
        body += f'--XX\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content + b"\r\n"
    return body + b"--XX--\r\n"


class Client:
    """Of /v1/jobs."""

    def __init__(self, serving, token=TOKEN):
        self.url, self.token = serving.url, token

    def call(self, method, path, body=None, **headers):
        """Status, headers and the JSON of the answer, or its text where it is none."""
        request = urllib.request.Request(self.url + path, data=body, method=method,
                                         headers={"Authorization": f"Bearer {self.token}", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, head, text = answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, head, text = error.code, error.headers, error.read().decode()
        return status, head, json.loads(text) if head["Content-Type"] == "application/json" else text

    def send(self, content, fields=(), name="clip.flac", **headers):
        return self.call("POST", "/v1/jobs", form_of([("model", "whisper-1"), *fields], content, name),
                         **{"Content-Type": "multipart/form-data; boundary=XX", **headers})

    def send_json(self, **members):
        return self.call("POST", "/v1/jobs", json.dumps({"model": "whisper-1", **members}).encode(),
                         **{"Content-Type": "application/json"})

    def job(self, name):
        return self.call("GET", f"/v1/jobs/{name}")[2]

    def wait(self, name, states=ENDED, patience=120):
        end = time.monotonic() + patience
        while (job := self.job(name))["status"] not in states:
            if time.monotonic() > end:
                raise AssertionError(f"the job did not get so far: {job}")
            time.sleep(0.1)
        return job

    def result(self, name, form=""):
        return self.call("GET", f"/v1/jobs/{name}/result" + (f"?response_format={form}" if form else ""))

    def events(self, name):
        """As they come, until the stream ends."""
        request = urllib.request.Request(f"{self.url}/v1/jobs/{name}/events", headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
