#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of libcommtrace.so in one recorded call, by valgrind --tool=callgrind: they do not depend on the machine.

The programs of this folder that measure the same calls in time make them inside a function counted() (or a clone of it), after as many that filled all
tables, and print how many they counted. What the library calls (the driver, the clock, libc) is not counted. Those of the poll thread are of all launches of bench_gputime, 200 a second
on the simulated driver, which go on in real time here too.

usage: instructions.py [--build DIR]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = [  # name, program and arguments, COMMTRACE_TIMING, limit
    ("nccl_events", ["bench_nccl", "events", "count"], "events", 400),
    ("nccl_host", ["bench_nccl", "host", "count"], "host", 400),
    ("gloo", ["bench_wrapper", "count"], "auto", 210),
    ("mpi_openmpi", ["bench_mpi.openmpi", "count"], "auto", 215),
    ("mpi_mpich", ["bench_mpi.mpich", "count"], "auto", 215),
]


POLL_LIMIT = 1250
POLL_SECONDS = 10  # for each of three runs


def of_library(path):
    """Sum of the library's own, of a thread. valgrind cannot read its symbols, and calls it '???'."""
    names, where, total, is_call = {}, "", 0, False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            part = re.match(r"ob=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
            known = re.match(r"cob=\((\d+)\) (.*)$", line.rstrip("\n"))
            if part:
                names.setdefault(part[1], part[2])
                where = names[part[1]]
            elif known:
                names.setdefault(known[1], known[2])
            elif line.startswith("calls="):
                is_call = True  # the next line has what the callee took
            elif re.match(r"[+\-*\d]", line):
                own = where == "???" or where.endswith(("libcommtrace.so", "bench_gputime"))
                total += int(line.split()[1]) if own and not is_call else 0
                is_call = False
    return total


def count(build, command, timing):
    bench = os.path.join(build, "tests", "bench")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        env = dict(os.environ, LD_PRELOAD=os.path.join(build, "lib", "libcommtrace.so"), COMMTRACE_DIR=os.path.join(folder, "run"), COMMTRACE_QUIET="1",
                   COMMTRACE_BUDGET="off", COMMTRACE_NO_DLSYM="1", COMMTRACE_TIMING=timing, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes", "--toggle-collect=counted*", "--callgrind-out-file=" + out,
                               os.path.join(bench, command[0]), *command[1:]], check=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return of_library(out + "-01") / int(done.stdout)


def count_poll(build):
    """The library is part of the program here. Its second thread polls, in each run."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        done = subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=" + out,
                               os.path.join(build, "tests", "bench", "bench_gputime"), str(POLL_SECONDS)],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return of_library(out + "-02") / sum(int(n) for n in re.findall(r"(\d+) timed", done.stdout))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    build = os.path.abspath(parser.parse_args().build)
    for name, command, timing, limit in CALLS:
        if os.path.exists(os.path.join(build, "tests", "bench", command[0])):
            print(f"METRIC overhead.instructions_{name} {count(build, command, timing):.1f} {limit}", flush=True)
    print(f"METRIC overhead.instructions_poll_thread {count_poll(build):.0f} {POLL_LIMIT}", flush=True)


main()
