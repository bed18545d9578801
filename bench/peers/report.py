"""The lines as they are found: into the file, and onto the terminal."""
import dataclasses
import json


class Report:
    def __init__(self, out):
        self.out, self.found, self.failures, self.disturbed = out, set(), [], []

    def add_all(self, name, lines, load):
        """The lines of a comparison, and the load that it ran under."""
        for line in lines:
            self.add(**line, load=load)
        if not lines:
            return
        print(f"  {name}: {load.text()}", flush=True)
        if not load.quiet:
            self.disturbed.append(name)

    def add(self, what, unit, tutti, peer, peer_value, ratio, load):
        found = {"what": what, "unit": unit, "tutti": tutti, "peer": peer, "peer_value": peer_value, "ratio": ratio,
                 "load": dataclasses.asdict(load), "quiet": load.quiet}
        self.out.write(json.dumps(found) + "\n")
        self.out.flush()
        self.found.add(what)
        shown = "" if ratio is None else f"{ratio:.2f}"
        shown += "" if load.quiet else "  NOT QUIET"
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
        if self.disturbed:
            print(f"peers: {len(self.disturbed)} comparisons ran beside other work, and their figures are not quiet ones: "
                  f"{', '.join(self.disturbed)}")
        return int(bool(self.failures))
