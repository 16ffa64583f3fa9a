#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--accept] CASE...: runs tests/cli/CASE.sh in an empty directory and an empty environment and compares.
#   CASE.sh.stdout.exact, .stderr.exact   the bytes; missing: nothing
#   CASE.sh.stdout.glob, .stderr.glob     a pattern a line ([[ line == pattern ]]); a line ** stands for any lines
#   CASE.sh.exit                          exit status; missing: 0
# Whatever runs it leaves there, hang and report must say the same of them (tests/hang/same_answer.py).
# --accept writes what it got into the .exact files and .exit; a .glob is for a person to change.
# A case may use: commtrace in PATH, $data (tests/cli/data), $build, $CT_GLOO_JOB (job_* only). Its directory is removed afterwards.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CT_BUILD:-$here/../../build}
accept=0
if [ "${1:-}" = --accept ]; then
	accept=1
	shift
fi
[ $# -gt 0 ] || { echo "usage: run.sh [--accept] CASE..." >&2; exit 2; }

# matches FILE GLOB: line by line; ** is tried with as few lines as will do.
matches() {
	local -a lines patterns
	mapfile -t lines <"$1"
	mapfile -t patterns <"$2"
	local l=0 p=0 star=-1 back=0
	# The pattern is meant to be one.
	# shellcheck disable=SC2053
	while [ $l -lt ${#lines[@]} ]; do
		if [ $p -lt ${#patterns[@]} ] && [ "${patterns[$p]}" = "**" ]; then
			star=$p back=$l p=$((p + 1))
		elif [ $p -lt ${#patterns[@]} ] && [[ ${lines[$l]} == ${patterns[$p]} ]]; then
			l=$((l + 1)) p=$((p + 1))
		elif [ $star -ge 0 ]; then
			back=$((back + 1)) l=$back p=$((star + 1))
		else
			printf 'line %d: %s\nfits no line of %s from: %s\n' $((l + 1)) "${lines[$l]}" "$2" \
				"${patterns[$p]:-its end}"
			return 1
		fi
	done
	while [ $p -lt ${#patterns[@]} ] && [ "${patterns[$p]}" = "**" ]; do p=$((p + 1)); done
	[ $p -eq ${#patterns[@]} ] || { printf 'nothing fits: %s\n' "${patterns[$p]}"; return 1; }
}

# check STREAM GOT: against what is written down for it.
check() {
	local exact=$here/$name.sh.$1.exact glob=$here/$name.sh.$1.glob
	if [ -e "$glob" ]; then
		matches "$2" "$glob" && return 0
	elif [ $accept = 1 ]; then
		if [ -s "$2" ]; then cp "$2" "$exact"; else rm -f "$exact"; fi
		return 0
	else
		[ -e "$exact" ] || exact=/dev/null
		cmp -s "$exact" "$2" && return 0
		diff -u "$exact" "$2" | tail -n +3
	fi
	printf -- '--- %s of %s was:\n' "$1" "$name"
	cat "$2"
	return 1
}

failed=0
for name in "$@"; do
	work=$(mktemp -d)
	mkdir "$work/dir" "$work/rings" "$work/tmp"
	(
		cd "$work/dir" || exit 99
		# A standard input that ends at once, and nothing of the caller's environment but what sanitizers need.
		exec env -i PATH="$build/bin:/usr/local/bin:/usr/bin:/bin" HOME="$work" TMPDIR="$work/tmp" LC_ALL=C TZ=UTC \
			TERM=dumb COMMTRACE_RING_DIR="$work/rings" data="$here/data" build="$build" \
			CT_GLOO_JOB="${CT_GLOO_JOB:-}" ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}" UBSAN_OPTIONS="${UBSAN_OPTIONS:-}" \
			bash "$here/$name.sh"
	) </dev/null >"$work/stdout" 2>"$work/stderr"
	got=$?
	want=0
	[ ! -e "$here/$name.sh.exit" ] || want=$(cat "$here/$name.sh.exit")
	if [ $accept = 1 ]; then
		if [ $got = 0 ]; then rm -f "$here/$name.sh.exit"; else echo $got >"$here/$name.sh.exit"; fi
	elif [ "$got" != "$want" ]; then
		echo "--- $name ended with $got, not $want"
		failed=1
	fi
	if ! env -i PATH="$PATH" LC_ALL=C TZ=UTC COMMTRACE_RING_DIR="$work/rings" ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}" \
		python3 "$here/../hang/same_answer.py" "$build/bin/commtrace" $(find "$work/dir" -mindepth 1 -maxdepth 1 -type d); then
		echo "--- hang and report of $name say different things"
		failed=1
	fi
	check stdout "$work/stdout" || failed=1
	check stderr "$work/stderr" || failed=1
	rm -rf "$work"
done
exit $failed
