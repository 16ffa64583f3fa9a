#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""in_job.py STACK_READ — the stacks that the library takes of a stalled process from inside, by its own reader of .eh_frame, are those that
libunwind finds from outside: each thread, frame by frame."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import stage

STACK_JOB = stage.BUILD / "tests" / "interpose" / "stack_job"
LIBRARY = stage.BUILD / "lib" / "libcommtrace.so"
WAYS = ["asleep", "pointer", "signalled", "loader", "threads", "leaderless", "idle"]


def recorded(read, folder):
    """Of the latest look: {tid: [(file, offset), ...]}."""
    said = subprocess.run([read, folder / "run", folder / "rings"], capture_output=True, text=True, check=False).stdout
    threads, rows = {}, None
    for words in (line.split() for line in said.splitlines()):
        if words[0] == "thread":
            rows = threads.setdefault(int(words[1]), [])
        elif words[0] == "native":
            rows.append((words[2], int(words[3]), words[1]))
    # a look is on record twice: at first without names
    return threads if any(name != "-" for rows in threads.values() for _, _, name in rows) else {}


def outside(thread):
    """The library leaves its own frames out."""
    return [(Path(frame["file"] or "").name, frame["offset"], frame["func"]) for frame in stage.frames(thread)
            if Path(frame["file"] or "").name != LIBRARY.name]


def compare(way, inside, seen):
    """A return from a signal's handler is at the instruction itself outside, and at the one before inside."""
    n = 0
    for thread in seen["threads"]:
        for mine, theirs in zip(inside.get(thread["tid"], []), outside(thread)):
            assert mine[0] == theirs[0] and theirs[1] - mine[1] in (0, 1), f"{way}: {mine} inside, {theirs} outside"
            n += 1
        if thread["tid"] in inside:
            assert len(inside[thread["tid"]]) == len(outside(thread)), f"{way}: {inside[thread['tid']]} {outside(thread)}"
    assert n, f"{way}: nothing to compare"
    return n


def main():
    read = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="ct-stacks.") as name:
        jobs = []
        for way in WAYS:
            folder = Path(name) / way
            (folder / "rings").mkdir(parents=True)
            environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "COMMTRACE_DIR": str(folder / "run"), "COMMTRACE_QUIET": "1",
                           "COMMTRACE_RING_DIR": str(folder / "rings"), "COMMTRACE_HANG_AFTER": "1s"}
            jobs.append((way, folder, stage.job(STACK_JOB, way, env=environment)))
        for (way, folder, job), process in zip(jobs, [job.__enter__() for _, _, job in jobs]):
            try:
                stage.until(lambda: recorded(read, folder), f"{way}: looked at")  # noqa: B023
                seen, = stage.stacks(process.pid)
                print(way, compare(way, recorded(read, folder), seen), "frames")
            finally:
                job.__exit__(None, None, None)


main()
