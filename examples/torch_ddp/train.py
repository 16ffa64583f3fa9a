#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small training job: DistributedDataParallel over Gloo, on CPUs, with faults on request.

    torchrun --nproc_per_node=4 train.py --steps 20 --slow-rank 2
    RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python3 train.py

(Debian's torch 1.13 has a torchrun that needs -r 1 -t 1 as well.) A step is

    broadcast     rank 0 sends the learning rate
    all_reduce    the gradients, bucket by bucket, issued by DistributedDataParallel during backward
    all_reduce    with --groups, two more in subgroups
    all_reduce    the loss, for the printed line

What is printed depends on the options and the number of ranks only, never on time.
"""

import argparse
import hashlib
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def parse_options():
    parser = argparse.ArgumentParser(
        description="A small training job over Gloo, with faults on request. "
        "Ranks and steps count from 0; a rank of -1 means none.")
    add = parser.add_argument
    add("--steps", type=int, default=20)
    add("--seed", type=int, default=0, help="of the weights and the data (0)")
    add("--hidden", type=int, default=320, help="width of the model (320)")
    add("--groups", action="store_true",
        help="all-reduce in subgroups, too: halves of the ranks, and even and odd ranks")
    add("--collectives", action="store_true",
        help="after training, use once every operation that Gloo offers")
    add("--slow-rank", type=int, default=-1, help="this rank is slow to load its data")
    add("--slow-ms", type=float, default=100, help="by so much in every step (100)")
    add("--slow-from", type=int, default=0, help="from this step (the first)")
    add("--slow-to", type=int, default=None, help="to this step, included (the last)")
    add("--hang-rank", type=int, default=-1, help="this rank sleeps for an hour, loading its data")
    add("--hang-step", type=int, default=5, help="in this step (5)")
    add("--mismatch-rank", type=int, default=-1,
        help="this rank calls something else instead of the all_reduce of the loss")
    add("--mismatch-step", type=int, default=5, help="in this step (5)")
    add("--mismatch-kind", choices=["op", "count"], default="op",
        help="namely a barrier (op: all ranks hang), or an all_reduce of another size (count: "
        "Gloo aborts a rank)")
    add("--skip-rank", type=int, default=-1,
        help="this rank leaves out the all_reduce of the loss in the middle step (steps / 2)")
    add("--timeout-s", type=float, default=1800, help="after which Gloo gives up a call (1800)")
    add("--journal", metavar="DIR",
        help="note every call in DIR/rank-R.journal (see journal.py). The gradients are then "
        "averaged by one all_reduce per parameter instead of by DistributedDataParallel.")
    return parser.parse_args()


class Job:
    def __init__(self, options):
        self.options = options
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self.comm = dist
        if options.journal:
            from journal import Journal

            self.comm = Journal(options.journal, self.rank, self.size)
        self.results = []
        self.groups = self.make_groups() if options.groups else []

        torch.manual_seed(options.seed)
        layers = [nn.Linear(256, options.hidden), nn.ReLU()]
        for _ in range(3):
            layers += [nn.Linear(options.hidden, options.hidden), nn.ReLU()]
        self.model = nn.Sequential(*layers, nn.Linear(options.hidden, 10))
        if options.journal:
            for parameter in self.model.parameters():
                self.comm.broadcast(parameter.data, 0)
        else:
            # Small buckets, so that there are several in a step and they overlap with backward.
            self.model = DistributedDataParallel(self.model, bucket_cap_mb=0.5)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        # Every rank has data of its own.
        self.data = torch.Generator().manual_seed(1000 * options.seed + self.rank + 1)

    def make_groups(self):
        """The groups this rank is in. Every rank makes all of them, in one order."""
        ranks = list(range(self.size))
        half = (self.size + 1) // 2
        kinds = [ranks[:half], ranks[half:], ranks[0::2], ranks[1::2]]
        made = [(members, dist.new_group(members)) for members in kinds if members]
        return [group for members, group in made if self.rank in members]

    def load_batch(self, step):
        o = self.options
        last = o.steps if o.slow_to is None else o.slow_to
        if self.rank == o.slow_rank and o.slow_from <= step <= last:
            time.sleep(o.slow_ms / 1000)
        if self.rank == o.hang_rank and step == o.hang_step:
            time.sleep(3600)
        inputs = torch.randn(8, 256, generator=self.data)
        return inputs, inputs[:, :10].argmax(dim=1)

    def train_step(self, step):
        rate = torch.tensor([0.05 * 0.99**step if self.rank == 0 else 0.0])
        self.comm.broadcast(rate, 0)
        self.optimizer.param_groups[0]["lr"] = rate.item()

        inputs, labels = self.load_batch(step)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(inputs), labels)
        loss.backward()
        if self.options.journal:
            for parameter in self.model.parameters():
                self.comm.all_reduce(parameter.grad)
                parameter.grad /= self.size
        self.optimizer.step()

        for group in self.groups:
            scores = inputs[:, :64].sum(dim=0)
            self.comm.all_reduce(scores, group=group)
            self.results.append(scores)

        mean = self.average_loss(step, loss.detach().reshape(1))
        if self.rank == 0:
            print(f"step {step} loss {mean:.6f}", flush=True)

    def average_loss(self, step, loss):
        """One all_reduce, unless this rank is the one that gets it wrong."""
        o = self.options
        if self.rank == o.skip_rank and step == o.steps // 2:
            return loss.item()
        if self.rank == o.mismatch_rank and step == o.mismatch_step:
            if o.mismatch_kind == "op":
                self.comm.barrier()
            else:
                self.comm.all_reduce(torch.zeros(1000))
            return loss.item()
        self.comm.all_reduce(loss)
        self.results.append(loss)
        return loss.item() / self.size

    def use_every_collective(self):
        comm, rank, size = self.comm, self.rank, self.size
        last = size - 1
        mine = torch.arange(1000.0) + rank
        parts = [torch.zeros(1000) for _ in range(size)]
        keep = self.results.append

        tensor = mine.clone()
        comm.broadcast(tensor, last)
        keep(tensor)
        for operation in (dist.ReduceOp.SUM, dist.ReduceOp.MAX):
            tensor = mine.clone()
            comm.all_reduce(tensor, operation)
            keep(tensor)
        tensor = torch.arange(7) + rank
        comm.all_reduce(tensor)
        keep(tensor)
        tensor = mine.clone()
        comm.reduce(tensor, 0)
        if rank == 0:  # elsewhere the tensor is left undefined
            keep(tensor)
        comm.all_gather(parts, mine)
        self.results += [part.clone() for part in parts]
        comm.gather(mine, parts if rank == last else None, last)
        self.results += parts
        tensor = torch.empty(1000)
        comm.scatter(tensor, [mine + part for part in range(size)] if rank == 0 else None, 0)
        keep(tensor)

        output = torch.empty(size * 100)
        comm.all_to_all_single(output, torch.arange(size * 100.0) * (rank + 1))
        keep(output)
        # Rank r sends r + 1 elements to everyone.
        output = torch.empty(sum(range(1, size + 1)))
        comm.all_to_all_single(output, torch.arange(size * (rank + 1.0)),
                               list(range(1, size + 1)), [rank + 1] * size)
        keep(output)

        # From rank to rank, each adding its own; back to rank 0, which takes it from anyone.
        if size > 1:
            tensor = mine.clone()
            if rank > 0:
                comm.recv(tensor, rank - 1)
                tensor += mine
            comm.send(tensor, (rank + 1) % size)
            if rank == 0:
                comm.recv(tensor)
            keep(tensor)
        comm.barrier()

    def checksum(self):
        """Over all parameters and results of all ranks."""
        digest = hashlib.sha256()
        for tensor in [*self.model.parameters(), *self.results]:
            digest.update(tensor.detach().numpy().tobytes())
        mine = torch.tensor(list(digest.digest()), dtype=torch.uint8)
        parts = [torch.empty_like(mine) for _ in range(self.size)]
        self.comm.all_gather(parts, mine)
        self.last_used = mine, parts
        return hashlib.sha256(torch.cat(parts).numpy().tobytes()).hexdigest()[:16]


def main():
    options = parse_options()
    # One thread per rank: the sums come out the same every time, and ranks do not fight for cores.
    torch.set_num_threads(1)
    if "RANK" not in os.environ:
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    dist.init_process_group("gloo", timeout=timedelta(seconds=options.timeout_s))
    job = Job(options)
    for step in range(options.steps):
        job.train_step(step)
    if options.collectives:
        job.use_every_collective()
    checksum = job.checksum()
    if job.rank == 0:
        print(f"result checksum={checksum}", flush=True)
    # A process group holds the GIL while it waits for its threads to end (torch 1.13). One that has
    # yet to let go of the tensors of its last call would need it to free them, and both wait
    # forever: so the last call has no tensors, and those of the one before are kept until here.
    job.comm.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
