#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every constant has a reason, and every number that the analyzer is tuned by is in a table. The classes of numeric
# constants:
#
#   tuning  someone chose it, and it changes a verdict, a finding, a figure or its error: thresholds, margins, shares, least counts,
#           quantiles, windows. In analyzer/ it is in a file limits.h, under a comment with its reason: where it comes from, what was
#           measured, or what breaks beyond it. In interpose/, trace/ and tools/commtrace/ each one belongs
#           to one mechanism and stays there.
#   size    bounds memory, time or a list: more than that is counted only, merged or left out.
#   fact    from outside: a unit, a format, a library's own number.
#   code    stands for something: a flag, a mark in a key, "unknown".
#   layout  columns, pixels and colors: all numbers in analyzer/render, analyzer/charts and analyzer/timeline.
#
# A #define outside limits.h and the rooms of layout says what it is: the comment behind it, or the one above it and its neighbors,
# begins with "size: ", "fact: ", "code: " or, in those three, "tuning: ". There, what follows is a reason: three words at least.
# A tuning constant of the analyzer that is another one, or 1 or 100 times or less another one, does not count. Beside the constants
# code has whole numbers, powers of ten, one half, and quartiles and percentiles as quantiles.
#
# Not judged: trace/format*.h and interpose/abi/, which are facts as a whole. docs/dev/TRACE_FORMAT.md describes the one; the other
# is what the headers of NCCL, CUDA and MPI have, and a compiler compares it with them (abi_check.c).
. "$(dirname "$0")/rule.sh"

# More tuning constants are no rules any more but a fit: of the whole analyzer, and of the lateness engine with all that it shares.
most=150
most_of_lateness=60

mapfile -t files < <(sources '^analyzer/.*[.][ch]$')
mapfile -t others < <(sources '^(interpose|trace|tools/commtrace)/.*[.][ch]$' | grep -vE '^(trace/format[^/]*[.]h|interpose/abi/.*)$')
mapfile -t tables < <(sources '^analyzer/.*/limits[.]h$')
judged "files of the analyzer" "${#files[@]}"
judged "files of the job and the command" "${#others[@]}"
judged "tables" "${#tables[@]}"

# defines FILE...: FILE:LINE, a tab, the comment above and the neighbors' (none between them and a blank line), a tab, the #define.
defines() {
	awk '
		function flush() { if (define != "") print at "\t" above "\t" define; define = "" }
		function clean(text) { gsub(/[\t ]+/, " ", text); return text }
		FNR == 1 { flush(); above = ""; open = 0 }
		define != "" && more { define = define " " clean($0); more = /\\$/ || (define ~ /\/\*/ && define !~ /\*\//); sub(/\\ /, "", define); next }
		/^#define [A-Za-z_0-9]+[ \t]/ {
			flush()
			define = clean($0); at = FILENAME ":" FNR
			more = /\\$/ || (/\/\*/ && !/\*\//)
			sub(/\\$/, "", define)
			next
		}
		{ flush() }
		/^\/\*/ { above = clean($0); open = !/\*\//; next }
		open { above = above " " clean($0); open = !/\*\//; next }
		{ above = "" }
		END { flush() }
	' "$@"
}

# Numbers of a #define: those of its value, not of a macro with arguments, a name, a list, or a length that the compiler knows.
is_number='
	function value(define) { sub(/^#define [A-Za-z_0-9]+ /, "", define); sub(/ *\/\*.*/, "", define); return define }
	function is_number(define, v) {
		v = value(define)
		if (v ~ /sizeof|offsetof|["{};,]/) return 0
		gsub(/[A-Za-z_][A-Za-z_0-9]*/, "", v)
		return v ~ /[0-9]/
	}
'

defines "${files[@]}" | awk -F '\t' "$is_number"'
	$1 ~ /\/limits[.]h:|^analyzer\/(render|charts|timeline)\// || !is_number($3) { next }
	$2 " " $3 !~ /\/\* (size|fact|code): / { print $1 ": " $3 ": a size, a fact, a code, or a row of a limits.h?" }
' | verdict "constants without a class"

defines "${others[@]}" | awk -F '\t' "$is_number"'
	!is_number($3) { next }
	$2 " " $3 !~ /\/\* (tuning|size|fact|code): / { print $1 ": " $3 ": tuning, a size, a fact or a code?"; next }
	$2 " " $3 !~ /\/\* (tuning|size|fact|code): [^ ]+ [^ ]+ [^ *]/ { print $1 ": " $3 ": why?" }
' | verdict "constants without a reason"

# A limit is a #define: only there a reason is asked for.
{ grep -nE '^[^"/]*\<(enum \{ [A-Z_0-9]+ = [0-9(]+[^,]* \}|[A-Z_0-9]*(MAX|MOST|BYTES)(_[A-Z_0-9]+)? = [0-9(])' "${others[@]}" || true; } |
	verdict "limits among the values of an enum"

defines "${tables[@]}" | awk -F '\t' '$2 == "" { print $1 ": " $3 }' | verdict "tuning constants without a reason"

# own FILE...: the tuning constants that are numbers of their own.
own() {
	defines "$@" | awk -F '\t' '
		{
			v = $3
			sub(/^#define [A-Za-z_0-9]+ /, "", v); sub(/ *\/\*.*/, "", v)
			derived = v ~ /[A-Z]/
			gsub(/[A-Za-z_]+[A-Za-z_0-9]*/, "", v)
			while (match(v, /[0-9.]+/)) {
				number = substr(v, RSTART, RLENGTH)
				if (!derived || (number != 1 && number != 100)) { print $3; break }
				v = substr(v, RSTART + RLENGTH)
			}
		}'
}

n=$(own "${tables[@]}" | wc -l)
judged "tuning constants" "$n"
[ "$n" -le "$most" ] || printf '%s of at most %s\n' "$n" "$most" | verdict "too many tuning constants"

# Those of the lateness engine: its own table, and what its code takes from the others.
mapfile -t engine < <(printf '%s\n' "${files[@]}" | awk '/^analyzer\/lateness\//')
n=$(own "${tables[@]}" | awk '{ print $2 }' | { grep -owhFf - /dev/null "${engine[@]}" || true; } | sort -u | wc -l)
[ "$n" -le "$most_of_lateness" ] || printf '%s of at most %s\n' "$n" "$most_of_lateness" |
	verdict "too many tuning constants of the lateness engine"

# Fractions in the code itself. base/ and the .def files are arithmetic and tables of facts.
printf '%s\n' "${files[@]}" | awk '!/^analyzer\/(base|render|charts|timeline)\// && !/\/limits[.]h$/' | xargs -r -d '\n' awk '
	FNR == 1 { comment = 0 }
	{
		line = $0
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (comment) { if (!sub(/^.*\*\//, "", line)) next; comment = 0 }
		gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
		if (sub(/\/\*.*/, "", line)) comment = 1
		if (line ~ /^#/ || define) { define = line ~ /\\$/; next }
		if (line ~ /quantile/) gsub(/0[.](25|75|99)/, "", line)
		while (match(line, /[0-9]+([.][0-9]*(e[-+]?[0-9]+)?|e[-+]?[0-9]+)|[.][0-9]+/)) {
			number = substr(line, RSTART, RLENGTH)
			before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
			line = substr(line, RSTART + RLENGTH)
			if (before ~ /[A-Za-z_0-9]/ || number ~ /^(0[.]5|[0-9]+[.]0?|1e[0-9]+)$/) continue
			print FILENAME ":" FNR ": " number
		}
	}
' | verdict "fractions that are not in a limits.h"
