#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A link that is half as fast, and none: what `commtrace diff` and `commtrace diagnose --bench` say of it beside an equal run.

usage: diagnose.py [--pairs N] [--bin DIR]      prints METRIC accuracy.diagnose_* value limit; exit 1 beyond a limit
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

WORKLOADS = ("ddp", "fsdp", "moe")
SLOW = "slow-link:src=7,dst=8,factor=0.5"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--bin", default=os.path.join(os.path.dirname(__file__), "../../build/bin"))
    args = parser.parse_args()

    def synth(path, seed, workload, *more):
        subprocess.run([os.path.join(args.bin, "commtrace-synth"), "-o", path, f"--seed={seed}", f"--workload={workload}",
                        "--hosts=2", "--steps=60", "--noise-pct=2", *more], check=True, stdout=subprocess.DEVNULL)

    def ask(command, *more):
        out = subprocess.run([os.path.join(args.bin, "commtrace"), command, *more, "--json"], stdout=subprocess.PIPE)
        assert out.returncode in (0, 3), out.returncode
        return json.loads(out.stdout), out.returncode

    def differs(base, run):
        run = ask("diff", base, run)[0]["runs"][0]
        return bool(run["slower"] or run["faster"])

    def fails(base, run):
        """The level of the node that fails; None: none does."""
        answer, code = ask("diagnose", run, f"--bench={base}")
        assert (code == 3) == (answer["failed"] is not None)
        return next((level["name"] for level in answer["levels"] if level["answer"] == "fail"), None)

    found, told, flagged = {"diff": 0, "diagnose": 0}, [], 0
    for i in range(args.pairs):
        with tempfile.TemporaryDirectory() as work:
            base, equal, slow = (os.path.join(work, name) for name in ("base", "equal", "slow"))
            workload = WORKLOADS[i % len(WORKLOADS)]
            synth(base, 1000 + i, workload)
            synth(equal, 2000 + i, workload)
            synth(slow, 3000 + i, workload, "--fault", SLOW)
            found["diff"] += differs(base, slow)
            found["diagnose"] += fails(base, slow) == "bandwidth"
            # What the job is like by itself, such as exposed communication, is true of both.
            for said in (differs(base, equal), fails(base, equal)):
                if said and said != fails(base, base):
                    flagged += 1
                    told.append(f"{workload} seeds {1000 + i}, {2000 + i}: {said}")
    for line in told:
        print(f"told of equal runs: {line}", file=sys.stderr)
    most = args.pairs // 25
    for command, n in found.items():
        print(f"METRIC accuracy.diagnose_slow_link_by_{command} {n} >={args.pairs}")
    print(f"METRIC accuracy.diagnose_equal_flagged {flagged} {most}")
    return 1 if min(found.values()) < args.pairs or flagged > most else 0


if __name__ == "__main__":
    sys.exit(main())
