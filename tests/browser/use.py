# SPDX-License-Identifier: Apache-2.0
"""What someone does with report.html: sort, filter, choose, point, go by keyboard; and what the page shows then."""
import re

import checks
import values
from fixture import WithPages

RANKS = "#ranks"
PICTURES = ("traffic", "waits", "steps", "slowdown", "curves", "exposed")
LEFT = f"{RANKS} tbody tr"


class Tables(WithPages):
    def setUp(self):
        self.look_at("slow")  # anew: columns keep their order

    def look_at(self, name):
        page = self.pages.get(name) or next(iter(self.pages.values()))
        self.report = page.report
        self.open(page)

    def shown(self, key):
        """[row of the report, its value of that key] of the table of ranks, as it stands there."""
        found = self.browser.run("return [...document.querySelectorAll(arguments[0] + ' tbody [data-key]')].map(e => e.dataset.key)", RANKS)
        rows = [int(path.split(".")[1]) for path in found if re.fullmatch(rf"ranks\.\d+\.{key}", path)]
        return [(row, self.report["ranks"][row][key]) for row in rows]

    def right(self):
        """What is shown now is right, too."""
        self.assertEqual(values.complaints(self.report, checks.probe(self.browser, "values")), [])
        self.assertEqual(checks.console(self.browser), [])

    def test_a_column_sorts_all_rows_and_says_so(self):
        heads = self.browser.run("return [...document.querySelectorAll(arguments[0] + ' th button')].map(e => e.textContent)", RANKS)
        column = next(i for i, text in enumerate(heads) if text.startswith("wait"))
        button = self.browser.find(f"{RANKS} th:nth-child({column + 1}) button")
        for way in (True, False):
            self.browser.click(button)
            self.assertEqual(self.browser.run("return arguments[0].closest('th').ariaSort", button), "descending" if way else "ascending")
            shown = [value for _, value in self.shown("wait_ns")]
            self.assertEqual(shown, sorted((rank["wait_ns"] for rank in self.report["ranks"]), reverse=way)[:len(shown)])
            self.assertGreater(len(shown), 1)
            self.right()

    def test_the_latest_of_many_ranks_are_on_the_first_page(self):
        if "wide" not in self.pages:
            return
        self.look_at("wide")
        late = sorted((rank["lateness_ns"] for rank in self.report["ranks"]), reverse=True)
        self.assertEqual([value for _, value in self.shown("lateness_ns")], late[:25])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll(arguments[0] + ' th[aria-sort]')].map(e => [e.textContent, e.ariaSort])", RANKS),
                         [["late", "descending"]])
        self.assertIn("by \u201clate\u201d", self.count())
        arrow = self.browser.run("const s = getComputedStyle(document.querySelector(arguments[0] + ' th[aria-sort] button'), '::before');"
                                 "return [s.content, s.opacity, s.position]", RANKS)
        self.assertEqual(arrow, ['"\u2193"', "1", "static"])  # beside the word, not at the other end of the column
        self.browser.click(self.browser.find(f"{RANKS} th[aria-sort] button"))
        self.assertEqual([value for _, value in self.shown("lateness_ns")], late[:-26:-1])

    def test_few_columns_stay_together(self):
        self.unroll(1400)
        first, all_of_it = self.browser.run("const e = document.querySelector('#steps .table tr'), b = e.cells[1].getBoundingClientRect();"
                                            "return [b.right - e.getBoundingClientRect().left, e.getBoundingClientRect().width]")
        self.assertLess(first, all_of_it / 4)

    def test_rows_are_told_and_leafed_through(self):
        if "wide" not in self.pages:
            return
        self.look_at("wide")
        for _ in range(2):  # from the latest, from the earliest, as in the report
            self.browser.click(self.browser.find(f"{RANKS} th[aria-sort] button"))
        seen = []
        for _ in range(2):
            first, last, of = map(int, re.match(r"rows (\d+) to (\d+) of (\d+)", self.count()).groups())
            seen += [row for row, _ in self.shown("wait_ns")]
            self.assertEqual(len(seen), last)
            self.browser.click(self.browser.find(f"{RANKS} .leaf button:last-child"))
        self.assertEqual(of, len(self.report["ranks"]))
        self.assertEqual(seen, list(range(last)))
        self.right()

    def count(self):
        return self.browser.run("return document.querySelector(arguments[0] + ' .count').textContent", RANKS)

    def test_a_filter_leaves_the_rows_that_it_names(self):
        host = self.report["ranks"][-1]["host"]
        wanted = [i for i, rank in enumerate(self.report["ranks"]) if host in rank["host"]]
        self.browser.run("document.querySelector(arguments[0] + ' input[type=search]').focus()", RANKS)
        self.browser.press(host)
        self.assertEqual([row for row, _ in self.shown("wait_ns")], wanted)
        self.assertIn(str(len(self.report["ranks"])), self.count())
        self.browser.press(" no such")
        self.assertEqual(self.shown("wait_ns"), [])
        self.right()

    def test_a_rank_that_is_chosen_is_what_the_page_is_about_until_it_is_let_go(self):
        rank = self.report["ranks"][3]["rank"]
        self.browser.click(self.browser.find(f"{RANKS} tbody [data-key='ranks.3.rank']"))
        self.assertEqual(self.shown("rank"), [(3, rank)])
        self.assertIn(f"rank {rank}", self.browser.run("return document.getElementById('filter').innerText"))
        self.right()
        self.browser.click(self.browser.find("#filter > button:last-child"))
        self.assertGreater(len(self.shown("rank")), 1)
        self.assertFalse(self.browser.run("return document.getElementById('filter').checkVisibility()"))

    def test_the_keyboard_gets_everywhere_and_it_is_seen_where_it_is(self):
        self.browser.run("document.activeElement.blur(); scrollTo(0, 0)")
        seen = []
        for _ in range(40):
            self.browser.press("Tab")
            seen.append(self.browser.run("""
                const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();
                return [e.textContent.slice(0, 30), (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none',
                        b.width > 0 && b.bottom > 0 && b.top < innerHeight]"""))
        self.assertIn("Skip", seen[0][0])
        self.none([f"focus on '{text}' is not seen" for text, is_marked, is_there in seen if not (is_marked and is_there)])
        self.browser.run("document.querySelector(arguments[0] + ' th button').focus()", RANKS)
        self.browser.press("Enter")
        self.assertTrue(self.browser.run("return document.querySelector(arguments[0] + ' th').ariaSort", RANKS))

    def test_all_columns_are_shown_when_asked_for(self):
        every = self.browser.run("return ct.words.columns.ranks.length")
        shown = "return [...document.querySelectorAll(arguments[0] + ' thead th')].filter(e => e.checkVisibility()).length"
        for n in (checks.MOST_COLUMNS, every, checks.MOST_COLUMNS):
            self.assertEqual(self.browser.run(shown, RANKS), n)
            self.right()
            self.browser.click(self.browser.find(f"{RANKS} .head > button"))

    def test_the_switch_makes_it_dark_and_light_again(self):
        self.assertEqual(self.browser.run("return document.getElementById('theme').textContent"), "Theme")
        light = "return getComputedStyle(document.body).color + getComputedStyle(document.documentElement).backgroundColor"
        before = self.browser.run(light)
        for is_same in (False, True):
            self.browser.click(self.browser.find("#theme"))
            self.assertEqual(self.browser.run(light) == before, is_same)
            self.unroll(1280)
            self.assertEqual(checks.contrast(self.browser), [])


class Pictures(WithPages):
    def setUp(self):
        self.page = self.pages.get("slow") or next(iter(self.pages.values()))
        self.reopen(self.page)
        self.unfold()

    def plot(self, name):
        """The position of the plot in the window: its rectangle, once it is drawn and in sight."""
        self.unfold()
        self.browser.run("document.querySelector(`[data-picture=${arguments[0]}]`).scrollIntoView({block: 'center'})", name)
        self.browser.wait(f"return document.querySelector('[data-picture={name}] .plot svg')")
        self.browser.frame()
        return self.browser.run("const b = document.querySelector(`[data-picture=${arguments[0]}] .plot`).getBoundingClientRect();"
                                "return [b.left, b.top, b.width, b.height]", name)

    def by_time(self):
        """The waits over the whole run, not step by step, until the end of the test."""
        self.waits_by("time")
        self.addCleanup(self.waits_by, "step")

    def waits_by(self, columns):
        self.browser.run("""
            const select = [...document.querySelectorAll('[data-picture=waits] .choice')].find(e => /By/.test(e.textContent)).querySelector('select');
            select.value = arguments[0];
            select.dispatchEvent(new Event('change'))""", columns)
        self.browser.frame()

    def tip(self):
        """What the box beside the pointer shows: [[path in the report or null, text, path of its error or null]]; None: it is not there."""
        return self.browser.run("""
            const tip = document.querySelector('.tip');
            return tip && !tip.hidden ? [...tip.querySelectorAll('dd')].map(e => [e.dataset.key ?? null, e.textContent.replaceAll("\u00a0", " "), e.dataset.err ?? null]) : null""")

    def right(self, tips=None):
        """What was reported, or all that is shown now, is what the report has."""
        shown = checks.probe(self.browser, "values") if tips is None else [(key, err, text) for key, text, err in tips if key]
        self.assertEqual(values.complaints(self.page.report, shown), [])

    def test_what_is_pointed_at_is_shown_to_the_digit(self):
        for name in PICTURES:
            left, top, width, height = self.plot(name)
            tips = []
            for part in range(1, 14):
                self.browser.point(left + width * part / 14, top + height * 0.6)
                tips.append(self.tip() or [])
            with self.subTest(picture=name):
                self.right(sum(tips, []))
                self.assertGreater(len(set(map(str, tips))), 3 if name != "curves" else 1, "hover shows nothing, or everywhere the same")
        self.browser.point(2, 2)
        self.assertIsNone(self.tip())

    def test_pointing_at_a_cell_of_the_waits_shows_its_row_and_column(self):
        """Where a cell has to be follows from the axes: equal rows and columns from the first to the last. Step by step first: neither the
        start nor the end of the run is in sight until someone asks for it."""
        heat = self.page.report["heatmaps"]
        for kind, columns in (("steps", len(heat["steps"]["first_step"])), ("waits", heat["waits"]["columns"])):
            self.plot("waits")
            if kind == "waits":
                self.by_time()
            left, top, width, height = self.browser.run(
                "const b = document.querySelector('[data-picture=waits] canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]")
            rows = len(heat[kind]["ids"])
            for row, column in ((0, 0), (rows - 1, columns - 1), (rows // 2, columns // 3)):
                self.browser.point(left + width * (column + 0.5) / columns, top + height * (row + 0.5) / rows)
                self.assertIn(f"heatmaps.{kind}.wait_ns.{row}.{column}", [key for key, *_ in self.tip()])

    def test_arrows_go_from_cell_to_cell_and_are_spoken(self):
        for name in PICTURES:
            with self.subTest(picture=name):
                self.plot(name)
                self.browser.run("document.querySelector(`[data-picture=${arguments[0]}] .plot`).focus({preventScroll: true})", name)
                self.browser.press("Right")
                first = self.tip()
                self.browser.press("Right")
                second = self.tip()
                self.assertTrue(first and second)
                self.assertNotEqual(first, second)
                spoken = self.browser.run("return document.querySelector(`[data-picture=${arguments[0]}] [aria-live]`).textContent", name).replace("\u00a0", " ")
                self.assertEqual([text for _, text, _ in second if text not in spoken], [])
                self.right(first + second)
                self.browser.press("Home")
                self.assertEqual(self.tip(), first)
                self.browser.press("Escape")
                self.assertIsNone(self.tip())

    def test_a_cell_that_is_clicked_is_what_the_page_is_about(self):
        self.plot("steps")
        self.browser.run("document.querySelector('[data-picture=steps] .plot').focus({preventScroll: true})")
        self.browser.press("Right", "Down", "Enter")
        rank = self.page.report["heatmaps"]["steps"]["ids"][1]
        self.assertIn(f"rank {rank}", self.browser.run("return document.getElementById('filter').innerText"))
        self.assertEqual(self.browser.run(f"return document.querySelectorAll('{LEFT}').length"), 1)

    def test_a_pair_of_hosts_leads_to_its_ranks_and_back(self):
        if "wide" not in self.pages:
            return
        self.page = self.pages["wide"]
        self.reopen(self.page)
        self.plot("traffic")
        cell = "const c = document.querySelector('[data-picture=traffic] canvas').getBoundingClientRect(); return [c.left, c.top, c.width, c.height]"
        left, top, width, height = self.browser.run(cell)
        hosts = len(self.page.report["traffic"]["hosts"])
        self.browser.press_at(left + width * 3.5 / hosts, top + height * 3.5 / hosts)
        self.plot("traffic")
        left, top, width, height = self.browser.run(cell)
        on = [rank["rank"] for rank in self.page.report["ranks"] if rank["host"] == self.page.report["traffic"]["hosts"][3]]
        self.browser.point(left + width * 1.5 / len(on), top + height * 0.5 / len(on))
        tips = self.tip()
        layer = int(next(key for key, *_ in tips if key).split(".")[2])
        entry = int(next(key for key, *_ in tips if key).split(".")[4])
        edges = self.page.report["traffic"]["layers"][layer]
        self.assertEqual((edges["scope"], edges["src"][entry], edges["dst"][entry]), ("rank", on[0], on[1]))
        self.right(tips)
        self.browser.click(self.browser.run("return [...document.querySelectorAll('[data-picture=traffic] button')].find(e => /Back/.test(e.textContent))"))
        self.plot("traffic")
        left, top, width, height = self.browser.run(cell)
        self.browser.point(left + width * 0.5 / hosts, top + height * 0.5 / hosts)
        layer = int(next(key for key, *_ in self.tip() if key).split(".")[2])
        self.assertEqual(self.page.report["traffic"]["layers"][layer]["scope"], "host")

    def test_tables_of_pictures_have_their_numbers(self):
        for name in PICTURES:
            opened = self.browser.run("const d = document.querySelector(`[data-picture=${arguments[0]}] details`); if (d) d.open = true; return !!d", name)
            with self.subTest(picture=name):
                self.assertTrue(opened)
        self.browser.frame()
        self.right()
        self.assertEqual(checks.own_words(self.browser, self.page), [])

    def test_the_slowdown_is_that_of_the_report_and_a_cell_picks_its_rank(self):
        what_if = self.page.report["what_if"]
        shown = dict((key, text) for key, text in self.browser.run(
            "return [...document.querySelectorAll('#pic-slowdown [data-key]')].map(e => [e.dataset.key, e.textContent])"))
        self.assertGreater(what_if["s"], 1)
        for key in ("s", "s_err", "m_w", "m_s"):
            text = shown.get("what_if." + key)
            with self.subTest(key=key):
                self.assertEqual(text, "n/a" if what_if[key] is None else f"{what_if[key]:.3g}")
        self.assertEqual(shown["what_if.m_s_why"], what_if["m_s_why"])
        self.plot("slowdown")
        self.browser.run("document.querySelector('[data-picture=slowdown] .plot').focus({preventScroll: true})")
        self.browser.press("Right", "Down", "Enter")
        second = [rank["rank"] for rank in self.page.report["ranks"] if rank["host"] == self.page.report["run"]["hosts"][1]]
        self.assertIn(f"rank {min(second)}", self.browser.run("return document.getElementById('filter').innerText"))

    def test_a_slowdown_that_is_not_known_says_why(self):
        self.page = self.pages["empty"] if "empty" in self.pages else self.pages["gloo"]
        self.reopen(self.page)
        self.assertIsNone(self.page.report["what_if"]["s"])
        self.unfold()
        self.assertFalse(self.browser.run("return document.getElementById('pic-slowdown')"))
        text = self.browser.run("return document.getElementById('absent').innerText").lower()
        self.assertIn(self.page.report["what_if"]["why"].lower(), text)
