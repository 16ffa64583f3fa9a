#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two production Megatron jobs with published what-if results: the report is held against these.

    megatron_whatif.py [--only REGEX] [--all] [--bin DIR] [--data DIR]

The recordings were published with "Understanding Stragglers in Large Model Training Using What-if Analysis" (arXiv
2505.05713). They are not part of this project: the test is registered only where they lie beside it. AR: data 4 x pipeline 4,
one worker slowed on purpose; ST: data 2 x pipeline 4, the last stage too long. "syncs": with two collectives that the
recording left out and that the job must have had; "extra": and one more, done once by some ranks; "recorded": without
them, so that waiting looks like computing.
Without --only and --all: the cases of PASSING, which are those registered as a test.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLAME = ("STRAGGLER", "STRAGGLER_HOST", "STRAGGLER_GROUP", "SLOW_STAGE")
# The files' bytes, host calls and the time between steps were invented: findings about links and messages mean nothing.
INVENTED = ("SLOW_LINK", "BUCKETS", "EXPOSED_COMM", "COMM_SHARE", "SLOW_OP", "SOCKET_FALLBACK", "TRACER_OVERHEAD",
            "ENVIRONMENT_DIFFERS", "SETTING_NOT_READ", "SETTING_CONFLICT", "ADVICE")
FILES = {"ar_syncs": "AR_hidden_syncs_added", "ar_extra": "AR_one_extra_collective", "ar_recorded": "AR_recorded",
         "st_syncs": "ST_hidden_syncs_added", "st_recorded": "ST_recorded"}
LAST_STAGE = [6, 7]  # of ST

# Cases that hold; each is registered as a test. The others run by name, or with --all.
PASSING = """
ar_syncs.who ar_syncs.figures ar_extra.who ar_extra.figures ar_recorded.who st_syncs.who st_syncs.figures st_recorded.who
"""


class Case:
    """What is wrong with one report."""

    def __init__(self, report):
        self.report, self.wrong = report, []
        self.blamed = [f for f in report["findings"] if f["kind"] in BLAME]
        self.what_if = report.get("what_if") or {}

    def must(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def within(self, value, low, high, what):
        self.must(value is not None and low <= value <= high, f"{what} {value}, not in {low:.4g}..{high:.4g}")

    def named(self):
        return [(f["kind"], f["ranks"], f["severity"], f["time_lost_pct"]) for f in self.blamed]


def named_or_unknown(case):
    code = case.report["verdict"]["code"]
    case.must(case.blamed or code == "NOT_ENOUGH_EVIDENCE", f"verdict {code}")


def rank_0_alone(case):
    case.must(case.blamed and case.blamed[0]["ranks"] == [0], f"rank 0 is not first: {case.named()}")
    if case.blamed and case.blamed[0]["ranks"] == [0]:
        case.within(case.blamed[0]["time_lost_pct"], 45, 51, "gain of rank 0, %:")
    case.must(case.report["verdict"]["code"] == "STRAGGLER", f"verdict {case.report['verdict']['code']}")
    others = [f for f in case.report["findings"]
              if f["kind"] not in INVENTED and f["severity"] != "info" and f["ranks"] != [0]]
    case.must(not others, f"also above info: {[(f['kind'], f['ranks'], f['time_lost_pct']) for f in others]}")


def rank_0_or_nobody(case):
    case.must(all(f["ranks"] == [0] for f in case.blamed), f"somebody else: {case.named()}")
    named_or_unknown(case)


def last_stage(case):
    case.must(len(case.blamed) >= 1 and case.blamed[0]["kind"] == "SLOW_STAGE" and sorted(case.blamed[0]["ranks"]) == LAST_STAGE,
              f"the last stage is not first: {case.named()}")
    if case.blamed:
        case.within(case.blamed[0]["time_lost_pct"], 17, 25, "gain of the last stage, %:")
    others = [f for f in case.blamed if not set(f["ranks"]) <= set(LAST_STAGE)]
    case.must(not others, f"somebody else: {case.named()}")
    case.must(case.report["verdict"]["code"] == "SLOW_STAGE", f"verdict {case.report['verdict']['code']}")


def last_stage_or_nobody(case):
    case.must(all(set(f["ranks"]) <= set(LAST_STAGE) for f in case.blamed), f"somebody else: {case.named()}")
    named_or_unknown(case)


def figures_of_ar(case, truth):
    case.within(case.what_if.get("s"), 0.95 * truth["S"], 1.05 * truth["S"], "S")
    case.within(case.what_if.get("m_s"), truth["M_S"]["Ms"] - 0.15, truth["M_S"]["Ms"] + 0.15, "M_S")
    case.within(case.what_if.get("m_w"), truth["M_W"]["Mw"] - 0.1, truth["M_W"]["Mw"] + 0.1, "M_W")
    ranks = {row["rank"]: row["s"] for row in case.what_if.get("s_rank") or []}
    case.within(ranks.get(0), 0.95 * truth["S"], 1.05 * truth["S"], "S of rank 0")
    others = {r: s for r, s in ranks.items() if r != 0 and s is not None and s > 1.05}
    case.must(ranks and not others, f"S of others: {others}")


def figures_of_st(case, truth):
    s = case.what_if.get("s")
    case.within(100 * (1 - 1 / s) if s else None, 13, 18, "1 - 1/S, %:")
    case.within(case.what_if.get("m_s"), truth["M_S"]["Ms"] - 0.15, truth["M_S"]["Ms"] + 0.15, "M_S")
    case.within(case.what_if.get("m_w"), truth["M_W"]["Mw"] - 0.1, truth["M_W"]["Mw"] + 0.1, "M_W")


CASES = [
    ("ar_syncs.who", rank_0_alone), ("ar_syncs.figures", figures_of_ar),
    ("ar_extra.who", rank_0_alone), ("ar_extra.figures", figures_of_ar),
    ("ar_recorded.who", rank_0_or_nobody),
    ("st_syncs.who", last_stage), ("st_syncs.figures", figures_of_st),
    ("st_recorded.who", last_stage_or_nobody),
]


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
    return done.stdout


def report_of(where, data, name):
    run = tempfile.mkdtemp(prefix="ct-megatron-")
    try:
        with gzip.open(f"{data}/{FILES[name]}.jsonl.gz") as packed, open(f"{run}/run.jsonl", "wb") as lines:
            shutil.copyfileobj(packed, lines)
        call(f"{where}/commtrace", "import", "jsonl", f"{run}/run.jsonl", "-o", f"{run}/trace")
        return json.loads(call(f"{where}/commtrace", "report", "--format=json", f"{run}/trace"))
    finally:
        shutil.rmtree(run, ignore_errors=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cases whose name this regular expression matches")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--bin", default=os.path.join(here, "../../build/bin"))
    parser.add_argument("--data", default=os.path.join(here, "../../../shared/data/megatron-whatif"))
    args = parser.parse_args()
    chosen = [c for c in CASES if (re.search(args.only, c[0]) if args.only else args.all or c[0] in PASSING.split())]
    if not chosen:
        parser.error("no such case")
    with open(f"{args.data}/truth.json", encoding="utf-8") as file:
        truth = json.load(file)
    reports, bad = {}, 0
    for name, judge in chosen:
        job = name.split(".")[0]
        if job not in reports:
            reports[job] = report_of(args.bin, args.data, job)
        case = Case(reports[job])
        if name.endswith(".figures"):
            judge(case, truth[job[:2].upper()])
        else:
            judge(case)
        bad += bool(case.wrong)
        print(f"{'FAIL' if case.wrong else 'ok  '} {name:18} {'; '.join(case.wrong)}")
        print(f"METRIC accuracy.megatron_whatif.{name} {len(case.wrong)} 0", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
