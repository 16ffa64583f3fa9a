#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a report of thinned parts say what that of the whole run says?

    thinned.py [--runs N] [--seed N] [--verbose]

Random synthetic jobs, each reported as a whole, and from two parts with --keep=30. Each finding that is more than a possibility is one of
the whole run, or of the generator's truth, or is not there: no rank is accused for what was left out. The verdict is that of the whole run,
of the same time in it, or accuses no rank. Exposed communication is measured as in the whole run, or not at all. Each figure that has an error differs from that of the same time in the whole run by no more
than the sum of both errors, and one operation or step at each end. That figures of a whole run are right is for accuracy.py to say.
Prints METRIC lines; exit 1 if anything differs.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

BUILD = os.environ.get("CT_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build"))
LAST_REPORT = os.environ.get("CT_LAST_REPORT", os.path.join(BUILD, "tests", "accuracy", "last_report"))
KEEP_S = 30
SILENT = ("HEALTHY", "NOT_COMMUNICATION", "NOT_ENOUGH_EVIDENCE")
WORKLOADS = {"ddp": "", "decode": "--tp 4 --dp 2", "fsdp": "", "megatron": "--tp 2 --pp 2 --dp 2", "moe": ""}
FAULTS = ["", "", "slow-rank:rank={rank},pct={pct}", "slow-rank:rank={rank},pct={pct},to={early}", "slow-link:src={rank},dst={next},factor=0.3",
          "pause:rank={rank},every=40,ms=60", "slow-host:host=1,pct={pct}", "late-host:rank={rank},ms=5", "rotating:every=20,ms=20",
          "mismatch:rank={rank},op={op},field=dtype", "mismatch:rank={rank},op={late},field=dtype"]


def run(*words):
    done = subprocess.run([os.path.join(BUILD, "bin", words[0]), *words[1:]], capture_output=True, text=True, check=False)
    return done


def plan(seed):
    """Options of a random job of about two minutes, and its fault."""
    r = random.Random(seed)
    workload = r.choice(sorted(WORKLOADS))
    step_ms = r.choice((60, 100, 150))
    steps = 120000 // step_ms
    rank, op = r.randrange(8), r.randrange(20, 400)
    fault = r.choice(FAULTS).format(rank=rank, next=(rank + 1) % 8, pct=r.choice((8, 15, 30)), early=steps // 3, op=op, late=6 * steps)
    options = ["--workload", workload, *WORKLOADS[workload].split(), "--hosts", "2", "--gpus-per-host", "4", "--steps", str(steps), "--step-ms",
               str(step_ms), "--noise-pct", str(r.choice((0, 1, 2))), "--seed", str(seed), "--clock-offset-ms", str(r.choice((0, 20))),
               "--on-mismatch", "go-on"]
    return options, fault


def report(*paths):
    done = run("commtrace", "report", "--json", *paths)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def accusations(report_):
    return {(f["kind"], tuple(f["ranks"] or ())) for f in report_["findings"] if f["severity"] != "info" and f["confidence"] != "low"}


def figures(r):
    """By name: value, error, and of how many operations or steps, of everything that has an error."""
    out, steps = {}, r["steps"]["count"]

    def put(name, value, err, *counts):
        if value is not None and err is not None:
            out[name] = (value, err, counts)

    put("S", r["what_if"]["s"], r["what_if"]["s_err"])
    put("exposed", r["exposed_comm"]["median_pct"], r["exposed_comm"]["err_pct"])
    put("step", r["steps"]["time_p50_ns"], r["steps"]["err_ns"], steps)
    for f in r["findings"]:
        put(f"loss of {f['kind']} {f['ranks']}", f["time_lost_ns"], f["time_lost_err_ns"])
        for e in f["evidence"]:
            put(f"{e['name']} of {f['kind']} {f['ranks']}", e["value"], e["err"])
    for g in r["stream_idle"]:
        put(f"gaps exposed {g['rank']}", g["exposed_ns"], g["exposed_err_ns"], g["steps"])
        put(f"not ready {g['rank']}", g["idle_waiting_for_compute_ns"], g["idle_err_ns"], g["steps"])
        put(f"host late {g['rank']}", g["idle_host_bound_ns"], g["idle_err_ns"], g["steps"])
    for s in r["stages"]:
        put(f"bubble {s['comm']} {s['rank']}", s["bubble_ns"], s["err_ns"], s["steps"])
    for o in r["overlap"]:
        put(f"overlap {o['comm']} {o['rank']}", o["exposed_ns"], o["err_ns"], o["measured"])
        put(f"hidden {o['comm']} {o['rank']}", o["hidden_ns"], o["err_ns"], o["measured"])
    for k in r["ranks"]:
        put(f"rank {k['rank']} exposed", k["exposed_ns"], k["exposed_err_ns"], k["ops"])
        put(f"rank {k['rank']} wait", k["wait_ns"], k["err_ns"], k["ops"])
        put(f"rank {k['rank']} lateness", k["lateness_ns"], k["err_ns"], k["ops"])
    for o in r["ops"]:
        name = f"{o['comm']} {o['op']} {o['group']} {o['dtype']} {o['size_range']}"
        put(f"transfer {name}", o["transfer_p50_ns"], o["time_err_ns"], o["op_count"])
        put(f"exposed {name}", o["exposed_ns"], o["exposed_err_ns"], o["op_count"], steps)
        put(f"gap {name}", o["idle_ns"], o["idle_err_ns"], o["op_count"], steps)
    for link in r["links"]:
        put(f"beta {link['src']} {link['dst']} {link['comm']} {link['op']}", link["busbw_Bps"], link["busbw_err_Bps"])
    for i, s in enumerate(reversed(r["steps"]["items"])):
        put(f"step -{i}", s["time_ns"], r["steps"]["err_ns"])
    return out


def compare(whole, same, thin, truth):
    """What differs, and how many figures were compared. `same`: the same time in the whole run."""
    wrong = []
    if thin["verdict"]["code"] not in (whole["verdict"]["code"], same["verdict"]["code"], *SILENT):
        wrong.append(f"verdict {thin['verdict']['code']}, not {whole['verdict']['code']} or {same['verdict']['code']}")
    for extra in sorted(accusations(thin) - accusations(whole) - truth):
        wrong.append(f"finding {extra}")
    methods = {(o["rank"], o["comm"]): o["method"] for o in whole["overlap"]}
    for o in thin["overlap"]:
        if o["method"] not in (methods.get((o["rank"], o["comm"])), "n/a"):
            wrong.append(f"overlap of {o['rank']} {o['comm']}: {o['method']}, not {methods.get((o['rank'], o['comm']))}")
    a, b = figures(same), figures(thin)
    both, n = sorted(a.keys() & b.keys()), 0
    for name in both:
        (x, dx, of), (y, dy, of_thin) = a[name], b[name]
        # clocks are synchronized by what was read: what lies at the very beginning may be before it
        if of != of_thin and all(abs(i - k) <= 0.01 * i for i, k in zip(of, of_thin)):
            continue
        n += 1
        # one at either end may be cut in one of them
        edge = 2 * max(abs(x), abs(y)) / min(of) if of and min(of) else 0
        if abs(x - y) > dx + dy + edge:
            wrong.append(f"{name}: {x:.9g} +- {dx:.3g}, thinned {y:.9g} +- {dy:.3g}")
    if n < 0.5 * len(b):
        wrong.append(f"only {n} of {len(b)} figures are comparable: {sorted(b.keys() - a.keys())[:3]}")
    return wrong, n


def play(seed):
    options, fault = plan(seed)
    dir_ = tempfile.mkdtemp(prefix="commtrace-thinned.")
    name = " ".join(options[1:2] + [fault])
    try:
        whole = os.path.join(dir_, "run")
        made = run("commtrace-synth", "-o", whole, *options, *(["--fault", fault] if fault else []))
        if made.returncode:
            return name, None, 0, made.stderr
        parts = []
        for share in (1, 2):
            parts.append(os.path.join(dir_, f"part{share}"))
            done = run("commtrace", "partial", whole, "-o", parts[-1], f"--share={share}/2", f"--keep={KEEP_S}")
            if done.returncode:
                raise RuntimeError(done.stderr)
        a, b = report(whole), report(*parts)
        same = json.loads(run(LAST_REPORT, str(b["run"]["duration_ns"]), whole).stdout)
        with open(whole + ".truth.json", encoding="utf-8") as file:
            truth = {(f["kind"], tuple(f["ranks"] or ())) for f in json.load(file)["expected"]["findings"]}
        wrong, n = compare(a, same, b, truth)
        if not b["run"]["omitted_ns"]:
            wrong.append("nothing was left out")
        return name, wrong, n, f"{a['verdict']['code']} {b['verdict']['code']}"
    finally:
        shutil.rmtree(dir_, ignore_errors=True)


def golden():
    """Short runs stay whole."""
    folder, wrong = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"), 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not os.path.isdir(path):
            continue
        with tempfile.TemporaryDirectory(prefix="commtrace-thinned.") as dir_:
            part = os.path.join(dir_, "part")
            run("commtrace", "partial", path, "-o", part, f"--keep={KEEP_S}")
            if report(path) != report(part):
                print(f"golden {name}: another report")
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    bad, compared, runs, silent = golden(), 0, 0, 0
    with ThreadPoolExecutor(2) as pool:
        for seed, (name, wrong, n, said) in zip(range(args.seed, args.seed + args.runs), pool.map(play, range(args.seed, args.seed + args.runs))):
            if wrong is None:
                print(f"seed {seed}: {name}: not made: {said.strip()[:200]}")
                continue
            runs += 1
            compared += n
            silent += len(set(said.split())) > 1
            if wrong or args.verbose:
                print(f"seed {seed}: {name}: {said}: {n} figures", *wrong, sep="\n   ")
            bad += len(wrong)
    print(f"{runs} runs, {compared} figures, {silent} other verdicts")
    print(f"METRIC thinned.differ {bad} 0")
    return int(bad > 0 or not runs)


if __name__ == "__main__":
    sys.exit(main())
