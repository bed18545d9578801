#!/usr/bin/env python3
"""A hub for the tests: serves ROOT/<organisation>/<name>/<file> with the paths and headers of huggingface.co.

Usage: hub_server.py ROOT FAULTS
Listens on two loopback ports, the hub and the storage it redirects large files (.safetensors) to. Prints the hub's endpoint,
writes one JSON line per request to ROOT/requests.jsonl, and ends when its standard input closes. FAULTS is a JSON object:
  token: only requests that carry it are answered      gated: "org/name" whose conditions were not accepted
  claim: size of each file in the listing, bytes
  blobs: false leaves sizes and digests out of the listing
  ranges: false answers every range with the whole file, in two chunks that meet where the range would have begun
  redirect: "repo" -> "other": a repository that moved
  script: [{"file", "kind": "drop" | "wrong" | "status", "after": bytes, "status", "retry_after", "times"}]
"""
import hashlib
import http.server
import json
import os
import pathlib
import re
import sys
import threading


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root = pathlib.Path()
    faults = {}
    storage = ""
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def note(self):
        line = {"server": type(self).__name__, "path": self.path, "range": self.headers.get("Range", ""),
                "authorization": self.headers.get("Authorization", "")}
        with self.lock, (self.root / "requests.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")

    def reply(self, status, body=b"", **headers):
        body = body or (b"an error page" if status >= 400 else b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def fault(self, name):
        """The next scripted fault for this file, used up by being asked for."""
        with self.lock:
            for fault in self.faults.get("script", []):
                if fault["file"] == name and fault.get("times", 1) > 0:
                    fault["times"] = fault.get("times", 1) - 1
                    return fault
        return {}

    def send_file(self, path):
        content = path.read_bytes()
        fault = self.fault(path.name)
        if fault.get("kind") == "status":
            more = {"Retry_After": fault["retry_after"]} if "retry_after" in fault else {}
            return self.reply(fault["status"], **more)
        if fault.get("kind") == "wrong":
            content = content[:-1] + bytes([content[-1] ^ 1])
        first, status, more = 0, 200, {}
        asked = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and self.faults.get("ranges", True):
            first = int(asked.group(1))
            if first >= len(content):
                return self.reply(416)
            status, more = 206, {"Content_Range": f"bytes {first}-{len(content) - 1}/{len(content)}"}
        if fault.get("kind") == "drop":
            self.send_response(status)
            self.send_header("Content-Length", str(len(content) - first))
            for name, value in more.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content[first:first + fault["after"]])
            self.close_connection = True
            return
        if asked and status == 200:
            return self.send_in_chunks(content[:int(asked.group(1))], content[int(asked.group(1)):])
        self.reply(status, content[first:], **more)

    def send_in_chunks(self, *pieces):
        """libcurl hands over no piece that reaches beyond its chunk, whatever the sockets make of them."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in filter(None, pieces):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        self.note()
        path = self.path.split("?")[0].strip("/")
        token = self.faults.get("token")
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            return self.reply(401, b"Unauthorized")
        listing = re.fullmatch(r"api/models/(.+)/revision/main", path)
        file = re.fullmatch(r"([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        repo = (listing or file).group(1) if listing or file else ""
        if repo in self.faults.get("redirect", {}):
            return self.reply(307, Location=self.path.replace(repo, self.faults["redirect"][repo]))
        if repo == self.faults.get("gated"):
            return self.reply(403, X_Error_Code="GatedRepo")
        folder = self.root / repo
        if not repo or not folder.is_dir():
            return self.reply(401 if listing else 404, X_Error_Code="RepoNotFound")
        return self.list(folder) if listing else self.resolve(folder, file.group(2), file.group(3))

    def commit(self, folder):
        digest = hashlib.sha1()
        for path in sorted(folder.iterdir()):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()

    def list(self, folder):
        fault = self.fault("listing")
        if fault:
            return self.reply(fault["status"])
        siblings = []
        for path in sorted(folder.iterdir()):
            entry = {"rfilename": path.name}
            if self.faults.get("blobs", True):
                entry["size"] = self.faults.get("claim", path.stat().st_size)
                if path.suffix == ".safetensors":
                    entry["lfs"] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": entry["size"]}
            siblings.append(entry)
        body = json.dumps({"id": "x", "sha": self.commit(folder), "siblings": siblings}).encode()
        self.reply(200, body, Content_Type="application/json")

    def resolve(self, folder, revision, name):
        path = folder / name
        if revision != self.commit(folder) or not path.is_file():
            return self.reply(404, X_Error_Code="EntryNotFound")
        if path.suffix != ".safetensors":
            return self.send_file(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.reply(302, b"Found", Location=f"{self.storage}/{path.relative_to(self.root)}",
                   X_Linked_Etag=f'"{digest}"', X_Linked_Size=path.stat().st_size)


class Storage(Hub):
    def do_GET(self):
        self.note()
        self.send_file(self.root / self.path.strip("/"))


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that goes away in mid-transfer is what some tests are about."""


def main():
    Hub.root, Hub.faults = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
    servers = [Server(("127.0.0.1", 0), handler) for handler in (Hub, Storage)]
    Hub.storage = f"http://127.0.0.1:{servers[1].server_port}"
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{servers[0].server_port}", flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
