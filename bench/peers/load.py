"""What else the machine did: the share of its cores that other processes took before a comparison and during it.

Read from /proc/stat, less the processor time of our own process tree. Time that a hypervisor gave to other machines ("stolen")
counts as taken by others, too. A comparison is quiet only where little was taken before, on average, and in its worst seconds.
"""
import dataclasses
import os
import pathlib
import threading
import time

from measured import tree

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_EVERY = 1.0  # seconds
BEFORE = 2.0  # seconds that are looked at before a comparison
WORST = 5  # looks together that make its worst seconds
MOST_SHARE, MOST_WORST_SHARE = 0.05, 0.20  # of all cores, that others may take of a quiet comparison


def busy_ticks(text):
    """Processor ticks of all cores that were spent on anything, stolen ones included. `text`: of /proc/stat."""
    user, nice, system, _idle, _waiting, irq, soft_irq, stolen, *_ = map(int, text.splitlines()[0].split()[1:])
    return user + nice + system + irq + soft_irq + stolen


def ticks_of(pid):
    """Processor ticks of a process and of the children that it has waited for."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


@dataclasses.dataclass(frozen=True)
class Load:
    """Shares of all cores that others took, 0 to 1."""
    before: float
    during: float
    worst: float  # of the worst WORST looks in a row

    @property
    def quiet(self):
        return max(self.before, self.during) <= MOST_SHARE and self.worst <= MOST_WORST_SHARE

    def text(self):
        shares = (f"{100 * share:.0f} %" for share in (self.before, self.during, self.worst))
        return ("other work took {} of the cores before, {} during, {} in the worst {} s: ".format(*shares, int(WORST * LOOK_EVERY)) +
                ("quiet" if self.quiet else "NOT QUIET, not to be quoted"))


def worst_share(shares):
    """The largest mean of WORST shares in a row, or of all where there are fewer."""
    size = min(WORST, len(shares))
    return max((sum(shares[at:at + size]) / size for at in range(len(shares) - size + 1) if size), default=0.0)


class Clock:
    """Reports the share of the cores that others took since the last look."""

    def __init__(self):
        self.cores, self.at = os.cpu_count(), self.read()

    @staticmethod
    def read():
        ours = sum(map(ticks_of, tree(os.getpid())))
        return time.perf_counter(), busy_ticks(pathlib.Path("/proc/stat").read_text()) - ours

    def look(self):
        """(seconds, share) since the last look."""
        (then, before), self.at = self.at, self.read()
        seconds = self.at[0] - then
        return seconds, max(0.0, (self.at[1] - before) / TICKS / (seconds * self.cores))


class LoadWatch(threading.Thread):
    """Looks at the machine from the start until load() is called; the first BEFORE seconds, in which nothing of ours may run,
    are waited for here."""

    def __init__(self, before=BEFORE):
        super().__init__(daemon=True)
        self.over, self.clock, self.looks = threading.Event(), Clock(), []
        time.sleep(before)
        self.before = self.clock.look()[1]
        self.start()

    def run(self):
        while not self.over.wait(LOOK_EVERY):
            self.looks.append(self.clock.look())

    def load(self):
        self.over.set()
        self.join()
        if not self.looks:
            self.looks.append(self.clock.look())
        seconds = sum(took for took, _ in self.looks)
        return Load(self.before, sum(took * share for took, share in self.looks) / seconds,
                    worst_share([share for _, share in self.looks]))
