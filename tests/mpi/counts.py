#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""counts.py DUMP [LOG [some]]: what a recorded MPI job sent and received, from the lines of `commtrace dump --format=jsonl`.

What each rank sent to each other one, in number and bytes, by communicator, has to be what the other received. What a
collective's members called as their Nth has to be one operation, called by all of them. With LOG, the calls of each rank by
function have to be those that another tool counted in LOG.RANK (pmpi_shim.c); `some`: it counted only some functions.
Prints what there was; the first difference, and exit 1, if there is one."""

import collections
import json
import os
import sys

# Of a call that is two operations, one may have had no one to go to.
TWO_OPS = {"Sendrecv", "Sendrecv_replace"}
# What they have room for is not what came.
RECEIVES = {"Recv", "Irecv"}
# Operations of these are recorded when they are started, or not at all.
NO_OPS = {"Start", "Startall", "Wait", "Waitall", "Send_init", "Ssend_init", "Recv_init"}


def fail(*words):
    print("counts.py:", *words, file=sys.stderr)
    sys.exit(1)


def mirror(ops):
    """Sums by (communicator, from, to); both sides."""
    sides = {"Send": collections.defaultdict(lambda: [0, 0]),
             "Recv": collections.defaultdict(lambda: [0, 0])}
    for op in ops:
        if op["op"] not in sides or op["state"] == "aborted":
            continue
        me, peer = op["comm_rank"], op["peer"]
        if peer is None or peer < 0:
            fail("nobody knows where this came from:", op)
        if op["bytes"] is None:
            fail("nobody knows how much this was:", op)
        key = (op["comm"], me, peer) if op["op"] == "Send" else (op["comm"], peer, me)
        sides[op["op"]][key][0] += 1
        sides[op["op"]][key][1] += op["bytes"]
    for key in sorted(set(sides["Send"]) | set(sides["Recv"])):
        if sides["Send"][key] != sides["Recv"][key]:
            fail(f"communicator {key[0]}, from {key[1]} to {key[2]}: sent (number, bytes)",
                 sides["Send"][key], "received", sides["Recv"][key])
    totals = sides["Send"].values()
    return sum(n for n, _ in totals), sum(size for _, size in totals)


def collectives(ops):
    """Each one by all members. Returns how many there were."""
    instances = collections.defaultdict(list)
    for op in ops:
        if op["seq"] is not None and op["op"] not in ("Send", "Recv"):
            instances[op["comm"], op["seq"]].append(op)
    for (comm, seq), members in instances.items():
        kinds = {op["op"] for op in members}
        if len(kinds) > 1:
            fail(f"communicator {comm}, number {seq}: {sorted(kinds)}")
        if sorted(op["comm_rank"] for op in members) != list(range(members[0]["nranks"])):
            fail(f"communicator {comm}, number {seq}: by", [op["comm_rank"] for op in members],
                 "of", members[0]["nranks"])
    return len(instances)


def compare(ops, log, some):
    """With what another tool counted. Returns how many calls there were."""
    mine = collections.defaultdict(lambda: [0, 0])
    for op in ops:
        name = op["call"].replace("PMPI_", "").replace("MPI_", "")
        if name in TWO_OPS and op["op"] == "Recv":
            continue
        mine[op["rank"], name][0] += 1
        mine[op["rank"], name][1] += op["bytes"] or 0
    total = 0
    for rank in sorted({op["rank"] for op in ops}):
        for line in open(f"{log}.{rank}"):
            name, calls, size = line.split()
            calls, size = int(calls), int(size)
            if name in NO_OPS:
                continue
            found = mine.pop((rank, name), [0, 0])
            total += calls
            if found[0] != calls or (size and found[1] != size and name not in RECEIVES):
                fail(f"rank {rank}: MPI_{name}: the other tool counts {calls} calls, {size} bytes; "
                     f"on record are {found[0]}, {found[1]}")
    if mine and not some:
        fail("the other tool did not see", dict(mine))
    return total


def main():
    # Calls that move nothing, like waits, have no operation.
    ops = [op for op in map(json.loads, open(sys.argv[1])) if op["op"]]
    if not ops:
        fail("nothing is on record")
    # What a program cancelled got nothing.
    strange = [op for op in ops if op["backend"] != "mpi" or op["state"] != "finished" and
               not (op["state"] == "aborted" and op["call"] == "MPI_Irecv")]
    if strange:
        fail("not finished, or not MPI's:", strange[0])
    ranks = {op["rank"] for op in ops}
    said = "%d ranks, %d messages of %d bytes, %d collectives" % (
        len(ranks), *mirror(ops), collectives(ops))
    if len(sys.argv) > 2:
        logs = [name for name in os.listdir(os.path.dirname(sys.argv[2]))
                if name.startswith(os.path.basename(sys.argv[2]) + ".")]
        if len(logs) != len(ranks):
            fail("ranks that the other tool saw:", logs)
        said += ", %d calls as counted by another tool" % compare(ops, sys.argv[2], "some" in sys.argv)
    print(said)


main()
