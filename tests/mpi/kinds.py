# SPDX-License-Identifier: Apache-2.0
"""kinds.py DUMP.jsonl INFO.json RAW JOURNALS: what kinds.c wrote down is what is on record.

DUMP.jsonl is `commtrace dump --format=jsonl`, INFO.json `commtrace info --format=json`, RAW a list of the host-blocking
calls, `RANK FUNCTION` a line. Prints the first differences and exits 1, or says how much was compared.
"""
import collections
import json
import sys

dump, info, raw, journals = sys.argv[1:5]
wrong = []


def check(ok, *words):
    if not ok:
        wrong.append(" ".join(str(w) for w in words))


told = {"comm": {}, "win": {}}  # (number, rank) -> (parent, index, size, name)
messages = collections.Counter()
moves = collections.Counter()
calls = collections.Counter()
for rank in range(4):
    for line in open(f"{journals}/{rank}"):
        word, *rest = line.rstrip("\n").split(" ")
        if word in told:
            number, parent, index, size = map(int, rest[:4])
            told[word][number, rank] = (parent, index, size, " ".join(rest[4:]))
        elif word == "message":
            messages[tuple(map(int, rest))] += 1
        elif word == "rma":
            moves[int(rest[0]), rank, rest[1], int(rest[2]), int(rest[3])] += 1
        elif word == "call":
            calls[rank, rest[0]] += 1

ops = [json.loads(line) for line in open(dump)]
comms = {c["comm"]: c for c in json.load(open(info))["comms"]}
key_of = {}  # (kind, number) -> key


def belongs(kind, number, op):
    """One key for one communicator on all its members, and its member's index and size."""
    known = told[kind].get((number, op["rank"]))
    check(known, kind, number, "is not one of rank", op["rank"], "but has", op["call"])
    if not known:
        return
    check(op["comm_rank"] == known[1] and op["nranks"] == known[2], kind, number, "on rank", op["rank"], "is",
          op["comm_rank"], "of", op["nranks"], "and not", known[1], "of", known[2])
    key = key_of.setdefault((kind, number), op["comm"])
    check(key == op["comm"], kind, number, "has the keys", key, "and", op["comm"])


# On communicator N is an all-reduce of N elements, on window N a put of N elements to oneself.
uses = collections.Counter()
for op in ops:
    if op["call"] == "MPI_Allreduce" and (op["count"] > 1 or op["comm_name"] in ("MPI_COMM_WORLD", "everybody")):
        belongs("comm", op["count"], op)
        uses["comm", op["count"], op["rank"]] += 1
for number, rank in told["comm"]:
    check(uses["comm", number, rank] == 1, "communicator", number, "of rank", rank, "has", uses["comm", number, rank],
          "all-reduces")
for op in ops:
    if op["op"] == "Put" and op["peer"] == op["comm_rank"]:
        belongs("win", op["count"], op)
for number, rank in told["win"]:
    check(("win", number) in key_of, "window", number, "is not on record")
clashes = [k for k, n in collections.Counter(key_of.values()).items() if n > 1]
check(not clashes, "several communicators with the key", clashes[:3],
      [k for k, v in key_of.items() if v in clashes][:4])

# Names and parents.
for kind in told:
    for (number, rank), (parent, index, size, name) in told[kind].items():
        comm = comms.get(key_of.get((kind, number)))
        if not comm:
            check(False, kind, number, "is not in the report")
            continue
        if number == 1:
            name = "everybody"
        if name != "-":
            check(comm["name"] == name, kind, number, "is called", comm["name"], "and not", name)
        if parent > 0:
            check(comm["parent"] == key_of.get(("comm", parent)), kind, number, "has the parent", comm["parent"],
                  "and not", parent)
        check(size == 1 or comm["nranks"] == size, kind, number, "has", comm["nranks"], "members and not", size)

# Messages between the groups of an intercommunicator: both ends, by members, and matched.
found = collections.Counter()
by_key = {key: number for (kind, number), key in key_of.items() if kind == "comm"}
ends = collections.defaultdict(list)
for op in ops:
    if op["op"] in ("Send", "Recv") and op["comm"] in by_key:
        ends[op["op"], op["comm"], op["comm_rank"], op["peer"], op["tag"], op["peer_seq"]].append(op["bytes"])
        if op["op"] == "Send":
            found[by_key[op["comm"]], op["comm_rank"], op["peer"], op["bytes"] // 4, op["tag"]] += 1
check(found == messages, "messages on record", sorted((found - messages).items())[:3], "and in the journals",
      sorted((messages - found).items())[:3])
for (what, comm, me, peer, tag, seq), sizes in ends.items():
    if what == "Send":
        check(ends.get(("Recv", comm, peer, me, tag, seq)) == sizes, "nobody received message", seq, "of", me, "to", peer)

# One-sided.
windows = {key: number for (kind, number), key in key_of.items() if kind == "win"}
found = collections.Counter()
fences = collections.defaultdict(list)
for op in ops:
    if op["op"] in ("Put", "Get", "Accumulate"):
        found[windows.get(op["comm"]), op["rank"], op["op"], op["peer"], op["count"]] += 1
        check(op["dtype"] == "int32", op["call"], "of", op["dtype"])
        with_request = op["call"].startswith("MPI_R")
        check(op["state"] == ("finished" if not with_request or op["end_ns"] else "launched"), op["call"], "is",
              op["state"])
    elif op["op"] == "Fence":
        fences[op["comm"], op["rank"]].append(op["seq"])
check(found == moves, "one-sided on record", sorted((found - moves).items())[:3], "and in the journals",
      sorted((moves - found).items())[:3])
for (comm, rank), seqs in fences.items():
    check(sorted(seqs) == list(range(len(seqs))), "fences of", comm, "on", rank, "are", seqs)
    check(len(seqs) == len(fences[comm, 0]), "fences of", comm, "on", rank, "are", len(seqs))

# Calls that may wait, each once. MPI_Wait and the like are another test's.
found = collections.Counter()
for line in open(raw):
    rank, function = line.split()
    if function.startswith(("MPI_Comm_", "MPI_Win_", "MPI_Cart_", "MPI_Graph_", "MPI_Dist_", "MPI_Intercomm_",
                            "MPI_Session_", "MPI_Init", "MPI_Finalize")) and function != "MPI_Win_test":
        found[int(rank), function] += 1
check(found == calls, "calls on record", sorted((found - calls).items())[:3], "and in the journals",
      sorted((calls - found).items())[:3])

if wrong:
    print("\n".join(wrong[:20]))
    sys.exit(1)
print(f"{len(key_of)} communicators and windows, {sum(moves.values())} one-sided ops, {sum(messages.values())} messages, "
      f"{sum(calls.values())} calls")
