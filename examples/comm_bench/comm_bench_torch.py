#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long torch.distributed's operations take, by size; options and columns are those of nccl-tests.

    torchrun --nproc_per_node=4 comm_bench_torch.py -b 8 -e 64M --ops all_reduce,alltoall

Each (operation, size) is measured --cycles times: a burst of warm-up iterations, a barrier, a burst of timed ones. All these are
in random order, so what disturbs the machine for a while disturbs no size alone. The time of an iteration is what a burst took,
by their number, averaged over the ranks; of the cycles the median. sendrecv is to the next rank, from the one before; pingpong of
the first and the last rank, its time half a round trip. What is sent are small whole numbers, exact in any order of summation.
"""

import argparse
import os
import random
import statistics
import sys
import threading
import time

import torch
import torch.distributed as dist

FLOAT = 4  # bytes


class Op:
    def __init__(self, run, redop=False, root=False, shared=False, backends=("gloo", "nccl", "mpi")):
        self.run, self.redop, self.root, self.shared, self.backends = run, redop, root, shared, backends


class Bench:
    def __init__(self, options):
        self.options = options
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.last = self.size - 1
        self.redop = getattr(dist.ReduceOp, {"prod": "PRODUCT"}.get(options.op, options.op.upper()))
        device = "cuda" if options.backend == "nccl" else "cpu"
        self.device = torch.device(device)
        count = options.maxbytes // FLOAT
        self.send = self.pattern(self.rank, count).to(self.device)
        self.recv = torch.zeros(count, device=self.device)

    def pattern(self, rank, count, begin=0):
        return (1 + (torch.arange(begin, begin + count) + rank) % 3).float()

    # ---- one iteration, of n elements ----

    def all_reduce(self, n):
        dist.all_reduce(self.recv[:n], self.redop)

    def broadcast(self, n):
        dist.broadcast((self.recv if self.rank else self.send)[:n], 0)

    def reduce(self, n):
        dist.reduce(self.recv[:n], 0, self.redop)

    def all_gather(self, n):
        dist.all_gather(list(self.recv[:n].chunk(self.size)), self.send[:n // self.size])

    def reduce_scatter(self, n):
        dist.reduce_scatter(self.recv[:n // self.size], list(self.send[:n].chunk(self.size)), self.redop)

    def alltoall(self, n):
        dist.all_to_all_single(self.recv[:n], self.send[:n])

    def gather(self, n):
        dist.gather(self.send[:n // self.size], None if self.rank else list(self.recv[:n].chunk(self.size)), 0)

    def scatter(self, n):
        dist.scatter(self.recv[:n // self.size], None if self.rank else list(self.send[:n].chunk(self.size)), 0)

    def sendrecv(self, n):
        works = dist.batch_isend_irecv([
            dist.P2POp(dist.isend, self.send[:n], (self.rank + 1) % self.size),
            dist.P2POp(dist.irecv, self.recv[:n], (self.rank + self.last) % self.size)])
        for work in works:
            work.wait()

    def pingpong(self, n):
        if self.rank == 0:  # one buffer, which comes back
            dist.send(self.send[:n], self.last)
            dist.recv(self.send[:n], self.last)
        elif self.rank == self.last:
            dist.recv(self.recv[:n], 0)
            dist.send(self.recv[:n], 0)

    # ---- measuring ----

    def burst(self, op, n, iterations):
        for _ in range(iterations):
            op.run(self, n)
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def sum(self, mine):
        all_ = torch.tensor([mine], dtype=torch.float64, device=self.device)
        dist.all_reduce(all_)
        return all_.item()

    def wrong(self, name, n):
        """Elements of this rank that are wrong."""
        share, got = n // self.size, self.recv[:n].cpu()
        if (name in ("reduce", "gather") and self.rank) or (name == "pingpong" and self.rank != self.last):
            return 0
        if name in ("all_reduce", "reduce", "reduce_scatter"):
            begin = share * self.rank if name == "reduce_scatter" else 0
            got = got[:share] if name == "reduce_scatter" else got
            all_ = torch.stack([self.pattern(r, 3, begin) for r in range(self.size)])
            three = {"sum": all_.sum(0), "prod": all_.prod(0), "min": all_.min(0)[0], "max": all_.max(0)[0]}[self.options.op]
            want = three.repeat(len(got) // 3 + 1)[:len(got)]
        elif name == "scatter":
            got, want = got[:share], self.pattern(0, share, share * self.rank)
        elif name in ("all_gather", "gather", "alltoall"):
            begin = share * self.rank if name == "alltoall" else 0
            want = torch.cat([self.pattern(r, share, begin) for r in range(self.size)])
        elif name == "broadcast":
            got, want = (got if self.rank else self.send[:n].cpu()), self.pattern(0, n)
        else:
            origin = (self.rank + self.last) % self.size if name == "sendrecv" else 0
            want = self.pattern(origin, n)
        return int((got != want).sum())

    def measure(self, name, nbytes):
        op, options, n = OPS[name], self.options, nbytes // FLOAT
        in_place = name in ("all_reduce", "reduce")  # all that torch has
        wrong = 0
        if in_place and options.check:
            self.recv[:n] = self.send[:n]
            self.burst(op, n, 1)
            wrong = self.wrong(name, n)
        if in_place:
            self.recv[:n] = 1  # stays finite however often it is reduced: products and extremes are 1
        dist.barrier()
        self.burst(op, n, options.warmup_iters)
        if in_place:
            self.recv[:n] = 1
        dist.barrier()
        begin = time.monotonic()
        self.burst(op, n, options.iters)
        us = self.sum(1e6 * (time.monotonic() - begin)) / options.iters / self.size
        if not in_place and options.check:
            wrong = self.wrong(name, n)
        return us / (2 if name == "pingpong" else 1), self.sum(wrong)

    def run(self):
        options = self.options
        cells = {(name, size): [] for name in options.ops for size in sizes(options, OPS[name], self.size)}
        wrong = dict.fromkeys(cells, 0)
        order, draw = list(cells), random.Random(options.seed)
        begin, cycle, more = time.monotonic(), 0, True
        while more:
            draw.shuffle(order)
            for cell in order:
                us, bad = self.measure(*cell)
                cells[cell].append(us)
                wrong[cell] += bad
            cycle += 1
            dist.barrier()  # else these sums look like a burst
            # all go on as long as any would
            more = self.sum(time.monotonic() - begin < options.soak) > 0 if options.soak else cycle < options.cycles
        if self.rank == 0:
            self.print(cells, wrong)
        return any(wrong.values())

    def print(self, cells, wrong):
        row = "{:>12} {:>12} {:>8} {:>6} {:>6} {:>10} {:>8} {:>8} {:>6}".format
        before = None
        for (name, size), us in cells.items():
            op, n = OPS[name], self.size
            if name != before:
                print(f"# {name}, {n} ranks")
                print("#" + row("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong")[1:])
                print("#" + row("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "")[1:])
            before = name
            middle = statistics.median(us)
            algbw = size / middle / 1e3
            busbw = algbw * (2 * (n - 1) / n if name == "all_reduce" else (n - 1) / n if op.shared else 1)
            print(row(size, size // FLOAT // (n if op.shared else 1), "float", self.options.op if op.redop else "none",
                0 if op.root else -1, f"{middle:.2f}", f"{algbw:.2f}", f"{busbw:.2f}", int(wrong[name, size])))


OPS = {
    "all_reduce": Op(Bench.all_reduce, redop=True),
    "broadcast": Op(Bench.broadcast, root=True),
    "reduce": Op(Bench.reduce, redop=True, root=True),
    "all_gather": Op(Bench.all_gather, shared=True),
    "reduce_scatter": Op(Bench.reduce_scatter, redop=True, shared=True, backends=("nccl",)),
    "alltoall": Op(Bench.alltoall, shared=True),
    "gather": Op(Bench.gather, root=True, shared=True, backends=("gloo", "mpi")),
    "scatter": Op(Bench.scatter, root=True, shared=True, backends=("gloo", "mpi")),
    "sendrecv": Op(Bench.sendrecv),
    "pingpong": Op(Bench.pingpong),
}


def sizes(options, op, ranks):
    """From --minbytes to --maxbytes, rounded down to whole elements, as many for each rank."""
    unit, size, all_ = FLOAT * (ranks if op.shared else 1), options.minbytes, []
    while size <= options.maxbytes:
        if size >= unit and size - size % unit not in all_:
            all_.append(size - size % unit)
        size = size + options.stepbytes if options.stepbytes else size * options.stepfactor
    return all_


def nbytes(text):
    unit = text.rstrip("Bb")[-1:].upper()
    shift = {"K": 10, "M": 20, "G": 30}.get(unit, 0)
    return int(float(text.rstrip("BbKkMmGg")) * (1 << shift))


def parse_options():
    parser = argparse.ArgumentParser(description="How long torch.distributed's operations take, by size.")
    add = parser.add_argument
    add("-b", "--minbytes", type=nbytes, default=8, help="smallest message (8)")
    add("-e", "--maxbytes", type=nbytes, default=1 << 30, help="largest message (1G)")
    add("-f", "--stepfactor", type=int, default=2, help="from size to size (2)")
    add("-i", "--stepbytes", type=nbytes, default=0, help="add so much from size to size instead")
    add("-n", "--iters", type=int, default=20, help="timed iterations of a burst (20)")
    add("-w", "--warmup_iters", type=int, default=1, help="iterations before these (1)")
    add("-N", "--cycles", type=int, default=10, help="bursts of each operation and size (10)")
    add("-o", "--op", choices=["sum", "prod", "min", "max"], default="sum", help="reduction (sum)")
    add("-c", "--check", type=int, default=1, help="compare results (1)")
    add("--ops", help="comma-separated, by default all that the backend has: " + " ".join(OPS))
    add("--seed", type=int, default=1, help="of the order of measurements (1)")
    add("--soak", type=float, default=0, metavar="SECONDS", help="go on for so long, instead of --cycles")
    add("--under-load", action="store_true", help="multiply matrices at the same time")
    add("--backend", choices=["gloo", "nccl", "mpi"], default="nccl" if torch.cuda.is_available() else "gloo")
    options = parser.parse_args()
    can = [name for name, op in OPS.items() if options.backend in op.backends]
    # "AllReduce", as the tables of commtrace have it, is all_reduce
    known = {name.replace("_", ""): name for name in can}
    options.ops = [known.get(name.replace("_", "").lower(), name) for name in options.ops.split(",")] if options.ops else can
    for name in options.ops:
        if name not in can:
            parser.error(f"{options.backend} has no operation '{name}'; it has: {' '.join(can)}")
    if options.minbytes < FLOAT or options.maxbytes < options.minbytes or options.stepfactor < 2 or min(options.iters, options.cycles) < 1:
        parser.error("sizes and counts begin with -b 4 -f 2 -n 1 -N 1")
    return options


def load(device):
    """--under-load, until the process ends."""
    a = torch.rand(512, 512, device=device)
    while True:
        torch.mm(a, a)


def main():
    options = parse_options()
    if options.backend == "nccl":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    dist.init_process_group(options.backend)
    if dist.get_world_size() == 1:
        options.ops = [name for name in options.ops if name not in ("sendrecv", "pingpong")]
    bench = Bench(options)
    if options.under_load:
        threading.Thread(target=load, args=[bench.device], daemon=True).start()
    wrong = bench.run()
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
