# SPDX-License-Identifier: Apache-2.0
"""bench.py DIR: operations of two ranks as a benchmark calls them, with known times: DIR/gloo.jsonl and DIR/mpi.jsonl.

Each of ten cycles has for each size a warm-up of 3 all-reduces, a barrier and 6 timed ones. An iteration takes 10 us in gloo,
and in mpi 20 us below 64 KiB and 5 us from there on, up to 2 % more or less; in a warm-up ten times as long. Each turn of a
ping-pong takes 8 us, and an exchange by Sendrecv 7 us, in both."""
import json
import sys

SIZES = [1024, 8192, 65536, 524288]
OFF = [0.4, -1.1, 0.9, -0.2, 2, -1.7, 0.1, 1.3, -0.6, -2]


class Rank:
    def __init__(self, rank, backend, shift):
        self.rank, self.backend, self.shift, self.lines, self.now = rank, backend, shift, [], 1_000_000
        self.seq = {}

    def call(self, op, count, ns, wait_ns=0, peer=None, name=None):
        key = (op, peer) if peer is not None else None
        number = self.seq[key] = self.seq.get(key, -1) + 1
        self.now += ns
        self.lines.append({
            "rank": self.rank, "pid": 100 + self.rank, "tid": 100 + self.rank, "host": "node1",
            "clock_offset_ns": 1700000000000000000, "backend": self.backend, "call": name or f"{self.backend}::{op}", "op": op,
            "comm": "00000000000000aa", "nranks": 2, "comm_rank": self.rank, "count": count, "dtype": "float32", "enter_ns": self.now - ns + 100,
            "return_ns": self.now, "result": 0, "timing": "call",
            **({"peer_seq": number, "peer": peer, "tag": 1} if peer is not None else {"seq": number})})


def job(backend, rank, shift):
    r = Rank(rank, backend, shift)
    for cycle in range(10):
        off = 1 + (OFF[cycle] + shift) / 100
        for size in SIZES:
            ns = 10000 if backend == "gloo" else 20000 if size < 65536 else 5000
            for times, n in ((10, 3), (1, 6)):
                r.call("Barrier", 0, 3000)
                for _ in range(n):
                    r.call("AllReduce", size // 4, int(ns * times * off))
        r.call("Barrier", 0, 3000)
        for _ in range(6):
            for op in ("Send", "Recv") if rank == 0 else ("Recv", "Send"):
                r.call(op, 256, int(8000 * off), peer=1 - rank)
        r.call("Barrier", 0, 3000)
        if backend == "mpi":
            for _ in range(6):
                began = r.now
                r.call("Send", 512, int(7000 * off), peer=1 - rank, name="MPI_Sendrecv")
                r.now = began
                r.call("Recv", 512, int(7000 * off), peer=1 - rank, name="MPI_Sendrecv")
    return r.lines


for backend in ("gloo", "mpi"):
    for n, shift in ((1, 0), (2, 0.05)):
        with open(f"{sys.argv[1]}/{backend}{n}.jsonl", "w") as file:
            for rank in (0, 1):
                for line in job(backend, rank, shift):
                    print(json.dumps(line), file=file)
