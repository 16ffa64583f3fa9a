# SPDX-License-Identifier: Apache-2.0
"""What `commtrace hang` says, held against what was planted. A truth is a text: see accusations.py."""
import re

import accusations
from accusations import SILENT  # noqa: F401  for cut.py


def by_code(pairs):
    out = {}
    for code, rank in pairs:
        out.setdefault(code, set()).add(rank)
    return {code: frozenset(ranks) for code, ranks in out.items()}


def parse(truth):
    return [by_code(way) for way in accusations.parse(truth)]


def said_of(report):
    return by_code(accusations.accused(report))


def judge(report, truth):
    """right, wrong (names who was not planted, or another reason), silent (nothing said where there was something)."""
    result = accusations.weigh(report, accusations.parse(truth))
    return "wrong" if result == "silent" and said_of(report) else result


def show(report):
    return "; ".join(f"{v['code']} {','.join(str(r) for r in v['ranks']) or '-'} ({v['confidence']}, {v['victims_count']} wait)"
                     for v in report["verdicts"]) or f"- ({report['state']})"


def shape(code, report):
    """What is wrong with the exit code and the report itself, whatever it says: None or a sentence."""
    if report is None or code not in (0, 3):
        return f"exit {code}"
    keys = ["schema", "run", "state", "verdicts", "not_stalled", "missing_data", "ranks"]
    if list(report)[:1] != ["schema"] or report["schema"] != "commtrace.hang/1":
        return "the first key is not the schema"
    missing = [k for k in keys if k not in report]
    if missing:
        return f"no {missing[0]}"
    for v in report["verdicts"]:
        if not re.fullmatch(r"[A-Z0-9_]+", v["code"]) or v["confidence"] not in ("high", "medium", "low"):
            return f"code {v['code']}, confidence {v['confidence']}"
        if v["victims_count"] is not None and v["victims_count"] < len(v["victims"]):
            return "fewer victims counted than named"
        if set(v["ranks"]) & set(v["victims"]):
            return "a culprit is its own victim"
    if code != (3 if report["verdicts"] or report["state"] == "killed" else 0):
        return f"exit {code}, {report['state']} with {len(report['verdicts'])} verdicts"
    return None
