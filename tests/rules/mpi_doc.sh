#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/MPI.md shows every function in the tables of MPI's calls, and no other.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/MPI.md
need $doc

# names: MPI_X of each row; forms of it have none of their own.
names() {
	find interpose -name 'mpi*_calls.def' -exec cat {} + | tr '\n\t' '  ' |
		grep -oE 'MPIX?_CALL[A-Z_]*\( *"?[A-Z][A-Za-z_]*' | grep -vE '"P' |
		sed -E 's/.*\( *"?//; s/^(MPIX?_)?/\1/; /^MPIX?_/! s/^/MPI_/' | grep -vE '^MPI_(name|CALL)' | sort -u
}
judged "functions of the tables of MPI" "$(names | wc -l)"
reported() { awk '/^## / { on = /Functions/ } on' $doc | grep -oE '`MPIX?_[A-Za-z_]*`' | tr -d '`' | grep -vE '^MPI_(I?X|X_init)$' | sort -u; }

comm -23 <(names) <(reported) | verdict "functions of the tables that $doc does not mention"
comm -13 <(names) <(reported) | verdict "functions that $doc mentions and no table has"
