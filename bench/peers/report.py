"""The lines as they are found: into the file, and onto the terminal."""
import json


class Report:
    def __init__(self, out):
        self.out, self.found, self.failures = out, set(), []

    def add(self, what, unit, tutti, peer, peer_value, ratio):
        found = {"what": what, "unit": unit, "tutti": tutti, "peer": peer, "peer_value": peer_value, "ratio": ratio}
        self.out.write(json.dumps(found) + "\n")
        self.out.flush()
        self.found.add(what)
        shown = "" if ratio is None else f"{ratio:.2f}"
        print(f"{what:52} {tutti:10.2f} {unit:12} {peer_value:10.2f} {peer:34} {shown}", flush=True)

    def fail(self, what, reason):
        self.failures.append(what)
        print(f"FAILED {what}: {reason}", flush=True)

    def close(self, expected):
        """The exit status. `expected`: the names of all comparisons; one that yielded no line of its name is missing, and failed."""
        for name in expected:
            if name not in self.found and name not in self.failures:
                self.fail(name, "it was not measured")
        if self.failures:
            print(f"peers: {len(self.failures)} of {len(expected)} comparisons failed: {', '.join(self.failures)}")
        else:
            print(f"peers: {len(expected)} comparisons, all there")
        return int(bool(self.failures))
