#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hang_lines.py TRUTH < HANG.json: what `commtrace hang` says without its words, beside the truth of who made the run.

A line for the truth, the run, each verdict with the facts about the first of its ranks, and each way in which ranks stand.
Communicators by the names that the truth has.
"""
import json
import re
import sys


def span(ranks):
    """[0, 1, 2, 5] as 0-2,5"""
    out = []
    for r in ranks:
        if out and r == out[-1][1] + 1:
            out[-1][1] = r
        else:
            out.append([r, r])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out) or "-"


with open(sys.argv[1]) as f:
    truth = json.load(f)
said = json.load(sys.stdin)
names = {c["comm"]: f"{c['role']}({span(c['ranks'])})" for c in truth["comms"]}


def comm(key):
    return names.get(key, "unnamed" if key else "-")


hang = truth["expected"]["hang"]
print(f"  truth    {hang['code']} {span(hang['ranks'])}" if hang else "  truth    -")
run = said["run"]
print(f"  {said['state']:8} after {run['hang_after_ns']} torn {run['torn_down_ns']} last {run['last_heartbeat_ns']} "
      f"ranks {run['ranks_seen']}/{run['ranks_expected']} missing {span(run['ranks_missing'])}")
for v in said["verdicts"]:
    print(f"  verdict  {v['code']} {span(v['ranks'])} victims {span(v['victims'])} {v['confidence']} {comm(v['comm'])} {v['op']} {v['call']} "
          f"#{v['seq']} since {v['since_ns']}+-{v['since_err_ns']} age {v['age_ns']} host {v['host']} reasons {len(v['confidence_why'])}")
    told = [e["rank"] for e in v["evidence"] if e["rank"] is not None]
    for e in v["evidence"]:
        if e["rank"] not in (None, *told[:1]):
            continue
        text = re.sub(r"\bon ([0-9a-f]{16})", lambda m: "on " + comm(m.group(1)), e["text"] or "")
        print(f"    {e['name']}{'' if e['rank'] is None else ' of ' + str(e['rank'])} "
              f"{text if e['value'] is None else e['value']}")
for s in said["not_stalled"]:
    print("  slow     " + " ".join(f"{k}={comm(s[k]) if k == 'comm' else s[k]}" for k in sorted(s) if k != "text"))
ways = {}
for r in said["ranks"]:
    last = r["last"] or {"comm": None, "op": None, "seq": None}
    way = (f"{r['process']} {r['state']} {re.sub(r'[(].*', '', comm(last['comm']))} {last['op']} #{last['seq']} beat {r['heartbeat_age_ns']} "
           f"err {r['err_ns']} {r['how_ended'] or ''}")
    ways.setdefault(way.rstrip(), []).append(r["rank"])
for way, ranks in ways.items():
    print(f"  {span(ranks):8} {way}")
print(f"  missing  {len(said['missing_data'])}")
