#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of lateness.py: what must not pass does not pass."""
import sys

import lateness

TRUTH = {"planted": [{"ranks": [5]}], "gain": 0.1, "seconds": 10.0, "s": 1.1, "s_rank": [1.0, 1.1], "s_stage": [], "m_w": 0.9, "m_s": None,
         "worst": [1], "config": {"spread": 0.0}}
RANDOM = {"planted": [{"ranks": [1]}], "config": {"spread": 0.2}}
failed = []


def finding(rank, confidence="high", loss=1.0, err=0.05):
    return {"kind": "STRAGGLER", "ranks": [rank], "confidence": confidence, "time_lost_ns": loss * 1e9, "time_lost_err_ns": err * 1e9}


def who(findings, code="STRAGGLER", rule="planted"):
    row = lateness.judge_who({"findings": findings, "verdict": {"code": code}}, TRUTH, rule, {"STRAGGLER"})
    return {f for f, (_, limit) in lateness.LIMITS.items() if f in row and not lateness.holds(row[f], limit)}, row.get("covered")


def figures(compared=lateness.FIGURES, truth=TRUTH, **what_if):
    said = {"s": 1.1, "s_rank": [{"rank": 0, "s": 1.0}, {"rank": 1, "s": 1.1}], "s_stage": [], "m_w": 0.9, "m_s": None, **what_if}
    row = lateness.judge_figures({"what_if": said}, truth, compared)
    return {f for f, (_, limit) in lateness.LIMITS.items() if f in row and not lateness.holds(row[f], limit)}


def check(what, is_so, wanted):
    if is_so != wanted:
        failed.append(what)
        print(f"{what}: {is_so}, not {wanted}")


check("the right rank", who([finding(5)]), (set(), 1.0))
check("a gain beyond its error", who([finding(5, loss=1.2)]), (set(), 0.0))
check("an error that covers everything", who([finding(5, err=0.8)]), ({"error"}, 1.0))
check("another rank", who([finding(4)])[0], {"right", "wrong"})
check("another rank as well", who([finding(5), finding(4)])[0], {"wrong"})
check("another rank first", who([finding(4, "low"), finding(5)])[0], {"right"})
check("another rank at low confidence", who([finding(5), finding(4, "low")])[0], set())
check("nobody", who([], "HEALTHY")[0], {"right", "verdict_wrong"})
check("somebody where nobody is slow", who([finding(5, "low")], rule="nobody")[0], {"blamed"})
check("right figures", figures(), set())
check("S", figures(s=1.15), {"s_off"})
check("S of a rank", figures(s_rank=[{"rank": 0, "s": 1.1}]), {"s_rank_off"})
check("M_W", figures(m_w=0.8), {"m_w_off"})
check("M_W withheld", figures(m_w=None), {"not_told"})
check("M_W withheld where chance decides which rank is the worst", figures(truth={**TRUTH, "planted": [{"ranks": []}]}, m_w=None), set())
check("M_W withheld of a slow rank", figures(truth={**TRUTH, **RANDOM}, m_w=None), {"not_told"})
check("M_W withheld where chance made another rank as slow", figures(truth={**TRUTH, **RANDOM, "s_rank": [1.09, 1.1]}, m_w=None), {"s_rank_off"})
check("S withheld", figures(s=None), {"not_told"})
check("S told that cannot be known", figures(lateness.WITHHELD), {"told"})
check("S withheld that cannot be known", figures(lateness.WITHHELD, s=None), set())
sys.exit(1 if failed else 0)
