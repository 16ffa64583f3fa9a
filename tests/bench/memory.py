#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What memory a report needs for each rank: at the peak, of runs that are longer than what is kept of them.

Runs of commtrace-synth, tensor parallel inference (decode): 64 ranks with two million operations and twice as many, 1,024 ranks with
four million. The peak is the largest resident set of the process (getrusage), on one thread, divided by the ranks.

usage: memory.py [--build DIR]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import shutil
import subprocess
import tempfile

from speed import HERE

# name, hosts of eight ranks, steps, limit in MB a rank
RUNS = [("64", 8, 920, 6.1), ("64_twice", 8, 1840, 4.5), ("1024", 128, 115, 1.37)]
TWICE = 1.05  # times as much, of a run that is twice as long


def peak_mb(command):
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    return used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    args = parser.parse_args()
    folder, took = tempfile.mkdtemp(prefix="commtrace-memory."), {}
    try:
        for name, hosts, steps, limit in RUNS:
            run = os.path.join(folder, "run")
            shutil.rmtree(run, ignore_errors=True)
            subprocess.run([os.path.join(args.build, "bin", "commtrace-synth"), "-o", run, "--workload", "decode", "--steps", str(steps),
                            "--hosts", str(hosts), "--gpus-per-host", "8"], check=True)
            took[name] = peak_mb([os.path.join(args.build, "bin", "commtrace"), "report", "--threads=1", run])
            print("METRIC speed.memory_mb_a_rank.%s %.2f %s" % (name, took[name] / (8 * hosts), limit))
        print("METRIC speed.memory_twice_as_long %.3f %s" % (took["64_twice"] / took["64"], TWICE))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
