# SPDX-License-Identifier: Apache-2.0
"""report.html of every kind of run: whatever was recorded, the page prints nothing, asks for nothing, stays in its window, lies
nowhere on its own text, and shows the numbers of the report and no others.
"""
import json
import time

import checks
import load
import values
from fixture import WithPages

# What runs.py recorded.
PROGRAMS = {"gpu": "commtrace-simjob \u00b7 8 ranks", "gloo": "gloo_job \u00b7 4 ranks", "hostile": "hostile \u00b7 4 ranks"}
MOST_BYTES = 300_000  # of the page without its data
WIDTHS = (390, 900, 1400)


class Pages(WithPages):
    def test_pages_are_right_at_every_width_and_in_both_schemes(self):
        for page in self.pages.values():
            self.open(page)
            for width in WIDTHS:
                where = {"page": page.name, "width": width}
                self.browser.size(width)
                self.none(checks.width(self.browser), check="width", **where)
                self.unroll(width)
                for check in checks.LAID_OUT:
                    self.none(check(self.browser), check=check.__name__, **where)
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                self.browser.frame()
                for check in (checks.width, checks.contrast):
                    self.none(check(self.browser), check=check.__name__, page=page.name, scheme=scheme, width=width)
            self.browser.size(WIDTHS[0])
            self.none(checks.width(self.browser), check="width", page=page.name, scheme=scheme, width=WIDTHS[0])
            for check in checks.SAID + (checks.order, checks.cards, checks.once, checks.whole_figures):
                self.none(check(self.browser), check=check.__name__, page=page.name)
            self.none(checks.present(self.browser, page.report), check="present", page=page.name)
            self.none(checks.words(self.browser, page.report), check="words", page=page.name)
            self.none(values.complaints(page.report, checks.probe(self.browser, "values")), check="values", page=page.name)
            self.none(checks.own_words(self.browser, page), check="own_words", page=page.name)
            # Names stay text: four scripts are the page's own, and nothing in it is an image.
            self.assertEqual(self.browser.run("return [document.scripts.length, document.querySelectorAll('img, iframe, [onerror]').length, "
                                              "document.title === 'taken']"), [4, 0, False], page.name)
            self.none(checks.printed(self.browser, page.name == "gpu"), check="printed", page=page.name)
            self.none(checks.console(self.browser) + checks.requests(self.browser), check="still", page=page.name)

    def test_the_page_opens_with_the_folds_closed(self):
        for page in self.pages.values():
            self.open(page)
            folds = self.browser.run("return [...document.querySelectorAll('main > details')].map(e => [e.id, e.open])")
            self.assertIn(["quality", False], folds, page.name)
            self.assertLessEqual([is_open for _, is_open in folds], [False] * 2, page.name)
            self.browser.run("document.querySelector('#contents a[href=\"#run\"]').click()")
            self.assertTrue(self.browser.run("return document.getElementById('run').checkVisibility()"), page.name)

    def test_no_two_columns_of_a_table_have_the_same_heading(self):
        self.open(next(iter(self.pages.values())))
        for table, columns in self.browser.run("return ct.words.columns").items():
            titles = [column["title"] for column in columns]
            self.assertEqual(sorted(titles), sorted(set(titles)), table)

    def test_the_legend_of_bandwidths_has_what_is_drawn(self):
        """A line through one point is none."""
        for page in self.pages.values():
            self.open(page)
            self.unroll(1280)
            lines = self.browser.run("""
                const [view] = ct.charts.charts.find(chart => chart.name === 'curves').views;
                return view ? [view.series.find(one => one.look === 'line')?.y.filter(y => y !== null).length > 1,
                    [...document.querySelectorAll('[data-picture=curves] svg text')].some(e => e.textContent === 'fit')] : [0, 0]""")
            self.assertEqual(*lines, page.name)

    def test_the_title_is_program_ranks_and_date(self):
        for page in self.pages.values():
            self.open(page)
            program, date, tool = self.browser.run("return document.title").rsplit(" \u00b7 ", 2)
            begin = time.gmtime(page.report["run"]["begin_unix_ns"] // 10**9)
            self.assertEqual((date, tool), (time.strftime("%Y-%m-%d %H:%M UTC", begin), "commtrace"), page.name)
            if page.name in PROGRAMS:
                self.assertEqual(program, PROGRAMS[page.name])

    def test_1024_ranks_are_ready_not_much_later_than_none(self):
        if {"wide", "empty"} <= self.pages.keys():
            self.assertLess(load.ratio(self.browser, *(self.pages[name].file.as_uri() for name in ("wide", "empty")), 3),
                            3 * load.LIMIT)

    def test_pages_are_small_and_hold_the_report_as_it_is(self):
        for page in self.pages.values():
            with self.subTest(page=page.name):
                self.assertLess(len(page.own.encode()), MOST_BYTES)
                held = page.html.split('<script type="application/json" id="report">')[1].split("</script>")[0]
                report = page.report
                if len(report["traffic"]["ranks"]) > 256:  # the page leaves a large matrix out
                    report = {**report, "traffic": {**report["traffic"], "matrix": []}}
                self.assertEqual(json.loads(held), report)
