#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated jobs whose lateness is known: recordings as `commtrace import jsonl` reads them, and the truth by replay.

    lateness_jobs.py -o FILE.jsonl --truth FILE.json [KEY=VALUE...]     e.g. shape=1f1b stages=4 data=4 fault=rank:5:1.1
    lateness_jobs.py --list                                             keys and their defaults

A fault is WHAT:WHO:FACTOR[:KEY=VALUE...], several separated by commas; WHAT is rank, host, group (index), stage, or moving (WHO is
how many steps a rank is slow before the next one is). Keys of a fault: kind (only computations whose kind begins so), every
(only each n-th step), from, to (steps).

The truth (seconds; factors as in "Understanding Stragglers in Large Model Training Using What-if Analysis", arXiv 2505.05713):
  seconds                  as played; the ideal job has the mean of each kind of computation over all ranks and steps, and median transfers
  s                        of the steps on record: what they take / what they take in the ideal job
  s_rank[], s_stage[]      only that rank's row (its worker in all stages) or only that stage as played; of a rank the smaller one
  m_w, m_s                 likewise: share of the excess that is gone if only the worst 3 % of the ranks, or only the last stage, take the mean
  planted[]                {what, ranks, gain}: share of the time that is gone without that fault; gain: without all of them
  spread_cost              share of the time that is gone if every rank always takes its own mean
"""
import argparse
import json
import random
import statistics
import sys

from job_graph import Job
from job_shapes import SHAPES

DEFAULTS = {
    "shape": "data_parallel",
    "ranks": 0,  # 0: data x stages x tensor
    "steps": 60, "seed": 1, "per_host": 8,
    "compute_ms": 10.0,  # of one computation
    "noise": 0.01,  # random part of each computation
    "spread": 0.0,  # random part that a whole row of the pipeline has in common, for each microbatch
    "transfer_noise": 0.02, "transfer_ms": 2.0, "message_us": 200.0,
    "data": 4, "stages": 1, "tensor": 1, "virtual": 2, "layers": 2, "microbatches": 8, "uneven": [], "world_sync": True,
    "buckets": 4, "overlap": False, "accumulate": 1,
    "rows": 2, "exchanges": 4, "root": 0,
    "evaluate_every": 0, "extra_ranks": [], "extra_every": 3,
    "untimed": 0.0, "clock_ms": 0.0, "error_us": 2.0, "fault": "",
}
FIRST = 2  # step whose beginning is on record: nothing shows when the first one began, and the end of the second one is the first that is whole
WORST = 0.03  # of the ranks, at least one: the published share
PIPELINES = ("forward", "1f1b", "1f1b_streams", "interleaved")
WEIGHT = {"forward": 1.0, "backward": 2.0, "optimizer": 0.2, "accumulate": 3.0, "evaluation": 4.0, "norm": 0.1, "collect": 0.005}


# ---- configuration ----

def configure(**keys):
    unknown = set(keys) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"no such key: {', '.join(sorted(unknown))}")
    config = {**DEFAULTS, **keys}
    if not config["ranks"]:
        config["ranks"] = config["data"] * config["stages"] * config["tensor"]
    return config


class Fault:
    """Some computations take longer."""

    def __init__(self, text, job, config):
        self.what, who, factor, *rest = text.split(":")
        keys = dict(part.split("=") for part in rest)
        self.factor, self.who = float(factor), int(who)
        self.kind, self.every = keys.pop("kind", ""), int(keys.pop("every", 1))
        self.first, self.last = int(keys.pop("from", 0)), int(keys.pop("to", config["steps"] - 1))
        if keys:
            raise ValueError(f"fault {text}: no such key: {', '.join(keys)}")
        hosts = {}
        for rank in range(job.ranks):
            hosts.setdefault(rank // config["per_host"], []).append(rank)
        self.ranks = {"rank": lambda: [self.who], "host": lambda: hosts[self.who], "group": lambda: job.group[self.who],
                      "stage": lambda: [r for r in range(job.ranks) if job.stage[r] == self.who],
                      "moving": lambda: []}[self.what]()
        self.order = random.Random(config["seed"] * 77 + 5).sample(range(job.ranks), job.ranks)

    def extra(self, work, seconds):
        """How much longer it takes."""
        if not self.first <= work.step <= self.last or not work.kind.startswith(self.kind):
            return 0.0
        if work.step % self.every != self.every - 1:
            return 0.0
        if self.what == "moving":
            ranks = (self.order[work.step // self.who % len(self.order)],)
        else:
            ranks = self.ranks
        return seconds * (self.factor - 1) if work.rank in ranks else 0.0


# ---- lengths ----

def lengths(job, config, rng):
    """Seconds of each computation without a fault, in the order of job.work."""
    row_factor, plain = {}, []
    sigma = config["spread"]
    for work in job.work:
        if work.row not in row_factor:
            row_factor[work.row] = max(0.1, rng.gammavariate(1 / sigma**2, sigma**2)) if sigma and work.row[2] >= 0 or (
                sigma and config["shape"] not in PIPELINES) else 1.0
        kind = work.kind.split()[0]
        seconds = config["compute_ms"] / 1e3 * WEIGHT.get(kind, 1.0)
        if kind == "backward" and config["shape"] == "data_parallel":
            seconds /= config["buckets"]
        if config["tensor"] > 1 and kind in ("forward", "backward"):
            seconds /= config["layers"]
        plain.append(seconds * row_factor[work.row] * max(0.2, rng.gauss(1, config["noise"])))
    return plain


class Costs:
    """The cost of every event, for any choice of lengths."""

    def __init__(self, job, config, rng):
        self.job = job
        self.base = list(job.graph.cost)
        self.plain = lengths(job, config, rng)
        self.faults = [Fault(text, job, config) for text in config["fault"].split(",") if text]
        self.played = [s + sum(f.extra(w, s) for f in self.faults) for w, s in zip(job.work, self.plain)]
        self.transfer = [kind[3] * max(0.5, rng.gauss(1, config["transfer_noise"])) for _, kind in job.transfers]
        kinds = {}
        for (_, kind), seconds in zip(job.transfers, self.transfer):
            kinds.setdefault(kind, []).append(seconds)
        middle = {kind: statistics.median(v) for kind, v in kinds.items()}
        self.median_transfer = [middle[kind] for _, kind in job.transfers]

    def mean_by(self, key):
        """Each computation takes the mean of those that have the same key."""
        groups = {}
        for work, seconds in zip(self.job.work, self.played):
            groups.setdefault(key(work), []).append(seconds)
        mean = {k: statistics.fmean(v) for k, v in groups.items()}
        return [mean[key(work)] for work in self.job.work]

    def seconds(self, lengths_, transfers):
        return max(self.times(lengths_, transfers))

    def step_seconds(self, lengths_, transfers):
        """What the steps take that are on record as a whole. One that is longer than others by chance matters to M."""
        times = self.times(lengths_, transfers)
        first, last = (max(times[e] for e in self.job.step_ends[step]) for step in (FIRST - 1, -1))
        return last - first

    def times(self, lengths_, transfers):
        cost = list(self.base)
        for work, seconds in zip(self.job.work, lengths_):
            cost[work.event] = seconds
        for (event, _), seconds in zip(self.job.transfers, transfers):
            cost[event] = seconds
        return self.job.graph.replay(cost)


# ---- truth ----

def what_if(job, costs):
    """The published figures."""
    ideal = costs.mean_by(lambda work: work.kind)
    whole = costs.step_seconds(costs.played, costs.transfer)
    least = costs.step_seconds(ideal, costs.median_transfer)

    def keeping(rank_is_kept):
        mixed = [p if rank_is_kept(w.rank) else i for w, p, i in zip(job.work, costs.played, ideal)]
        return costs.step_seconds(mixed, costs.median_transfer) / least

    def mending(ranks):
        mixed = [i if w.rank in ranks else p for w, p, i in zip(job.work, costs.played, ideal)]
        return (whole - costs.step_seconds(mixed, costs.transfer)) / (whole - least)

    stages, rows = max(job.stage) + 1, max(job.data) + 1
    s_stage = [keeping(lambda r, s=s: job.stage[r] == s) for s in range(stages)] if stages > 1 else []
    s_row = [keeping(lambda r, d=d: job.data[r] == d) for d in range(rows)] if rows > 1 else []
    s_rank = []
    for rank in range(job.ranks):
        factors = ([s_row[job.data[rank]]] if s_row else []) + ([s_stage[job.stage[rank]]] if s_stage else [])
        s_rank.append(min(factors))
    worst = sorted(range(job.ranks), key=lambda r: -s_rank[r])[:max(1, int(WORST * job.ranks))]
    told = whole - least > 0.005 * whole
    last_stage = [r for r in range(job.ranks) if job.stage[r] == stages - 1]
    return {"s": whole / least, "s_rank": s_rank, "s_stage": s_stage,
            "m_w": mending(set(worst)) if told else None, "worst": worst,
            "m_s": mending(set(last_stage)) if told and stages > 1 else None}


def truth_of(job, costs, config, times):
    whole = max(times)

    def gain_without(faults):
        left = [f for f in costs.faults if f not in faults]
        mended = [s + sum(f.extra(w, s) for f in left) for w, s in zip(job.work, costs.plain)]
        return 1 - costs.seconds(mended, costs.transfer) / whole

    own_mean = costs.mean_by(lambda work: (work.rank, work.kind))
    truth = {"config": config, "seconds": whole, **what_if(job, costs)}
    truth["planted"] = [{"what": f.what, "who": f.who, "ranks": f.ranks, "gain": gain_without([f])} for f in costs.faults]
    truth["gain"] = gain_without(costs.faults) if costs.faults else 0.0
    truth["spread_cost"] = 1 - costs.seconds(own_mean, costs.transfer) / whole
    truth["stage"], truth["data"] = job.stage, job.data
    return truth


# ---- the recording ----

def recording(job, config, times, rng):
    """Lines as commtrace writes them."""
    mpi = config["shape"] == "rooted"
    hosts = -(-job.ranks // config["per_host"])
    shift = [0] + [rng.uniform(-1, 1) * config["clock_ms"] / 1e3 for _ in range(hosts - 1)]
    error = int(config["error_us"] * 1e3)
    calls = {"Broadcast": "Bcast", "AllReduce": "Allreduce"} if mpi else {}
    for rank in range(job.ranks):
        host = rank // config["per_host"]
        common = {"rank": rank, "host": f"node{host:02}", "pid": 1000 + rank, "world_size": job.ranks,
                  "clock_offset_ns": 1700000000000000000, "backend": "mpi" if mpi else "nccl", "device": rank % config["per_host"],
                  "dtype": "float32", "result": 0, "start_err_ns": error, "end_err_ns": error}
        heads = {}

        def at(event):
            return int((times[event] + shift[host] + 1) * 1e9)

        for number, launch in enumerate(job.launches[rank], 1):
            timed = rng.random() >= config["untimed"]
            begin, end, called = at(launch.begin), max(at(launch.end), at(launch.begin) + 1), at(launch.called) + 20000
            if mpi:
                times_ = f'"enter_ns":{begin},"return_ns":{end}'
            else:
                called = min(called, begin)
                times_ = f'"group":{number},"enter_ns":{called},"return_ns":{called + 5000}'
                times_ += f',"start_ns":{begin},"end_ns":{end},"timing":"events"' if timed else ',"timing":"off"'
            for op in launch.ops:
                key = (op.name, op.comm.key, op.bytes, op.peer, op.root)
                if key not in heads:
                    head = {**common, "op": op.name, "call": ("MPI_" if mpi else "nccl") + calls.get(op.name, op.name),
                            "comm": f"{op.comm.key:016x}", "comm_name": op.comm.name, "nranks": len(op.comm.members),
                            "comm_rank": op.comm.index[rank], "bytes": op.bytes, "count": op.bytes // 4,
                            "state": "finished"}
                    head.update({"timing": "call"} if mpi else {"stream": launch.stream}, **({} if op.root is None else {"root": op.root}))
                    head.update({} if op.peer is None else {"peer": op.peer, "tag": 0})
                    heads[key] = json.dumps(head, separators=(",", ":"))[:-1]
                seq = "seq" if op.peer is None else "peer_seq"
                yield f'{heads[key]},"{seq}":{op.seq},{times_}}}\n'


def make(config):
    """(lines of the recording, truth)"""
    rng = random.Random(config["seed"])
    job = Job(config["ranks"])
    SHAPES[config["shape"]](job, config)
    job.finish()
    costs = Costs(job, config, rng)
    times = costs.times(costs.played, costs.transfer)
    return recording(job, config, times, rng), truth_of(job, costs, config, times)


def parse(text):
    key, _, value = text.partition("=")
    if key not in DEFAULTS:
        raise ValueError(f"no such key: {key}")
    default = DEFAULTS[key]
    if isinstance(default, list):
        return key, [int(v) for v in value.split("+") if v]
    if isinstance(default, bool):
        return key, value not in ("0", "no", "false")
    return key, type(default)(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output")
    parser.add_argument("--truth")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("keys", nargs="*")
    args = parser.parse_args()
    if args.list:
        for key, value in DEFAULTS.items():
            print(f"{key}={'+'.join(map(str, value)) if isinstance(value, list) else value}")
        print("shapes:", *SHAPES)
        return 0
    lines, truth = make(configure(**dict(parse(k) for k in args.keys)))
    if args.output:
        with open(args.output, "w", encoding="ascii") as out:
            out.writelines(lines)
    text = json.dumps(truth)
    if args.truth:
        with open(args.truth, "w", encoding="ascii") as out:
            out.write(text + "\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
