#!/usr/bin/env python3
"""Tests of the checker of histories: each breach is found, and so are four faults that others had in the fencing of leases.

Each fault is planted in a small store in whose histories processes are stopped, killed and started again, and the store with them.
"""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from job_history import Event, findings

LEASE = 3
JOBS = 6


class Store:
    """A store that fences as it should: a token at random for each claim, and in every write."""

    def __init__(self, dice):
        self.dice, self.now, self.history = dice, 0, []
        self.state = {f"job {number}": "queued" for number in range(JOBS)}
        self.leases = {}  # by job: (token, until)
        for job in self.state:
            self.record("submit", job, "sender")

    def record(self, kind, job, by, token="", until=0, state=""):
        self.history.append(Event(kind, job, by, token, self.now, until, state))

    def new_token(self, job, worker):
        return f"{self.dice.getrandbits(64):x}"

    def restart(self):
        """What it has in memory is gone."""

    def is_held(self, job, token):
        return self.leases.get(job, ("", 0))[0] == token

    def claim(self, by, worker):
        queued = [job for job, state in self.state.items() if state == "queued"]
        if not queued:
            return None
        job = self.dice.choice(queued)
        token = self.new_token(job, worker)
        self.state[job] = "running"
        self.leases[job] = (token, self.now + LEASE)
        self.record("claim", job, by, token, self.now + LEASE)
        return job, token

    def renew(self, by, job, token):
        if not self.is_held(job, token):
            return False
        self.leases[job] = (token, self.now + LEASE)
        self.record("renew", job, by, token, self.now + LEASE)
        return True

    def complete(self, by, job, token):
        if not self.is_held(job, token):
            return
        self.end_lease(by, job, "done")
        self.record("publish", job, by)

    def end_lease(self, by, job, state):
        token, _ = self.leases.pop(job)
        self.state[job] = state
        self.record("settle", job, by, token, state=state)

    def reap(self, by):
        for job, (_, until) in list(self.leases.items()):
            if until < self.now:
                self.end_lease(by, job, "queued")


class WorkersNameAsToken(Store):
    """aegra #547: an attempt that was stopped renews the lease of its successor."""

    def new_token(self, job, worker):
        return worker


class GenerationOfOutstandingLease(Store):
    """semaprax #192: one more than that of the lease that is there, so that it begins with 1 once that was removed."""

    def new_token(self, job, worker):
        return str(int(self.leases.get(job, ("0", 0))[0]) + 1)


class CounterInMemory(Store):
    """Containarium #1318: it repeats itself after a restart."""
    counter = 0

    def restart(self):
        self.counter = 0

    def new_token(self, job, worker):
        self.counter += 1
        return str(self.counter)


class HeartbeatStealsBack(Store):
    """lion-reader #917: a heartbeat takes the lease from its present holder."""

    def renew(self, by, job, token):
        if self.state[job] != "running":
            return False
        self.leases[job] = (token, self.now + LEASE)
        self.record("renew", job, by, token, self.now + LEASE)
        return True


class Process:
    def __init__(self, worker, life):
        self.worker, self.name = worker, f"{worker}, life {life}"
        self.held = None  # job, token
        self.stopped_until = 0

    def act(self, store, dice):
        if store.now < self.stopped_until:
            return
        if self.held is None:
            store.reap(self.name)
            self.held = store.claim(self.name, self.worker)
        elif dice.random() < 0.3:
            store.complete(self.name, *self.held)
            self.held = None
        elif not store.renew(self.name, *self.held):
            self.held = None


def history_of(kind, seed):
    """Three workers at a store, each of which is stopped for longer than a lease, killed or doubled now and then."""
    dice = random.Random(seed)
    store = kind(dice)
    running, lives = [Process(f"worker {number}", 0) for number in range(3)], 0
    while any(state != "done" for state in store.state.values()) or any(process.held for process in running):
        store.now += 0.5
        process = dice.choice(running)
        process.act(store, dice)
        fault = dice.random()
        if fault < 0.1:  # a stopped process that its supervisor takes for dead, and replaces
            lives += 1
            process.stopped_until = store.now + LEASE * (1 + 2 * dice.random())
            running.append(Process(process.worker, lives))
        elif fault < 0.15:
            lives += 1
            running[running.index(process)] = Process(process.worker, lives)
        elif fault < 0.2:
            store.restart()
    return store.history


class PlantedFaults(unittest.TestCase):
    def found(self, kind):
        return [findings(history_of(kind, seed)) for seed in range(40)]

    def test_store_that_fences_has_no_findings(self):
        self.assertEqual(sum(self.found(Store), []), [])

    def assert_found(self, kind, *sentences):
        found = self.found(kind)
        for sentence in sentences:
            self.assertIn(sentence, "\n".join(sum(found, [])))
        self.assertGreater(sum(map(bool, found)), 20, "in most histories")

    def test_workers_name_as_token_is_found(self):
        self.assert_found(WorkersNameAsToken, "two claims have the token worker ", "was taken, whose claim had ended")

    def test_generation_of_the_outstanding_lease_is_found(self):
        self.assert_found(GenerationOfOutstandingLease, "two claims have the token 1", "was taken, whose claim had ended")

    def test_counter_that_repeats_after_a_restart_is_found(self):
        self.assert_found(CounterInMemory, "two claims have the token 1", "was taken, whose claim had ended")

    def test_heartbeat_that_steals_back_is_found(self):
        self.assert_found(HeartbeatStealsBack, "a renewal by worker ")


class Breaches(unittest.TestCase):
    """Each in a history of its own; the store's clock is given."""
    SUBMIT = Event("submit", "j", "s")
    CLAIM = Event("claim", "j", "a", "t", 0, 3)
    DONE = Event("settle", "j", "a", "t", 1, state="done")
    PUBLISH = Event("publish", "j")

    def assert_finding(self, sentence, *history):
        self.assertIn(sentence, "\n".join(findings(history)))

    def test_whole_life_of_a_job_has_no_findings(self):
        history = [self.SUBMIT, self.CLAIM, Event("renew", "j", "a", "t", 2, 5),
                   Event("settle", "j", "b", "t", 5.1, state="queued"), Event("claim", "j", "b", "u", 5.2, 8.2),
                   Event("settle", "j", "b", "u", 6, state="done"), self.PUBLISH]
        self.assertEqual(findings(history), [])

    def test_lost_job_is_found(self):
        self.assert_finding("job j: lost: 1 claims, no result", self.SUBMIT, self.CLAIM)

    def test_second_publication_is_found(self):
        self.assert_finding("published 2 times", self.SUBMIT, self.CLAIM, self.DONE, self.PUBLISH, self.PUBLISH)

    def test_second_end_is_found(self):
        self.assert_finding("it became done twice", self.SUBMIT, self.CLAIM, self.DONE, self.DONE, self.PUBLISH)

    def test_claim_beside_a_running_lease_is_found(self):
        self.assert_finding("two valid tokens: b was given it 1.0 s before the lease of a ended", self.SUBMIT, self.CLAIM,
                            Event("claim", "j", "b", "u", 2, 5))

    def test_revocation_before_the_end_of_a_lease_is_found(self):
        self.assert_finding("'queued' by b was taken", self.SUBMIT, self.CLAIM, Event("settle", "j", "b", "t", 2, state="queued"))

    def test_completion_by_another_process_is_found(self):
        self.assert_finding("'done' by b was taken", self.SUBMIT, self.CLAIM, Event("settle", "j", "b", "t", 4, state="done"))

    def test_message_deleted_before_its_result_is_found(self):
        self.assert_finding("before there was a result", self.SUBMIT, self.CLAIM, Event("delete", "j", "a", "t", 2))

    def test_result_of_a_job_that_was_never_submitted_is_found(self):
        self.assert_finding("never submitted", self.PUBLISH)


if __name__ == "__main__":
    unittest.main()
