#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_peers.py [--rounds N] [--flavour openmpi|mpich] — `commtrace bench` beside NetPIPE and hpcc, which measure the same ping-pong.

Programs take turns, so that a machine that others use as well is the same for all. NetPIPE prints the best mean of seven loops, and
hpcc the best of its pairs and loops, so the best burst of comm_bench's recording counts; of the rounds the median ratio of two neighbors. Both MPIs
poll: beside another process on one of two cores they wait for the scheduler, and rounds differ by a factor of a hundred. So they
run with real-time priority where that is allowed.
hpcc never writes most of the buffer that it sends, so it reads the system's page of zeros from the cache, and is a tenth
faster than with memory of its own. MALLOC_PERTURB_ makes the C library write it. One line a figure: METRIC accuracy.bench.NAME value limit."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
build = os.environ.get("CT_BUILD", os.path.join(root, "build"))
LOOPS = 8  # short bursts: one in which neither rank had to wait for a core
LIMIT = 1.10  # within 10 %
SIZES = [65536, 262144, 1048576]  # recording two calls adds a twentieth to 4 KiB, and more to less


def run(where, *command, **env):
    done = subprocess.run(command, cwd=where, env={**os.environ, **env}, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return done.stdout


class Programs:
    def __init__(self, flavour, where):
        self.flavour, self.where, self.runs = flavour, where, 0
        self.mpirun = [f"mpirun.{flavour}", "-n", "2"]
        self.netpipe = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}[flavour]
        self.bench = os.path.join(build, "bin", "comm_bench_mpi" + (".mpich" if flavour == "mpich" else ""))

    def ours(self, size):
        """ns of a message: the best burst."""
        self.runs += 1
        run_dir = f"{self.where}/run{self.runs}"
        run(self.where, *self.mpirun, self.bench, "-b", str(size), "-e", str(size), "-n", str(LOOPS), "-w", "5", "-N", "20", "-c", "0", "--ops", "pingpong",
            LD_PRELOAD=f"{build}/lib/libcommtrace.so", COMMTRACE_DIR=run_dir, COMMTRACE_QUIET="1")
        rows = json.loads(run(self.where, f"{build}/bin/commtrace", "bench", run_dir, "--json"))["rows"]
        return min(ns for row in rows if row["op"] == "PingPong" for ns in row["bursts_ns"])

    def of_netpipe(self, size):
        run(self.where, *self.mpirun, self.netpipe, "-l", str(size), "-u", str(size), "-p", "0", "-n", str(LOOPS), "-o", f"{self.where}/points")
        return 1e9 * float(open(f"{self.where}/points").read().split()[2])

    def of_hpcc(self):
        """ns of two million bytes."""
        with open("/usr/share/doc/hpcc/examples/_hpccinf.txt") as file:
            text = file.read()
        with open(f"{self.where}/hpccinf.txt", "w") as file:
            file.write(re.sub(r"^80 +", "40 ", re.sub(r"^1000 +", "100 ", text, flags=re.M), flags=re.M).replace("2            Ps", "1            Ps"))
        if os.path.exists(f"{self.where}/hpccoutf.txt"):
            os.remove(f"{self.where}/hpccoutf.txt")
        run(self.where, *self.mpirun, "hpcc", MALLOC_PERTURB_="1")
        said = dict(re.findall(r"^(\w+)=(\S+)$", open(f"{self.where}/hpccoutf.txt").read(), re.M))
        return 2000000 / float(said["MaxPingPongBandwidth_GBytes"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--flavour", default="openmpi")
    options = parser.parse_args()
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    except PermissionError:
        pass
    ratios = {}
    with tempfile.TemporaryDirectory() as where:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl="self,vader",
            OMPI_MCA_btl_vader_single_copy_mechanism="none", HYDRA_LAUNCHER="fork")
        programs = Programs(options.flavour, where)
        for _ in range(options.rounds):
            for size in SIZES:
                ratios.setdefault(f"netpipe_{size}", []).append(programs.ours(size) / programs.of_netpipe(size))
            if options.flavour == "openmpi":  # Debian's hpcc is built with it
                ratios.setdefault("hpcc_2000000", []).append(programs.ours(2000000) / programs.of_hpcc())
    for name, of in ratios.items():
        ratio = statistics.median(of)
        print(f"METRIC accuracy.bench.{options.flavour}.{name} {max(ratio, 1 / ratio):.3f} {LIMIT}", flush=True)
        print(f"{name}: ours over theirs {' '.join(f'{r:.3f}' for r in sorted(of))}", file=sys.stderr)


main()
