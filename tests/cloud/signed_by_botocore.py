#!/usr/bin/env python3
"""Prints random requests as JSON lines, each with the Authorization header that botocore gives it.

Usage: signed_by_botocore.py COUNT
"""
import datetime
import json
import pathlib
import random
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import python_packages  # noqa: E402

python_packages.use(ROOT / "tests/system/cloud/requirements.txt", "cloud-tests")
import botocore.auth  # noqa: E402
import botocore.awsrequest  # noqa: E402
import botocore.credentials  # noqa: E402

LETTERS = "abcXYZ019-._~/ +%&=?#!'()*@:,;$\"<>[]{}|\\^`äß語🎤"
REGIONS = ["us-east-1", "us-east-2", "eu-central-1", "ap-southeast-2", "us-gov-west-1", "cn-north-1"]
random.seed(47)


def text(least, most, letters=LETTERS):
    return "".join(random.choice(letters) for _ in range(random.randint(least, most)))


def plain(least, most):
    return text(least, most, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=")


def header_value():
    return " ".join(plain(1, 8) + random.choice(["", "  ", "   "]) for _ in range(random.randint(1, 3)))


def request_of(service):
    region = random.choice(REGIONS)
    host = random.choice([f"{service}.{region}.amazonaws.com", f"talks.{service}.{region}.amazonaws.com", "127.0.0.1:5000"])
    made = {"service": service, "region": region, "origin": f"{'http' if host[0] == '1' else 'https'}://{host}", "query": [],
            "path": "/" + text(0, 40) if service == "s3" else "/", "method": "POST", "body": text(0, 200),
            "headers": [["Content-Type", random.choice(["application/x-amz-json-1.0", "application/octet-stream"])]],
            "access": plain(16, 20), "secret": plain(40, 40), "token": plain(20, 300) if random.random() < 0.5 else "",
            "time": random.randint(1_400_000_000, 2_000_000_000)}
    if service == "s3":
        made["method"] = random.choice(["GET", "PUT", "HEAD", "DELETE", "POST"])
        for name in random.sample(["list-type", "prefix", "uploads", "uploadId", "partNumber", "continuation-token", "Prefix"],
                                  random.randint(0, 4)):
            made["query"].append([name, "" if name == "uploads" else text(0, 20)])
        if random.random() < 0.3:
            made["headers"].append(["If-None-Match", "*"])
        if random.random() < 0.3:
            made["headers"].append(["Range", f"bytes={random.randint(0, 9)}-"])
        if random.random() < 0.3:
            made["headers"].append(["x-amz-meta-" + plain(1, 5).lower().translate(str.maketrans("+/=", "abc")), header_value()])
    elif service == "sqs":
        made["headers"].append(["X-Amz-Target", "AmazonSQS." + plain(3, 9).translate(str.maketrans("+/=", "abc"))])
    return made


def authorization(made):
    quoted = "&".join(f"{urllib.parse.quote(k, safe='-_.~')}={urllib.parse.quote(v, safe='-_.~')}" for k, v in made["query"])
    url = made["origin"] + urllib.parse.quote(made["path"], safe="/-_.~") + ("?" + quoted if quoted else "")
    request = botocore.awsrequest.AWSRequest(method=made["method"], url=url, data=made["body"].encode(),
                                             headers=dict(made["headers"]))
    keys = botocore.credentials.Credentials(made["access"], made["secret"], made["token"] or None)
    now = datetime.datetime.fromtimestamp(made["time"], datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda *_, **__: now.replace(tzinfo=None)
    kind = botocore.auth.S3SigV4Auth if made["service"] == "s3" else botocore.auth.SigV4Auth
    kind(keys, made["service"], made["region"]).add_auth(request)
    return request.headers["Authorization"]


for number in range(int(sys.argv[1])):
    one = request_of(random.choice(["s3", "s3", "s3", "sqs", "sts"]))
    print(json.dumps(one | {"authorization": authorization(one)}))
