#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each case in the tables of the pages of NCCL, Gloo and MPI in docs/reference/ has a row in tests/rules/cases.txt, in the same order, and
# the tests of that row exist: `test_FILE:name` in tests/interpose or tests/unit, `NAME.sh` in tests/e2e or tests/cli, or the
# registered test `area.name`. A row is: page, tab, case as the page has it, tab, tests with spaces between.
. "$(dirname "$0")/rule.sh"
table=tests/rules/cases.txt
need $table

judged "cases of $table" "$(wc -l <$table)"
for doc in docs/reference/{NCCL,GLOO,MPI}.md; do
	need "$doc"
	page=$(basename "$doc" .md)
	differ <(awk -F '\t' -v page="$page" '$1 == page { print $2 }' $table) <(awk '
		/^\| case \|/ { on = 1; getline; next }
		!/^\|/ { on = 0 }
		on { sub(/^\| /, ""); sub(/ \| .*/, ""); print }' "$doc") |
		awk -v doc="$doc" '/^</ { sub(/^< /, ""); print "not in " doc ": " $0 } /^>/ { sub(/^> /, ""); print "without a row: " $0 }'
done | verdict "$table and the pages differ"

registered() { find tests -name CMakeLists.txt -o -name '*.cmake' | xargs -r grep -ohE 'NAME [a-z0-9]+\.[a-z0-9_]+' | sed 's/NAME //' | sort -u; }
registered=$(registered)
exists() {
	local file=${1%%:*} name=${1#*:} found
	case $1 in
	*:*)
		found=$(ls tests/{interpose,unit}/"$file".{c,cc} 2>/dev/null) || true
		# shellcheck disable=SC2086
		[ -n "$found" ] && grep -qE "^(static )?void $name\(void \*\*" $found && grep -qE "(TEST|test[a-z_]*)\($name" $found
		;;
	*.sh) [ -e "tests/e2e/$1" ] || [ -e "tests/cli/$1" ] ;;
	*) grep -qxF "$1" <<<"$registered" ;;
	esac
}
cut -f3 $table | tr ' ' '\n' | sort -u | while read -r name; do
	exists "${name:-none}" || echo "${name:-none}"
done | verdict "tests that $table names and that do not exist"
