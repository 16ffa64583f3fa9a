#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/FINDINGS.md has a section for each kind of finding and names each verdict, and no other.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/FINDINGS.md
need $doc

# map NAME: the first column of a table of finding.h.
map() { awk -v name="$1" '$0 ~ "#define " name "\\(" { on = 1; next } on { print; if (!/\\$/) exit }' analyzer/model/finding.h | grep -oE 'XX\([A-Z_]+' | sed 's/XX(//' | sort; }

judged "kinds" "$(map CT_FINDING_MAP | wc -l)"
judged "verdicts" "$(map CT_VERDICT_MAP | wc -l)"
differ <(map CT_FINDING_MAP) <(sed -n 's/^### //p' $doc | tr -d ' ' | tr , '\n' | sort) |
	verdict "kinds of findings in finding.h (<) and sections of $doc (>) differ"
differ <(map CT_VERDICT_MAP) <(awk '/^## / { here = /^## Verdicts/ } here && /^\| [A-Z]/ { sub(/^\| /, ""); sub(/ \|.*/, ""); print }' $doc |
	tr -d ' ' | tr , '\n' | sort) | verdict "verdicts of finding.h (<) and of the table in $doc (>) differ"
