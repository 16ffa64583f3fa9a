#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libcommtrace.so exports exactly what the tables of calls say: a name too few is a call unseen, a name too many is
# someone else's symbol taken over.
. "$(dirname "$0")/rule.sh"
need "$library"

# A row is NAME_CALL...(, its symbol the first quoted string, perhaps on a following line. Rows of MPI's table have a bare
# name instead, which stands for MPI_ and PMPI_ and, by what follows it, for variants.
rows() {
	awk 'FNR == 1 { want = 0 } /^[A-Z_]*CALL[A-Z_]*\(/ { want = 1 } want && match($0, /"[^"]*"/) { print substr($0, RSTART + 1, RLENGTH - 2); want = 0 }' \
		$(find interpose -name '*_calls.def')
	find interpose -name 'mpi*_calls.def' -exec cat {} + | tr '\n\t' '  ' |
		{ grep -oE 'MPI_CALL[A-Z_]*\([A-Z][A-Za-z_]*, *[a-z(]' || true; } |
		awk -F '[(, ]+' '{
			wide = $1 !~ /COUNTLESS/ && ($1 ~ /_C$/ || $3 != "")
			n = split($2 ($3 != "" ? " I" tolower($2) " " $2 "_init" : ""), names, " ")
			for (i = 1; i <= n; i++)
				for (c = 0; c <= wide; c++)
					printf "MPI_%s%s\nPMPI_%s%s\n", names[i], c ? "_c" : "", names[i], c ? "_c" : ""
		}'
}

rows | sort | uniq -d | verdict "symbols with two rows"
judged "symbols in the tables of interpose/" "$(rows | wc -l)"
differ <(rows | sort) <(nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u) |
	awk '/^</ { print "in a table, not exported: " $2 } /^>/ { print "exported, not in a table: " $2 }' |
	verdict "tables and exports differ"
