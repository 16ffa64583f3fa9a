#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks a small good page in one way after the other: the check that is meant has to complain, and of the good page none."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import checks  # noqa: E402
from webdriver import Browser  # noqa: E402

GOOD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>good</title>
<style>:root{color-scheme:light dark}body{margin:1em;font:16px/1.4 sans-serif}
text{fill:currentColor}.box{overflow-x:auto;max-width:20em}.wide{width:90em}.hidden{position:absolute;width:1px;height:1px;overflow:hidden}</style></head>
<body><div class="box"><div class="wide">scrolls in its box</div></div><main><h1>A <span data-key="verdict.headline">page</span></h1><h2>Part</h2><h3>Piece</h3><h2>Other</h2>
<p>Words and <a href="#x">a link</a>.</p><span class="hidden">for readers of the screen</span>
<table aria-label="values"><tr><th><button style="all:unset">Name</button><th class="number" style="text-align:right">Much</tr><tr><td>one<td style="text-align:right">1000000</tr></table>
<button>Press</button><label>Find <input type="search"></label>
<svg width="200" height="40" role="img" aria-label="picture"><text x="0" y="20">left</text><text x="80" y="20">right</text></svg>
<!--HERE--></main></body></html>"""

ELSEWHERE = "http:" + "//127.0.0.1:9/"  # where no one listens

# Which check, and what is put into the page.
BREAKS = [
    (checks.console, "<script>console.warn('hm')</script>"),
    (checks.console, "<script>throw new Error('x')</script>"),
    (checks.console, "<p style='colour:rgb(1'>x</p><script>Promise.reject(1)</script>"),
    (checks.requests, "<img alt='x' src='" + ELSEWHERE + "x.png'>"),
    (checks.requests, "<img alt='x' src='other.png'>"),
    (checks.requests, "<script>fetch('" + ELSEWHERE + "').catch(() => 0)</script>"),
]
# The same, without loading it anew.
SEEN = [
    (checks.width, "<div style='width:2000px'>wide</div>"),
    (checks.width, "<p style='white-space:nowrap'>" + "long " * 500 + "</p>"),
    (checks.overlap, "<p>one line</p><p style='margin-top:-2.2em'>another</p>"),
    (checks.overlap, "<svg width='200' height='40' role='img' aria-label='x'><text x='0' y='20'>left</text><text x='9' y='24'>on</text></svg>"),
    (checks.cut, "<div style='overflow:hidden;width:5em;white-space:nowrap'>words that do not end in here</div>"),
    (checks.cut, "<div style='overflow-x:auto;width:5em'><table><tr><td style='min-width:20em'>x</td></tr></table></div>"),
    (checks.aligned, "<table><tr><th class='number' style='text-align:left'>heading<th>x</tr><tr><td style='min-width:20em;text-align:right'>1<td>y</tr></table>"),
    (checks.columns, "<table><tr>" + "<td>x</td>" * 10 + "</tr></table>"),
    (checks.order, "<section id='ops'><p class='body'>x</p></section><section id='findings'><p class='body'>x</p></section>"),
    (checks.order, "<section id='ops'><p class='body'></p></section>"),
    (checks.cards, "<div id='findings'><div class='finding'><div class='title'>STRAGGLER<h3>Straggler</h3></div></div></div>"),
    (checks.cards, "<div id='findings'><div class='finding'><div class='title'><h3>Straggler</h3></div><a href='https://ui.perfetto.dev/'>x</a></div></div>"),
    (checks.hollow, "<div class='table'><table><tr><th>a<th>b</tr><tr><td>1<td>n/a</tr><tr><td>2<td></tr></table></div>"),
    (checks.hollow, "<dl class='facts'><div><dt>missing</dt><dd>n/a</dd></div></dl>"),
    (checks.hollow, "<span>5 ms<span class='err'>&nbsp;&plusmn;&nbsp;0 ns</span></span>"),
    (checks.once, "<section id='verdict'><p class='why'><span data-key='verdict.cause'>late to all</span></p></section><div class='finding'><h3><span data-key='findings.0.headline'>page</span></h3><p data-key='findings.0.cause'>late to all</p></div>"),
    (checks.contrast, "<p style='background:#fff;color:#999'>faint</p>"),
    (checks.contrast, "<p style='background:#fff;color:#000;opacity:0.4'>faint</p>"),
    (checks.contrast, "<div style='background:#222'><p style='color:#444'>faint</p></div>"),
    (checks.contrast, "<svg role='img' aria-label='x' style='background:white'><text y='20' fill='#aaa'>faint</text></svg>"),
    (checks.outline, "<h4>too deep</h4>"),
    (checks.outline, "<h1>twice</h1>"),
    (checks.outline, "<h2> </h2>"),
    (checks.names, "<button></button>"),
    (checks.names, "<input type='search'>"),
    (checks.names, "<svg role='img' width='9' height='9'><rect width='9' height='9'/></svg>"),
    (checks.document, "<p id='a'>1</p><p id='a'>2</p>"),
    (checks.document, "<main>2</main>"),
]


class Bites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser(cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.browser.close)

    def complaints(self, html, *which):
        """{check: complaints} of that page."""
        path = pathlib.Path(self.folder.name, "page.html")
        path.write_text(html, encoding="utf-8")
        self.browser.requests()
        self.browser.console()
        self.browser.open(path.as_uri())
        return {check: check(self.browser) for check in which}

    def test_a_good_page_has_no_complaints(self):
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            for width in (390, 1280):
                self.browser.size(width)
                for check, found in self.complaints(GOOD, checks.console, checks.requests, *checks.STILL, *checks.LAID_OUT, checks.order, checks.cards, checks.once,
                                                           checks.whole_figures).items():
                    self.assertEqual(found, [], f"{check.__name__} {scheme} {width}")

    def test_each_break_is_complained_of(self):
        for check, piece in BREAKS:
            with self.subTest(check=check.__name__, piece=piece[:60]):
                self.assertTrue(self.complaints(GOOD.replace("<!--HERE-->", piece), check)[check])

    def test_each_break_of_what_is_seen_is_complained_of(self):
        self.complaints(GOOD)
        for check, piece in SEEN:
            with self.subTest(check=check.__name__, piece=piece[:60]):
                self.browser.run("const e = document.createElement('div'); e.id = 'broken'; e.innerHTML = arguments[0];"
                                 "document.querySelector('main').append(e)", piece)
                self.assertTrue(check(self.browser))
                self.browser.run("document.getElementById('broken').remove()")

    def test_a_headline_that_is_cut_in_a_figure_is_complained_of(self):
        for piece in ("5 ms/step", "5 \u00b1 1", "22.0 %"):
            self.assertTrue(self.complaints(GOOD.replace("<h1>A ", "<h1>" + piece), checks.whole_figures)[checks.whole_figures])

    def test_a_page_without_language_or_title_is_complained_of(self):
        for piece in (' lang="en"', "<title>good</title>"):
            self.assertTrue(self.complaints(GOOD.replace(piece, ""), checks.document)[checks.document])


if __name__ == "__main__":
    unittest.main()
