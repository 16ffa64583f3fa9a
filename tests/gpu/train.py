#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small training loops on one GPU that all ranks share, with what is to be measured printed by rank 0.

    torchrun --nproc_per_node=2 train.py ddp --steps 50
    torchrun --nproc_per_node=2 train.py ddp --minutes 10 | --profiler 5
    torchrun --nproc_per_node=2 train.py overlap|graph|nonblocking [--streams 12]

Without a GPU, ddp runs on CPUs over Gloo. Output: `checksum=HEX`, equal for equal options, and lines
`figure NAME VALUE UNIT`.
"""

import argparse
import hashlib
import os
import statistics
import time

RANK = int(os.environ.get("RANK", "0"))
# Ranks that share a GPU are refused unless they claim to be on different hosts.
os.environ.setdefault("NCCL_HOSTID", f"rank{RANK}")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda", 0) if GPU else torch.device("cpu")


def parse_options():
    parser = argparse.ArgumentParser(description="Training loops for measurements on one GPU.")
    parser.add_argument("case", choices=["ddp", "overlap", "graph", "nonblocking"])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--width", type=int, default=2048 if GPU else 64)
    parser.add_argument("--profiler", type=int, default=0, help="so many times under torch.profiler")
    parser.add_argument("--minutes", type=float, default=0, help="ddp: so long instead of a number of steps")
    parser.add_argument("--streams", type=int, default=0, help="overlap: more streams that compute")
    return parser.parse_args()


def wait():
    if GPU:
        torch.cuda.synchronize()


def figure(name, value, unit):
    if RANK == 0:
        print(f"figure {name} {value:.6g} {unit}", flush=True)


def median_ms(step, steps, warm_up=5):
    times = []
    for i in range(warm_up + steps):
        wait()
        begin = time.perf_counter()
        step(i)
        wait()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times[warm_up:])


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def train_for(step, seconds):
    """All ranks do the same number of steps: the first one says when it is enough."""
    times, more = [], torch.ones(1, device=DEVICE)
    begin, grown_from = time.perf_counter(), 0
    while more.item():
        times.append(median_ms(step, 10, warm_up=0))
        more.fill_(time.perf_counter() - begin < seconds)
        dist.broadcast(more, 0)
        if len(times) == 5:
            grown_from = resident_mb()
    part = max(1, len(times) // 5)
    figure("ddp_steps", 10 * len(times), "steps")
    figure("ddp_early_step", statistics.median(times[:part]), "ms")
    figure("ddp_late_step", statistics.median(times[-part:]), "ms")
    figure("ddp_grown", resident_mb() - (grown_from or resident_mb()), "MB")


def checksum(tensors):
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().cpu().numpy().tobytes())
    if RANK == 0:
        print(f"checksum={digest.hexdigest()[:16]}", flush=True)


def ddp(options):
    torch.manual_seed(1)
    width = options.width
    layers = [layer for _ in range(6) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = DistributedDataParallel(nn.Sequential(*layers).to(DEVICE))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.Generator().manual_seed(RANK)
    batch = torch.randn(64, width, generator=data).to(DEVICE)

    def step(_):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    if options.minutes:
        train_for(step, options.minutes * 60)
        return
    for _ in range(options.profiler):
        with torch.profiler.profile():
            median_ms(step, options.steps)
    figure("ddp_step", median_ms(step, options.steps), "ms")
    checksum(model.parameters())


def overlap(options):
    """A product beside an all-reduce: what both take together, and each alone."""
    a = torch.randn(2 * options.width, 2 * options.width, device=DEVICE)
    gradients = torch.ones(8 << 20, device=DEVICE)
    small = torch.randn(256, 256, device=DEVICE)
    others = [torch.cuda.Stream() for _ in range(options.streams)]

    def multiply():
        for other in others:
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                torch.mm(small, small)
        for _ in range(8):
            torch.mm(a, a)
        for other in others:
            torch.cuda.current_stream().wait_stream(other)

    def both(_):
        work = dist.all_reduce(gradients, async_op=True)
        multiply()
        work.wait()

    figure("overlap_products", median_ms(lambda _: multiply(), options.steps), "ms")
    figure("overlap_all_reduce", median_ms(lambda _: dist.all_reduce(gradients), options.steps), "ms")
    gradients.fill_(1)
    figure("overlap_both", median_ms(both, options.steps), "ms")
    checksum([gradients])


def graph(options):
    values = torch.ones(1 << 16, device=DEVICE)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # a communicator cannot be made during a capture
        dist.all_reduce(values)
    torch.cuda.current_stream().wait_stream(stream)
    wait()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        dist.all_reduce(values)
        values /= dist.get_world_size()
        dist.all_reduce(values)
        values /= dist.get_world_size()
    figure("graph_step", median_ms(lambda _: captured.replay(), options.steps), "ms")
    checksum([values])


def nonblocking(options):
    values = torch.ones(1 << 16, device=DEVICE)

    def step(_):
        dist.all_reduce(values)
        values.div_(dist.get_world_size())

    figure("nonblocking_step", median_ms(step, options.steps), "ms")
    checksum([values])


def main():
    options = parse_options()
    if not GPU and options.case != "ddp":
        raise SystemExit(f"train.py: {options.case} needs a GPU")
    if options.case == "nonblocking":
        os.environ["TORCH_NCCL_USE_COMM_NONBLOCKING"] = "1"
    if GPU:
        torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl" if GPU else "gloo")
    globals()[options.case](options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
