#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heatmap.py RUN OPTION...: draws the same heatmap as CSV, SVG and PNG and holds the three against each other and against the
report's JSON. Says what was looked at, or what is not so."""

import csv
import ctypes
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

RUN, OPTIONS = sys.argv[1], sys.argv[2:]
SVG = "{http://www.w3.org/2000/svg}"
GROUND, BLANK, UNKNOWN = "ffffff", "f3f4f6", "d5d9de"


def option(name, otherwise=None):
    return OPTIONS[OPTIONS.index(name) + 1] if name in OPTIONS else otherwise


def fail(*what):
    sys.exit("not so: " + " ".join(map(str, what)))


def check(ok, *what):
    if not ok:
        fail(*what)


def draw(form):
    return subprocess.check_output(["commtrace", "heatmap", RUN, *OPTIONS, "--format", form])


# ---- what it ought to show ----

def three(value, units):
    """As analyzer/base/units.c has it."""
    u, v = 0, float(value)
    while u + 1 < len(units) and v >= 999.5:
        u, v = u + 1, v / 1000
    return f"{value}{units[0]}" if u == 0 else f"{v:.{2 if v < 9.995 else 1 if v < 99.95 else 0}f}{units[u]}"


def size(value):
    u, v = 0, float(value)
    while v >= 1024:
        u, v = u + 1, v / 1024
    return f"{v:.{0 if v == int(v) else 2 if v < 9.995 else 1 if v < 99.95 else 0}f} {['', 'Ki', 'Mi', 'Gi', 'Ti'][u]}B"


WRITE = {
    "bytes": size,
    "ns": lambda v: three(v, [" ns", " us", " ms", " s"]),
    "bytes per second": lambda v: three(v, [" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s"]),
    "count": lambda v: str(v) if v <= 99999 else three(v, ["", "k", "M", "G", "T"]),
    "ratio": lambda v: f"{v:.3g}",
}


def traffic(report):
    t, by = report["traffic"], option("--by")
    kinds = [k for k in ("comm", "backend", "role") if "--" + k in OPTIONS]
    kind = kinds[0] if kinds else "all"
    name = option("--" + kind)
    scopes = {one["scope"] for one in t["layers"]}
    scope = by or ("host" if "host" in scopes and len(report["ranks"]) > 512 else min(scopes, key=["rank", "host"].index))

    def is_wanted(one):
        # Where there is one of a kind only, that is the layer of all.
        if one["scope"] != scope or one["kind"] not in (kind, "all") or (kind != "all" and one[kind] is None):
            return False
        return name in (None, one["name"] if kind == "comm" else one.get(kind)) or (kind == "comm" and one["comm"].startswith(name))

    layers = [one for one in t["layers"] if is_wanted(one)]
    layer = max(layers, key=lambda one: one["exact_bytes"] + one["modeled_bytes"])
    column = {"bytes": "bytes", "count": "count", "bandwidth": "bandwidth_Bps"}[option("--layer", "bytes")]
    cells = dict(zip(zip(layer["src"], layer["dst"]), layer[column]))
    if scope == "host":
        ends, names = range(len(t["hosts"])), t["hosts"]
    else:
        comm = next((c for c in report["comms"] if kind == "comm" and c["comm"] == layer["comm"]), None)
        ends = sorted(comm["ranks"] if comm else [r["rank"] for r in report["ranks"]])
        names = [str(rank) for rank in ends]
    nothing = "-" if column == "bandwidth_Bps" else 0
    return names, names, [[cells.get((a, b), nothing) for b in ends] for a in ends], "from" if scope == "host" else "from rank"


def fold(report, part, cells):
    """By host: the largest of its ranks."""
    if part["rows"] == "hosts" or option("--by") != "host":
        return [str(one) for one in part["ids"]], cells
    host = {rank["rank"]: rank["host"] for rank in report["ranks"]}
    rows = []
    for name in report["run"]["hosts"]:
        mine = [cells[i] for i, rank in enumerate(part["ids"]) if host[rank] == name]
        rows.append([max((v for v in column if v is not None), default=None) for column in zip(*mine)])
    return report["run"]["hosts"], rows


def waits(report):
    w = report["heatmaps"]["waits"]
    names, cells = fold(report, w, w["wait_ns" if option("--layer", "wait") == "wait" else "lateness_ns"])
    columns = [str(w["begin_ns"] + c * w["column_ns"]) for c in range(w["columns"])]
    return names, columns, cells, "host" if option("--by") == "host" or w["rows"] == "hosts" else "rank"


def steps(report):
    h = report["heatmaps"]["steps"]
    names, cells = fold(report, h, h["outside_comm_ns"])
    return names, [str(c) for c in h["first_step"]], cells, "host" if option("--by") == "host" or h["rows"] == "hosts" else "rank"


def slowdown(report):
    """S_w of what_if: stages by workers, or hosts by their ranks."""
    w = report["what_if"]
    host = {rank["rank"]: rank["host"] for rank in report["ranks"]}
    rows = {str(one["stage"]): [] for one in w["s_stage"]} or {name: [] for name in report["run"]["hosts"]}
    for one in sorted(w["s_rank"], key=lambda one: one["rank"]):
        row = rows[str(one["stage"]) if w["s_stage"] else host[one["rank"]]]
        check(not w["s_stage"] or one["worker"] == len(row), "worker", one)
        row.append(one["s"])
    wide = max(len(row) for row in rows.values())
    cells = [[None if v is None else round(v, 6) for v in row] + ["-"] * (wide - len(row)) for row in rows.values()]
    return list(rows), [str(c) for c in range(wide)], cells, "stage" if w["s_stage"] else "host"


# ---- what the files hold ----

def read_csv(text):
    lines = text.decode().split("\n")
    head = [line for line in lines if line.startswith("# ")]
    rows = list(csv.reader(line for line in lines if line and not line.startswith("# ")))
    number = lambda v: float(v) if "." in v else int(v)
    cells = [[None if v == "" else v if v == "-" else number(v) for v in row[1:]] for row in rows[1:]]
    return head, rows[0][1:], [row[0] for row in rows[1:]], cells


def luminance(colour):
    return sum(w * int(colour[i:i + 2], 16) for w, i in ((0.2126, 0), (0.7152, 2), (0.0722, 4)))


def read_png(data):
    """Width, height, and the colour of a pixel by its position, as Cairo reads the file."""
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    cairo = ctypes.CDLL("libcairo.so.2")
    for name in ("cairo_image_surface_create_from_png", "cairo_image_surface_get_data"):
        getattr(cairo, name).restype = ctypes.c_void_p
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        file.write(data)
        file.flush()
        surface = ctypes.c_void_p(cairo.cairo_image_surface_create_from_png(file.name.encode()))
    check(cairo.cairo_surface_status(surface) == 0, "PNG cannot be read")
    width, height, stride = (getattr(cairo, "cairo_image_surface_get_" + what)(surface) for what in ("width", "height", "stride"))
    pixels = ctypes.string_at(cairo.cairo_image_surface_get_data(surface), stride * height)
    return width, height, lambda x, y: pixels[y * stride + 4 * x:y * stride + 4 * x + 3][::-1].hex()


def areas(root, n_rows, n_columns, frame):
    """Colours of cells of which those that look the same are drawn together."""
    left, top, wide, high = (int(frame.get(k)) for k in ("x", "y", "width", "height"))
    cell_x, cell_y = wide // n_columns, high // n_rows
    colours = [[BLANK] * n_columns for _ in range(n_rows)]
    for path in root.iter(SVG + "path"):
        fill = UNKNOWN if path.get("fill").startswith("url(") else path.get("fill")[1:]
        for x, y, w, h, back in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", path.get("d")):
            check(w == back and int(h) == cell_y and int(w) % cell_x == 0, "area of", w, h)
            for i in range(int(w) // cell_x):
                colours[(int(y) - top) // cell_y][(int(x) - left) // cell_x + i] = fill
    return colours


def read_svg(text, n_rows, n_columns):
    """Colours and titles of the cells, titles None where there are too many; the file; where the plot is."""
    root = xml.etree.ElementTree.fromstring(text)
    check(root.tag == SVG + "svg", "no SVG")
    for one in root.iter():
        check(one.tag in {SVG + t for t in ("svg", "title", "desc", "defs", "pattern", "rect", "g", "path", "text")}, one.tag)
        for name in one.attrib:
            check(not name.startswith("on") and not name.endswith("href"), name)
    frame = next(rect for rect in root.iter(SVG + "rect") if rect.get("fill") == "none")
    check(int(frame.get("width")) % n_columns == int(frame.get("height")) % n_rows == 0, "frame")
    cells = [rect for rect in root.iter(SVG + "rect") if rect.find(SVG + "title") is not None]
    if not cells:
        return areas(root, n_rows, n_columns, frame), None, root, frame
    check(len(cells) == n_rows * n_columns, len(cells), "cells")
    colours = [UNKNOWN if rect.get("fill").startswith("url(") else rect.get("fill")[1:] for rect in cells]
    titles = [rect.find(SVG + "title").text for rect in cells]
    split = lambda flat: [flat[r * n_columns:(r + 1) * n_columns] for r in range(n_rows)]
    return split(colours), split(titles), root, frame


def cells_of_png(pixel, frame, n_rows, n_columns):
    """The set of colours within each cell, away from the frame's line: two pixels to a unit."""
    left, top, wide, high = (2 * int(frame.get(k)) for k in ("x", "y", "width", "height"))
    cell_x, cell_y = wide // n_columns, high // n_rows
    edge = lambda i, n, size: range(1 if i == 0 else 0, size - (1 if i == n - 1 else 0))
    return [[{pixel(left + c * cell_x + x, top + r * cell_y + y) for y in edge(r, n_rows, cell_y) for x in edge(c, n_columns, cell_x)}
             for c in range(n_columns)] for r in range(n_rows)]


def grow_darker(values, colours, what):
    seen = sorted((v, -luminance(c)) for v, c in zip(values, colours) if isinstance(v, int) and c != BLANK)
    check(all(a[1] <= b[1] + 1 for a, b in zip(seen, seen[1:])), what, "values do not grow darker")
    if seen and seen[-1][0] > 2 * max(seen[0][0], 1):
        check(seen[-1][1] > seen[0][1] + 20, what, "smallest and largest look the same")


def main():
    of = option("--type", "traffic")
    report = json.loads(subprocess.check_output(["commtrace", "report", RUN, "--format", "json"]))
    names, columns, cells, word = {"traffic": traffic, "waits": waits, "steps": steps, "slowdown": slowdown}[of](report)
    flat = [v for row in cells for v in row]
    guarded = lambda texts: ["'" + t if t[:1] in "=+-@" else t for t in texts]

    text = draw("csv")
    head, got_columns, got_rows, got = read_csv(text)
    check(got_columns == guarded(columns), "columns", got_columns, columns)
    check(got_rows == guarded(names), "rows", got_rows, names)
    check(got == cells, "cells of the CSV")
    unit = head[1].split("unit: ")[1].split(";")[0]

    svg = draw("svg")
    colours, titles, root, frame = read_svg(svg, len(names), len(columns))
    shown = [c for row in colours for c in row]
    for v, c in zip(flat, shown):
        check((v is None) == (c == UNKNOWN), "unknown", v, c)
        check((v == "-" or (v == 0 and (of == "traffic" or option("--layer") == "lateness"))) == (c == BLANK), "nothing", v, c)
    if of == "slowdown":
        longest = max((v, c) for v, c in zip(flat, shown) if isinstance(v, float))
        check(longest[0] < 1.05 or int(longest[1][:2], 16) > int(longest[1][4:], 16) + 40, "the longest is not orange", longest)
        what_if = report["what_if"]
        check(f"S of the job is {what_if['s']:.3f} \u00b1 {what_if['s_err']:.3f}" in root.find(SVG + "desc").text, "S")
    elif of != "steps":
        grow_darker(flat, shown, "SVG")
    if titles:
        for r, row in enumerate(titles):
            for c, title in enumerate(row):
                v = cells[r][c]
                end = "n/a" if v is None else WRITE[unit](v) if v != "-" else None
                check(title.startswith(f"{word} {names[r]}, ") and
                      (end is None or title.endswith(": " + end)), title, v)
    texts = " ".join(t.text for t in root.iter(SVG + "text"))
    notes = "".join(root.find(SVG + "desc").text.split())
    check(notes in "".join(texts.split()), "notes are not shown")
    if of == "traffic":
        check("P2P bytes are exact" in root.find(SVG + "desc").text or "P2P exact" in root.find(SVG + "desc").text, "model")
    if of in ("waits", "steps"):
        check("\u00b1" in root.find(SVG + "desc").text, "no error bound")

    png = draw("png")
    width, height, pixel = read_png(png)
    check((2 * int(root.get("width")), 2 * int(root.get("height"))) == (width, height), "size of the PNG")
    drawn = [c for row in cells_of_png(pixel, frame, len(names), len(columns)) for c in row]
    for v, c, s in zip(flat, drawn, shown):
        check(len(c) > 1 if v is None else c == {s}, "colours of PNG and SVG", c, s)
    check(pixel(0, 0) == pixel(width - 1, height - 1) == GROUND, "ground")
    # Its words: what lies above the plot is not bare ground.
    check(any(pixel(x, y) != GROUND for y in range(2 * int(frame.get("y")) - 4) for x in range(width)), "no title")

    check((text, svg, png) == (draw("csv"), draw("svg"), draw("png")), "not the same bytes again")
    print(f"{' '.join(OPTIONS) or 'traffic'}: {len(names)} x {len(columns)} {unit}, "
          f"{'cells tell' if titles else 'areas'}{', some not known' if None in flat else ''}"
          f"{'' if any(isinstance(v, (int, float)) and v for v in flat) else ', ALL THE SAME'}")


main()
