#!/usr/bin/env python3
"""Fails when a module under src/ includes a module it may not see, or a module above the torch line includes torch, or
when two headers define a type of the same name in the same namespace: a program that links both gets either's functions.

Usage: check_layers.py [ROOT]. The layers (docs/layers.md), lowest first; a module may include itself and whatever its row names.
"""
import collections
import pathlib
import re
import sys

LIGHT = {  # above the torch line: no tensor, no CUDA context
    "base": "",
    "metrics": "base",
    "flow": "base metrics",
    "advise": "base metrics flow",
    "device": "base metrics",
    "jobs": "base metrics",
    "balance": "base metrics",
    "audio": "base metrics",
    "text": "base",
    "net": "base",
    "hub": "base net",
    "cloud": "base net",
    "recipe": "base",
    "transcript": "base text",
    "link": "base metrics device",
    "feed": "base metrics flow advise audio text transcript",
    "view": "base metrics advise",
    "profile": "base metrics flow advise device view",
    "traces": "base metrics flow advise view",
    "transcribe": "base metrics flow advise profile device balance jobs audio text hub transcript link view",
    "serve": "base metrics flow advise profile device balance jobs audio text net hub transcript link transcribe view",
    "cli": "base metrics flow advise device balance jobs audio text net hub cloud recipe transcript link feed transcribe serve view profile traces",
}
HEAVY = {  # below it: the only modules that may include torch, ATen, c10 or CUDA headers
    "model": "base metrics text hub",
    "decode": "base metrics text hub model transcript",
    "worker": "base metrics text hub model transcript decode link device",
    "train": "base metrics flow advise profile device audio text hub recipe transcript feed view model decode",
}
ALLOWED = {module: set(row.split()) for module, row in {**LIGHT, **HEAVY}.items()}
TORCH = re.compile(r'^\s*#\s*include\s+[<"](torch|ATen|c10|caffe2|cuda)', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)


SPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)(?: final)?\s*(?::(?!:)[^{;]*)?\{", re.MULTILINE)


def types_defined_twice(src):
    headers = collections.defaultdict(list)
    for path in sorted(src.rglob("*.h")):
        text = path.read_text()
        space = (SPACE.findall(text) or [""])[0]
        for name in TYPE.findall(text):
            headers[f"{space}::{name}"].append(str(path))
    return [f"{name} is defined in {' and '.join(paths)}" for name, paths in sorted(headers.items()) if len(paths) > 1]


def violations(src):
    for path in sorted(path for path in src.rglob("*") if path.suffix in {".h", ".cpp", ".cu", ".cuh"}):
        module = path.relative_to(src).parts[0]
        if module not in ALLOWED:
            yield f"{path}: module '{module}' has no row (tools/check_layers.py)"
            continue
        text = path.read_text()
        if module in LIGHT and TORCH.search(text):
            yield f"{path}: '{module}' is above the torch line and includes torch"
        for seen in INCLUDE.findall(text):
            if seen != module and seen not in ALLOWED[module]:
                yield f"{path}: '{module}' may not include '{seen}'"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = [*violations(root / "src"), *types_defined_twice(root / "src")]
    print("\n".join(found) or "layers hold")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
