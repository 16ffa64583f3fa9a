#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What whole recorded runs take on disk: bench_size over the directories of jobs that were really recorded, at 100,000 operations or
more. Bytes per operation, by kind of record on stderr; as a ratio to the entropy of the times stored, and to the same operations as
lines of JSON under zstd -3, with one duration each and with the same times. Then the instructions that the write thread takes for an
operation, which bench_writer counts over the records of the run. The jobs' times are real, so the figures differ by some per cent from
run to run. A PyTorch job has too few operations for
the ratios: what each process writes once counts most.

usage: size.py [--build DIR] [--only JOB]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
ROUGHLY = 100000  # operations; at fewer, what each process writes once counts
RATIO_TO_FLOOR = {"moe": 2.5}  # of the others: 1.5
# Of JSON with one duration a quarter is less than the floor of all but moe: there it is what was measured, and a tenth more.
RATIO_TO_JSON = {"ddp": 0.54, "megatron": 0.75, "moe": 0.32, "decode": 0.49, "mpi_stencil": 0.51}
RATIO_TO_TIMES = {"megatron": 0.32}  # of the others: a quarter
INSTRUCTIONS = {"ddp": 1930, "megatron": 2260, "moe": 860, "decode": 1110, "mpi_stencil": 950}  # docs/dev/PERFORMANCE.md has the floor
TORCH_BYTES = 16  # per operation
# on simulated GPUs: steps
SIMULATED = {"ddp": 1800, "megatron": 300, "moe": 75, "decode": 400}
JOBS = [*SIMULATED, "mpi_stencil", "torch"]


def torch(folder):
    port = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "free_port.py")], check=True, stdout=subprocess.PIPE, text=True)
    return ["/usr/bin/python3", "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", os.path.join(folder, "log"), "--nproc_per_node", "4",
            "--master_addr", "127.0.0.1", "--master_port", port.stdout.strip(),
            os.path.join(ROOT, "examples", "torch_ddp", "train.py"), "--steps", "400", "--hidden", "64"]


def record(build, run, job):
    commtrace = os.path.join(build, "bin", "commtrace")
    start = [commtrace, "run", "--set", "TIMING=events", "--set", "BUDGET=off", "-o", run, "--"]
    if job == "mpi_stencil":
        start += ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", os.path.join(build, "bin", "mpi_stencil"), "--steps", "4400"]
    elif job == "torch":
        start += torch(os.path.dirname(run))
    else:
        start += [os.path.join(build, "bin", "commtrace-simjob"), "--ranks", "8", "--nodes", "2", "--workload", job, "--steps", str(SIMULATED[job])]
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})


def instructions(build, run, folder):
    """Of the write thread, for each operation."""
    out = os.path.join(folder, "callgrind")
    done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=write_out*", "--callgrind-out-file=" + out,
                           os.path.join(build, "tests", "bench", "bench_writer"), run],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with open(out, encoding="utf-8") as lines:
        return int(re.search(r"^(?:summary|totals): (\d+)", lines.read(), re.M)[1]) / int(done.stdout.split()[0])


def measure(build, job, folder):
    run = os.path.join(folder, job)
    record(build, run, job)
    table = subprocess.run([os.path.join(build, "tests", "bench", "bench_size"), run], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(f"{job}:\n{table}", file=sys.stderr)
    n, ours, floor, json, times = (float(word) for word in table.splitlines()[-1].split()[1:])
    if job == "torch":
        print(f"METRIC size.run_torch.bytes_per_op {ours:.1f} {TORCH_BYTES}", flush=True)
        return
    if n < ROUGHLY:
        sys.exit(f"{job}: {n:.0f} operations are too few")
    print(f"METRIC size.run_{job}.ratio_to_floor {ours / floor:.3f} {RATIO_TO_FLOOR.get(job, 1.5)}")
    print(f"METRIC size.run_{job}.ratio_to_json {ours / json:.3f} {RATIO_TO_JSON[job]}")
    print(f"METRIC size.run_{job}.ratio_to_json_times {ours / times:.3f} {RATIO_TO_TIMES.get(job, 0.25)}")
    print(f"METRIC size.run_{job}.writer_instructions {instructions(build, run, folder):.0f} {INSTRUCTIONS[job]}", flush=True)
    shutil.rmtree(run)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--only", choices=JOBS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for job in [args.only] if args.only else JOBS:
            measure(args.build, job, folder)


main()
