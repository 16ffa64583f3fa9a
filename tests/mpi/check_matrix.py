#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_matrix.py DUMP.jsonl REPORT.json INFO.json JOURNALS: hold what commtrace shows a job against what the job wrote
down of itself (matrix_journal.h).

Every op of a journal must be there, at its position in the order of its thread, and nothing else. Communicators are compared by
the ranks in them: one key for one name, on all members. What is missing, and what differs, is reported in words; exit status 1.
"""
import collections
import difflib
import json
import os
import sys

OP_FIELDS = ["lane", "call", "op", "comm", "count", "bytes", "dtype", "redop", "root", "peer", "tag", "arrived", "end"]
NUMBERS = ["lane", "count", "bytes", "root", "peer", "tag", "arrived"]
MESSAGES = ("Send", "Recv")
ONE_SIDED = ("Put", "Get", "Accumulate")
STATES = {"finished": "finished", "cancelled": "aborted", "let_go": "returned"}
PARTITIONED = ("MPI_Psend_init", "MPI_Precv_init")  # matched with their like only
MY_ROOT = -4  # of an intercommunicator: this rank
SHOWN = 12

differences = []
compared = collections.Counter()


def differ(where, *words):
    differences.append(where + ": " + " ".join(str(w) for w in words))


def same(where, what, trace, truth):
    compared["values"] += 1
    if trace != truth:
        differ(where, what, "is", json.dumps(trace) + ", the job says", json.dumps(truth))


class Comm:
    """A communicator as one member sees it: members of both groups in the order that trace has them in."""

    def __init__(self, rank, mine, other):
        self.inter = bool(other)
        mine_first = not other or mine[0] < other[0]
        self.members = mine + other if mine_first else other + mine
        self.rank = rank if mine_first else len(other) + rank
        self.first_peer = 0 if not other else len(mine) if mine_first else 0


class Journal:
    def __init__(self, path):
        self.rank = int(os.path.basename(path).split(".")[0])
        self.comms, self.ops, ended = {}, [], None
        for line in open(path, encoding="ascii"):
            word, *fields = line.rstrip("\n").split("\t")
            if word == "comm":
                name, rank, mine, other = fields
                if name in self.comms:
                    sys.exit(f"{path}: communicator {name} is there twice")
                groups = [[int(r) for r in group.split(",") if r] for group in (mine, other)]
                self.comms[name] = Comm(int(rank), *groups)
            elif word == "op":
                op = dict(zip(OP_FIELDS, fields, strict=True))
                op.update((key, int(op[key])) for key in NUMBERS)
                self.ops.append(op)
            else:
                ended = int(fields[0])
        if ended != len(self.ops):
            sys.exit(f"{path}: the journal was cut off")

    def lanes(self):
        lanes = collections.defaultdict(list)
        for op in self.ops:
            lanes[op["lane"]].append(op)
        return lanes


def index_of(comm, number):
    """Of a peer or root, as the journal has it."""
    if number == MY_ROOT:
        return comm.rank
    return None if number < 0 else comm.first_peer + number


def expected(op, comm):
    """What the trace has to say of an op."""
    nothing = {"-": None}
    message, moves = op["op"] in MESSAGES, op["op"] in MESSAGES + ONE_SIDED
    return {
        "backend": "mpi",
        "seen_by": "wrapper",
        "call": op["call"],
        "op": op["op"],
        "nranks": len(comm.members),
        "comm_rank": comm.rank,
        # of a receive what came, which may be less than there was room for
        "count": op["arrived"] * op["count"] // op["bytes"] if op["arrived"] >= 0 else op["count"],
        "bytes": op["arrived"] if op["arrived"] >= 0 else op["bytes"],
        "dtype": nothing.get(op["dtype"], op["dtype"]),
        "redop": nothing.get(op["redop"], op["redop"]),
        "root": index_of(comm, op["root"]),
        "peer": index_of(comm, op["peer"]) if moves else None,
        "tag": op["tag"] if message else None,
        "state": STATES[op["end"]],
        "result": 0,
        "captured": False,
    }


class Keys:
    """Names of communicators and their keys: one to one, on whatever rank."""

    def __init__(self):
        self.of_name, self.of_key = {}, {}

    def meet(self, where, name, key):
        for table, a, b in ((self.of_name, name, key), (self.of_key, key, name)):
            if table.setdefault(a, b) != b:
                differ(where, a, "is both", table[a], "and", b)


def check_times(where, truth, line):
    """Inside of each other, and there if the op has ended."""
    enter, back, start, end = (line[k] for k in ("enter_ns", "return_ns", "start_ns", "end_ns"))
    if back is None or not enter <= back:
        differ(where, "enters at", enter, "and returns at", back)
        return
    blocks = line["group"] is None
    if blocks and (start, end) != (enter, back):
        differ(where, "is", enter, "to", back, "but its span is", start, "to", end)
    if not blocks and truth["end"] == "finished" and (end is None or end < back):
        differ(where, "returns at", back, "and is done at", end)


def check_lane(journal, ops, lines, keys, where):
    """The ops of one thread. Where they are not the same ones, the difference is reported and the others are compared."""
    a, b = [(op["call"], op["op"]) for op in ops], [(line["call"], line["op"]) for line in lines]
    for what, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if what != "equal":
            missing = ", ".join(f"{op['call']}({op['op']}) on {op['comm']}" for op in ops[a0:a1][:3])
            extra = ", ".join(f"{line['call']}({line['op']})" for line in lines[b0:b1][:3])
            differ(f"{where} op {a0}", f"{a1 - a0} are not on record [{missing}], instead {b1 - b0} [{extra}]")
            continue
        for op, line in zip(ops[a0:a1], lines[b0:b1]):
            at = f"{where} op {ops.index(op)} {op['call']} on {op['comm']}"
            truth = expected(op, journal.comms[op["comm"]])
            for what_, value in truth.items():
                same(at, what_, line[what_], value)
            keys.meet(at, op["comm"], line["comm"])
            check_times(at, op, line)
            compared["ops"] += 1


def check_rank(journal, lines, keys):
    where = f"rank {journal.rank}"
    if not lines:
        differ(where, "is not on record")
        return
    by_thread = collections.defaultdict(list)
    for line in sorted(lines, key=lambda line: line["enter_ns"]):
        by_thread[line["tid"]].append(line)
    main = lines[0]["pid"]
    for lane, ops in sorted(journal.lanes().items()):
        tid = main
        if lane:  # threads have communicators of their own
            key = keys.of_name.get(ops[0]["comm"])
            tid = next((t for t, of in by_thread.items() if t != main and of[0]["comm"] == key), None)
        check_lane(journal, ops, by_thread.pop(tid, []), keys, where + (f" thread {lane}" if lane else ""))
    for of in by_thread.values():
        differ(where, len(of), "ops of a thread that made none, first", of[0]["call"])


def members_of(journals, name):
    return next((j.comms[name].members for j in journals if name in j.comms), None)


def check_order(lines_of):
    """Collectives of a communicator are numbered from 0 without gaps, by all members alike."""
    numbered = collections.defaultdict(dict)
    for rank, lines in lines_of.items():
        count = collections.Counter()
        for line in sorted(lines, key=lambda line: line["enter_ns"]):
            if line["op"] in MESSAGES + ONE_SIDED:
                continue
            same(f"rank {rank} {line['call']}", "seq", line["seq"], count[line["comm"]])
            count[line["comm"]] += 1
            numbered[line["comm"], line["seq"]][rank] = line
    for (comm, seq), of_ranks in numbered.items():
        some = next(iter(of_ranks.values()))
        if len(of_ranks) != some["nranks"]:
            differ(f"{comm} seq {seq}", some["call"], "has", len(of_ranks), "of", some["nranks"], "ranks")
        for what in ("op", "dtype", "redop"):
            if len({line[what] for line in of_ranks.values()} - {None}) > 1:
                differ(f"{comm} seq {seq}", what, "is not the same on all ranks")
        compared["instances"] += 1


def check_messages(lines_of, world_of):
    """What is sent is received: the same number, in the same order, and the same bytes, on each channel."""
    sent, received = collections.defaultdict(dict), collections.defaultdict(dict)
    for rank, lines in lines_of.items():
        for line in lines:
            if line["op"] not in MESSAGES or line["state"] == "aborted":
                continue
            members = world_of.get(line["comm"])
            if not members or line["peer"] is None:
                differ(f"rank {rank} {line['call']}", "has peer", line["peer"], "on", line["comm"])
                continue
            ends = (rank, members[line["peer"]])
            into = sent if line["op"] == "Send" else received
            channel = (line["comm"], *(ends if into is sent else reversed(ends)), line["tag"], line["call"] in PARTITIONED)
            if line["peer_seq"] in into[channel]:
                differ(f"{line['op']} {channel}", "number", line["peer_seq"], "is there twice")
            into[channel][line["peer_seq"]] = line["bytes"]
    for channel in sorted(sent.keys() | received.keys(), key=str):
        there = sorted(sent[channel])
        if there != list(range(len(there))):
            differ(f"channel {channel}", "sends are numbered", there)
        same(f"channel {channel}", "what is received", received[channel], sent[channel])
        compared["messages"] += len(there)


def check_report(report, journals, keys):
    run, codes = report["run"], ("MISMATCH", "HANG")
    same("report", "run.backends", run["backends"], ["mpi"])
    same("report", "run.complete", run["complete"], True)
    same("report", "run.ranks_seen", run["ranks_seen"], len(journals))
    if report["verdict"]["code"] in codes:
        differ("report", "verdict", report["verdict"]["code"], report["verdict"]["text"])
    for finding in report["findings"]:
        if finding["kind"] in ("MISMATCH", "SKIPPED_OP", "EXTRA_OP", "UNEVEN_INPUT", "DROPPED_RECORDS", "HANG"):
            differ("report", "finding", finding["kind"], finding["cause"], json.dumps(finding["evidence"]))
    same("report", "ops of ranks", {r["rank"]: r["ops"] for r in report["ranks"]},
         {j.rank: len(j.ops) for j in journals})
    found = {comm["comm"]: comm for comm in report["comms"]}
    for name, key in sorted(keys.of_name.items()):
        members, comm = members_of(journals, name), found.pop(key, None)
        if comm is None:
            differ("report", "communicator", name, "is not there")
            continue
        same(f"report {name}", "ranks", sorted(comm["ranks"]), sorted(members))
        same(f"report {name}", "nranks", comm["nranks"], len(members))
        same(f"report {name}", "backend", comm["backend"], "mpi")
        compared["comms"] += 1
    for comm in found.values():
        differ("report", "communicator", comm["comm"], comm["name"], "of", comm["nranks"], "ranks has no name in the job")


def is_varying(call):
    """Every rank has counts of its own: MPI_Gatherv, MPI_Alltoallw_init, MPI_Reduce_scatter_c."""
    name = call.lower().removesuffix("_c").removesuffix("_init")
    return name.endswith(("v", "alltoallw", "reduce_scatter"))


def sent_by(journals, name):
    """Bytes from each member of a communicator to each other one, in world ranks: messages and what operations say
    themselves, the rest round the ring, as docs/dev/algorithms/traffic.md has it."""
    members = members_of(journals, name)
    n, pairs, shares = len(members), collections.Counter(), collections.defaultdict(collections.Counter)
    for journal in journals:
        for op in journal.ops:
            if op["comm"] != name or op["end"] == "cancelled":
                continue
            me, kind, bytes_ = journal.comms[name].rank, op["op"], op["bytes"]
            other = index_of(journal.comms[name], op["peer"] if kind in MESSAGES + ONE_SIDED else op["root"])
            if kind in ("Send", "Put", "Accumulate"):
                pairs[me, other] += bytes_
            elif kind == "Get":
                pairs[other, me] += bytes_
            elif kind == "Gather":
                pairs[me, other] += bytes_
            elif kind == "Scatter":
                pairs[other, me] += bytes_
            elif kind == "AllToAll" and not is_varying(op["call"]):
                for to in range(n):
                    pairs[me, to] += bytes_
            elif (kind == "Broadcast" and other != (me + 1) % n) or (kind == "Reduce" and other != me) or (
                    kind in ("Scan", "Exscan") and me + 1 < n):
                pairs[me, (me + 1) % n] += bytes_
            elif kind in ("AllReduce", "AllGather", "ReduceScatter", "AllToAll"):
                shares[kind, is_varying(op["call"])][me] += bytes_
    for (kind, varies), of in shares.items():
        whole = sum(of.values())
        for me in range(n):
            after = (me + 1) % n
            if kind == "AllToAll":
                others = of[me] * (n - 1) // n
                for d in range(1, n):
                    pairs[me, (me + d) % n] += others * d // (n - 1) - others * (d - 1) // (n - 1)
            elif kind == "AllReduce":
                pairs[me, after] += of[me] * 2 * (n - 1) // n
            elif not varies:
                pairs[me, after] += of[me] * (n - 1)
            elif of[me]:
                pairs[me, after] += whole - of[after if kind == "AllGather" else me]
    return {(members[a], members[b]): v for (a, b), v in pairs.items() if v and a != b}


def check_traffic(traffic, journals, keys):
    """Of the communicators that have a layer; how an intercommunicator's collectives are laid is no one's promise."""
    layers = {layer["comm"]: layer for layer in traffic["layers"] if layer["comm"]}
    least = 0
    for name, key in sorted(keys.of_name.items()):
        if next(j.comms[name].inter for j in journals if name in j.comms):
            continue
        layer, truth = layers.get(key), sent_by(journals, name)
        if layer is None and truth and not traffic["comms_omitted"]:
            differ("report", "traffic of", name, "is not there, the job says", truth)
        if layer is None:
            continue
        found = dict(zip(zip(layer["src"], layer["dst"]), layer["bytes"], strict=True))
        same(f"report traffic of {name}", "bytes", sorted((k, v) for k, v in found.items() if v), sorted(truth.items()))
        least += 1
    compared["traffic"] += least
    if not least:
        differ("report", "has no traffic of any communicator")


def check_info(info):
    flavour = os.environ.get("CT_MPI", "openmpi")
    facts = info["environment"]["same"]
    same("info", "lib.mpi.flavour", facts.get("lib.mpi.flavour"), flavour)
    begins = {"openmpi": "Open MPI v", "mpich": "MPICH Version:"}[flavour]
    same("info", "lib.mpi.version", facts.get("lib.mpi.version", "")[:len(begins)], begins)
    for process in info["processes"]:
        same(f"info pid {process['pid']}", "end", process["end"], "clean")
        same(f"info pid {process['pid']}", "exit_code", process["exit_code"], 0)
    for loss in info["dropped"]:
        differ("info", "lost", json.dumps(loss))
    for order in info["call_order"]:
        same(f"info order of {order['comm']}", "first_different_seq", order["first_different_seq"], None)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    dump, report, info, folder = sys.argv[1:]
    journals = [Journal(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".journal")]
    lines_of = {journal.rank: [] for journal in journals}
    for text in open(dump, encoding="utf-8"):
        line = json.loads(text)
        lines_of.setdefault(line["rank"], []).append(line)
    if not journals or sorted(lines_of) != list(range(len(journals))):
        differ("job", "ranks are", sorted(lines_of), "of", len(journals))
    keys = Keys()
    for journal in journals:
        check_rank(journal, lines_of[journal.rank], keys)
    check_order(lines_of)
    check_messages(lines_of, {key: members_of(journals, name) for name, key in keys.of_name.items()})
    found = json.load(open(report, encoding="utf-8"))
    check_report(found, journals, keys)
    check_traffic(found["traffic"], journals, keys)
    check_info(json.load(open(info, encoding="utf-8")))
    limit = len(differences) if os.environ.get("CHECK_ALL") else SHOWN
    for difference in differences[:limit]:
        print(difference, file=sys.stderr)
    if differences:
        sys.exit(f"check_matrix: {len(differences)} differences")
    print("check_matrix: " + ", ".join(f"{n} {what}" for what, n in sorted(compared.items())))


main()
