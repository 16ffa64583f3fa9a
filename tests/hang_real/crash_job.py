#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crash_job.py --rank R --phase PHASE --way WAY — a small training job under torchrun, one rank of which fails by itself.

It knows nothing of the tracer. What the others do is what such jobs do: an exception from Gloo ends them.
"""

import argparse
import ctypes
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def throw():
    raise ValueError("a batch that is no batch")


# How a rank can fail by itself, and how its end is reported.
WAYS = {
    "segfault": lambda: ctypes.string_at(0),
    "oom": lambda: os.kill(os.getpid(), signal.SIGKILL),  # as the kernel does: nothing runs any more
    "abort": os.abort,
    "sys.exit": lambda: sys.exit(1),
    "exception": throw,
    "os._exit": lambda: os._exit(3),
    "bus": lambda: os.kill(os.getpid(), signal.SIGBUS),
}
# Where: having joined and called nothing; between two steps; in the backward pass; inside a collective (another thread
# of the process fails, which a Python exception does not do to a process); in a subgroup; after the last step.
PHASES = ["start", "step", "backward", "collective", "subgroup", "end"]


def fits(way, phase):
    return phase != "collective" or way not in ("sys.exit", "exception")


class Fails(torch.autograd.Function):
    """Does nothing forward, and fails backward."""

    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        fail()
        return gradient


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--phase", choices=PHASES, required=True)
    parser.add_argument("--way", choices=list(WAYS), required=True)
    parser.add_argument("--step", type=int, default=3)
    return parser.parse_args()


def main():
    global fail
    options = parse_options()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    fail = WAYS[options.way]
    mine = dist.get_rank() == options.rank

    def failing(phase, step=None):
        return mine and phase == options.phase and step in (None, options.step)

    if failing("start"):
        fail()
    half = dist.get_world_size() // 2
    groups = [dist.new_group(list(range(half))), dist.new_group(list(range(half, dist.get_world_size())))]
    group = groups[dist.get_rank() >= half]
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)))
    for step in range(options.step + 3):
        if failing("step", step):
            fail()
        out = model(torch.ones(4, 32))
        if failing("backward", step):
            out = Fails.apply(out)
        out.sum().backward()
        if failing("subgroup", step):
            fail()
        dist.all_reduce(torch.ones(8), group=group)
        if options.phase == "collective" and step == options.step:
            if mine:
                threading.Timer(0.2, fail).start()
            elif dist.get_rank() == (options.rank + 1) % dist.get_world_size():
                time.sleep(1)
        dist.all_reduce(torch.ones(1))
    if failing("end"):
        fail()
    dist.barrier()


if __name__ == "__main__":
    main()
