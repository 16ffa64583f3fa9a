#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines for `commtrace import jsonl`, as a converter of somebody else's trace writes them: lines.py SCENE."""
import json
import random
import sys

MS = 1_000_000
WORLD = "00000000c0ffee01"


def line(**keys):
    print(json.dumps({key: value for key, value in keys.items() if value is not None}))


def rank_of(r, **more):
    """What is the same in all lines of a rank on one host."""
    return dict(rank=r, pid=100 + r, host="a", **more)


def two_hosts():
    """30 s of a healthy job of four ranks on two hosts, one all-reduce a step."""
    random.seed(3)
    shift = {"a": 0, "b": 123_456}
    for step in range(300):
        base = 1000 * MS + step * 100 * MS
        ready = [base + random.randint(0, 200_000) for _ in range(4)]
        end = max(ready) + 300_000
        for r in range(4):
            host = "ab"[r // 2]
            at = -shift[host]
            line(rank=r, pid=100 + r, host=host, clock_offset_ns=10**12 + shift[host], backend="nccl", op="AllReduce",
                 comm=WORLD, nranks=4, comm_rank=r, seq=step, count=1 << 20, dtype="float32", timing="events",
                 enter_ns=ready[r] - 5000 + at, return_ns=ready[r] - 1000 + at,
                 start_ns=ready[r] + at, end_ns=end + random.randint(0, 3000) + at)


def two_rates():
    """Two hosts with two ranks each, 130 s: the first ranks of both meet 60 times a second, the second ones 10 times."""
    random.seed(4)
    ops = [(1000 * MS + i * 1000 * MS // rate, first, i) for first, rate in ((0, 60), (1, 10)) for i in range(130 * rate)]
    for base, first, seq in sorted(ops):
        ready = [base + random.randint(0, 200_000) for _ in range(2)]
        for k, r in enumerate((first, first + 2)):
            at = -123_456 * (r // 2)
            line(rank=r, pid=100 + r, host="ab"[r // 2], clock_offset_ns=10**12 - at, backend="nccl", op="AllReduce",
                 comm=f"00000000c0ffee0{first}", nranks=2, comm_rank=k, seq=seq, count=1 << 20, dtype="float32",
                 timing="events", enter_ns=ready[k] - 5000 + at, return_ns=ready[k] - 1000 + at,
                 start_ns=ready[k] + at, end_ns=max(ready) + 300_000 + random.randint(0, 3000) + at)


globals()[sys.argv[1]]()
