#!/usr/bin/env python3
"""How long the device of a remote runner is idle for want of a fetch or an upload, with a queue and a bucket 100 ms away.

Usage: bench/runner_idle.py [BUILD] [--clips 200] [--seconds 8] [--speed 30] [--latency 0.1] [--prefetch N] [--limit 0.02]

`tutti worker` with one emulated GPU (--speed times real time) does a queue of --clips recordings of --seconds each, from S3 to S3. Both
are moto's on this machine, and every answer comes --latency seconds late. The run's own record (tutti history) has how long the device
worked and why it was idle otherwise. The start of its worker and what follows the last result (the queue is found empty twice) do not
count.
One line of JSON. Exit status 1 where more than --limit of the rest was idle, or a clip was lost.
"""
import argparse
import datetime
import json
import logging
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/system/cloud"))
import aws

BUCKET = "talks"


def time_of(line):
    """Seconds, of a line of the worker's log."""
    return datetime.datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").timestamp()


def clip(path, seconds):
    """A tone with a short pause every two seconds, which counts as speech."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"".join(struct.pack("<h", int((9000 if i % 32000 < 28000 else 0) * math.sin(6.2832 * 220 * i / 16000)))
                                  for i in range(int(seconds * 16000))))
    return path.read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--speed", type=float, default=30)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--prefetch", type=int, default=0)
    parser.add_argument("--limit", type=float, default=0.02)
    options = parser.parse_args()
    aws.use_packages()
    server = aws.Aws()
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)  # moto's answer 500 where an object goes while it lists them
    tutti = options.build / "bin/tutti"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {"HOME": name, "PATH": "/usr/bin:/bin", "AWS_ENDPOINT_URL": server.url, "AWS_REGION": aws.REGION,
                       "AWS_ACCESS_KEY_ID": aws.KEY, "AWS_SECRET_ACCESS_KEY": aws.SECRET, "AWS_EC2_METADATA_DISABLED": "true"}

        def run(*words):
            return subprocess.run([tutti, *words], env=environment, check=True, capture_output=True, text=True)

        s3, sqs = server.client("s3"), server.client("sqs")
        s3.create_bucket(Bucket=BUCKET)
        queue = json.loads(run("queue", "create", "jobs", "--wait", "2", "--json").stdout)["queue_url"]
        content = clip(folder / "clip.wav", options.seconds)
        for number in range(options.clips):
            s3.put_object(Bucket=BUCKET, Key=f"audio/{number}.wav", Body=content)
            sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({
                "schema_version": 1, "job_id": f"00000000-0000-4000-8000-{number:012}", "priority": 3, "retry_count": 0,
                "s3_input_path": f"s3://{BUCKET}/audio/{number}.wav", "s3_output_path": f"s3://{BUCKET}/out/{number}.json",
                "estimated_duration_seconds": options.seconds, "submitted_at": "2026-11-29T03:00:00Z"}))
        server.guard.latency = options.latency
        begun = time.monotonic()
        prefetch = ["--prefetch", str(options.prefetch)] if options.prefetch else []
        worked = run("worker", "-q", queue, "--s3-bucket", BUCKET, "--devices", f"emulated:{options.speed:g}x:12GB", "--model",
                     str(ROOT / "models/nano"), "--vad-method", "energy", "--idle-timeout", "0", "--state", name, *prefetch)
        took = time.monotonic() - begun
        server.guard.latency = 0
        record = json.loads(run("history", "--json", "--state", name).stdout)["runs"][0]
        device = record["devices"][0]
        done = len(s3.list_objects_v2(Bucket=BUCKET, Prefix="out/").get("Contents", ()))
    idle = {reason: seconds for reason, seconds in device["idle_seconds"].items() if seconds > 0}
    lines = worked.stderr.splitlines()
    last = [line for line in lines if "SUCCESS: Job" in line][-1]
    tail = time_of([line for line in lines if "IDLE SHUTDOWN" in line][-1]) - time_of(last)
    counted = sum(seconds for reason, seconds in idle.items() if reason != "starting") - tail
    busy = device["busy_seconds"]
    share = counted / (counted + busy)
    print(json.dumps({"name": f"runner_idle/{options.clips}_clips", "clips": done, "seconds": round(took, 1), "busy_seconds": round(busy, 2),
                      "idle_seconds": {reason: round(seconds, 2) for reason, seconds in idle.items()}, "tail_seconds": round(tail, 2),
                      "idle_share": round(share, 4), "limit": options.limit}))
    return int(share > options.limit or done != options.clips)


if __name__ == "__main__":
    sys.exit(main())
