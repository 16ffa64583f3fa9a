#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sentences are short: in pages, and in the texts of findings, verdicts and hangs.

Each of the two has a mean of at most 18 words a sentence, and none has more than 25. A sentence of a page ends at `.`, `?` or `!`, at
the end of a paragraph, a list item or a table cell. A text of the C code is a string as the compiler joins it; a conversion such as
%s is one word. CT_ROOT is the tree that is judged (default: the one this file lies in).

usage: sentences.py pages|findings"""
import glob
import os
import re
import sys

ROOT = os.environ.get("CT_ROOT") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MEAN_MAX = 18
MAX = 25
LEAST = 3  # fewer words are a label, not a sentence
PAGES = ["*.md"] + [folder + "/**/*.md" for folder in ("analyzer", "docs", "examples", "interpose", "tests", "tools", "trace")]
TEXTS = ["analyzer/findings/*.c", "analyzer/findings/*.def", "analyzer/hang/*.c", "analyzer/model/*.def", "analyzer/hang/*.def"]

STRING = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*|\'(?:[^\'\\]|\\.)*\'|(%s(?:(?:\s|PRI\w+|/\*.*?\*/)*%s)*)' % (STRING, STRING), re.S | re.M)


def words(sentence):
    """Words have a letter, a digit or a conversion in them. A list of `names` is one word."""
    return [word for word in re.sub(r"(`[^`]*\w[^`]*`[\s,]*)+", "`names` ", sentence).split() if re.search(r"[A-Za-z0-9%]", word)]


def split(paragraph):
    return [part for part in re.split(r"(?<=[.?!])[)\"*]*\s+|\n", paragraph) if len(words(part)) >= LEAST]


def of_page(text):
    """(line, sentence) of each."""
    at, paragraph, is_code = 0, [], False
    for n, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            line = ""
        elif is_code:
            line = ""
        is_apart = re.match(r"\s*([*>-]|\d+\.|#+|\||!\[)", line)
        if (not line.strip() or is_apart) and paragraph:
            for sentence in split(" ".join(paragraph)):
                yield at, sentence
            paragraph = []
        if line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                for sentence in split(cell):
                    yield n, sentence
        elif line.strip() and not line.startswith("!["):
            at = at if paragraph else n
            line = re.sub(r"^\s*([*>-]|\d+\.|#+)\s+", "", line)
            paragraph.append(re.sub(r"\]\([^)]*\)", "]", line.strip()))


def of_code(text):
    for found in TOKEN.finditer(text):
        if not found[1]:
            continue
        joined = re.sub(r"%[-+ 0#]*[\d*]*(\.[\d*]+)?$", "%", "".join(
            part[1:-1] for part in re.findall(STRING, found[1])))
        joined = joined.replace("\\n", "\n").replace('\\"', '"')
        for sentence in split(joined):
            yield text.count("\n", 0, found.start()) + 1, sentence


def judge(what, files, sentences_of):
    found = []
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as text:
            found += [(len(words(s)), name, line, s) for line, s in sentences_of(text.read())]
    if not found:
        return ["%s: no sentences to judge" % what]
    mean = sum(n for n, _, _, _ in found) / len(found)
    print("judged %d sentences of %s in %d files: mean %.1f words, longest %d" % (
        len(found), what, len(files), mean, max(found)[0]), file=sys.stderr)
    wrong = ["%s:%d: %d words: %s" % (name, line, n, s) for n, name, line, s in found if n > MAX]
    if mean > MEAN_MAX:
        wrong.append("%s: a mean of %.1f words" % (what, mean))
    return wrong


def files_of(globs):
    return sorted(os.path.relpath(path, ROOT) for each in globs for path in glob.glob(os.path.join(ROOT, each), recursive=True))


if sys.argv[1:] not in (["pages"], ["findings"]):
    sys.exit("usage: sentences.py pages|findings")
if sys.argv[1] == "pages":
    wrong = judge("pages", files_of(PAGES), of_page)
else:
    wrong = judge("findings", files_of(TEXTS), of_code)
if wrong:
    print("sentences of more than %d words, or none:\n%s" % (MAX, "\n".join(wrong)))
    sys.exit(1)
