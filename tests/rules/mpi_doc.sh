#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/MPI.md shows every row in the tables of MPI's calls and of no other function, and of every reason for which some pass
# by; and the tests that it names are there: `area.name` is registered in tests/, `test_file:name` is a test in
# tests/interpose/test_file.c.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/MPI.md skip=interpose/abi/mpi_skip.def
need $doc
need $skip

# names: MPI_X of each row; forms of it have none of their own.
names() {
	find interpose -name 'mpi*_calls.def' -exec cat {} + | tr '\n\t' '  ' |
		grep -oE 'MPIX?_CALL[A-Z_]*\( *"?[A-Z][A-Za-z_]*' | grep -vE '"P' |
		sed -E 's/.*\( *"?//; s/^(MPIX?_)?/\1/; /^MPIX?_/! s/^/MPI_/' | grep -vE '^MPI_(name|CALL)' | sort -u
}
judged "functions of the tables of MPI" "$(names | wc -l)"
reported() { awk '/^## / { on = /Functions/ } on' $doc | grep -oE '`MPIX?_[A-Za-z_]*`' | tr -d '`' | grep -vE '^MPI_(I?X|X_init)$' | sort -u; }

comm -23 <(names) <(reported) | verdict "functions of the tables that $doc does not tell of"
comm -13 <(names) <(reported) | verdict "functions that $doc tells of and no table has"
grep -E '^MPI_SKIP' $skip | sed -E 's/^MPI_SKIP\("([^"]*)".*/\1/' | while read -r reason; do
	grep -qF "$reason" $doc || echo "$reason"
done | verdict "reasons of $skip that $doc does not tell"

registered() { find tests -name CMakeLists.txt -o -name '*.cmake' | xargs -r grep -ohE 'NAME [a-z0-9]+\.[a-z0-9_]+' | sed 's/NAME //' | sort -u; }
{ grep -oE '`(e2e|interpose|cli|unit|mpi)\.[a-z0-9_]+`' $doc || true; } | tr -d '`' | sort -u | comm -23 - <(registered) |
	verdict "tests that $doc names and nobody has"
{ grep -oE '`test_[a-z_]+:[a-z0-9_]+`' $doc || true; } | tr -d '`' | sort -u | while IFS=: read -r file name; do
	grep -qsE "(cmocka_unit_test|TEST)\($name\)" "tests/interpose/$file.c" || echo "$file:$name"
done | verdict "tests that $doc names and nobody has"
awk -F'|' '/^## / { cases = /Communicators|Windows|Messages|Collectives|Requests/ } cases && /^\|/ && !/^\|[- |]*$/ &&
	!/\| test \|$/ && $0 !~ /`(test_[a-z_]+:|[a-z0-9]+\.[a-z])/ { print }' $doc | verdict "cases of $doc without a test"
