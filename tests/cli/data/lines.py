#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines for `commtrace import jsonl`, as a converter of someone else's trace writes them: lines.py SCENE."""
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


def unranked():
    """Two pairs, and no line shows who is which rank of the job; in the end the first of each waits."""
    for p in range(4):
        for step in range(31 - p % 2):
            at = 1000 * MS + step * 100 * MS + p * 1000
            line(pid=100 + p, host="a", backend="gloo", op="AllReduce", comm=f"00000000c0ffee0{p // 2}", nranks=2, comm_rank=p % 2, seq=step,
                 count=1 << 20, dtype="float32", redop="sum", timing="call", enter_ns=at, return_ns=at + 32 * MS if step < 30 else None)


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


def steps(ranks, n, **more):
    """Steps of 10 ms with an all-reduce of 0.2 ms; ranks arrive up to 10 us apart."""
    random.seed(5)
    for step in range(n):
        base = 1000 * MS + step * 10 * MS
        ready = [base + random.randint(0, 10_000) for _ in range(ranks)]
        for r in range(ranks):
            yield step, r, rank_of(r, backend="nccl", op="AllReduce", comm=WORLD, nranks=ranks, comm_rank=r, seq=step,
                                   count=1 << 20, dtype="float32", timing="events", enter_ns=ready[r] - 5000,
                                   return_ns=ready[r] - 1000, start_ns=ready[r], end_ns=max(ready) + 200_000, **more)


def unmatched():
    """Of 100 all-reduces of four ranks three have all members: the converter gave each rank a key of its own else."""
    for step, r, keys in steps(4, 1000):
        line(**keys | dict(comm=WORLD if step % 32 == 0 else f"00000000c0ffee1{r}"))


def one_of_eight():
    seven_of_eight(1)


def seven_of_eight(standing=7):
    """After 50 steps so many of eight ranks stand in an all-reduce, where the trace ends."""
    for _, _, keys in steps(8, 50):
        line(**keys)
    for r in range(standing):
        at = 1500 * MS
        line(**rank_of(r, backend="nccl", op="AllReduce", comm=WORLD, nranks=8, comm_rank=r, seq=50, count=1 << 20,
                       dtype="float32", timing="events", enter_ns=at, return_ns=at + 5000, start_ns=at + 10_000,
                       state="started"))


def few_collectives():
    """Two ranks that exchange 200 messages and meet in three collectives."""
    for step, r, keys in steps(2, 200):
        line(**keys | dict(op=("Send", "Recv")[r], peer=1 - r, peer_seq=step, seq=None))
    for step, r, keys in steps(2, 3):
        line(**keys | dict(op="AllReduce"))


def two_stages():
    """Two pipeline stages that hand on activations and gradients in one launch (batch_isend_irecv)."""
    number = 0
    for step, r, keys in steps(2, 100):
        number += r == 0
        for op in ("Send", "Recv"):
            line(**keys | dict(op=op, peer=1 - r, peer_seq=step, seq=None, group=number, comm="00000000c0ffee02"))


def megatron():
    """Two pipelines of four stages (ranks 0 to 3, 4 to 7): messages, gradients of each stage, those of the embedding."""
    random.seed(6)
    for step in range(60):
        base = 1000 * MS + step * 20 * MS

        def op(r, name, comm, nranks, comm_rank, at, **more):
            at = base + int(at * MS)
            line(**rank_of(r, backend="nccl", op=name, comm=f"00000000c0ffee{comm:02x}", nranks=nranks, comm_rank=comm_rank,
                           count=1 << 20, dtype="float32", timing="events", enter_ns=at - 5000, return_ns=at - 1000,
                           start_ns=at + random.randint(0, 3000), end_ns=at + 500_000, **more))

        for pipe in range(2):
            for stage in range(3):
                for name, k in (("Send", stage), ("Recv", stage + 1)):
                    op(4 * pipe + k, name, 0x20 + pipe, 4, k, 1 + stage, peer=2 * stage + 1 - k, peer_seq=step)
        for stage in range(4):
            for pipe in range(2):
                op(4 * pipe + stage, "AllReduce", 0x30 + stage, 2, pipe, 8 + stage, seq=step)
        for pipe in range(2):
            for k, r in enumerate((0, 3)):
                op(4 * pipe + r, "AllReduce", 0x40 + pipe, 2, k, 14, seq=step)


def splits():
    """All-to-alls that another tool recorded without their splits; and of a library that sends as much to each."""
    for _, _, keys in steps(4, 30):
        line(**keys | dict(op="AllToAll", call=sys.argv[2] if sys.argv[2:] else None))


def ring():
    """Four ranks of MPI that pass a token on, then reduce: rank 1 takes 5 ms longer before it sends, rank 3 comes last to reduce."""
    random.seed(7)
    for step in range(60):
        base = 1000 * MS + step * 20 * MS
        sent = base
        came = []

        def call(r, name, begin, end, **more):
            line(**rank_of(r, backend="mpi", op=name, call="MPI_" + name, comm=WORLD, nranks=4, comm_rank=r, bytes=1 << 20,
                           timing="call", enter_ns=int(begin), return_ns=int(end), **more))

        for r in range(4):
            got = sent
            if r:
                call(r, "Recv", base + random.randint(0, 3000), got, peer=r - 1, peer_seq=step)
            begin = got + (6 if r == 1 else 1) * MS
            sent = begin + MS // 10
            if r < 3:
                call(r, "Send", begin, sent, peer=r + 1, peer_seq=step)
            came.append(sent)
        for r in range(4):
            call(r, "AllReduce", came[r], max(came) + MS // 10, seq=step)


def host_late():
    """Four ranks of which rank 2 calls 2 ms late in each step; what its GPU did meanwhile is not in the lines."""
    random.seed(8)
    for step in range(100):
        base = 1000 * MS + step * 10 * MS
        ready = [base + random.randint(0, 5000) + (2 * MS if r == 2 else 0) for r in range(4)]
        for r in range(4):
            line(**rank_of(r, backend="nccl", op="AllReduce", comm=WORLD, nranks=4, comm_rank=r, seq=step, count=1 << 20,
                           dtype="float32", timing="events", stream=7, device=r, group=step + 1, enter_ns=ready[r] - 9000,
                           return_ns=ready[r] - 2000, start_ns=ready[r], end_ns=max(ready) + 200_000))


def unsized():
    """All-reduces and messages whose size no line shows; or that of the ranks named behind it only."""
    silent = [int(r) for r in sys.argv[2:]] or range(4)
    for step, r, keys in steps(4, 200):
        size = dict(count=None, dtype=None) if r in silent else {}
        line(**keys | size)
        at = keys["end_ns"] + 1000 * MS // 1000
        times = dict(enter_ns=at, return_ns=at + 4000, start_ns=at + 5000, end_ns=at + 205_000)
        line(**keys | size | times | dict(op=("Send", "Recv")[r % 2], peer=r ^ 1, peer_seq=step, seq=None))


def backwards():
    """From step 200 on the times of rank 2 lie 900 ms earlier than they should; or of none, by the word behind it."""
    for step, r, keys in steps(4, 400):
        back = 900 * MS if step >= 200 and r == 2 and sys.argv[2:] != ["no"] else 0
        line(**keys | {key: keys[key] - back for key in ("enter_ns", "return_ns", "start_ns", "end_ns")})


def tiny():
    """All-reduces of 4 and 8 bytes."""
    for step, _, keys in steps(4, 200):
        line(**keys | dict(count=1 + step % 2))


globals()[sys.argv[1]]()
