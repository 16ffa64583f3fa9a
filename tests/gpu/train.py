#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small training loops on one GPU that all ranks share, with what is to be measured printed by rank 0.

    torchrun --nproc_per_node=2 train.py ddp --steps 50
    torchrun --nproc_per_node=2 train.py overlap|graph|nonblocking [--profiler]

Without a GPU, ddp runs on CPUs over Gloo. Output: `checksum=HEX`, equal for equal options, and lines
`figure NAME VALUE UNIT`.
"""

import argparse
import contextlib
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
    parser.add_argument("--profiler", action="store_true", help="under torch.profiler")
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

    figure("ddp_step", median_ms(step, options.steps), "ms")
    checksum(model.parameters())


def overlap(options):
    """A product beside an all-reduce: what both take together, and each alone."""
    a = torch.randn(2 * options.width, 2 * options.width, device=DEVICE)
    gradients = torch.ones(8 << 20, device=DEVICE)

    def multiply():
        for _ in range(8):
            torch.mm(a, a)

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


def profiled(options):
    if not options.profiler:
        return contextlib.nullcontext()
    return torch.profiler.profile()


def main():
    options = parse_options()
    if not GPU and options.case != "ddp":
        raise SystemExit(f"train.py: {options.case} needs a GPU")
    if options.case == "nonblocking":
        os.environ["TORCH_NCCL_USE_COMM_NONBLOCKING"] = "1"
    if GPU:
        torch.cuda.set_device(DEVICE)
    dist.init_process_group("nccl" if GPU else "gloo")
    with profiled(options):
        globals()[options.case](options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
