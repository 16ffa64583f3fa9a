#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""charts.py PAGE REPORT: holds the charts in report.html against the report's JSON. Says what was looked at, or what is wrong."""

import base64
import json
import math
import re
import statistics
import sys

PARTS, UNKNOWN, BLANK = 10000, 252, 253
with open(sys.argv[2], encoding="utf-8") as file:
    REPORT = json.load(file)


def check(ok, *what):
    if not ok:
        sys.exit("wrong: " + " ".join(map(str, what)))


def find(path, **ids):
    value = REPORT
    for key in re.sub(r"\{(\w)\}", lambda m: str(ids[m[1]]), path).split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def entries(view):
    """The ids of each level."""
    if view["cells"] is None:
        columns = len(view["columns"]["names"])
        return [{"r": r, "c": c} for r in range(len(view["rows"]["names"])) for c in range(columns)]
    return [{"i": i} for i in range(len(view["cells"]))]


def median_host(column):
    return statistics.median(row[column] for row in REPORT["heatmaps"]["steps"]["outside_comm_ns"] if row[column] is not None)


def heatmap(name, view):
    levels, ids = base64.b64decode(view["levels"], validate=True), entries(view)
    check(len(levels) == len(ids), name, len(levels), "levels of", len(ids))
    ramps = [[] for _ in view["ramps"]]
    each = 252 // len(ramps)
    for level, where in zip(levels, ids):
        found = [find(path, **where) for _, path, _, _ in view["tips"]]
        value = found[0] if level >= BLANK or level < each or level == UNKNOWN else found[1]
        # What is colored by a ratio to others: to the median rank, and of hosts to the median host.
        if view["ramps"][0]["ramp"] == "ratio" and name == "steps":
            value = found[1] if REPORT["heatmaps"]["steps"]["rows"] == "ranks" or found[0] is None else found[0] / median_host(where["c"])
        check((level == UNKNOWN) == (value is None), name, where, level, value)
        if level < UNKNOWN:
            ramps[level // each].append((value, level % each))
        elif level == BLANK:
            check(value == 0, name, where, "is no nothing:", value)
        for _, _, _, err in view["tips"]:
            err is None or find(err, **where)
    for cells in ramps:
        cells.sort()
        check(all(a[1] <= b[1] for a, b in zip(cells, cells[1:])), name, "colors do not follow values")
        if cells and cells[-1][0] > 1.5 * max(cells[0][0], 1e-9):
            check(cells[-1][1] > cells[0][1], name, "smallest and largest look the same")
    named = re.search(r"(?:^Maximum|of all): (?:rank|host) (\S+), step (\d+):", view["summary"])
    most = max((level for level in levels if level < UNKNOWN), default=0)
    if named and name == "steps" and most == UNKNOWN - 1:  # the end of the scale
        where = {"r": view["rows"]["names"].index(named[1]), "c": view["columns"]["names"].index(named[2])}
        check(find(view["tips"][0][1], **where) == max(find(view["tips"][0][1], **one) for one, level in zip(ids, levels) if level == most),
              name, "the sentence names another cell than the largest:", view["summary"])
    if view["cells"] is not None:
        check(len(set(view["cells"])) == len(view["cells"]), name, "two entries in one cell")
        for axis, key in (("rows", "src"), ("columns", "dst")) if name == "traffic" else ():
            ends = find(view["tips"][0][1].rsplit(".", 2)[0])
            wide = len(view["columns"]["names"])
            for i, cell in enumerate(view["cells"]):
                shown = view[axis]["names"][cell // wide if axis == "rows" else cell % wide]
                end = ends[key][i]
                check(shown == (REPORT["traffic"]["hosts"][end] if ends["scope"] == "host" else str(end)), name, axis, cell, shown)
    return len(levels)


def plot(name, view):
    main = [one for one in view["series"] if one["look"] in ("bar", "dot")][-1]
    values = [find(view["tips"][0][1], i=i) for i in view["items"]]
    check(len(values) == len(view["at"]) == len(main["y"]), name, "items")
    check(view["at"] == sorted(view["at"]), name, "items are not in order")
    known = [(value, y) for value, y in zip(values, main["y"]) if value is not None]
    check([y is None for y in main["y"]] == [value is None for value in values], name, "unknown")
    scale = math.log if name == "curves" else float
    for (a, p), (b, q) in zip(known, known[1:]):
        check((p > q) == (a > b) or abs(p - q) <= 1, name, "heights do not follow values")
    if len(known) > 2:
        known.sort()
        (a, p), (b, q), (c, r) = known[0], known[len(known) // 2], known[-1]
        middle = p + (r - p) * (scale(b) - scale(a)) / max(scale(c) - scale(a), 1e-9)
        check(abs(middle - q) < 3 or a == c, name, "heights are no scale of the values", middle, q)
    for axis in ("x", "y"):
        positions = [at for at, _ in view[axis]["ticks"]]
        check(positions == sorted(positions) and all(0 <= at <= PARTS for at in positions), name, axis, positions)
    return len(values)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        held = json.loads(file.read().split('<script type="application/json" id="charts">')[1].split("</script>")[0])
    for chart in held["charts"]:
        sizes = []
        for view in chart["views"]:
            if "like" in view:
                base = chart["views"][view["like"]]
                view = {**{key: base[key] for key in ("rows", "columns", "cells", "spans")}, **view}
            sizes.append((heatmap if "rows" in view else plot)(chart["name"], view))
            findings = {finding["id"] for finding in REPORT["findings"]}
            check(all(one in findings and 0 <= a <= b <= PARTS for one, a, b in view["spans"]), chart["name"], "marks")
            check(view["summary"], "no summary")
        # Nothing that the report has is left out.
        if chart["name"] in ("traffic", "curves"):
            wanted = REPORT["traffic"]["layers"] if chart["name"] == "traffic" else REPORT["curves"]
            shown = [view for view in chart["views"] if view["choice"].get("Show", "bytes") == "bytes"]
            check(len(shown) == len(wanted), chart["name"], len(shown), "views of", len(wanted))
        print(chart["name"], "holds" if sizes else "none: " + chart["why"])


main()
