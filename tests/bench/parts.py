#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Making the parts of a run, by one process and by two at a time: how much sooner are two through? And what the parts cost.

    parts.py [--runs N] [--steps N]

The run is synthetic, its parts are thinned, and each measurement makes all of them anew. The ratio is that of the medians; CPU time is that of
all processes, since two that share a core would take as much longer. Prints METRIC lines, for an idle machine with two cores.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.path.join(os.environ.get("CT_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build")), "bin")


def make(dir_, run, shares):
    """(wall, CPU) seconds of so many tasks at a time."""
    parts = [os.path.join(dir_, f"part{i}") for i in range(1, shares + 1)]
    before, began = os.times(), time.monotonic()
    tasks = [subprocess.Popen([os.path.join(BIN, "commtrace"), "partial", run, "-o", part, f"--share={i}/{shares}", "--keep=30"],
                              stdout=subprocess.DEVNULL) for i, part in enumerate(parts, 1)]
    if any(task.wait() for task in tasks):
        sys.exit("a part failed")
    wall, after = time.monotonic() - began, os.times()
    size = sum(os.path.getsize(os.path.join(part, name)) for part in parts for name in os.listdir(part))
    for part in parts:
        shutil.rmtree(part)
    return wall, after.children_user + after.children_system - before.children_user - before.children_system, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60000)
    args = parser.parse_args()
    dir_ = tempfile.mkdtemp(prefix="commtrace-parts.")
    try:
        run = os.path.join(dir_, "run")
        subprocess.run([os.path.join(BIN, "commtrace-synth"), "-o", run, "--gpus-per-host", "8", "--steps", str(args.steps), "--step-ms", "50"],
                       check=True)
        whole = sum(os.path.getsize(os.path.join(run, name)) for name in os.listdir(run))
        make(dir_, run, 1)
        one, two = [], []
        for _ in range(args.runs):
            one.append(make(dir_, run, 1))
            two.append(make(dir_, run, 2))
        wall = [statistics.median(t[0] for t in times) for times in (one, two)]
        cpu = [statistics.median(t[1] for t in times) for times in (one, two)]
        print(f"one process: {wall[0]:.3f} s, CPU {cpu[0]:.3f} s; two: {wall[1]:.3f} s, CPU {cpu[1]:.3f} s; {one[0][2] / whole:.3f} of the bytes")
        print(f"METRIC scale.parts_by_two {wall[0] / wall[1]:.2f} >=1.8")
        print(f"METRIC scale.parts_cpu_by_two {cpu[1] / cpu[0]:.3f} 1.1")
    finally:
        shutil.rmtree(dir_, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
