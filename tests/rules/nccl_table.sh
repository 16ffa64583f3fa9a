#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public function of NCCL has its row in interpose/abi/nccl_calls.def: wrapped, or passed by with a reason. And
# every row is a function of NCCL, or younger than the library that is judged by. CT_NCCL is a libnccl.so.2,
# CT_NCCL_INCLUDE the directory of an nccl.h.
. "$(dirname "$0")/rule.sh"
table=interpose/abi/nccl_calls.def
nccl=${CT_NCCL:?} header=${CT_NCCL_INCLUDE:?}/nccl.h
need $table
need "$nccl"
need "$header"

# rows: NAME SINCE REASON of each row; `-` for what it does not have.
rows() {
	awk '
		function end_of_row() { if (row != "") tell(); row = "" }
		function tell(  kind, name, since, reason) {
			kind = row; sub(/\(.*/, "", kind)
			sub(/^[A-Z_]*\([ \t]*("[^"]*",[ \t]*)?/, "", row)
			if (kind == "NCCL_SKIP") sub(/^[^,]*,[ \t]*/, "", row)
			name = row; sub(/[^A-Za-z0-9_].*/, "", name)
			since = "-"
			if (match(row, /^[A-Za-z0-9_]*,[ \t]*[0-9]+/)) { since = substr(row, 1, RLENGTH); sub(/.*[ \t,]/, "", since) }
			reason = kind !~ /SKIP/ || row ~ /"[^"]+"\)[ \t]*$/ ? "given" : "-"
			print name, since, reason
		}
		/^NCCL_[A-Z_]*\(/ { end_of_row(); row = $0; next }
		/^[ \t]/ && row != "" { row = row $0; next }
		{ end_of_row() }
		END { end_of_row() }
	' $table
}

rows | awk '{ print $1 }' | sort | uniq -d | verdict "functions with two rows"
rows | awk '$3 == "-" { print $1 }' | verdict "passed by without a reason"

# functions: the library's, each once; a profiling twin pnccl* is the same function.
functions() {
	nm -D --defined-only "$nccl" |
		awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); sub(/^pnccl/, "nccl", $3); if ($3 ~ /^nccl/) print $3 }' | sort -u
}
judged "functions of $nccl" "$(functions | wc -l)"
version=$(grep -aoE 'NCCL version [0-9]+[.][0-9]+[.][0-9]+' "$nccl" |
	awk 'NR == 1 { split($3, v, "."); print v[1] * 10000 + v[2] * 100 + v[3] }')
[ -n "$version" ] || { echo "$nccl does not say which version it is"; exit 1; }

comm -13 <(rows | awk '{ print $1 }' | sort -u) <(functions) | verdict "functions of libnccl $version without a row in $table"
# What a header only computes is in no library; rows without a version belong to interfaces that change.
comm -23 <(rows | awk -v version="$version" '$2 != "-" && $2 <= version { print $1 }' | sort -u) <(functions) |
	verdict "rows of $table that libnccl $version should have and has not"
grep -oE '(^|[^A-Za-z0-9_])nccl[A-Z][A-Za-z0-9]*\(' "$header" | sed -E 's/^[^n]//; s/\($//' | sort -u |
	comm -13 <(rows | awk '{ print $1 }' | sort -u) - | verdict "functions of $header without a row in $table"
