#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gloo_pipeline.py [--steps N] [--base MS] [--slow RANK] [--extra MS] [--micro N] — one rank of a pipeline over torch's Gloo
that measures itself what it loses, for jobs.py: microbatches go through the ranks by send and recv, a barrier ends each step.

What a stage works is slept, since stages may be more than cores; what makes one slow is computed, a fixed amount of CPU
time. Prints the same lines as mpi_jobs.c."""

import argparse
import time

import torch
import torch.distributed as dist


class Times:
    """Time between calls of the library, and of what was extra."""

    def __init__(self):
        self.left, self.away, self.lost = None, 0.0, 0.0

    def call(self, function, *arguments):
        if self.left is not None:
            self.away += time.monotonic() - self.left
        function(*arguments)
        self.left = time.monotonic()

    def spin(self, ms):
        begin, end = time.monotonic(), time.thread_time() + ms / 1e3
        while time.thread_time() < end:
            pass
        self.lost += time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--base", type=float, default=4)
    parser.add_argument("--slow", type=int, default=-1)
    parser.add_argument("--extra", type=float, default=4)
    parser.add_argument("--micro", type=int, default=4)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size, times = dist.get_rank(), dist.get_world_size(), Times()
    numbers = torch.zeros(1 << 14)
    dist.barrier()
    for _ in range(options.steps):
        for _ in range(options.micro):
            if rank > 0:
                times.call(dist.recv, numbers, rank - 1)
            time.sleep(options.base / 1e3)
            if rank == options.slow:
                times.spin(options.extra)
            if rank < size - 1:
                times.call(dist.send, numbers, rank + 1)
        times.call(dist.barrier)
    print(f"away {rank} {times.away:.6f} {options.steps}\nlost {rank} {times.lost:.6f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
