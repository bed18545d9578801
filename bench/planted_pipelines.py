#!/usr/bin/env python3
"""Runs pipelines whose bottleneck was planted through `tutti profile --pipeline` and checks what it finds.

Usage: planted_pipelines.py BUILD [--every N] [--seconds S] [--jobs J]

--every 4 runs each fourth of them. Of each pipeline the limiting stage must be the planted one. The first fix is applied
in a second run: what was predicted must be within 10 % of what is measured, 5 % for threads, in 95 of 100 pipelines.
Prints a line for each pipeline. Exit status 1 when a limiting stage is wrong or too many predictions are.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

RIGHT_PREDICTIONS = 0.95
ALLOWED_ERROR = {"threads": 0.05}
OTHER_ERROR = 0.10


def stage(name, kind, threads, mean_ms, cv=0.3, queue=8, stall_share=0, stall_ms=0):
    return {"name": name, "kind": kind, "threads": threads, "mean_ms": mean_ms, "cv": cv, "queue": queue,
            "stall_share": stall_share, "stall_ms": stall_ms}


def feed(**changes):
    """A feed that is balanced at about 150 items a second, with a third to spare in every stage; stages changed by name."""
    stages = {"read": dict(kind="io", threads=2, mean_ms=6), "decode": dict(kind="cpu", threads=3, mean_ms=10),
              "features": dict(kind="cpu", threads=2, mean_ms=5), "batch": dict(kind="cpu", threads=1, mean_ms=2),
              "copy": dict(kind="io", threads=1, mean_ms=1.5), "device": dict(kind="device", threads=1, mean_ms=4)}
    for name, change in changes.items():
        stages.setdefault(name, {}).update(change)
    return [stage(name, **values) for name, values in stages.items()]


def asr(**changes):
    """A transcription: recordings in, windows on a device, token selection, texts out."""
    stages = {"fetch": dict(kind="io", threads=4, mean_ms=12, cv=0.5), "decode": dict(kind="cpu", threads=2, mean_ms=8, cv=0.5),
              "mel": dict(kind="cpu", threads=1, mean_ms=3), "encode": dict(kind="device", threads=2, mean_ms=4, cv=0.1),
              "select": dict(kind="cpu", threads=1, mean_ms=3), "write": dict(kind="io", threads=1, mean_ms=2)}
    for name, change in changes.items():
        stages.setdefault(name, {}).update(change)
    return [stage(name, **values) for name, values in stages.items()]


# (cause, cores, limiting stage, stages)
PLANTED = [
    ("disk", 8, "read", feed(read=dict(threads=1, mean_ms=14))),
    ("disk, uneven", 8, "read", feed(read=dict(threads=2, mean_ms=25, cv=1.2))),
    ("disk that stalls", 8, "read", feed(read=dict(threads=1, mean_ms=6, stall_share=0.02, stall_ms=300))),
    ("network", 8, "fetch", asr(fetch=dict(threads=2, mean_ms=30, cv=1.0))),
    ("network that stalls", 8, "fetch", asr(fetch=dict(threads=2, mean_ms=14, stall_share=0.05, stall_ms=200))),
    ("network, one connection", 4, "fetch", asr(fetch=dict(threads=1, mean_ms=20, cv=0.8))),
    ("audio decoding", 8, "decode", feed(decode=dict(threads=1, mean_ms=12))),
    ("audio decoding, uneven", 8, "decode", feed(decode=dict(threads=2, mean_ms=24, cv=1.0))),
    ("audio decoding, stalls", 4, "decode", feed(decode=dict(threads=2, mean_ms=12, stall_share=0.02, stall_ms=300))),
    ("features", 8, "features", feed(features=dict(threads=1, mean_ms=15))),
    ("features, constant", 8, "mel", asr(mel=dict(mean_ms=11, cv=0))),
    ("augmentation", 8, "features", feed(features=dict(threads=2, mean_ms=30, cv=0.8))),
    ("augmentation, one thread", 8, "features", feed(features=dict(threads=1, mean_ms=20, cv=0.5), decode=dict(threads=4))),
    ("batch assembly", 8, "batch", feed(batch=dict(mean_ms=13))),
    ("batch assembly, uneven", 8, "batch", feed(batch=dict(mean_ms=12, cv=1.0))),
    ("copy", 8, "copy", feed(copy=dict(mean_ms=12, cv=0.1))),
    ("copy, constant", 4, "copy", feed(copy=dict(mean_ms=14, cv=0, queue=2))),
    ("device", 8, "device", feed(device=dict(mean_ms=12))),
    ("device, two threads for nothing", 8, "device", feed(device=dict(threads=2, mean_ms=14, cv=0))),
    ("device that stalls", 8, "device", feed(device=dict(mean_ms=5, stall_share=0.02, stall_ms=250))),
    ("launch thread", 8, "select", asr(select=dict(mean_ms=9, cv=0.1))),
    ("launch thread, before the device", 8, "mel", asr(mel=dict(mean_ms=10, cv=0.2, queue=1))),
    ("token selection", 8, "select", asr(select=dict(mean_ms=12, cv=0.6))),
    ("token selection, stalls", 8, "select", asr(select=dict(mean_ms=5, stall_share=0.03, stall_ms=150))),
    ("writing", 8, "write", asr(write=dict(mean_ms=11))),
    ("writing, slow disk", 8, "write", asr(write=dict(mean_ms=6, stall_share=0.03, stall_ms=250))),
    ("writing, short queue", 8, "write", asr(write=dict(mean_ms=12, cv=1.0), select=dict(queue=1))),
    ("too few cores", 1, "decode", feed()),
    ("too few cores for many threads", 2, "decode", feed(decode=dict(threads=8, mean_ms=14))),
    ("too many threads", 2, "features", feed(decode=dict(threads=2, mean_ms=6), features=dict(threads=8, mean_ms=20))),
    ("a busy neighbour", 2, "decode", feed(decode=dict(threads=4, mean_ms=20), features=dict(mean_ms=6))),
    ("a quota of one core", 1, "features", feed(decode=dict(mean_ms=4), features=dict(mean_ms=9))),
    ("short queue before an uneven stage", 8, "decode", feed(decode=dict(threads=1, mean_ms=8, cv=1.5, queue=1), read=dict(queue=1))),
    ("unequal lengths", 8, "device", feed(device=dict(mean_ms=9, cv=1.5))),
    ("unequal lengths, one in twenty", 8, "decode", feed(decode=dict(threads=3, mean_ms=10, stall_share=0.05, stall_ms=400))),
    ("pair: features, then device", 8, "features", feed(features=dict(threads=1, mean_ms=13), device=dict(mean_ms=9))),
    ("pair: decoding, then disk", 8, "decode", feed(decode=dict(threads=1, mean_ms=15), read=dict(threads=1, mean_ms=11))),
    ("pair: network, then decoding", 8, "fetch", asr(fetch=dict(threads=1, mean_ms=18), decode=dict(threads=1, mean_ms=12))),
    ("pair: device, then selection", 8, "encode", asr(encode=dict(mean_ms=12), select=dict(mean_ms=8))),
    ("pair: cores, then device", 2, "decode", feed(decode=dict(threads=3, mean_ms=16), device=dict(mean_ms=8))),
    ("two stages only", 4, "make", [stage("make", "cpu", 1, 9), stage("take", "device", 1, 5)]),
    ("one stage", 4, "only", [stage("only", "cpu", 2, 11, 0.5)]),
    ("slow items", 4, "train", [stage("load", "io", 2, 60, 0.5), stage("train", "device", 1, 90, 0.1)]),
    ("quick items", 4, "parse", [stage("parse", "cpu", 1, 2.5, 0.3, 32), stage("store", "io", 2, 2, 0.5, 32)]),
]


def write_toml(path, cores, seconds, stages):
    lines = [f"cores = {cores}", f"seconds = {seconds}"]
    for one in stages:
        lines.append("[[stage]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in one.items()]
    path.write_text("\n".join(lines) + "\n")


def profile(tutti, *arguments):
    run = subprocess.run([tutti, "profile", *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        raise RuntimeError(f"exit {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def check(tutti, folder, number, seconds):
    """(text, the limiting stage is right, the prediction is right) of a planted pipeline."""
    cause, cores, expected, stages = PLANTED[number]
    path = folder / f"{number}.toml"
    write_toml(path, cores, seconds, stages)
    found = profile(tutti, "--pipeline", str(path))
    limit = found["limit"]["stage"] if found["limit"] else None
    text = f"{cause:36} {found['items_per_s']:7.1f} items/s, limited by {limit}"
    if limit != expected:
        return text + f": expected {expected}, model error {found['model_error']:.1%}", False, False
    if not found["fixes"]:
        return text + ": no fix", True, False
    fix = found["fixes"][0]
    applied = profile(tutti, "--pipeline", str(path), "--apply", fix["change"])
    error = fix["predicted_items_per_s"] / applied["items_per_s"] - 1
    right = abs(error) <= ALLOWED_ERROR.get(fix["change"].split("=")[0].rsplit(".")[-1], OTHER_ERROR)
    text += f"; {fix['change']}: predicted {fix['predicted_items_per_s']:.1f}, measured {applied['items_per_s']:.1f} ({error:+.1%})"
    return text + ("" if right else ": too far off"), True, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--jobs", type=int, default=6, help="pipelines at once: they sleep, so there may be more than cores")
    options = parser.parse_args()
    tutti = options.build / "bin" / "tutti"
    numbers = range(0, len(PLANTED), options.every)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(check, tutti, pathlib.Path(folder), number, options.seconds) for number in numbers]
        results = [run.result() for run in runs]
    for text, _, _ in results:
        print(text)
    limits = sum(limit for _, limit, _ in results)
    fixes = sum(fix for _, _, fix in results)
    print(f"{len(results)} pipelines: the limiting stage is right in {limits}, the first fix in {fixes}")
    return 0 if limits == len(results) and fixes >= RIGHT_PREDICTIONS * len(results) - 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
