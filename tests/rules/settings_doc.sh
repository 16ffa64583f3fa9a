#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/ENVIRONMENT.md has one row for each row of trace/settings.def, made from it; --rows prints what they must be.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/ENVIRONMENT.md

rows() {
	sed -nE 's/^X\(([A-Z_]+), ([A-Z]+), "([^"]*)", "(.*)"\)$/\1|\2|\3|\4/p' trace/settings.def | awk -F '|' '{
		printf "| `COMMTRACE_%s` | %s | %s | %s |\n", $1, tolower($2), $3 == "" ? "" : "`" $3 "`", $4
	}'
}

if [ "${1:-}" = --rows ]; then
	rows
	exit
fi
need $doc
judged "settings" "$(rows | wc -l)"
[ "$(rows | wc -l)" = "$(grep -c '^X(' trace/settings.def)" ] || { echo "a row of settings.def is not on one line"; exit 1; }
differ <(rows) <(grep '^| `COMMTRACE_[A-Z_]*` |' $doc) | verdict "trace/settings.def (<) and $doc (>) differ"
