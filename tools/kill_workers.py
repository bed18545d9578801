#!/usr/bin/env python3
"""Disturbs machines that share a list, on PostgreSQL and on SQS with S3, and checks the history of every job.

Usage: kill_workers.py TUTTI [--backend postgres|sqs|both] [--jobs 500] [--faults 100] [--runners 3] [--seed 1] [--keep DIR]
                       [--plant renew|write]

Each runner is a process with a connection of its own to the server, and is started again whenever it ends. Leases and visibility
are 3 s. Faults, as many of each kind, one after the other as jobs are done:
  kill     SIGKILL of a runner
  stop     SIGSTOP of a runner, and SIGCONT once its leases have ended
  cut      a runner's connections are reset, at once or in place of the next answer, and none is taken for a moment
  restart  PostgreSQL: pg_ctl restart -m immediate
  refuse   SQS and S3: the next requests are answered with 500 or 503, some of them once they were carried out
  clock    the clock of a runner or of the server jumps (libfaketime; moto's by hand, and only forward)
The history is what the server took: PostgreSQL's by triggers on the store's tables, that of SQS and S3 by what moto carried out,
that of files by inotify. tools/job_history.py decides. Ends with 1 where it finds anything; with --plant, which takes the check of
tokens out of the statements of PostgreSQL's store, where it does not find that.
"""
import argparse
import asyncio
import collections
import contextlib
import ctypes
import datetime
import hashlib
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

from job_history import Event, findings
from kill_batch import outputs, write_recording

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/system/cloud"))
import aws

LEASE = 3  # s
LONGEST_STANDSTILL = 150  # s without a job's end: longer than any wait of a runner that is not disturbed
FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
DEVICES = """[[device]]
use = "emulated:6x:8GB"
count = 2
jitter = 0.2
"""
BUCKET = "talks"
# Faults of fencing, planted into statements on their way to PostgreSQL: what no check of a token stands in the way of.
PLANTED = {
    "": (b"", b""),
    "renew": (b" AND job.lease_token = r.token", b" AND job.lease_token <> ''    "),
    "write": (b"lease_token = $2 AND state", b"$2::text <> ''   AND state"),
}
SQS_SLACK = 0.5  # s between what moto decides and what is recorded


def write_recordings(folder, count):
    """Files of 2 to 20 s with as many contents, most of them another one's but for a few PCM samples."""
    dice = random.Random(count)
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:03}.wav"
        if number < 12:
            write_recording(path, 2 + dice.random() * 18, number)
            continue
        with wave.open(str(folder / f"{number % 12:03}.wav")) as file:
            settings, frames = file.getparams(), file.readframes(file.getnframes())
        with wave.open(str(path), "wb") as file:
            file.setparams(settings)
            file.writeframes(frames[:-8] + struct.pack("<4h", *(number >> shift & 15 for shift in (0, 4, 8, 12))))


class Clock:
    """A clock that jumps for the processes that were started with its environment."""

    def __init__(self, path, every_call=False):
        self.path, self.shift = path, 0
        self.environment = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(path), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                            "NO_FAKE_STAT": "1",  # files keep their times
                            **({"FAKETIME_NO_CACHE": "1"} if every_call else {"FAKETIME_CACHE_DURATION": "1"})}
        if not FAKETIME.exists():
            self.environment = {}
        self.jump(0)

    def jump(self, shift):
        self.shift = shift
        beside = self.path.with_suffix(".new")
        beside.write_text(f"{shift:+}\n")
        beside.chmod(0o644)
        beside.rename(self.path)


class Proxy:
    """A port whose connections lead to another one, and can be cut."""
    loop = None

    @classmethod
    def run(cls, coroutine):
        if cls.loop is None:
            cls.loop = asyncio.new_event_loop()
            threading.Thread(target=cls.loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(coroutine, cls.loop).result()

    def __init__(self, target, planted=(b"", b"")):
        """`planted`: bytes of requests, and what goes on in their place."""
        self.target, self.planted, self.open, self.closed_until, self.loses_answers = target, planted, set(), 0, set()
        server = self.run(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]

    def cut(self, in_place_of_answer, seconds):
        async def now():
            self.closed_until = time.monotonic() + seconds
            for pair in list(self.open):
                if in_place_of_answer:
                    self.loses_answers.add(pair)
                else:
                    self.reset(pair)
        self.run(now())

    @staticmethod
    def reset(pair):
        for writer in pair:
            connection = writer.get_extra_info("socket")
            if connection and connection.fileno() >= 0:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def serve(self, reader, writer):
        try:
            if time.monotonic() < self.closed_until:
                return self.reset((writer,))
            there, onward = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return self.reset((writer,))
        pair = (writer, onward)
        self.open.add(pair)
        await asyncio.gather(self.carry(reader, onward, pair, False), self.carry(there, writer, pair, True))
        for end in pair:
            end.transport.abort()
        self.open.discard(pair)
        self.loses_answers.discard(pair)

    async def carry(self, source, sink, pair, are_answers):
        try:
            while piece := await source.read(1 << 16):
                if are_answers and pair in self.loses_answers:
                    return self.reset(pair)
                sink.write(piece if are_answers else piece.replace(*self.planted) if self.planted[0] else piece)
                await sink.drain()
            sink.write_eof()
        except OSError:
            self.reset(pair)


class Arrivals:
    """Names that appear in a folder, by inotify: each time that a file gets one."""
    CREATE, MOVED_TO = 0x100, 0x80

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.watch = libc.inotify_init()
        if libc.inotify_add_watch(self.watch, os.fsencode(folder), self.CREATE | self.MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), f"{folder}: inotify")
        self.names = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while content := os.read(self.watch, 1 << 16):
            while content:
                _, mask, _, length = struct.unpack_from("iIII", content)
                name = os.fsdecode(content[16:16 + length].rstrip(b"\0"))
                if not mask & 0x40000000 and not name.startswith("."):  # no folder, and nothing that is not there yet
                    self.names.append(name)
                content = content[16 + length:]


class Runner:
    """A process that is started again whenever it ends. `words` and `environment` are of one life, which has a name."""

    def __init__(self, name, place, clock, words, environment):
        self.name, self.place, self.clock, self.words, self.environment = name, place, clock, words, environment
        self.lives, self.process, self.stopped_until, self.ends = 0, None, 0, collections.Counter()
        self.is_over, self.next_start = False, 0
        self.log = (place / f"{name}.log").open("ab")

    def life(self):
        return f"{self.name}.{self.lives}"

    def start(self):
        self.lives += 1
        self.stopped_until = 0
        self.log.write(f"==== {self.life()}\n".encode())
        self.log.flush()
        runtime = self.place / f"{self.name}.runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        settings = {"HOME": str(self.place), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(runtime)}
        self.process = subprocess.Popen([str(word) for word in self.words()], stderr=self.log, stdout=self.log,
                                        env=settings | self.clock.environment | self.environment(self.life()))

    def look_after(self):
        """Starts it again where it has ended, and lets it go on where it was stopped for long enough."""
        if self.is_over:
            return
        if self.stopped_until and time.monotonic() > self.stopped_until:
            self.stopped_until = 0
            self.process.send_signal(signal.SIGCONT)
        if self.process is not None and self.process.poll() is not None:
            self.ends[self.process.returncode] += 1
            self.next_start = time.monotonic() + (1 if self.process.returncode >= 0 else 0)  # as a service has it
            self.process = None
        if self.process is None and time.monotonic() >= self.next_start:
            self.start()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self, seconds):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGSTOP)
        self.stopped_until = time.monotonic() + seconds

    def end(self, patience):
        """Asks it to end, and complains where it does not."""
        self.is_over = True
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            yield f"{self.life()} did not end within {patience} s of SIGTERM"


class Disturbed:
    """Runners at a server, and the faults that happen to them."""

    def __init__(self, given, place, dice):
        self.given, self.place, self.dice = given, place, dice
        self.tutti = pathlib.Path(given.tutti).resolve()
        self.runners, self.proxies, self.clocks = [], [], []
        (place / "devices.toml").write_text(DEVICES)
        (place / "quick.toml").write_text("time = 0.02\n" + DEVICES)
        write_recordings(place / "in", given.jobs)

    def add_runner(self, words, environment):
        name = f"r{len(self.runners)}"
        clock, proxy = Clock(self.place / f"{name}.clock"), Proxy(self.port, PLANTED[self.given.plant])
        self.clocks.append(clock)
        self.proxies.append(proxy)
        common = ["--devices", self.place / "devices.toml", "--state", self.place / f"{name}.state", "--vad-method", "energy"]
        self.runners.append(Runner(name, self.place, clock, lambda: [self.tutti, *words(proxy), *common],
                                   lambda life: environment(life, proxy)))

    def kinds(self):
        names = ["kill", "stop", "cut", self.server_fault, "clock"]
        return names if FAKETIME.exists() else names[:-1]

    def fault(self, kind):
        running = [runner for runner in self.runners if not runner.stopped_until and not runner.is_over]
        runner = self.dice.choice(running or self.runners)
        if kind == "kill":
            runner.kill()
        elif kind == "stop":
            runner.stop(LEASE * self.dice.uniform(1.2, 2.2))
        elif kind == "cut":
            self.dice.choice(self.proxies).cut(self.dice.random() < 0.5, self.dice.uniform(0, 2))
        elif kind == "clock":
            self.jump()
        else:
            self.disturb_server()

    def jump_runner(self):
        self.dice.choice(self.clocks).jump(self.dice.choice([-7200, -200, -30, 0, 30, 200, 7200]))

    def run(self):
        """Disturbs the runners until all faults have happened and all jobs have ended; the findings beside the history's."""
        kinds = self.kinds()
        faults = [kinds[number % len(kinds)] for number in range(self.given.faults)]
        self.dice.shuffle(faults)
        happened, last_done, last_change = collections.Counter(), -1, time.monotonic()
        while not self.is_done():
            for runner in self.runners:
                runner.look_after()
            done = self.done()
            if done != last_done:
                last_done, last_change = done, time.monotonic()
            # All while there is work: the last one when a twentieth of the jobs is left.
            number = happened.total()
            if number < len(faults) and done >= number * 0.95 * self.given.jobs / len(faults) and self.runners[-1].lives:
                self.fault(faults[number])
                happened[faults[number]] += 1
                last_change = time.monotonic()
            if number >= len(faults):
                self.calm(time.monotonic() - last_change)
            if time.monotonic() - last_change > LONGEST_STANDSTILL:
                return happened, [f"no job ended in {LONGEST_STANDSTILL} s; {self.given.jobs - done} are left: {self.open_jobs()}"]
            time.sleep(0.05)
        return happened, [complaint for runner in self.runners for complaint in runner.end(60)]

    def calm(self, standstill):
        """Called over and over once no more faults happen."""

    def remarks(self):
        """What the figures need beside them."""
        return []

    def close(self):
        for runner in self.runners:
            runner.kill()
            runner.log.close()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class OnPostgres(Disturbed):
    """A batch of all recordings, and workers that help it, on a store of a PostgreSQL server that is the script's own."""
    server_fault = "restart"
    slack = 0
    BATCH = ["--output-format", "json", "--yes"]

    HISTORY = """
        CREATE SCHEMA kill;
        CREATE TABLE kill.history(number bigint GENERATED ALWAYS AS IDENTITY, change xid8, at float8, process text, operation text,
          job bigint, old_state text, state text, old_token text, token text, until float8, old_until float8);
        CREATE FUNCTION kill.record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO kill.history(change, at, process, operation, job, old_state, state, old_token, token, until, old_until)
          VALUES(pg_current_xact_id(), extract(epoch FROM clock_timestamp()), current_setting('application_name'), TG_OP,
                 coalesce(NEW.id, OLD.id), OLD.state, NEW.state, OLD.lease_token, NEW.lease_token, NEW.lease_until / 1000.0,
                 OLD.lease_until / 1000.0);
          RETURN NULL; END $$;
        CREATE TRIGGER record AFTER INSERT OR UPDATE OR DELETE ON tutti_jobs FOR EACH ROW EXECUTE FUNCTION kill.record();"""

    def __init__(self, given, place, dice):
        super().__init__(given, place, dice)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tutti-postgres-"))
        self.port = free_port()
        self.user = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.user = ["/usr/sbin/runuser", "-u", "postgres", "--"]
        self.bin = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.server_clock = Clock(self.folder / "clock", every_call=True)
        self.server("initdb", "-D", self.folder / "data", "-U", "tutti", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                    "--no-instructions")
        self.restarting = None
        self.server(*self.control("start"), environment=self.server_clock.environment)
        out = place / "out"
        out.mkdir()
        first = ["--state", place / "first.state", "--devices", place / "quick.toml", "--vad-method", "energy"]
        self.tutti_does("batch", place / "in", "--output-dir", place / "undisturbed", *self.BATCH, *first)
        self.tutti_does("worker", "--store", self.url(self.port), "--idle-timeout", "0", *first)  # makes the tables
        self.sql(self.HISTORY)
        self.arrivals = Arrivals(out)
        self.add_runner(lambda proxy: ["batch", place / "in", "--output-dir", out, *self.BATCH, *self.shared(proxy)],
                        self.environment)
        for _ in range(given.runners - 1):
            self.add_runner(lambda proxy: ["worker", "--output-format", "json", "--idle-timeout", "60", "--drain-seconds", "20",
                                           *self.shared(proxy)], self.environment)

    def tutti_does(self, *words):
        done = subprocess.run([self.tutti, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")

    def shared(self, proxy):
        return ["--store", self.url(proxy.port), "--lease", LEASE]

    @staticmethod
    def url(port):
        return f"postgres://tutti@127.0.0.1:{port}/postgres"

    @staticmethod
    def environment(life, proxy):
        return {"PGAPPNAME": life}

    def server(self, program, *words, environment={}):
        subprocess.run([*self.user, "env", *(f"{name}={value}" for name, value in environment.items()), str(self.bin / program),
                        *map(str, words)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def control(self, *words):
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -c fsync=off -c max_connections=200 -k {self.folder}"
        return ["pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, *words]

    def sql(self, statements):
        """The rows of the last one, with fields as text. Waits for a server that restarts."""
        for _ in range(100):
            done = subprocess.run([self.bin / "psql", "-h", self.folder, "-p", str(self.port), "-U", "tutti", "postgres", "-X",
                                   "-q", "-t", "-A", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-c", statements],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return [line.split("\x1f") for line in done.stdout.splitlines() if line]
            if done.returncode != 2:
                break
            time.sleep(0.2)
        raise RuntimeError(done.stderr)

    def disturb_server(self):
        if self.restarting:
            self.restarting.join()
        words = self.control("-m", "immediate", "restart")
        self.restarting = threading.Thread(target=lambda: self.server(*words, environment=self.server_clock.environment))
        self.restarting.start()

    def jump(self):
        if self.dice.random() < 0.5:
            return self.jump_runner()
        self.server_clock.jump(self.server_clock.shift + self.dice.choice([-3600, -60, -5, 5, 60, 3600]))

    def done(self):
        return len(set(self.arrivals.names))

    def is_done(self):
        """Once the batch itself has found it so."""
        batch = self.runners[0]
        batch.is_over = batch.process is not None and batch.process.poll() == 0
        return batch.is_over

    def open_jobs(self):
        return self.sql("SELECT id, state, owner, not_before - tutti_now(), lease_until - tutti_now(), error FROM tutti_jobs_hot "
                        "LIMIT 9")

    def history(self):
        moved, holders = {}, {}  # rows that leave the table of open jobs, by transaction and job; processes by token
        rows = self.sql("SELECT change, at, process, operation, job, old_state, state, old_token, token, until, old_until "
                        "FROM kill.history ORDER BY number")
        for change, at, process, operation, job, old_state, state, old_token, token, until, old_until in rows:
            is_renewed = until != old_until  # an update may concern the job and not its lease
            if is_renewed and until and old_until and float(until) < float(old_until):
                process = holders.get(token, process)  # any process moves leases when the server's clock was set back
            at, until = float(at), float(until or 0)
            if operation == "DELETE":
                moved[change, job] = old_token
            elif operation == "INSERT" and (change, job) in moved:
                yield Event("settle", job, process, moved.pop((change, job)), at, state=state)
            elif operation == "INSERT":
                yield Event("submit", job, process, "", at)
            elif (old_state, state) == ("running", "running") and token == old_token:
                if is_renewed:
                    yield Event("renew", job, process, token, at, until)
            elif state == "running":
                holders[token] = process
                yield Event("claim", job, process, token, at, until)
            elif old_state == "running":
                yield Event("settle", job, process, old_token, at, state=state)
        jobs = dict(self.sql("SELECT regexp_replace(path, '.*/', ''), job FROM tutti_results"))
        for name in self.arrivals.names:
            yield Event("publish", jobs.get(name, name))

    def complaints(self):
        if self.restarting:
            self.restarting.join()
        expected, found = outputs(self.place / "undisturbed"), outputs(self.place / "out")
        for name, content in expected.items():
            if found.get(name) != content:
                yield f"{name}: " + ("differs" if name in found else "is missing")
        yield from (f"{name}: not part of the expected outputs" for name in found.keys() - expected.keys())
        yield from (f"{path}: left over" for path in (self.place / "out/.tmp").glob("*"))
        states = self.sql("SELECT state, count(*) FROM tutti_jobs GROUP BY state")
        if states != [["done", str(self.given.jobs)]]:
            yield f"the store's jobs: {states}"
        ends = self.sql("SELECT job, count(*) FROM tutti_attempts WHERE ending = 'done' GROUP BY job HAVING count(*) <> 1")
        yield from (f"job {job}: {times} attempts ended as done" for job, times in ends)
        for path, sha256 in self.sql("SELECT path, sha256 FROM tutti_results"):
            if hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() != sha256:
                yield f"{path}: not of the recorded hash"

    def close(self):
        super().close()
        if self.restarting:
            self.restarting.join()
        self.server("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


class Recorder:
    """A WSGI application between the check of signatures and moto: records what moto carried out, and by whose key."""

    def __init__(self, application):
        self.application, self.lock = application, threading.Lock()
        self.receiving = threading.Lock()  # moto gives two that receive at a time the same message
        self.events, self.jobs, self.lives, self.published = [], {}, {}, set()
        self.newest, self.late = {}, collections.Counter()  # receipt of each job; what was done with older ones
        self.shift = 0  # s, of moto's clock
        self.fail_after = 0  # requests that are carried out, and answered with 500

    def now(self):
        return time.time() + self.shift

    def __call__(self, environ, start_response):
        import io
        begun = self.now()
        body = environ["wsgi.input"].read()
        environ["wsgi.input"] = io.BytesIO(body)
        head, answer, fails = [], b"", False
        try:
            with self.receiving if environ.get("HTTP_X_AMZ_TARGET") == "AmazonSQS.ReceiveMessage" else contextlib.nullcontext():
                answer = b"".join(self.application(environ, lambda *given: head.append(given)))
        except Exception:  # some of moto's dictionaries change while another thread goes through them
            fails = True
        if head and int(head[0][0].split()[0]) < 300:
            self.record(environ, body, answer, begun)
        with self.lock:
            if self.fail_after > 0 and environ["REQUEST_METHOD"] != "GET":
                self.fail_after -= 1
                fails = True
        start_response(*(("500 Internal Server Error", [("Content-Length", "0")]) if fails else head[0]))
        return [b"" if fails else answer]

    def record(self, environ, body, answer, begun):
        key = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].split("/")[0]
        by = self.lives.get(key, "sender")
        action = environ.get("HTTP_X_AMZ_TARGET", "").partition(".")[2]
        out = f"/{BUCKET}/out/"
        with self.lock:
            if action:
                self.record_action(action, json.loads(body), json.loads(answer or b"{}"), by, begun)
            elif environ["REQUEST_METHOD"] == "PUT" and environ["RAW_URI"].startswith(out):
                job = environ["RAW_URI"][len(out):].removesuffix(".json")
                self.published.add(job)
                self.late["result"] += by != self.newest[job][1]
                self.events.append(Event("publish", job, by, at=self.now()))

    def record_action(self, action, sent, got, by, begun):
        if action == "SendMessage":
            self.events.append(Event("submit", json.loads(sent["MessageBody"])["job_id"], by, at=begun))
        for message in got.get("Messages", ()) if action == "ReceiveMessage" else ():
            receipt, job = message["ReceiptHandle"], json.loads(message["Body"])["job_id"]
            self.jobs[receipt], self.newest[job] = job, (receipt, by)
            self.events.append(Event("claim", job, by, receipt, self.now(), self.now() + sent["VisibilityTimeout"]))
        if action == "ChangeMessageVisibility":
            receipt, seconds = sent["ReceiptHandle"], sent["VisibilityTimeout"]
            job = self.jobs[receipt]
            if self.newest[job][0] != receipt:  # moto takes it, and SQS may
                self.late["renewal" if seconds else "release"] += 1
            elif seconds:
                self.events.append(Event("renew", job, by, receipt, self.now(), self.now() + seconds))
            else:  # what ends a claim is of the time before it was carried out, so that it is before the next claim
                self.events.append(Event("settle", job, by, receipt, begun, state="queued"))
        if action == "DeleteMessage":
            self.events.append(Event("delete", self.jobs[sent["ReceiptHandle"]], by, sent["ReceiptHandle"], begun))


class OnSqs(Disturbed):
    """Workers at a queue of SQS, with recordings and transcripts in S3; both are moto's, behind a check of signatures."""
    server_fault = "refuse"
    slack = SQS_SLACK

    def __init__(self, given, place, dice):
        super().__init__(given, place, dice)
        aws.use_packages()
        self.aws = aws.Aws()
        self.port = self.aws.server.port
        self.recorder = self.aws.guard.application = Recorder(self.aws.guard.application)
        self.take_clock()
        self.s3, self.sqs = self.aws.client("s3"), self.aws.client("sqs")
        self.s3.create_bucket(Bucket=BUCKET)
        self.queue = json.loads(subprocess.run(
            [self.tutti, "queue", "create", "jobs", "--wait", "1", "--max-receives", "100", "--json"], check=True,
            capture_output=True, env=os.environ | self.environment("sender", self)).stdout)["queue_url"]
        for _ in range(given.runners):
            self.add_runner(lambda proxy: [
                "worker", "--queue-url", self.queue.replace(str(self.port), str(proxy.port)), "--s3-bucket", BUCKET, "--model",
                ROOT / "models/nano", "--visibility", LEASE, "--idle-timeout", "60", "--drain-seconds", "20", "--temp-dir",
                self.place / "temporary"], self.environment)
        for path in sorted((place / "in").glob("*.wav")):
            job = path.stem
            self.s3.put_object(Bucket=BUCKET, Key=f"audio/{path.name}", Body=path.read_bytes())
            self.sqs.send_message(QueueUrl=self.queue, MessageBody=json.dumps({
                "schema_version": 1, "job_id": job, "s3_input_path": f"s3://{BUCKET}/audio/{path.name}",
                "s3_output_path": f"s3://{BUCKET}/out/{job}.json", "estimated_duration_seconds": 10, "priority": 3,
                "retry_count": 0, "submitted_at": datetime.datetime.now(datetime.timezone.utc).isoformat()}))

    def take_clock(self):
        import moto.sqs.models as models
        models.unix_time = lambda *given: self.recorder.now()
        models.unix_time_millis = lambda *given: self.recorder.now() * 1000

    def environment(self, life, proxy):
        """Each life has a key of its own, by which its requests are known."""
        key = f"AKIA{life.upper().replace('.', 'X'):0>16}"
        self.recorder.lives[key] = life
        self.aws.add_keys(key, aws.SECRET, None)
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}", "AWS_REGION": aws.REGION, "AWS_ACCESS_KEY_ID": key,
                "AWS_SECRET_ACCESS_KEY": aws.SECRET, "AWS_EC2_METADATA_DISABLED": "true"}

    def disturb_server(self):
        times = self.dice.randrange(3, 20)
        with self.aws.guard.lock:
            if self.dice.random() < 0.5:
                self.recorder.fail_after = times
            else:
                self.aws.guard.faults = [self.dice.choice([(500, "InternalError"), (503, "SlowDown")])] * times

    def jump(self):
        if self.dice.random() < 0.5:
            return self.jump_runner()
        self.recorder.shift += self.dice.choice([2, 5, 60])

    def done(self):
        return len(self.recorder.published)

    def counts(self, queue):
        attributes = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
        return [int(attributes[name]) for name in ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")]

    def is_done(self):
        return self.done() == self.given.jobs and self.counts(self.queue) == [0, 0]

    def calm(self, standstill):
        """What is tried again in minutes is visible at once."""
        if standstill > 2 * LEASE:
            self.recorder.shift += 5

    def open_jobs(self):
        missing = {f"{number:03}" for number in range(self.given.jobs)} - self.recorder.published
        dead = self.counts(self.queue + "-dead-letters")
        return f"{sorted(missing)}; in the queue, in work: {self.counts(self.queue)}; dead: {dead}"

    def history(self):
        return sorted(self.recorder.events, key=lambda event: event.at)

    def complaints(self):
        dead = self.counts(self.queue + "-dead-letters")
        if dead != [0, 0]:
            yield f"{dead} dead letters"
        for job in sorted(self.recorder.published):
            result = json.loads(self.s3.get_object(Bucket=BUCKET, Key=f"out/{job}.json")["Body"].read())
            if result["job_id"] != job or "segments" not in result["transcript"]:
                yield f"out/{job}.json: not a result of this job: {str(result)[:200]}"

    def remarks(self):
        """SQS has no fence but that a result is put once: what came too late, as from a process stopped while it sent it."""
        late = ", ".join(f"{what} {count}" for what, count in self.recorder.late.items() if count)
        yield f"with ended receipts: {late or 'nothing'}"

    def close(self):
        super().close()
        self.aws.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tutti")
    parser.add_argument("--backend", choices=["postgres", "sqs", "both"], default="both")
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--runners", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plant", choices=[name for name in PLANTED if name], default="")
    parser.add_argument("--keep", type=pathlib.Path, help="the logs of runners and the history are written there")
    given = parser.parse_args()
    if not FAKETIME.exists():
        print("no clock jumps: libfaketime is not installed (tools/setup.sh)")
    all_found = []
    for kind in {"postgres": [OnPostgres], "sqs": [OnSqs], "both": [OnPostgres, OnSqs]}[given.backend]:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            place = pathlib.Path(folder)
            disturbed = kind(given, place, random.Random(given.seed))
            try:
                happened, found = disturbed.run()
                history = list(disturbed.history())
                found += [*findings(history, disturbed.slack), *disturbed.complaints()]
            finally:
                disturbed.close()
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    for log in place.glob("*.log"):
                        shutil.copy(log, given.keep / f"{kind.__name__}.{log.name}")
            if given.keep:
                (given.keep / f"{kind.__name__}.history").write_text("".join(f"{event}\n" for event in history))
            events = collections.Counter(event.kind for event in history)
            print(f"{kind.__name__}: {given.jobs} jobs, {given.runners} runners, {time.monotonic() - begun:.0f} s")
            by_kind = ", ".join(f"{name} {count}" for name, count in sorted(happened.items()))
            print(f"  faults: {happened.total()} ({by_kind})")
            print("  history: " + ", ".join(f"{name} {count}" for name, count in sorted(events.items())))
            for line in disturbed.remarks():
                print(f"  {line}")
            for runner in disturbed.runners:
                print(f"  {runner.name}: {runner.lives} lives, that ended with {dict(runner.ends)}")
            print("\n".join(f"  {finding}" for finding in found[:40]) or "  0 lost, 0 published twice, 0 with two valid tokens")
            all_found += found
    if given.plant:
        return not any("was taken, whose claim had ended" in finding for finding in all_found)
    return bool(all_found)


if __name__ == "__main__":
    sys.exit(main())
