"""Checks a history of jobs in the manner of Jepsen: what a store took from its runners, whatever they believed.

A history is a list of events in the order in which the store took them. `findings` names each breach of what Tutti promises: a job
that was submitted is published, and once; two processes never hold it at a time; nothing is taken with the token of an ended claim.
What a store refused is no event.
"""
import collections
import dataclasses

KINDS = ("submit", "claim", "renew", "settle", "publish", "delete")  # delete: the message of a job in a queue


@dataclasses.dataclass(frozen=True)
class Event:
    kind: str  # of KINDS
    job: str
    by: str = ""  # the process, a new name for each start of it
    token: str = ""  # of the claim by which it was done; a publication may have none
    at: float = 0  # s, of the store's clock
    until: float = 0  # claim and renew: when it ends unless it is renewed
    state: str = ""  # settle: what the job became. "done" ends it


@dataclasses.dataclass
class Claim:
    by: str
    token: str
    until: float
    is_over: bool = False


class Job:
    def __init__(self, name, slack):
        self.name, self.slack = name, slack
        self.times = collections.Counter()
        self.claims = []
        self.is_done = False

    def holds(self, event):
        """Whether an event is of the claim that is in force."""
        return bool(self.claims) and not self.claims[-1].is_over and (self.claims[-1].by, self.claims[-1].token) == (
            event.by, event.token)

    def take(self, event):
        self.times[event.kind] += 1
        yield from getattr(self, event.kind)(event)

    def submit(self, event):
        if self.times["submit"] > 1:
            yield f"submitted twice, by {event.by} the second time"

    def claim(self, event):
        if self.is_done:
            yield f"{event.by} was given it when it was done"
        if any(claim.token == event.token for claim in self.claims):
            yield f"two claims have the token {event.token}, the second one by {event.by}"
        if self.claims and not self.claims[-1].is_over and event.at < self.claims[-1].until - self.slack:
            yield (f"two valid tokens: {event.by} was given it {self.claims[-1].until - event.at:.1f} s before the lease of "
                   f"{self.claims[-1].by} ended")
        self.claims.append(Claim(event.by, event.token, event.until))

    def renew(self, event):
        if self.holds(event):
            self.claims[-1].until = event.until
        else:
            yield f"a renewal by {event.by} was taken, whose claim had ended"

    def settle(self, event):
        """By the holder, or a revocation by any process once the lease has ended."""
        last = self.claims[-1] if self.claims else None
        is_revocation = (last and last.token == event.token and not last.is_over and event.state != "done" and
                         event.at >= last.until - self.slack)
        if not self.holds(event) and not is_revocation:
            yield f"'{event.state}' by {event.by} was taken, whose claim had ended or was none"
        if last:
            last.is_over = True
        if event.state == "done" and self.is_done:
            yield f"it became done twice, by {event.by} the second time"
        self.is_done = self.is_done or event.state == "done"

    def publish(self, event):
        if event.token and not self.holds(event):
            yield f"a result of {event.by} was published, whose claim had ended"
        if self.times["publish"] > 1:
            yield f"published {self.times['publish']} times" + (f", lastly by {event.by}" if event.by else "")

    def delete(self, event):
        """By any process that ever received the message: SQS promises no more."""
        if not self.times["publish"]:
            yield f"its message was deleted by {event.by} before there was a result"

    def end(self):
        if not self.times["submit"]:
            yield "never submitted"
        elif not self.times["publish"]:
            yield f"lost: {len(self.claims)} claims, no result"


def findings(history, slack=0.0):
    """What is wrong with a history, a sentence each. `slack`: seconds by which its times may be wrong."""
    jobs, found = {}, []
    for event in history:
        job = jobs.setdefault(event.job, Job(event.job, slack))
        found += [f"job {job.name}: {finding}" for finding in job.take(event)]
    return found + [f"job {job.name}: {finding}" for job in jobs.values() for finding in job.end()]
