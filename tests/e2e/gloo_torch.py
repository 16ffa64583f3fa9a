# SPDX-License-Identifier: Apache-2.0
"""One rank of a job over Gloo that notes what it does: gloo_torch.py DIR, in torchrun's environment.

First every collective of torch's Gloo backend, on the whole job and in subgroups (one of them twice), with
DistributedDataParallel in between; then the last rank kills itself, and the others find out in a message, in a subgroup and
in the whole job. DIR/rank-R.json shows each call: members of the group, operation, elements and bytes of this rank's
share, when it was asked for and on which thread; and which exceptions came. Standard output has results only.
"""

import json
import os
import re
import signal
import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

journal = {"calls": [], "errors": [], "ddp_bytes": 0, "dtypes": {}}


def save():
    with open(f"{sys.argv[1]}/rank-{rank}.json", "w") as file:
        json.dump(journal, file)


def note(group, op, count, size_bytes, function, *arguments, **options):
    """A call, asked for and waited for."""
    before = time.monotonic_ns()
    work = function(*arguments, group=group[1], async_op=True, **options)
    after = time.monotonic_ns()
    work.wait()
    journal["calls"].append([group[0], group[2], op, count, size_bytes, before, after, threading.get_native_id()])


def use_collectives(group):
    members = group[0]
    size, me = len(members), members.index(rank)
    mine = torch.arange(60.0) + rank
    tensor = mine.clone()
    note(group, "AllReduce", 60, 240, dist.all_reduce, tensor)
    print(tensor.sum().item())
    note(group, "Broadcast", 60, 240, dist.broadcast, tensor, members[-1])
    note(group, "Reduce", 60, 240, dist.reduce, tensor, members[0])
    parts = [torch.zeros(60) for _ in members]
    note(group, "AllGather", 60, 240, dist.all_gather, parts, mine)
    print(sum(part.sum().item() for part in parts))
    last = members[-1]
    note(group, "Gather", 60, 240, dist.gather, mine, parts if rank == last else None, last)
    note(group, "Scatter", 60, 240, dist.scatter, tensor, parts if rank == last else None, last)
    output = torch.empty(10 * size)
    note(group, "AllToAll", 10, 40, dist.all_to_all_single, output, torch.ones(10 * size))
    # Member m sends m + 1 elements to everyone.
    output = torch.empty(sum(range(1, size + 1)))
    note(group, "AllToAll", size * (me + 1), 4 * size * (me + 1), dist.all_to_all_single, output,
         torch.ones(size * (me + 1)), list(range(1, size + 1)), [me + 1] * size)
    note(group, "AllReduce", 7, 56, dist.all_reduce, torch.arange(7))
    note(group, "Barrier", 0, 0, dist.barrier)


def use_sparse(group):
    """An all-reduce of sparse tensors: Gloo gathers sizes, indices and values, of which each rank has another number."""
    n = group[0].index(rank) + 1
    tensor = torch.sparse_coo_tensor([list(range(n))], torch.ones(n), (10,))
    before = time.monotonic_ns()
    dist.all_reduce(tensor, group=group[1])
    journal["sparse"] = [n, before, time.monotonic_ns()]
    print(tensor.to_dense().sum().item())


def train():
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 5)))
    for _ in range(4):
        model(torch.ones(4, 20) * (rank + 1)).sum().backward()
    journal["ddp_bytes"] = 4 * 4 * sum(p.numel() for p in model.parameters())


def expect_error(what, function):
    try:
        function()
        journal["errors"].append([what, None, None])
    except RuntimeError as error:
        # Who looks first finds the connection closed, who writes first finds it reset.
        text = re.sub("(closed|reset) by peer", "gone", re.sub("[0-9]+", "N", str(error)))
        journal["errors"].append([what, type(error).__name__, text.split("\n")[0]])


torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank, size = dist.get_rank(), dist.get_world_size()
kinds = [[0, 1], [1, 2], [0, 2], [0, 1]]
groups = [(list(range(size)), None, 0)]
for number, members in enumerate(kinds):
    made = dist.new_group(members)
    if rank in members:
        groups.append((members, made, number + 1))
for group in groups:
    use_collectives(group)
train()
use_sparse(groups[0])
dist.barrier()
save()
pair = [g for g in groups if g[0] == [0, 2]]
if rank == 2:
    os.kill(os.getpid(), signal.SIGKILL)
while os.path.exists(f"/proc/{json.load(open(sys.argv[1] + '/pid-2'))}"):
    time.sleep(0.01)
if rank == 0:
    expect_error("Recv", lambda: dist.recv(torch.zeros(1000), 2))
    expect_error("Send", lambda: dist.send(torch.zeros(1 << 24), 2))
    expect_error("AllReduce", lambda: dist.all_reduce(torch.zeros(1000), group=pair[0][1]))
expect_error("AllReduce", lambda: dist.all_reduce(torch.zeros(1000)))
expect_error("Barrier", dist.barrier)
save()
sys.stdout.flush()
os._exit(0)
