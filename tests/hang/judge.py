# SPDX-License-Identifier: Apache-2.0
"""What `commtrace hang` says, held against what was planted.

A truth is a text: alternatives between `|`, each a list of verdicts between `;`, each a code with its ranks:

    HOST_MISSING 2; DEAD_RANK 3 | HOST_MISSING 2

`-` is no verdict at all. Of several verdicts with one code the ranks count together.
"""
import re

# Those say that it is not known, and accuse nobody.
SILENT = {"UNKNOWN"}


def parse(truth):
    out = []
    for alternative in truth.split("|"):
        verdicts = {}
        for verdict in alternative.split(";"):
            words = verdict.split()
            if words and words[0] != "-":
                verdicts.setdefault(words[0], set()).update(ranks_of(words[1:]))
        out.append({code: frozenset(ranks) for code, ranks in verdicts.items()})
    return out


def ranks_of(words):
    ranks = set()
    for word in words:
        first, _, last = word.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return ranks


def said_of(report):
    said = {}
    for v in report["verdicts"]:
        if v["code"] not in SILENT:
            said.setdefault(v["code"], set()).update(v["ranks"])
    return {code: frozenset(ranks) for code, ranks in said.items()}


def judge(report, truth):
    """right, wrong (names who was not planted, or another reason), silent (nothing said where there was something)."""
    wanted, said = parse(truth), said_of(report)
    if said in wanted:
        return "right"
    return "wrong" if said else "silent"


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
    if code != (3 if report["verdicts"] else 0):
        return f"exit {code} with {len(report['verdicts'])} verdicts"
    return None
