#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/JSON.md says which of its verdicts and kinds of findings this version has: those that it can give, and no other. HANG is a
# verdict without a finding, and can be asked for as well; so can NOT_ENOUGH_EVIDENCE.
root=$(cd "$data/../../.." && pwd)
page=$root/docs/reference/JSON.md
words() { tr -cs 'A-Z_' '\n' | grep -E '^[A-Z_]{4,}$' | sort; }
# map NAME: the rows of a table of the analyzer.
map() { awk -v name="$1" '$0 ~ "#define " name { on = 1; next } on && /XX\(/ { print } on && !/\\$/ { exit }' "$root/analyzer/model/finding.h" | sed 's/,.*//; s/XX//' | words; }
# reported WHAT: the sentence about it.
reported() { tr '\n' ' ' <"$page" | grep -oE "\`$1\` in this version: [A-Z_\` ]+\\." | sed 's/.*: //' | words; }
for pair in CT_VERDICT_MAP:verdict.code CT_FINDING_MAP:findings.kind; do
	diff <(map "${pair%:*}") <(reported "${pair#*:}") >&2 && map "${pair%:*}" | grep -c .
done
commtrace report --fail-on=nothing run1 2>&1 | sed -n 's/^hint: .*any, //p' | words | diff - <({ reported findings.kind; echo HANG; echo NOT_ENOUGH_EVIDENCE; } | sort) >&2
