#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes.py ANSWERS NAME...: do the answers of docs/how-to/PERFETTO.md's queries (what recipes.mjs prints) say the same as the report and as the
operations that dump lists? NAME.pftrace was asked; NAME.json is `report --format=json`, NAME.jsonl `dump --calls`. Says what differs, exit 1."""
import collections
import json
import sys
import urllib.parse

US, MS = 1e3, 1e6
failures = []
compared = collections.Counter()


class Run:
    def __init__(self, name, answers):
        self.name = name
        self.answers = answers
        self.report = json.load(open(name + ".json"))
        lines = [json.loads(line) for line in open(name + ".jsonl")]
        self.calls = lines
        self.ops = [line for line in lines if line["op"]]

    def same(self, recipe, what, want, got, within):
        compared[recipe] += 1
        if want is None or got is None or not abs(want - got) <= within:
            failures.append(f"{self.name}: {recipe}: {what}: {want} is told elsewhere, {got} by the query")

    def same_keys(self, recipe, want, got):
        compared[recipe] += len(want)
        if set(want) != set(got):
            failures.append(f"{self.name}: {recipe}: of {sorted(want, key=str)}, the query tells of {sorted(got, key=str)}")
        return set(want) & set(got)

    def by(self, recipe, *keys):
        rows = [r for r in self.answers[recipe] if r.get("kind") != "DROPPED_RECORDS"]  # those have a chapter of their own in the report
        got = {tuple(r[k] for k in keys) if len(keys) > 1 else r[keys[0]]: r for r in rows}
        if len(got) != len(rows):
            failures.append(f"{self.name}: {recipe}: several rows tell of one {keys}")
        return got


def findings(run):
    got = run.by("findings", "finding")
    want = {f["id"]: f for f in run.report["findings"]}
    for i in run.same_keys("findings", want, got):
        run.same("findings", f"{i} begins", (want[i]["begin_ns"] or 0) / 1e9, got[i]["at_s"], 1e-9)
        run.same("findings", f"{i} loss", want[i]["time_lost_ns"] or 0, (got[i]["time_lost_ms"] or 0) * MS, 1)
        run.same("findings", f"{i} rank", want[i]["ranks"][0] if want[i]["ranks"] else -1,
                 -1 if got[i]["first_rank"] is None else got[i]["first_rank"], 0)


def links(run):
    """What the report's links show lies where the finding does, and one of the longest operations in it."""
    late = [r["at_s"] * 1e9 for r in run.answers["slowest"]]
    for f in run.report["findings"]:
        shown = urllib.parse.parse_qs(urllib.parse.urlparse(f["timeline"]).fragment.partition("?")[2])
        begin, end = int(shown["visStart"][0]), int(shown["visEnd"][0])
        if not begin < end or end < f["begin_ns"] or begin > f["end_ns"] or not any(begin <= at <= end for at in late):
            failures.append(f"{run.name}: {f['kind']} from {f['begin_ns']} to {f['end_ns']} ns: the link shows {begin} to {end}")


def exposed(run):
    want = {r["rank"]: r for r in run.report["ranks"] if r["exposed_ns"] is not None}
    got = run.by("exposed", "rank")
    for r in run.same_keys("exposed", want, got):
        run.same("exposed", f"rank {r}", want[r]["exposed_ns"], got[r]["exposed_ms"] * MS, 1 * US)
        run.same("exposed", f"rank {r}: error", want[r]["exposed_err_ns"], got[r]["err_ms"] * MS, 1 * US)


def waits(run):
    want = {r["rank"]: r["wait_ns"] for r in run.report["ranks"] if r["wait_ns"] is not None}
    got = run.by("waits", "rank")
    # Waits that are smaller than their error are not drawn: only on GPUs is there such.
    least = 1 if run.name == "host" else 0.5 if run.name == "gpu" else 0.98
    if not any(want.values()):
        failures.append(f"{run.name}: nobody waited")
    for r in run.same_keys("waits", want, got):
        ms = got[r]["waited_ms"] or 0
        run.same("waits", f"rank {r}", want[r] / MS * (1 + least) / 2, ms, want[r] / MS * (1 - least) / 2 + 0.1)


def blamed(run):
    culprits = {r for f in run.report["findings"] if f["kind"] == "STRAGGLER" for r in f["ranks"]}
    rows = run.answers["blamed"]
    run.same_keys("blamed", culprits, {r["culprit"] for r in rows})
    if any(r["victim"] in culprits for r in rows):
        failures.append(f"{run.name}: blamed: a culprit is its own victim: {rows}")


def instances(run):
    """(comm, seq): (starts, ends) of the ranks of a collective."""
    all = collections.defaultdict(lambda: ([], []))
    for op in run.ops:
        if op["comm"] and op["peer_seq"] is None and op["end_ns"] is not None and op["start_ns"] is not None:
            at = all[op["comm"], op["seq"]]
            at[0].append(op["start_ns"] + op["clock_offset_ns"])
            at[1].append(op["end_ns"] + op["clock_offset_ns"])
    return all


def apart(run):
    all = instances(run)
    want = sorted((max(starts) - min(starts) for starts, _ in all.values()), reverse=True)[:20]
    for n, (w, g) in enumerate(zip(want, run.answers["apart"])):
        run.same("apart", n, w / MS, g["skew_ms"], 0.02)
        starts = all[g["comm"], g["seq"]][0]
        run.same("apart", f"{g['comm']} {g['seq']}", (max(starts) - min(starts)) / MS, g["skew_ms"], 0.02)


def slowest(run):
    all = instances(run)
    within = 0.03 if run.name == "host" else 0.02  # its ranks do not end at once
    for g in run.answers["slowest"]:
        starts, ends = all[g["comm"], g["seq"]]
        run.same("slowest", f"{g['comm']} {g['seq']}", (max(ends) - min(starts)) / MS, g["ms"], within)
    run.same("slowest", "the first", max(max(e) - min(s) for s, e in all.values()) / MS, run.answers["slowest"][0]["ms"], within)


def bytes_(run):
    want = collections.defaultdict(lambda: [0, 0])
    for row in run.report["ops"]:
        want[row["comm"], row["op"]][0] += row["op_count"]
        want[row["comm"], row["op"]][1] += row["bytes"]
    got = run.by("bytes", "comm", "name")
    want = {k: v for k, v in want.items() if k[1] not in ("Send", "Recv") and v[1]}
    for key in run.same_keys("bytes", want, got):
        run.same("bytes", f"{key}: operations", want[key][0], got[key]["n"], 0)
        run.same("bytes", f"{key}: bytes", want[key][1], got[key]["gb"] * 1e9, 1)


def sizes(run):
    rows = collections.defaultdict(list)
    for row in run.report["ops"]:
        if row["op"] not in ("Send", "Recv") and row["bytes"]:
            rows[row["op"], row["size_range"].bit_length() - 1].append(row)
    want = {key: {"op_count": sum(r["op_count"] for r in of), "bytes": sum(r["bytes"] for r in of),
                  "busbw_p50_Bps": of[0]["busbw_p50_Bps"] if len(of) == 1 else None} for key, of in rows.items()}
    got = run.by("sizes", "name", "power")
    for key in run.same_keys("sizes", want, got):
        run.same("sizes", f"{key}: operations", want[key]["op_count"], got[key]["n"], 0)
        run.same("sizes", f"{key}: bytes", want[key]["bytes"], got[key]["bytes"], 0)
        if want[key]["busbw_p50_Bps"]:
            run.same("sizes", f"{key}: GB/s", 1, got[key]["mean_gbps"] * 1e9 / want[key]["busbw_p50_Bps"], 0.1)


def gaps(run):
    got = run.by("gaps", "rank")
    spans = collections.defaultdict(list)
    for op in run.ops:
        if op["start_ns"] is not None and op["end_ns"] is not None and op["timing"] == "events":
            spans[op["rank"]].append((op["start_ns"], op["end_ns"]))
    want = {}
    for rank, all in spans.items():
        idle, reached = 0, min(all)[0]
        for start, end in sorted(all):
            idle += max(0, start - reached)
            reached = max(reached, end)
        want[rank] = idle
    for r in run.same_keys("gaps", want, got):
        run.same("gaps", f"rank {r}", want[r] / MS, got[r]["idle_ms"], 0.01 * want[r] / MS)


def calls(run):
    want = collections.defaultdict(lambda: [0, 0, 0])
    for call in run.calls:
        if call["return_ns"] is not None and call["enter_ns"] is not None:
            took = call["return_ns"] - call["enter_ns"]
            sums = want[call["call"]]
            sums[0] += 1
            sums[1] += took
            sums[2] = max(sums[2], took)
    got = run.by("calls", "name")
    for name in run.same_keys("calls", want, got):
        run.same("calls", f"{name}: how often", want[name][0], got[name]["n"], 0)
        run.same("calls", f"{name}: ms", want[name][1] / MS, got[name]["ms"], 0.001 * want[name][1] / MS + 0.001)
        run.same("calls", f"{name}: longest", want[name][2] / US, got[name]["longest_us"], 1)


def unfinished(run):
    states = collections.Counter(op["state"] for op in run.ops)
    lanes = collections.Counter(r["lane"].startswith("host thread") for r in run.answers["unfinished"])
    # What the host times is its call, and drawn as both.
    on_lanes = states["started"] + (states["entered"] if run.name == "host" else 0)
    run.same("unfinished", "calls", states["entered"], lanes[True], 0)
    run.same("unfinished", "works", on_lanes, lanes[False], 0)


def hang(run):
    """Rank 5 of 8 was made to stop calling; the recording went on until it was known to hang."""
    rows = run.answers["hang"]
    run.same("hang", "verdicts", 1, len(rows), 0)
    if rows[0]["code"] != "NEVER_ENTERED" or rows[0]["first_rank"] != 5:
        failures.append(f"{run.name}: hang: rank 5 was made to stop, and the query tells {rows}")
    truth = json.load(open(run.name + ".truth.json"))
    run.same("hang", "ranks", 1, rows[0]["n_ranks"], 0)
    run.same("hang", "victims", 7, rows[0]["n_victims"], 0)
    run.same("hang", "lasts to the end", truth["duration_ns"] / 1e9, rows[0]["since_s"] + rows[0]["for_s"], 0.01)


def waiting(run):
    got = run.by("waiting", "rank")
    issued = collections.defaultdict(int)
    for op in run.ops:
        issued[op["rank"]] = max(issued[op["rank"]], op["enter_ns"] + op["clock_offset_ns"])
    for r in run.same_keys("waiting", set(range(8)), got):
        if got[r]["name"] != ("NEVER_ENTERED" if r == 5 else "waits for rank 5"):
            failures.append(f"{run.name}: waiting: rank 5 was made to stop, and rank {r} has {got[r]}")
        # no one calls anything any more once it waits, and the recording lasts a minute from then on
        run.same("waiting", f"rank {r}", (issued[r] - run.report["run"]["begin_unix_ns"]) / 1e9, got[r]["since_s"], 0.1)
        if r != 5 and got[r]["state"] not in ("entered", "returned", "started"):
            failures.append(f"{run.name}: waiting: rank {r} waits in what is {got[r]['state']}")


def ages(run):
    for r in run.answers["unfinished"]:
        if not 59 < r["age_s"] < 61:
            failures.append(f"{run.name}: unfinished: {r} after a minute")


def ahead(run):
    want = collections.defaultdict(list)
    for op in run.ops:
        if op["start_ns"] is not None and op["timing"] == "events":
            want[op["call"]].append(op["start_ns"] - op["enter_ns"])
    got = run.by("ahead", "name")
    for name in run.same_keys("ahead", want, got):
        run.same("ahead", f"{name}: how often", len(want[name]), got[name]["n"], 0)
        run.same("ahead", f"{name}: us", sum(want[name]) / len(want[name]) / US, got[name]["us"], 1)


def groups(run):
    sizes = collections.Counter((op["rank"], op["group"]) for op in run.ops if op["group"])
    want = collections.Counter(n for n in sizes.values() if n > 1)
    got = collections.Counter(r["n"] for r in run.answers["groups"])
    for n in run.same_keys("groups", want, got):
        run.same("groups", f"of {n}", want[n], got[n], 0)


def sites(run):
    want = collections.Counter(call["site"].split()[0] for call in run.calls if call["site"])
    got = {f"{r['file']}:{r['line']}": r for r in run.answers["sites"]}
    for site in run.same_keys("sites", want, got):
        run.same("sites", site, want[site], got[site]["n"], 0)


# What is compared of which run: of jobs with groups, graphs and failures the report counts otherwise than calls are drawn.
CHECKS = {
    "slow": (findings, links, exposed, waits, blamed, apart, slowest, bytes_, sizes, gaps, calls, unfinished, ahead, groups, sites),
    "host": (findings, links, exposed, waits, blamed, slowest, bytes_, sizes, gaps, unfinished, groups, sites),
    "gpu": (findings, exposed, waits, blamed, calls, unfinished, groups, sites),
    "hung": (hang, waiting, ages),
}
answers = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    run = Run(name, answers[name + ".pftrace"])
    for check in CHECKS[name]:
        check(run)
for recipe in next(iter(answers.values())):
    if not compared[recipe]:
        failures.append(f"{recipe}: nothing was compared")
print("\n".join(failures))
sys.exit(bool(failures))
