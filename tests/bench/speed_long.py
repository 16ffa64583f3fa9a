#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What making a long run costs, looking at it without its operations, and a verdict from its tails: commtrace-synth, commtrace info and
commtrace hang.

Eight ranks of ddp, 1.1 million operations; of the run for hang one rank stops at 95 in a hundred. Processor time as ratios to decoding all blocks and doing nothing with them, each the median
of three rounds in which all commands take turns; of info without 0.1 ms for each process. Instructions per operation, and per
process of a short run of 64, are counted under valgrind --tool=callgrind, so that a slower decoder cannot hide them. A run twice as long
takes synth twice the instructions.

usage: speed_long.py [--build DIR]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile

from speed import HERE, ROUNDS, cpu_s, instructions, operations

RANKS = 8
STEPS, FEW_STEPS = 20000, 500
PER_PROCESS_S = 0.0001
STUCK = ["--fault", "missing:rank=3,op=%d" % (STEPS * 7 * 95 // 100)]  # of seven a step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="commtrace-speed.")
    commtrace = os.path.join(args.build, "bin", "commtrace")
    decode = os.path.join(args.build, "tests", "hang", "decode_run")
    out = os.path.join(folder, "out")

    def synth(name, steps, hosts=1, more=()):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        return [os.path.join(args.build, "bin", "commtrace-synth"), "-o", os.path.join(folder, name), "--workload", "ddp", "--steps",
                str(steps), "--hosts", str(hosts), "--gpus-per-host", str(RANKS), *more]

    try:
        run = os.path.join(folder, "long")
        stuck = os.path.join(folder, "stuck")
        subprocess.run(synth("stuck", STEPS, more=STUCK), check=True)
        took = {"synth": [], "decoding": [], "info": [], "stuck": [], "hang": []}
        for _ in range(ROUNDS):
            took["synth"].append(cpu_s(synth("long", STEPS)))
            took["decoding"].append(cpu_s([decode, run]))
            took["info"].append(cpu_s([commtrace, "info", run]) - RANKS * PER_PROCESS_S)
            took["stuck"].append(cpu_s([decode, stuck]))
            took["hang"].append(cpu_s([commtrace, "hang", stuck], 3))
        ops = operations([decode, run])
        print(f"{ops} operations: " + ", ".join(f"{what} {statistics.median(t):.3f} s" for what, t in took.items()))
        for what, base, limit in (("synth", "decoding", 6), ("info", "decoding", 0.06), ("hang", "stuck", 0.2)):
            ratio = statistics.median(a / b for a, b in zip(took[what], took[base]))
            print(f"METRIC speed.{what}_to_decoding.long {ratio:.3f} {limit}")
        print(f"METRIC speed.synth_million_a_second {ops / statistics.median(took['synth']) / 1e6:.2f} >=2")
        few = instructions(synth("few", FEW_STEPS), 1, out)
        twice = instructions(synth("twice", 2 * FEW_STEPS), 1, out)
        few_ops = operations([decode, os.path.join(folder, "few")])
        print(f"METRIC speed.instructions.synth {few / few_ops:.0f} 7900")
        print(f"METRIC speed.synth_twice_as_long {twice / few:.3f} 2.05")
        print(f"METRIC speed.instructions.info {instructions([commtrace, 'info', run], ops, out):.1f} 15")
        print(f"METRIC speed.instructions.hang_tails {instructions([commtrace, 'hang', stuck], operations([decode, stuck]), out, 3):.0f} 151")
        subprocess.run(synth("wide", FEW_STEPS, hosts=8), check=True)
        each = instructions([commtrace, "info", os.path.join(folder, "wide")], 8 * RANKS, out)
        print(f"METRIC speed.instructions.info_process {each:.0f} 1210000")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
