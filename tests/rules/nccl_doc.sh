#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/NCCL.md shows every function in the table of NCCL's calls and of no other, and the tests that it names are
# there: `test_FILE:name` is a test in tests/interpose/test_FILE.c that its main() runs.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/NCCL.md table=interpose/abi/nccl_calls.def
need $doc
need $table

names() { # in the table, each once
	tr '\n' ' ' <$table | grep -oE 'NCCL_(CALL|CALL_HOST|CALL_HAND|SKIP|SKIP_DEVICE)\([^)]*' |
		grep -oE '[ (]nccl[A-Z][A-Za-z0-9]*,' | tr -d ' (,' | sort -u
}
judged "functions of $table" "$(names | wc -l)"
reported() { awk '/^## / { on = /Functions/ } on' $doc | grep -oE '`nccl[A-Z][A-Za-z0-9]*`' | tr -d '`' | sort -u; }

comm -23 <(names) <(reported) | verdict "functions of $table that $doc does not tell of"
comm -13 <(names) <(reported) | verdict "functions that $doc tells of and $table does not have"

tests() { grep -oE '`test_[a-z_]+:[a-z0-9_]+`' $doc | tr -d '`' | sort -u; }
tests | while IFS=: read -r file name; do
	if ! grep -qs "^static void $name(void \*\*state)" "tests/interpose/$file.c" ||
		! grep -qE "(cmocka_unit_test|TEST)\($name\)" "tests/interpose/$file.c"; then
		echo "$file:$name"
	fi
done | verdict "tests that $doc names and nobody has"
awk -F'|' '/^\|/ && !/^\|[- |]*$/ && !/\| test \|$/ && $0 !~ /`test_[a-z_]+:/ { print }' $doc |
	verdict "cases of $doc without a test"
