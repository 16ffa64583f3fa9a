#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of diff: well-formed, without scripts, names are no markup, and each point lies where the axes say that report's curves are.
commtrace-synth -o base --hosts 2 --gpus-per-host 4 --steps 40 --seed 1 >/dev/null
commtrace-synth -o '<b>&link' --hosts 2 --gpus-per-host 4 --steps 40 --seed 4 --fault slow-link:src=3,dst=4,factor=0.6 >/dev/null
commtrace diff base '<b>&link' -o page.html
for run in base '<b>&link'; do
	commtrace report "$run" --json >"$run.json"
done
python3 - <<'END'
import html.parser, json, math, re

class Page(html.parser.HTMLParser):
    void = {"meta", "path", "polyline", "circle", "link", "br"}
    def __init__(self):
        super().__init__()
        self.open, self.text, self.charts, self.tick, self.tags = [], [], [], None, set()
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.tags.add(tag)
        if tag not in self.void:
            self.open.append(tag)
        if tag == "figure":
            self.charts.append({"caption": "", "x": [], "y": [], "orange": [], "blue": []})
        if tag == "g":
            self.points = self.charts[-1][a["class"]]
        if tag == "circle":
            self.points.append((float(a["cx"]), float(a["cy"])))
        if tag == "text":
            end = a["text-anchor"] == "end"
            self.tick = ("y", float(a["y"]) - 4) if end else ("x", float(a["x"]))
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        self.tick = None
    def handle_data(self, data):
        if {"title", "h1", "h2"} & set(self.open):
            self.text.append(data)
        if "figcaption" in self.open:
            self.charts[-1]["caption"] += data
        if self.tick and data != "size":
            number, unit = data.split()
            scale = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit.replace("/s", "")]
            self.charts[-1][self.tick[0]].append((self.tick[1], float(number) * scale))

page = Page()
page.feed(open("page.html").read())
print("headings", page.text, "open", page.open, "scripts", "script" in page.tags)

def value(ticks, at):
    (a, low), (b, high) = ticks[0], ticks[-1]
    return low * math.exp(math.log(high / low) * (at - a) / (b - a))

for chart in page.charts:
    op = chart["caption"].split(",")[0]
    print(chart["caption"])
    for colour, run in (("orange", "base"), ("blue", "<b>&link")):
        curve = next(c for c in json.load(open(run + ".json"))["curves"] if c["op"] == op)
        drawn = [(value(chart["x"], x), value(chart["y"], y)) for x, y in chart[colour]]
        known = [(p["bytes"], p["busbw_Bps"]) for p in curve["points"]]
        right = len(drawn) == len(known) and all(abs(math.log(a / b)) < 0.02 for d, k in zip(drawn, known) for a, b in zip(d, k))
        print(colour, len(drawn), "points", "as in the report" if right else (drawn, known))
END
