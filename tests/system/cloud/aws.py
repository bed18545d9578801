"""AWS on this machine, for tests: moto's SQS, S3 and STS behind a check of every signature, and the services that give credentials."""
import datetime
import hashlib
import hmac
import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/support"))
import python_packages

KEY, SECRET, TOKEN = "AKIATESTOFTUTTI00000", "secret-key/of+the=tests-0123456789abcdef", "session-token/of+the=tests=="
REGION = "us-east-1"


def use_packages():
    python_packages.use(pathlib.Path(__file__).with_name("requirements.txt"), "cloud-tests")


def canonical_query(query):
    return "&".join(sorted(part if "=" in part else part + "=" for part in query.split("&") if part))


def only_needed_escapes(text, keep):
    """Whether every byte is written as SigV4 wants it: "%2B" is, "+" and "%2b" are not."""
    return urllib.parse.quote(urllib.parse.unquote_to_bytes(text), safe=keep + "-_.~") == text


class Refusal(Exception):
    def __init__(self, code, status=403, more=""):
        super().__init__(code)
        self.code, self.status, self.more = code, status, more


class StrictSignatures:
    """A WSGI application in front of another: refuses what AWS would refuse. `faults`: answers given first, each (status, code), or with more XML for its body.

    Written from AWS's description of Signature Version 4, without botocore, which the program's own signer is compared with."""

    def __init__(self, application):
        self.application = application
        self.secrets = {KEY: SECRET}
        self.expired_tokens = set()
        self.tokens = {KEY: None}  # the session token that belongs to a key
        self.lock = threading.Lock()
        self.latency = 0  # seconds before each answer, as of a region far away
        self.clear()

    def clear(self):
        self.faults = []
        self.faults_of = {}  # "PUT /bucket/key": faults of these requests alone
        self.cut_short = {}  # "/bucket/key": called once when half of it was sent and the connection ended
        self.seen = []  # "POST AmazonSQS.SendMessage", "GET /bucket/key"

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        target = environ["RAW_URI"]
        time.sleep(self.latency)
        with self.lock:
            request = f"{environ['REQUEST_METHOD']} {environ.get('HTTP_X_AMZ_TARGET') or target}"
            self.seen.append(request)
            faults = self.faults_of.get(request) or self.faults
            fault = faults.pop(0) if faults else None
            cut = self.cut_short.pop(target, None) if request.startswith("GET") else None
        try:
            if fault:
                raise Refusal(fault[1], fault[0], *fault[2:])
            self.check(environ, target, body)
        except Refusal as refusal:
            return self.refuse(environ, start_response, refusal)
        import io
        environ["wsgi.input"] = io.BytesIO(body)
        answer = self.application(environ, start_response)
        return self.half_of(answer, cut) if cut else answer

    @staticmethod
    def half_of(answer, then):
        content = b"".join(answer)
        yield content[:len(content) // 2]
        then()
        raise ConnectionAbortedError("the test cuts it here")

    def refuse(self, environ, start_response, refusal):
        if environ.get("HTTP_X_AMZ_TARGET"):
            answer, kind = json.dumps({"__type": f"com.amazonaws.sqs#{refusal.code}", "message": "refused by the test"}), "json"
        else:
            answer, kind = f"<Error><Code>{refusal.code}</Code><Message>refused by the test</Message>{refusal.more}</Error>", "xml"
        start_response(f"{refusal.status} Refused", [("Content-Type", f"application/{kind}"), ("Content-Length", str(len(answer)))])
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.encode()]

    def check(self, environ, target, body):
        header = environ.get("HTTP_AUTHORIZATION", "")
        if not header.startswith("AWS4-HMAC-SHA256 "):
            raise Refusal("MissingAuthenticationToken")
        fields = dict(part.strip().split("=", 1) for part in header.split(" ", 1)[1].split(","))
        key, day, region, service, end = fields["Credential"].split("/")
        names = fields["SignedHeaders"].split(";")
        if end != "aws4_request" or names != sorted(names) or "host" not in names or region != REGION:
            raise Refusal("IncompleteSignature", 400)
        if key not in self.secrets:
            raise Refusal("InvalidClientTokenId" if service == "sts" else "InvalidAccessKeyId")
        token = environ.get("HTTP_X_AMZ_SECURITY_TOKEN")
        if token in self.expired_tokens:
            raise Refusal("ExpiredToken", 400)
        if token != self.tokens[key]:
            raise Refusal("InvalidToken", 400)
        self.check_all_are_signed(environ, names, service)
        stamp = environ["HTTP_X_AMZ_DATE"]
        sent = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - sent).total_seconds()) > 300 or stamp[:8] != day:
            raise Refusal("RequestTimeTooSkewed")
        content = hashlib.sha256(body).hexdigest()
        if service == "s3" and environ.get("HTTP_X_AMZ_CONTENT_SHA256") != content:
            raise Refusal("XAmzContentSHA256Mismatch", 400)
        path, _, query = target.partition("?")
        if not only_needed_escapes(path, "/") or not only_needed_escapes(query, "=&"):
            raise Refusal("SignatureDoesNotMatch")
        values = {name: environ.get({"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}.get(
            name, "HTTP_" + name.upper().replace("-", "_")), "") for name in names}
        lines = "".join(f"{name}:{' '.join(values[name].split())}\n" for name in names)
        canonical = "\n".join([environ["REQUEST_METHOD"], path, canonical_query(query), lines, fields["SignedHeaders"], content])
        scope = f"{day}/{region}/{service}/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        secret = ("AWS4" + self.secrets[key]).encode()
        for part in (day, region, service, "aws4_request"):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(hmac.new(secret, text.encode(), hashlib.sha256).hexdigest(), fields["Signature"]):
            raise Refusal("SignatureDoesNotMatch")

    @staticmethod
    def check_all_are_signed(environ, names, service):
        """Host, Content-Type and every X-Amz header have to be signed; S3 needs the content's digest, too."""
        sent = {name[5:].lower().replace("_", "-") for name in environ if name.startswith("HTTP_X_AMZ_")}
        needed = sent | {"host", "x-amz-date"} | ({"x-amz-content-sha256"} if service == "s3" else set())
        if environ.get("CONTENT_TYPE"):
            needed.add("content-type")
        if not needed <= set(names):
            raise Refusal("AccessDenied")


class Aws:
    """SQS, S3 and STS on a free port."""

    def __init__(self):
        import logging
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.guard = StrictSignatures(DomainDispatcherApplication(create_backend_app))
        self.server = make_server("127.0.0.1", 0, self.guard, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def client(self, service):
        """boto3's client of one of them, which has to pass the same check."""
        import boto3
        return boto3.client(service, endpoint_url=self.url, region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=SECRET)

    def add_keys(self, key, secret, token):
        self.guard.secrets[key], self.guard.tokens[key] = secret, token

    def close(self):
        self.server.shutdown()


class CredentialServices:
    """What a container, an instance, SSO and STS for web identities answer, all on one port; `seen` are the requests."""

    def __init__(self, key, secret, token, lasts=datetime.timedelta(minutes=42, seconds=30)):
        services = self
        self.seen = []
        self.lasts = lasts
        self.spot_notice = None  # {"action", "time"}

        def expiration():
            return datetime.datetime.now(datetime.timezone.utc) + services.lasts

        def role():
            return json.dumps({"Code": "Success", "AccessKeyId": key, "SecretAccessKey": secret, "Token": token,
                               "Expiration": expiration().strftime("%Y-%m-%dT%H:%M:%SZ")})

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_PUT(self):
                services.seen.append("PUT " + self.path)
                requested = self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
                self.answer(*((200, "token-of-imds") if self.path == "/latest/api/token" and requested else (400, "")))

            def do_GET(self):
                services.seen.append("GET " + self.path)
                roles = "/latest/meta-data/iam/security-credentials/"
                if self.path.startswith(roles):
                    if self.headers["X-aws-ec2-metadata-token"] != "token-of-imds":
                        return self.answer(401, "")
                    return self.answer(200, "worker-role" if self.path == roles else role())
                if self.path == "/latest/meta-data/spot/instance-action" and services.spot_notice:
                    return self.answer(200, json.dumps(services.spot_notice))
                if self.path == "/of-the-container" and self.headers["Authorization"] == "the-container's":
                    return self.answer(200, role())
                if self.path == "/federation/credentials?account_id=123456789012&role_name=Reader":
                    if self.headers["x-amz-sso_bearer_token"] != "the-login's":
                        return self.answer(401, "{}")
                    return self.answer(200, json.dumps({"roleCredentials": {
                        "accessKeyId": key, "secretAccessKey": secret, "sessionToken": token,
                        "expiration": int(expiration().timestamp() * 1000)}}))
                self.answer(404, "")

            def do_POST(self):
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                services.seen.append("POST " + form["Action"][0])
                if form.get("WebIdentityToken") != ["the-pod's token"] or form.get("RoleArn") != ["arn:aws:iam::1:role/r"]:
                    return self.answer(403, "<Error><Code>AccessDenied</Code></Error>")
                self.answer(200, f"<R><Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>"
                            f"<SessionToken>{token}</SessionToken><Expiration>{expiration():%Y-%m-%dT%H:%M:%SZ}</Expiration>"
                            "</Credentials></R>")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
