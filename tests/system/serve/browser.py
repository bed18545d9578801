"""Debian's Chromium without a screen, by its debugging protocol: enough to open a page, look at it and take a picture."""
import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request

import service


class Browser:
    """One page. Collects what the page complains about and every address that it requests.

    `microphone`: a WAV that is spoken into it, once each time that it is opened."""

    def __init__(self, microphone=None):
        program = shutil.which("chromium")
        if not program:
            service.skip("another program: needs Debian's chromium; tools/setup.sh installs it")
        import websocket
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder.name}", *(self.speaking(microphone) if microphone else []), "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        self.until(lambda: port_file.exists() and len(port_file.read_text().split()) == 2, "the browser did not start")
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as pages:
            page = next(page for page in json.load(pages) if page["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], suppress_origin=True, timeout=60)
        self.last_id = 0
        self.complaints = []
        self.requested = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    @staticmethod
    def speaking(microphone):
        return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
                f"--use-file-for-fake-audio-capture={microphone}%noloop", "--autoplay-policy=no-user-gesture-required"]

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    @staticmethod
    def until(ready, complaint, patience=60):
        end = time.monotonic() + patience
        while not ready():
            if time.monotonic() > end:
                raise AssertionError(complaint)
            time.sleep(0.1)

    def call(self, method, **parameters):
        self.last_id += 1
        self.socket.send(json.dumps({"id": self.last_id, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        parameters = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(parameters["request"]["url"])

    def show(self, url, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)

    def leave(self):
        """Leaves the page; what it still had to report has come."""
        self.call("Page.navigate", url="about:blank")
        self.wait_for("location.href === 'about:blank' && document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression in the page; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, patience=60):
        self.until(lambda: self.run(script), f"never so: {script}", patience)

    def picture(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        data = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
