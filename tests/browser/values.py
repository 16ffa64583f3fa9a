# SPDX-License-Identifier: Apache-2.0
"""What a value of the report has to look like on the page: found by its path in the JSON, spelled by analyzer/base/units.c.

The spelling is not done here a second time: the program units_text (CT_UNITS_TEXT) prints what C prints. Which unit a value has
follows from its key: _ns, bytes, _Bps, _pct; whole numbers are counts.
"""
import functools
import os
import re
import subprocess
import time

NONE = "n/a"
# Whole numbers that name something: they are shown as they are.
NAMES = {"rank", "ranks", "pid", "device", "id", "src", "dst", "index", "last_rank", "restart", "stage", "first_seq", "last_seq",
         "step_first", "step_last", "ranks_missing", "suspects", "ids", "first_step"}
# Numbers that have no unit of C's: what is asked of the text is that it is the number, rounded.
PLAIN = ("ratio", "ppb", "score", "total", "gpu_seconds")


class Unknown(Exception):
    """The path is not in the JSON."""


def find(report, key):
    """The value at a path such as ranks.3.wait_ns."""
    value = report
    for name in key.split("."):
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            raise Unknown(key) from None
    return value


def last(key):
    """The name that says what kind of value it is."""
    return [name for name in key.split(".") if not name.isdigit()][-1]


def unit(report, key):
    """The word that units_text knows it by; None: shown as it is."""
    name = last(key)
    if re.match(r"(findings|hang\.verdicts)\.\d+\.evidence\.\d+\.(value|err)$", key):
        return {"ns": "ns", "bytes": "bytes", "Bps": "Bps", "pct": "pct", "%": "pct", "count": "count"}.get(
            find(report, key.rsplit(".", 1)[0])["unit"])
    if name in NAMES:
        return None
    if name == "size_range" or name.startswith("bytes"):
        return "bytes"
    return next((suffix for suffix in ("ns", "bytes", "Bps", "pct") if name.endswith("_" + suffix)), "count")


def spelled(asked):
    """{(unit, value): text} of all of them, by C."""
    asked = sorted({(word, value) for word, value in asked})
    answer = subprocess.run([os.environ["CT_UNITS_TEXT"]], input="".join(f"{word} {value!r}\n" for word, value in asked),
                            text=True, check=True, capture_output=True, timeout=60).stdout.split("\n")
    return dict(zip(asked, answer))


def every(report):
    """The text of every number in the report, whatever it is."""
    asked, plain = set(), set()

    def walk(key, value):
        if isinstance(value, dict):
            for name, item in value.items():
                walk(f"{key}.{name}" if key else name, item)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(f"{key}.{index}", item)
        elif is_number(value):
            plain.update({str(value), f"{value:.3g}"})
            if key in ("what_if.s", "what_if.s_err"):  # in a sentence with its error
                plain.add(f"{value:.3f}")
            asked.add((unit(report, key) or "count", abs(value)))
        elif isinstance(value, str) and last(key) == "comm":
            plain.update({value[:8], value, value.lstrip("0").rjust(4, "0")})
    walk("", report)
    return plain | set(spelled(asked).values())


def is_round(text):
    """A number that an axis may have by itself: at most two digits that are not 0, or a power of two."""
    return len(re.match(r"[\d.]+", text)[0].replace(".", "").strip("0")) <= 2 or text in powers()


@functools.cache
def powers():
    return set(spelled((word, 2**i) for word in ("bytes", "count") for i in range(50)).values())


def digits(report, comm):
    """What a communicator's hash is cut to: its first digits, all of them where another one begins with the same; a number's own."""
    if comm.startswith("0" * 8):
        return comm.lstrip("0").rjust(4, "0")
    return comm if sum(row["comm"].startswith(comm[:8]) for row in report["comms"]) > 1 else comm[:8]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def near(text, value):
    """The text begins with the number, rounded to the digits that it shows."""
    match = re.match(r"([+\-\u2212]?)(\d+(?:\.(\d+))?)", text)
    if not match:
        return False
    shown = float(match[2]) * (-1 if match[1] in ("-", "\u2212") else 1)
    return abs(shown - value) <= 0.5000001 * 10 ** -len(match[3] or "")


def complaints(report, shown):
    """`shown`: [path, path of the error or None, text] of each value on the page. What does not fit."""
    asked, wrong = set(), []
    for key, err, _ in shown:
        for path in (key, err):
            try:
                if path is not None and is_number(value := find(report, path)) and unit(report, path):
                    asked.add((unit(report, path), abs(value)))
            except Unknown:
                pass  # reported below
    texts = spelled(asked)

    def want(key, text):
        """The text that it has to be, or the text itself where it fits."""
        value = find(report, key)
        if value is None:
            return NONE
        if isinstance(value, bool):
            return text if text in (("yes", "true") if value else ("no", "false")) else "yes" if value else "no"
        if last(key) == "begin_unix_ns":
            return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(value // 10**9))
        if last(key) in ("comm", "parent") and isinstance(value, str):
            return digits(report, value)
        if last(key) == "dtype":
            return re.sub(r"^elem(\d+)$", r"\1-byte", value)
        if isinstance(value, str):
            return re.sub(r"\s+", " ", value).strip()
        if not is_number(value):
            raise Unknown(key)
        if last(key).endswith(PLAIN) or isinstance(value, float) and unit(report, key) in (None, "count"):
            return text if near(text, value) else f"{value}, rounded"
        if not unit(report, key):
            return str(value)
        return ("-" if value < 0 else "") + texts[unit(report, key), abs(value)]

    for key, err, text in shown:
        try:
            text = text.replace("\u00a0", " ")
            both = text.split(" \u00b1 ")
            expected = want(key, both[0])
            if err is not None and find(report, err) is not None and expected != NONE:
                expected += " \u00b1 " + want(err, both[-1])
            if text != expected:
                wrong.append(f"{key}: shows '{text[:60]}', the report has '{expected[:60]}'")
        except Unknown as unknown:
            wrong.append(f"'{text[:40]}' claims to be {unknown}, which is no value of the report")
    return wrong
