#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs whole jobs: runs with and without it in pairs, in turns of which comes first, on the machine as it is.

Each pair gives the quotient of two wall times, from start to end of the launcher. The mean of their logarithms with Student's 95 %
interval is told in per cent, beside the differences in processor time and context switches of all processes (getrusage). The ranks
are as many as there are cores here: what the tracer's threads take, they take from a rank. The figure of the gate is
the lower end of the interval: a cost that these pairs prove. A job on a loaded machine proves little; the load is told. Started with
nice -n -15, it keeps others off the cores: all its processes and threads have the same priority.

usage: paired.py [--build DIR] [--pairs N] [--only JOB]; prints METRIC lines for tests/gates.sh."""
import argparse
import math
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
RANKS = 2
LIMIT = 1.0  # per cent
STUDENT = {4: 3.182, 5: 2.776, 8: 2.365, 10: 2.262, 15: 2.145, 20: 2.093, 30: 2.045}  # two-sided 95 %, by the number of pairs


def command(build, job, folder):
    if job == "mpi_stencil":  # steps of 0.4 ms
        return ["mpirun.openmpi", "--allow-run-as-root", "-np", str(RANKS), os.path.join(build, "bin", "mpi_stencil"), "--steps", "16000"]
    port = subprocess.run(["python3", os.path.join(ROOT, "tools", "free_port.py")], check=True, stdout=subprocess.PIPE, text=True)
    return ["/usr/bin/python3", "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", os.path.join(folder, "log"),
            "--nproc_per_node", str(RANKS), "--master_addr", "127.0.0.1", "--master_port", port.stdout.strip(),
            os.path.join(ROOT, "examples", "torch_ddp", "train.py"), "--steps", "200", "--hidden", "64"]


def play(build, job, folder, is_recorded):
    """Wall time, CPU time, and context switches of one run."""
    start = [os.path.join(build, "bin", "commtrace"), "run", "-o", os.path.join(folder, "run"), "--"] if is_recorded else []
    start += command(build, job, folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(start, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "OMP_NUM_THREADS": "1"})
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
    return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "switches": after.ru_nvcsw - before.ru_nvcsw, "preemptions": after.ru_nivcsw - before.ru_nivcsw}


def interval(pairs, what):
    """Mean and half the width of its 95 % interval, of the relative change in per cent."""
    logs = [math.log(recorded[what] / bare[what]) for bare, recorded in pairs]
    half = STUDENT[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return 100 * statistics.mean(logs), 100 * half


def measure(build, job, n, folder):
    pairs, load = [], []
    for number in range(n):
        order = [False, True] if number % 2 else [True, False]
        took = {is_recorded: play(build, job, folder, is_recorded) for is_recorded in order}
        pairs.append((took[False], took[True]))
        load.append(os.getloadavg()[0])
    wall, half = interval(pairs, "wall")
    cpu, cpu_half = interval(pairs, "cpu")
    print("%s, %d pairs of %.1f s, load %.1f to %.1f: wall %+.2f %% +- %.2f, cpu %+.2f %% +- %.2f" %
          (job, n, statistics.median(bare["wall"] for bare, _ in pairs), min(load), max(load), wall, half, cpu, cpu_half))
    for what in ("switches", "preemptions"):
        print("  %s: %.0f without, %.0f with (medians)" % (what, *(statistics.median(run[what] for run in runs) for runs in zip(*pairs))))
    print("METRIC overhead.paired.%s.percent_at_least %.2f %g" % (job, wall - half, LIMIT), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--pairs", type=int, default=15, choices=sorted(STUDENT))
    parser.add_argument("--only", choices=["mpi_stencil", "torch"])
    args = parser.parse_args()
    for job in [args.only] if args.only else ["mpi_stencil", "torch"]:
        with tempfile.TemporaryDirectory() as folder:
            measure(args.build, job, args.pairs, folder)


main()
