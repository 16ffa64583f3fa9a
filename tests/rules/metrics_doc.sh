#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/METRICS.md has one row for each row of tools/metrics/metrics.def, made from it; --rows prints what they must be.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/METRICS.md
table=tools/metrics/metrics.def

rows() {
	sed -nE 's/^(RANK|KIND|RUN|READER|GPU)\([A-Z_]+, "([a-z_]+)", ([a-z]+), "([a-z ]*)", "(.*)"\)$/\2|\3|\4|\5/p' $table | awk -F '|' '{
		gsub(/ /, ", ", $3)
		printf "| `commtrace_%s` | %s | %s | %s |\n", $1, $2, $3, $4
	}'
}

if [ "${1:-}" = --rows ]; then
	rows
	exit
fi
need $doc
judged "metrics" "$(rows | wc -l)"
[ "$(rows | wc -l)" = "$(grep -cE '^(RANK|KIND|RUN|READER|GPU)\(' $table)" ] || { echo "a row of metrics.def is not on one line"; exit 1; }
differ <(rows) <(grep '^| `commtrace_[a-z_]*` |' $doc) | verdict "$table (<) and $doc (>) differ"
