#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch_cost.py [--pairs N] [--seconds S] — what watching costs: pairs of simulated jobs, one of each with `commtrace watch` beside it, with the
default looks and alert rules. The CPU time of the watcher by rank and second, and by how much it changes the median step: the mean over the
pairs with its 95 % interval, which has to contain 0 or lie below 1 %."""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import judge

RANKS, STEP_MS = 4, 25
# of Student's t, by degrees of freedom: 97.5 %
T975 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def step_ns(run, environment):
    report = subprocess.run([judge.COMMTRACE, "report", "--json", run], env=environment, capture_output=True, text=True, check=True)
    return json.loads(report.stdout)["steps"]["time_p50_ns"]


def record(folder, seconds, watched):
    """The median step, and the watcher's CPU seconds by rank and second."""
    folder.mkdir(parents=True)
    environment = judge.clean_environment(COMMTRACE_RING_DIR=str(folder), COMMTRACE_TIMING="events", COMMTRACE_BUDGET="off")
    job = subprocess.Popen([judge.COMMTRACE, "run", "-q", "-o", folder / "run", "--", judge.BUILD / "bin" / "commtrace-simjob", f"--ranks={RANKS}",
                            f"--step-ms={STEP_MS}", f"--steps={seconds * 1000 // STEP_MS}"],
                           env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    share = None
    if watched:
        while not list((folder / "run").glob("*.seg")):
            assert job.poll() is None, "the job ended"
        begin = os.times().elapsed
        watcher = subprocess.Popen([judge.COMMTRACE, "watch", folder / "run"], env=environment, stdout=subprocess.DEVNULL)
        job.wait()
        elapsed = os.times().elapsed - begin
        watcher.send_signal(signal.SIGTERM)
        _, _, used = os.wait4(watcher.pid, 0)
        share = (used.ru_utime + used.ru_stime) / elapsed / RANKS
    assert job.wait() == 0, "the job failed"
    return step_ns(folder / "run", environment), share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=90)
    options = parser.parse_args()
    changes, shares = [], []
    with tempfile.TemporaryDirectory(prefix="ct-watch-cost.") as name:
        for i in range(options.pairs):
            order = (True, False) if i % 2 else (False, True)
            found = {watched: record(Path(name) / f"{i}.{watched}", options.seconds, watched) for watched in order}
            changes.append(100 * (found[True][0] / found[False][0] - 1))
            shares.append(100 * found[True][1])
            print(f"pair {i}: step {found[False][0] / 1e6:.3f} ms alone, {found[True][0] / 1e6:.3f} ms watched, "
                  f"{shares[-1]:.4f} % of a core per rank", flush=True)
    mean = statistics.mean(changes)
    err = T975.get(len(changes) - 1, 2.0) * statistics.stdev(changes) / math.sqrt(len(changes)) if len(changes) > 1 else math.inf
    print(f"step change {mean:.2f} ± {err:.2f} %")
    print(f"METRIC hang.watch_step_change_pct {max(mean - err, 0):.3f} 1")
    print(f"METRIC hang.watch_cpu_pct_per_rank {statistics.mean(shares):.4f} 0.5")


if __name__ == "__main__":
    sys.exit(main())
