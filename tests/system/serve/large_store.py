#!/usr/bin/env python3
"""Fills the store of a state folder, which a server has made, with jobs of a batch: 60 % done, 20 % waiting, 15 % failed,
5 % cancelled.

Usage: large_store.py STATE [JOBS]
"""
import pathlib
import sqlite3
import sys

STATES = ["done"] * 12 + ["queued"] * 4 + ["dead"] * 3 + ["cancelled"]
BEGUN = 1_790_000_000_000  # Unix milliseconds


def fill(state, jobs):
    store = sqlite3.connect(pathlib.Path(state) / "tutti.sqlite")
    run = store.execute("INSERT INTO runs(command, batch, model, compute_type, started) VALUES('tutti batch', '/talks', 'turbo', "
                        "'float16', ?)", (BEGUN,)).lastrowid
    rows = ((f"/out/talk{number}", run, f"/talks/talk{number}.mp3", 600.0 + number % 3000, BEGUN + number,
             f"talk{number}.mp3", (state := STATES[number * 7 % len(STATES)]),
             "talk.mp3: its codec is not known" if state == "dead" else "", 0 if state == "queued" else 1)
            for number in range(jobs))
    store.executemany(
        "INSERT INTO tasks(key, batch, run, input, bytes, modified_ns, options, audio, length, class, priority, uuid, name, extra, "
        "aged_from, due, size, state, submitted, error, published, attempts) "
        "SELECT ?1, '/talks', ?2, ?3, 1000000, 1, 'turbo', ?4, 2, 2, 0, '', ?6, '', ?5, 0, ?4, ?7, ?5, ?8, ?9, ?9", rows)
    store.commit()
    store.execute("ANALYZE")
    store.commit()
    store.close()


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
