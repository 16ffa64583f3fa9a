#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job in a container, looked at from its host: processes have other numbers there. By the run, by the number here, and for the ranks of a
verdict (hang --attach). Needs root."""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from stage import BUILD, COMMTRACE, PATIENCE_S, job, until


def said(environment, *words, code=0):
    done = subprocess.run([COMMTRACE, *map(str, words)], capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=environment)
    assert done.returncode == code, f"{words}: {done.returncode}: {done.stdout[-800:]}{done.stderr[-800:]}"
    return done.stdout


def numbers(pid):
    """Of a process here and inside."""
    line, = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("NSpid:"))
    return [int(word) for word in line.split()[1:]]


def main():
    with tempfile.TemporaryDirectory(prefix="ct-namespaces.") as name:
        rings, run = Path(name) / "rings", Path(name) / "run"
        rings.mkdir()
        environment = dict(os.environ, COMMTRACE_RING_DIR=str(rings), COMMTRACE_QUIET="1", COMMTRACE_TIMING="events", COMMTRACE_HANG_AFTER="1s")
        with job("unshare", "-p", "-f", "--mount-proc", "--kill-child", COMMTRACE, "run", "-q", "-o", run, "--",
                 BUILD / "bin" / "commtrace-simjob", "--ranks=2", "--steps=100000", "--step-ms=50", env=environment):
            until(lambda: len(list(rings.iterdir())) >= 2, "recorded")

            def processes():
                done = subprocess.run([COMMTRACE, "stacks", run, "--json"], capture_output=True, env=environment, check=False)
                return {} if done.returncode else {(p["recorded"] or {}).get("rank"): p for p in json.loads(done.stdout)["processes"]}

            until(lambda: {0, 1} <= set(processes()), "known as ranks")
            ranks = {rank: process for rank, process in processes().items() if rank is not None}
            for rank, process in ranks.items():
                here, inside = numbers(process["pid"])
                assert here == process["pid"] != inside, (here, inside)
                assert f",{rank}\0" in Path(f"/proc/{here}/cmdline").read_text(), rank
                assert any(thread["frames"] for thread in process["threads"]), process
                text = said(environment, "stacks", here)
                assert f"rank {rank} " in text and f"pid {inside};" in text, text
            os.kill(ranks[1]["pid"], signal.SIGSTOP)
            until(lambda: subprocess.run([COMMTRACE, "hang", run], capture_output=True, env=environment,
                                         check=False).returncode == 3, "stalled")
            text = said(environment, "hang", run, "--attach", code=3)
            # of rank 1, or of both if it had entered the operation when it was stopped
            assert "rank" in text and "libcuda.so.1" in text, text


if __name__ == "__main__":
    sys.exit(main())
