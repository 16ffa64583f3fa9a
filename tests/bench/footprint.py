#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the library adds to a process: memory, and threads that stay.

The same job runs with and without it: mpi_stencil, Open MPI, one rank and eight. After some seconds, with blocks written, the
proportional set size (Pss of /proc/PID/smaps_rollup) of each rank is read: pages that several processes share count in part. The figure
is the difference of the medians. Threads are those of the rank that has fewest, since one process of a host has one more
(COMMTRACE_COUNTERS). With a GPU: commtrace-simjob.

usage: footprint.py [--build DIR] [--maps]; prints METRIC lines for tests/gates.sh. --maps prints which mappings grew."""
import argparse
import collections
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
LIMIT_MB = {8: 3.0, 1: 4.0}  # alone, a process is charged with all of the library that is mapped: 1 MB
LIMIT_THREADS = {"": 3, "_gpu": 4}
SECONDS = 8  # the first blocks are written after one second, the look at the host is over


def stencil(build, ranks):
    return "mpi_stencil", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), os.path.join(build, "bin", "mpi_stencil"),
                           "--steps", "100000000"]


def simulated(build):
    return "commtrace-simjob", [os.path.join(build, "bin", "commtrace-simjob"), "--ranks", "2", "--workload", "ddp", "--steps", "100000"]


def parents():
    """Of every process."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as f:
                found[pid] = f.read().rpartition(")")[2].split()[1]
        except OSError:
            continue
    return found


def ranks_of(root):
    """What a process started that itself started nothing."""
    parent = parents()

    def is_below(pid):
        while pid in parent and pid != root:
            pid = parent[pid]
        return pid == root

    return [pid for pid in parent if pid not in parent.values() and pid != root and is_below(pid)]


def maps_of(pid):
    """Pss in kB by what is mapped: a file's name, or the size of what has none."""
    held, name = collections.Counter(), ""
    with open("/proc/%s/smaps" % pid, encoding="utf-8") as lines:
        for line in lines:
            part = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)", line)
            if part:
                size = (int(part[2], 16) - int(part[1], 16)) // 1024
                name = "%s %s" % (os.path.basename(re.sub(r"\d{3,}", "N", part[4])) or "%d kB" % size, part[3])
            elif line.startswith("Pss:"):
                held[name] += int(line.split()[1])
    return held


def look(pid):
    with open("/proc/%s/smaps_rollup" % pid, encoding="utf-8") as lines:
        kb = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kb / 1024, len(os.listdir("/proc/%s/task" % pid)), maps_of(pid)


def play(build, job, is_recorded, seconds):
    """Of each rank."""
    with tempfile.TemporaryDirectory() as folder:
        start = [os.path.join(build, "bin", "commtrace"), "run", "-o", os.path.join(folder, "run"), "--"] if is_recorded else []
        child = subprocess.Popen(start + job[1], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            time.sleep(seconds)
            return [look(pid) for pid in ranks_of(str(child.pid)) if os.path.basename(os.readlink("/proc/%s/exe" % pid)) == job[0]]
        finally:
            for pid in [child.pid, *map(int, ranks_of(str(child.pid)))]:
                os.kill(pid, signal.SIGKILL)
            child.wait()


def show_growth(bare, recorded):
    grew = collections.Counter(recorded)
    grew.subtract(bare)
    for name, kb in grew.most_common():
        if abs(kb) >= 8:
            print("  %6d kB  %s" % (kb, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--maps", action="store_true")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    args = parser.parse_args()
    for ranks, limit in LIMIT_MB.items():
        job = stencil(args.build, ranks)
        bare, recorded = (play(args.build, job, is_recorded, args.seconds) for is_recorded in (False, True))
        mb = [statistics.median(rank[0] for rank in run) for run in (bare, recorded)]
        print("%d ranks: %.2f MB without, %.2f with" % (ranks, *mb))
        if args.maps:
            show_growth(bare[-1][2], recorded[-1][2])
        print("METRIC overhead.memory_mb_of_%d %.2f %g" % (ranks, mb[1] - mb[0], limit), flush=True)
    for name, job in (("", stencil(args.build, 2)), ("_gpu", simulated(args.build))):
        bare, recorded = (min(rank[1] for rank in play(args.build, job, is_recorded, args.seconds)) for is_recorded in (False, True))
        print("METRIC overhead.threads%s %d %d" % (name, recorded - bare, LIMIT_THREADS[name]), flush=True)


main()
