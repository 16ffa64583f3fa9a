#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Points on a map, sorted into clusters by all ranks together over mpi4py, with faults on request.

    mpirun -n 4 python3 kmeans.py --steps 20 --slow-rank 2

A step is

    bcast        rank 0 sends the centres (a Python object, pickled)
    Allreduce    the sums over each rank's points, from and into arrays
    allreduce    with --groups, two more in subgroups (Python objects)
    isend, recv, wait    a note goes one rank further round the ring
    allreduce    how many points have moved to another cluster

Everything is counted in whole numbers: what is printed depends on the options and the number of ranks
only, never on time nor on the order in which an MPI adds.
"""

import argparse
import hashlib
import random
import time
from array import array

from mpi4py import MPI

WIDTH = 1 << 20


def parse_options():
    parser = argparse.ArgumentParser(
        description="Clusters of points over mpi4py, with faults on request. "
        "Ranks and steps count from 0; a rank of -1 means none.")
    add = parser.add_argument
    add("--steps", type=int, default=20)
    add("--seed", type=int, default=0, help="of the points (0)")
    add("--points", type=int, default=500, help="of each rank (500)")
    add("--clusters", type=int, default=8, help="how many (8)")
    add("--groups", action="store_true",
        help="all-reduce in subgroups, too: halves of the ranks, and even and odd ranks")
    add("--slow-rank", type=int, default=-1, help="this rank computes longer")
    add("--slow-ms", type=float, default=50, help="by so much in every step (50)")
    add("--slow-from", type=int, default=0, help="from this step (the first)")
    add("--slow-to", type=int, default=None, help="to this step, included (the last)")
    add("--hang-rank", type=int, default=-1, help="this rank sleeps for an hour")
    add("--hang-step", type=int, default=5, help="in this step (5)")
    add("--mismatch-rank", type=int, default=-1,
        help="this rank calls Barrier instead of the allreduce of what has moved")
    add("--mismatch-step", type=int, default=5, help="in this step (5)")
    add("--skip-rank", type=int, default=-1,
        help="this rank leaves out the allreduce of what has moved in the middle step (steps / 2)")
    return parser.parse_args()


class Job:
    def __init__(self, options):
        self.options = options
        self.comm = MPI.COMM_WORLD
        self.rank = self.comm.Get_rank()
        self.size = self.comm.Get_size()
        self.groups = []
        if options.groups:
            half = (self.size + 1) // 2
            self.groups = [self.comm.Split(colour, self.rank)
                           for colour in (self.rank >= half, self.rank % 2)]
        numbers = random.Random(1000 * options.seed + self.rank)
        draw = lambda count: [(numbers.randrange(WIDTH), numbers.randrange(WIDTH))
                              for _ in range(count)]
        self.points = draw(options.points)
        self.centres = draw(options.clusters)
        self.nearest = [-1] * options.points
        self.note = self.rank
        self.digest = hashlib.sha256()

    def keep(self, *values):
        self.digest.update(repr(values).encode())

    def sort_points(self):
        """Sums of x, of y and the number of points of each cluster; and how many have moved."""
        sums = array("q", [0] * (3 * len(self.centres)))
        moved = 0
        for index, (x, y) in enumerate(self.points):
            cluster = min(range(len(self.centres)), key=lambda c: (
                (self.centres[c][0] - x) ** 2 + (self.centres[c][1] - y) ** 2))
            moved += cluster != self.nearest[index]
            self.nearest[index] = cluster
            for part, value in enumerate((x, y, 1)):
                sums[3 * cluster + part] += value
        return sums, moved

    def be_late(self, step):
        o = self.options
        last = o.steps if o.slow_to is None else o.slow_to
        if self.rank == o.slow_rank and o.slow_from <= step <= last:
            time.sleep(o.slow_ms / 1000)
        if self.rank == o.hang_rank and step == o.hang_step:
            time.sleep(3600)

    def pass_note(self, step):
        request = self.comm.isend(self.note, (self.rank + 1) % self.size, tag=step)
        self.note = self.comm.recv(source=(self.rank - 1) % self.size, tag=step)
        request.wait()
        self.keep(self.note)

    def moved_of_all(self, step, moved):
        """One allreduce, unless this rank is the one that gets it wrong."""
        o = self.options
        if self.rank == o.skip_rank and step == o.steps // 2:
            return moved
        if self.rank == o.mismatch_rank and step == o.mismatch_step:
            self.comm.Barrier()
            return moved
        return self.comm.allreduce(moved)

    def make_step(self, step):
        self.centres = self.comm.bcast(self.centres, root=0)
        self.be_late(step)
        sums, moved = self.sort_points()
        total = array("q", sums)
        self.comm.Allreduce([sums, MPI.INT64_T], [total, MPI.INT64_T])
        for cluster, (x, y, count) in enumerate(zip(total[0::3], total[1::3], total[2::3])):
            if count:
                self.centres[cluster] = (x // count, y // count)
        for group in self.groups:
            self.keep(group.allreduce(moved))
        self.pass_note(step)
        moved = self.moved_of_all(step, moved)
        self.keep(moved)
        if self.rank == 0:
            print(f"step {step} moved {moved}", flush=True)

    def checksum(self):
        """Over the centres and all that each rank received."""
        self.keep(self.centres)
        parts = self.comm.gather(self.digest.hexdigest(), root=0)
        return parts and hashlib.sha256("".join(parts).encode()).hexdigest()[:16]


def main():
    job = Job(parse_options())
    for step in range(job.options.steps):
        job.make_step(step)
    checksum = job.checksum()
    if job.rank == 0:
        print(f"result checksum={checksum}", flush=True)
    for group in job.groups:
        group.Free()


if __name__ == "__main__":
    main()
