#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every function of MPI that a header declares has a row: it is wrapped (interpose/abi/mpi*_calls.def, as the library exports
# it), or it passes by with a reason (interpose/abi/mpi_skip.def), and not both. CT_MPI_HEADERS are files of mpi.h of different
# libraries, separated by colons. Every row of the second kind names something that is in one of the headers, or younger than
# all of them.
. "$(dirname "$0")/rule.sh"
skip=interpose/abi/mpi_skip.def
need $skip
need "$library"
: "${CT_MPI_HEADERS:?}"

wrapped() { nm -D --defined-only "$library" | awk '$3 ~ /^MPIX?_/ { print $3 }' | sort -u; }
[ -n "$(wrapped)" ] || { echo "$library wraps no function of MPI"; exit 1; }

# rows: a pattern of each name, with its reason.
rows() {
	grep -vE '^(/| )\*' $skip | tr '\n\t' '  ' | grep -oE 'MPI_SKIP\("[^"]*",[^)]*\)' |
		sed -E 's/^MPI_SKIP\("([^"]*)", *(.*)\)$/\1|\2/' |
		awk -F'|' '{ n = split($2, names, " "); for (i = 1; i <= n; i++) print names[i] "\t" $1 }'
}
[ -n "$(rows)" ] || { echo "$skip has no rows"; exit 1; }
rows | awk -F'\t' '$2 !~ /[a-z]+ [a-z]+/ { print $1 }' | verdict "passed by without a reason"
rows | cut -f1 | sort | uniq -d | verdict "with two reasons"

# declared HEADER: functions that it and what lies beside it declare; Fortran's and constants are none.
declared() {
	local beside
	beside=$(dirname "$1")/mpi_proto.h
	[ -e "$beside" ] || beside=
	# shellcheck disable=SC2086
	cat "$1" $beside | grep -oE '\bMPIX?_[A-Z][A-Za-z0-9_]*\(' | tr -d '(' | sort -u |
		grep -vE '_(function|fn)$|^MPI_(F08_)?F?_?STATUS|^MPI_[A-Z_]+$' || true
}

# passes: of the names on stdin those that no row of the skip table has.
unexplained() {
	awk -F'\t' '
		function as_regex(p) { gsub(/\*/, "[A-Za-z0-9_]*", p); return "^" p "$" }
		FNR == NR { patterns[++n] = as_regex($1); next }
		{
			name = $1
			sub(/^MPI_/, "", name)
			sub(/^MPIX_/, "X_", name)
			bare = name
			sub(/_c$/, "", bare)
			for (i = 1; i <= n; i++)
				if (name ~ patterns[i] || bare ~ patterns[i]) next
			print $1
		}' <(rows) -
}

IFS=: read -ra headers <<<"$CT_MPI_HEADERS"
for header in "${headers[@]}"; do
	judged "functions of $header" "$(declared "$header" | wc -l)"
	comm -23 <(declared "$header") <(wrapped) | unexplained | verdict "functions of $header without a row"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for header in "${headers[@]}"; do declared "$header"; done | sort -u | comm -12 - <(wrapped) >"$work/taken"
unexplained <"$work/taken" | comm -23 "$work/taken" - | verdict "wrapped, and passed by with a reason"
