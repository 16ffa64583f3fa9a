#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What whole recorded runs take on disk: bench_size over the directories of jobs that were really recorded, at 100,000 operations or
more. Bytes per operation, by kind of record on stderr; as a ratio to the entropy of the times stored, and to the same operations as
lines of JSON under zstd -3. The jobs' times are real, so the figures differ by some per cent from run to run.

usage: size.py [--build DIR] [--only JOB]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUGHLY = 100000  # operations; at fewer, what each process writes once counts
RATIO_TO_FLOOR = {"moe": 2.5}  # of the others: 1.5
# on simulated GPUs: steps
SIMULATED = {"ddp": 1800, "megatron": 300, "moe": 75, "decode": 400}


def record(build, run, job):
    commtrace = os.path.join(build, "bin", "commtrace")
    start = [commtrace, "run", "--set", "TIMING=events", "--set", "BUDGET=off", "-o", run, "--"]
    if job == "mpi_stencil":
        start += ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", os.path.join(build, "bin", "mpi_stencil"), "--steps", "4400"]
    else:
        start += [os.path.join(build, "bin", "commtrace-simjob"), "--ranks", "8", "--nodes", "2", "--workload", job, "--steps", str(SIMULATED[job])]
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(build, job, folder):
    run = os.path.join(folder, job)
    record(build, run, job)
    table = subprocess.run([os.path.join(build, "tests", "bench", "bench_size"), run], check=True, stdout=subprocess.PIPE, text=True).stdout
    shutil.rmtree(run)
    print(f"{job}:\n{table}", file=sys.stderr)
    n, ours, floor, json = (float(word) for word in table.splitlines()[-1].split()[1:])
    if n < ROUGHLY:
        sys.exit(f"{job}: {n:.0f} operations are too few")
    print(f"METRIC size.run_{job}.ratio_to_floor {ours / floor:.3f} {RATIO_TO_FLOOR.get(job, 1.5)}")
    print(f"METRIC size.run_{job}.ratio_to_json {ours / json:.3f} 0.25", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--only", choices=[*SIMULATED, "mpi_stencil"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for job in [args.only] if args.only else [*SIMULATED, "mpi_stencil"]:
            measure(args.build, job, folder)


main()
