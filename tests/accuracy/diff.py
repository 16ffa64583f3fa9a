#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of synthetic runs: equal but for the seed, and with a link 5 % slower. How many of either `commtrace diff` distinguishes.

usage: diff.py [--pairs N] [--bin DIR]      prints METRIC accuracy.diff_* value limit; exit 1 beyond a limit
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

WORKLOADS = ("ddp", "fsdp", "moe")
SLOWER = "slow-link:src=7,dst=8,factor=0.952"  # 1 / 1.05


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--bin", default=os.path.join(os.path.dirname(__file__), "../../build/bin"))
    args = parser.parse_args()

    def synth(path, seed, workload, *more):
        subprocess.run([os.path.join(args.bin, "commtrace-synth"), "-o", path, f"--seed={seed}", f"--workload={workload}",
                        "--hosts=2", "--steps=60", "--noise-pct=2", *more], check=True, stdout=subprocess.DEVNULL)

    def differs(a, b):
        out = subprocess.run([os.path.join(args.bin, "commtrace"), "diff", a, b, "--json"], check=True, stdout=subprocess.PIPE)
        return json.loads(out.stdout)["runs"][0]

    flagged = found = 0
    for i in range(args.pairs):
        with tempfile.TemporaryDirectory() as work:
            a, b, c = (os.path.join(work, name) for name in "abc")
            workload = WORKLOADS[i % len(WORKLOADS)]
            synth(a, 1000 + i, workload)
            synth(b, 2000 + i, workload)
            synth(c, 3000 + i, workload, "--fault", SLOWER)
            equal, slower = differs(a, b), differs(a, c)
            if equal["slower"] or equal["faster"]:
                flagged += 1
                print(f"flagged: {workload} seeds {1000 + i}, {2000 + i}", file=sys.stderr)
            if slower["slower"] and not slower["faster"]:
                found += 1
            else:
                print(f"not found: {workload} seeds {1000 + i}, {3000 + i}", file=sys.stderr)
    # Per 100 pairs: 5 and 95.
    most, least = max(args.pairs // 20, 0), args.pairs - args.pairs // 20
    print(f"METRIC accuracy.diff_equal_flagged {flagged} {most}")
    print(f"METRIC accuracy.diff_5pct_found {found} >={least}")
    return 1 if flagged > most or found < least else 0


if __name__ == "__main__":
    sys.exit(main())
