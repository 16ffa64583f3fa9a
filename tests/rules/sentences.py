#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sentences are short: in pages, and in the texts of findings, verdicts and hangs. Those of findings are in tables.

Each of the two has a mean of at most 18 words a sentence, and none has more than 25. A sentence of a page ends at `.`, `?` or `!`, at
the end of a paragraph, a list item or a table cell. A text of the C code is a string as the compiler joins it; a conversion such as
%s is one word. A string of analyzer/findings/*.c has at most two words of its own: a sentence has a row, and a name, in a .def.
And a table has no sentence twice. CT_ROOT is the tree that is judged (default: the one this file lies in).

usage: sentences.py pages|findings|tables"""
import glob
import os
import re
import sys

ROOT = os.environ.get("CT_ROOT") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MEAN_MAX = 18
MAX = 25
LEAST = 3  # fewer words are a label, not a sentence
PAGES = ["*.md"] + [folder + "/**/*.md" for folder in ("analyzer", "docs", "examples", "interpose", "tests", "tools", "trace")]
TABLES = ["analyzer/findings/*.def", "analyzer/model/*.def", "analyzer/hang/*.def"]
TEXTS = ["analyzer/findings/*.c", "analyzer/hang/*.c"] + TABLES

STRING = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*(?:include|error)\b[^\n]*|\'(?:[^\'\\]|\\.)*\'|(%s(?:(?:\s|\\\n|PRI\w+|/\*.*?\*/)*%s)*)' % (STRING, STRING), re.S | re.M)


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


def strings(text):
    """(line, string) of each, as the compiler joins them."""
    for found in TOKEN.finditer(text):
        if found[1]:
            joined = "".join(part[1:-1] for part in re.findall(STRING, found[1]))
            yield text.count("\n", 0, found.start()) + 1, joined.replace("\\n", "\n").replace('\\"', '"')


def of_code(text):
    for line, string in strings(text):
        for sentence in split(re.sub(r"%[-+ 0#]*[\d*]*(\.[\d*]+)?$", "%", string)):
            yield line, sentence


def own_words(string):
    """Those that are neither conversions nor filled in."""
    own = re.sub(r"%[-+ 0#]*[\d*]*(\.[\d*]+)?(hh|h|ll|l|j|z|t)?[A-Za-z%]|\{\w+\}", "", string)
    return [word for word in own.split() if re.search("[A-Za-z]", word)]


def sentences_in(files):
    """(file, line, string) of strings that are sentences, and how many strings there are."""
    found, n = [], 0
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as text:
            for line, string in strings(text.read()):
                n += 1
                if len(own_words(string)) >= LEAST:
                    found.append((name, line, string))
    return found, n


def out_of_tables(code, tables):
    """Sentences in the code, and those that a table has twice."""
    wrong, n = sentences_in(code)
    rows, n_rows = sentences_in(tables)
    if not n or not rows:
        return ["no strings, or no tables, to judge"]
    print("judged %d strings in %d files" % (n + n_rows, len(code) + len(tables)), file=sys.stderr)
    first = {}
    for name, line, string in rows:
        if first.setdefault((name, string), line) != line:
            wrong.append((name, line, "as in line %d: %s" % (first[name, string], string)))
    return ["%s:%d: %s" % each for each in wrong]


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


JUDGES = {
    "pages": ("sentences of more than %d words, or none" % MAX, lambda: judge("pages", files_of(PAGES), of_page)),
    "findings": ("sentences of more than %d words, or none" % MAX, lambda: judge("findings", files_of(TEXTS), of_code)),
    "tables": ("sentences outside the tables (*.def), or in two rows",
               lambda: out_of_tables(files_of(["analyzer/findings/*.c"]), files_of(TABLES))),
}

if len(sys.argv) != 2 or sys.argv[1] not in JUDGES:
    sys.exit("usage: sentences.py pages|findings|tables")
what, find = JUDGES[sys.argv[1]]
wrong = find()
if wrong:
    print("%s:\n%s" % (what, "\n".join(wrong)))
    sys.exit(1)
