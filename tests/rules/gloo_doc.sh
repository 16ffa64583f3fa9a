#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/GLOO.md shows every collective in the table of Gloo's calls and of no other, and the tests that it names are there:
# `test_FILE:name` is a test in tests/interpose or tests/unit that its main() runs, `NAME.sh` a script of tests/e2e or tests/cli.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/GLOO.md table=interpose/gloo/gloo_calls.def
need $doc
need $table

names() { sed -nE 's/^GLOO_CALL\("[^"]*", *([a-z]+),.*/\1/p' $table | sort -u; }
judged "collectives of $table" "$(names | wc -l)"
reported() { # the list of collectives, and no more
	sed -n '/^Collectives, each call an op/,/[.] Their/p' $doc | sed 's/[.] Their.*//' | grep -oE '`[a-z]+`' | tr -d '`' | sort -u
}
comm -23 <(names) <(reported) | verdict "collectives of $table that $doc does not tell of"
comm -13 <(names) <(reported) | verdict "collectives that $doc tells of and $table does not have"

grep -oE '`test_[a-z_]+:[a-z0-9_]+`' $doc | tr -d '`' | sort -u | while IFS=: read -r file name; do
	found=$(ls tests/interpose/$file.c tests/interpose/$file.cc tests/unit/$file.c 2>/dev/null) || true
	# shellcheck disable=SC2086
	if [ -z "$found" ] || ! grep -qE "^(static )?void $name\(void \*\*" $found || ! grep -qE "test[a-z_]*\($name" $found; then
		echo "$file:$name"
	fi
done | verdict "tests that $doc names and nobody has"
grep -oE '`[a-z_]+\.sh`' $doc | tr -d '`' | sort -u | while read -r script; do
	[ -e "tests/e2e/$script" ] || [ -e "tests/cli/$script" ] || echo "$script"
done | verdict "scripts that $doc names and nobody has"
awk -F'|' '/^\|/ && !/^\|[- |]*$/ && !/\| test \|$/ && $0 !~ /`(test_[a-z_]+:[a-z0-9_]+|[a-z_]+\.sh)` *\|$/ { print }' $doc |
	verdict "cases of $doc without a test"
