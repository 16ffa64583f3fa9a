# SPDX-License-Identifier: Apache-2.0
"""What holds on every page, whatever it shows. Each check takes a Browser with the page open and returns complaints: a list
of sentences, empty when all is well. tests/browser/bites.py breaks each of them.
"""
import base64
import pathlib
import re

import values

PROBE = pathlib.Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
# Roles that someone acts on or that stand for something seen: without a name they are nothing to a screen reader.
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "tab", "image", "img", "application",
         "table", "grid", "region", "navigation", "spinbutton", "switch", "graphics-document", "listbox"}
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3 (AA), for text of any size


def probe(browser, name, argument=None):
    return browser.run(PROBE, name, argument)


def console(browser):
    """Nothing at all is printed, not even a warning."""
    return [f"console: {entry['level']} {entry['message']}" for entry in browser.console()]


def requests(browser):
    """Only the file itself is asked for, and what the page holds in itself."""
    own = browser.run("return location.href.split('#')[0]")
    return [f"asks for {url[:120]}" for url in browser.requests()
            if url.split("#")[0] != own and not url.startswith(("data:", "blob:"))]


def width(browser):
    """The page is not wider than the window."""
    seen, inner = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    return [f"is {seen} wide in a window of {inner}: {', '.join(probe(browser, 'wide'))}"] if seen > inner else []


def overlap(browser):
    """No text lies on another."""
    return ["overlap: " + text for text in probe(browser, "overlaps")]


def contrast(browser):
    return probe(browser, "faint", LEAST_CONTRAST)


def outline(browser):
    """One h1, no level left out, no heading without words."""
    found = probe(browser, "headings")
    wrong = [f"heading of level {level} is empty" for level, text in found if not text]
    if [level for level, _ in found].count(1) != 1 or found[0][0] != 1:
        wrong.append(f"headings begin {found[:3]}, not with the only h1")
    for (above, _), (below, text) in zip(found, found[1:]):
        if below > above + 1:
            wrong.append(f"'{text}' is a heading of level {below} below one of level {above}")
    return wrong


def names(browser):
    """What the browser shows a screen reader: everything to act on and every picture has a name."""
    wrong = []
    for node in browser.cdp("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value", "")
        if not node.get("ignored") and role in NAMED and not node.get("name", {}).get("value", "").strip():
            wrong.append(f"a {role} has no name (node {node.get('backendDOMNodeId')})")
    return wrong[:8]


def document(browser):
    """A language, a title, one main part, no id twice."""
    language, title, mains = browser.run(
        "return [document.documentElement.lang, document.title, document.querySelectorAll('main').length]")
    wrong = [f"{what} is missing" for what, there in (("lang", language), ("title", title), ("main", mains == 1)) if not there]
    return wrong + [f"id {name} is there twice" for name in probe(browser, "twins")]


def own_words(browser, page):
    """Every number that is seen elsewhere is in a sentence (or what is behind its colon) of the JSON or in the page's own text, or it is a value
    of the JSON that the page shows in a sentence of its own, or a round number on an axis."""
    foreign = []
    pieces = [(piece, is_drawn) for text, is_drawn in probe(browser, "digits").items()
              for piece in ([text] if is_drawn else re.split(r": |\.$", text))]
    for text, is_drawn in pieces:
        if any(text in known for known in page.sentences):
            continue
        for number in re.findall(r"(?<![\w.])\d[\d.]*(?: (?:[kMGTP]?B(?:/s)?|[KMGTPE]iB|[num]?s|%)|[kMGT])?(?![\w])", text):
            number = number.rstrip(".")
            if number not in page.numbers and not (is_drawn and values.is_round(number)):
                foreign.append(f"{number} in '{text[:80]}' is a number from nowhere")
    return foreign


def printed(browser, is_tried):
    """On paper every part is there, and nothing that is for clicking. Whether it can be printed is tried only where asked for."""
    parts = "return [...document.querySelectorAll('main section')].map(e => [e.id, e.checkVisibility(), e.innerText.length])"
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.scheme("light", "print")
    wrong = [f"section {name} is not printed" for name, there, _ in browser.run(parts) if not there]
    if browser.run("return [...document.querySelectorAll('button:not(.chip, .sort), input, select')].some(e => e.checkVisibility())"):
        wrong.append("controls are printed")
    browser.scheme("light")
    browser.run("dispatchEvent(new Event('afterprint'))")
    if not is_tried:
        return wrong
    pdf = base64.b64decode(browser.cdp("Page.printToPDF", printBackground=True)["data"])
    if not pdf.startswith(b"%PDF") or not re.search(rb"/Type\s*/Page\b", pdf):
        wrong.append("nothing can be printed")
    return wrong


def cut(browser):
    """Nothing is cut off at the edge of a box."""
    return probe(browser, "cut")


def aligned(browser):
    """Headings of columns of numbers end where the numbers end, others begin where their cells begin."""
    return probe(browser, "crooked")


MOST_COLUMNS = 9


def columns(browser):
    """No table has more columns than can be read at once, unless someone asks for all."""
    return [f"'{label}' shows {n} columns" for label, n in probe(browser, "columns") if n > MOST_COLUMNS]


# Sections and folds, from the top; each may be absent.
ORDER = ("verdict", "hang", "pic-steps", "pic-waits", "findings", "pic-exposed", "ops", "ranks",
         "details", "expect", "scorecard", "pic-slowdown", "pic-curves", "pic-traffic", "comms", "links", "steps",
         "exposed", "idle", "stages",
         "quality", "run", "dropped", "clocks", "ends", "overhead", "absent")


def order(browser):
    """What matters most comes first, and no section is without content."""
    found = probe(browser, "sections")
    ids = [name for name, _ in found]
    wrong = [f"section {name} is empty" for name, is_empty in found if is_empty]
    return wrong + ([] if ids == [name for name in ORDER if name in ids] else [f"sections are in the order {' '.join(ids)}"])


# Where the report says whether a section has something to show.
CONTENT = {
    "hang": lambda r: r["hang"], "findings": lambda r: r["findings"], "ops": lambda r: r["ops"], "ranks": lambda r: r["ranks"],
    "pic-steps": lambda r: r["heatmaps"]["steps"]["first_step"], "pic-waits": lambda r: r["heatmaps"]["waits"]["columns"],
    "expect": lambda r: r["expect"], "scorecard": lambda r: r["scorecard"]["total"] is not None, "pic-slowdown": lambda r: r["what_if"]["s"],
    "pic-exposed": lambda r: any(step["exposed_ns"] is not None for step in r["steps"]["items"]),
    "pic-traffic": lambda r: r["traffic"]["layers"], "comms": lambda r: r["comms"],
    "links": lambda r: any(link[key] is not None for link in r["links"] for key in ("busbw_Bps", "latency_ns", "expected_Bps", "efficiency_ratio")),
    "steps": lambda r: r["steps"]["count"],
    "exposed": lambda r: any(row[key] is not None for row in r["overlap"] for key in ("exposed_ns", "hidden_ns", "comm_ns", "overlap_ratio")),
    "idle": lambda r: r["stream_idle"], "stages": lambda r: r["stages"], "dropped": lambda r: r["dropped"] or r["not_traced"],
    "clocks": lambda r: r["clocks"], "ends": lambda r: r["ended"] or r["in_flight"], "overhead": lambda r: r["overhead"],
}


def present(browser, report):
    """A section is on the page where the report has something for it, and only there."""
    there = {name for name, _ in probe(browser, "sections")}
    return [f"section {name} is {'missing' if has(report) else 'there without content'}" for name, has in CONTENT.items()
            if bool(has(report)) != (name in there)]


WORDS = {"verdict": ("title", "headline", "cause", "note", "advice", "command"),
         "findings": ("headline", "where", "cause", "note", "advice", "command")}


def words(browser, report):
    """What the text report says of the verdict and of each finding is on the page, too; what the verdict says need not be there again."""
    there = {key for key, _, _ in probe(browser, "values")}
    above = set(browser.run("return [...document.querySelectorAll('#verdict [data-key]')].map(e => e.dataset.key)"))
    verdict = report["verdict"]
    wanted = [(f"verdict.{key}", verdict[key], above) for key in WORDS["verdict"]]
    for i, finding in enumerate(report["findings"]):
        is_verdict = finding["headline"] == verdict["headline"]
        wanted += [(f"findings.{i}.{key}", finding[key], above if is_verdict and key in ("where", "note") else there)
                   for key in WORDS["findings"] if key == "headline" or not is_verdict or finding[key] != verdict.get(key)]
    return [f"{key} is not where it belongs" for key, text, where in wanted if text is not None and key not in where]


def once(browser):
    """What the verdict says of cause and advice is not said again in the card of what it is about."""
    return browser.run("""
        const said = [...document.querySelectorAll('#verdict :is(.why, .command) [data-key]')].map(e => e.textContent);
        const headline = document.querySelector('h1 [data-key="verdict.headline"]')?.textContent;
        const cards = [...document.querySelectorAll('.finding')].filter(e => e.querySelector('h3 [data-key]')?.textContent === headline);
        return cards.flatMap(e => [...e.querySelectorAll('[data-key]')]).filter(e => said.includes(e.textContent))
            .map(e => `'${e.textContent.slice(0, 60)}' is in the verdict and again as ${e.dataset.key}`)""")


def hollow(browser):
    """No column is empty or n/a throughout, no fact is n/a, and no error is 0."""
    return probe(browser, "hollow")


def whole_figures(browser):
    """No line of the headline ends between a number and its unit or error."""
    text = browser.run("return document.querySelector('h1').textContent")
    return [f"'{text}' can be cut at '{piece}'" for piece in re.findall("\\d (?:[num]?s\\b|%|\u00b1)|\u00b1 \\d", text)]


def cards(browser):
    """A finding's card names its kind once; its link to the timeline comes with the command that makes it work."""
    return browser.run("""
        const wrong = [];
        for (const card of document.querySelectorAll('#findings .finding')) {
            const title = card.querySelector('h3').textContent.toLowerCase(), text = card.querySelector('.title').textContent.toLowerCase();
            if (text.replace(/_/g, ' ').split(title).length !== 2)
                wrong.push(`'${title}' is there more than once in '${text}'`);
            for (const link of card.querySelectorAll('a[href^="https:"]'))
                if (!/commtrace open .* --serve/.test(link.closest('details')?.querySelector('code')?.textContent))
                    wrong.push(`the link '${link.textContent}' does not say how it works`);
        }
        return wrong""")


SAID = (outline, names, document)
LAID_OUT = (width, overlap, cut, aligned, columns, hollow)
STILL = (width, overlap, contrast) + SAID
