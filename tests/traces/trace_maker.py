"""Traces of runs that never were, in the format of Kineto, and the idle split of Holistic Trace Analysis in plain Python.

What the split is was read in HTA's breakdown_analysis.py (0.5.0); this is written from its description.
"""
import gzip
import json
import random
import sqlite3


class Trace:
    """A trace of one rank: host calls and device work, in nanoseconds."""

    def __init__(self, rank=None, world=2, base=5_741_930_461_325_123):
        self.rank, self.world, self.base, self.events, self.correlation = rank, world, base, [], 0

    def event(self, cat, name, start, length, tid, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": tid, "start": start, "length": length,
                            "args": args})

    def launch(self, at, start, length, name="void at::native::vectorized_elementwise_kernel<4>", stream=7, device=0,
               cat="kernel", known=True):
        """A kernel or copy and the call that launched it; `known`: the trace has that call."""
        self.correlation += 1
        if known:
            self.event("cuda_runtime", "cudaLaunchKernel" if cat == "kernel" else "cudaMemcpyAsync", at, 5_000, 100,
                       correlation=self.correlation, cbid=211)
        self.event(cat, name, start, length, f"stream {stream}", device=device, stream=stream, context=1,
                   correlation=self.correlation, **{"External id": self.correlation, "grid": [1, 1, 1]})

    def text(self, indent="\n  "):
        """As Kineto prints it: microseconds with three decimals."""
        def time(value):
            sign, value = ("-", -value) if value < 0 else ("", value)
            return f"{sign}{value // 1000}.{value % 1000:03d}"
        lines = []
        for e in self.events:
            lines.append('{\n    "ph": "%s", "cat": "%s", "name": %s, "pid": %d, "tid": %s,\n    "ts": %s, "dur": %s,\n    "args": %s\n  }' % (
                e["ph"], e["cat"], json.dumps(e["name"]), e["pid"], json.dumps(e["tid"]), time(self.base + e["start"]), time(e["length"]),
                json.dumps(e["args"])))
        info = ""
        if self.rank is not None:
            info = f'  "distributedInfo": {{"backend": "nccl", "rank": {self.rank}, "world_size": {self.world}}},\n'
        return ('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "NVIDIA \\"H100\\" [80 GB]", "warpSize": 32}],\n' + info +
                '  "displayTimeUnit": "ms",\n  "traceEvents": [\n  ' + (",%s" % indent).join(lines) + '\n  ],\n  "traceName": "x.json"\n}\n')

    def write(self, path):
        data = self.text().encode()
        path.write_bytes(gzip.compress(data) if str(path).endswith(".gz") else data)
        return path


def write_nsight(traces, path):
    """The same runs as Nsight Systems exports them: a process each, which have numbers of their own."""
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
            demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
            copyKind INTEGER NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
            contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
            bytes INTEGER NOT NULL);
        CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
            color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);""")
    ids = {}

    def string(text):
        if text not in ids:
            ids[text] = len(ids) + 1
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (ids[text], text))
        return ids[text]

    for number, trace in enumerate(traces):
        process = (1 << 56) | ((4000 + number) << 24)
        for e in trace.events:
            start, end, args = e["start"] + 10**15, e["start"] + e["length"] + 10**15, e["args"]
            work = (start, end, number, 1, args.get("stream"), args.get("correlation"), process)
            if e["cat"] == "kernel":
                row = ("KERNEL", (*work, string(e["name"] + "<float>"), string(e["name"]), None))
            elif e["cat"] == "gpu_memcpy":
                row = ("MEMCPY", (*work, 4096, 1))
            elif e["cat"] == "gpu_memset":
                row = ("MEMSET", (*work, 0, 4096))
            elif e["cat"] == "cuda_runtime":
                row = ("RUNTIME", (start, end, 0, process | 4321, args["correlation"], string(e["name"] + "_v7000"), 0, None))
            elif e["cat"] == "user_annotation":
                of_text = (e["name"], None) if len(e["name"]) % 2 else (None, string(e["name"]))
                database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, NULL, NULL, ?, ?, NULL, ?, 0)",
                                 (start, end, of_text[0], process | 4321, of_text[1]))
                continue
            else:
                continue
            database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{row[0]} VALUES ({', '.join('?' * len(row[1]))})", row[1])
    database.commit()
    database.close()
    return path


WORK = {"kernel", "gpu_memcpy", "gpu_memset"}


def hta_split(trace, gap=30):
    """HTA's idle split of each stream: {stream: {host_wait, kernel_wait, other}}, in nanoseconds. A gap before work without a
    launch is other, as HTA does not look at it."""
    called = {}
    for e in trace.events:
        if e["cat"] in ("cuda_runtime", "cuda_driver"):
            called.setdefault(e["args"]["correlation"], e["start"])
    streams = {}
    for e in sorted((e for e in trace.events if e["cat"] in WORK), key=lambda e: (e["start"], e["start"] + e["length"])):
        split, before = streams.setdefault(e["args"]["stream"], ({"host_wait": 0, "kernel_wait": 0, "other": 0}, [None]))
        if before[0] is not None and e["start"] > before[0]:
            idle, launch = e["start"] - before[0], called.get(e["args"]["correlation"])
            split["other" if launch is None else "host_wait" if launch > before[0] else "kernel_wait" if idle < gap else "other"] += idle
        before[0] = e["start"] + e["length"]
    return {stream: split for stream, (split, _) in streams.items()}


def device_busy(trace):
    """HTA's temporal breakdown: the share of the kernels' span in which one of them ran."""
    work = sorted((e["start"], e["start"] + e["length"]) for e in trace.events if e["cat"] in WORK)
    busy, until = 0, work[0][0]
    for start, end in work:
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy / (until - work[0][0])


def random_trace(seed, steps=6, streams=(7, 20), rank=None):
    """Steps of host-bound, back-to-back, late and unexplained kernels on some streams, shuffled as a file may be."""
    rng, trace = random.Random(seed), Trace(rank=rank)
    clock, ends = 0, {stream: 0 for stream in streams}
    for step in range(steps):
        begin = clock
        trace.event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", clock, 200_000, 100)
        clock += 200_000
        for _ in range(40):
            stream = rng.choice(streams)
            clock += rng.randrange(2_000, 12_000)
            ready = max(clock + 4_000, ends[stream])
            start = ready if rng.random() < 0.3 else ready + rng.choice([rng.randrange(1, 30), 30, rng.randrange(31, 9_000)])
            length = rng.randrange(900, 40_000)
            cat = rng.choice(["kernel"] * 8 + ["gpu_memcpy", "gpu_memset"])
            trace.launch(clock, start, length, stream=stream, cat=cat, known=rng.random() < 0.9)
            ends[stream] = start + length
        trace.event("user_annotation", f"ProfilerStep#{step + 3}", begin, clock - begin, 100)
        trace.event("gpu_user_annotation", f"ProfilerStep#{step + 3}", begin, clock - begin, 7, stream=7)
        trace.event("cpu_op", "aten::copy_ {[\"}]\\ ü", begin, 12, 100, **{"Input Dims": [[1, 2], []]})
    rng.shuffle(trace.events)
    return trace
