#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh RUN... [-- OPTION...] [+ RUN... [-- OPTION...]]...: draws each run (with these options of `commtrace timeline`), loads the file into
# Perfetto's own engine and compares what that sees, slice by slice, value by value and arrow by arrow, with what the analyzer
# meant. Says what differs, exit 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CT_BUILD:-$here/../../build}
commtrace=$build/bin/commtrace
[ $# -gt 0 ] || { echo "usage: check.sh RUN... [-- OPTION...] [+ RUN... [-- OPTION...]]..." >&2; exit 2; }
engine=$("$here/fetch.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw RUN OPTION...: a line for judge.mjs. Chains through the ranks are more arrows than it says.
draw() {
	local run=$1 at arrows=
	at=$(mktemp -u "$work/XXXXXX")
	shift
	"$commtrace" timeline "$run" "$@" -o "$at.pftrace" >"$at.said" 2>"$at.warned" || { cat "$at.warned" >&2; return 1; }
	"$commtrace" timeline "$run" "$@" -o "$at.tsv" >/dev/null 2>&1
	[[ " $* " == *" --flows=all "* ]] || arrows=$(sed -n "s|.* \([0-9]*\) arrows, .* into $at.pftrace.*|\1|p" "$at.said")
	printf '%s\t%s\t%s\t%s\n' "$run${*:+ $*}" "$at.pftrace" "$at.tsv" "$arrows"
}

draw_all() {
	local runs run
	while [ $# -gt 0 ]; do
		runs=()
		while [ $# -gt 0 ] && [ "$1" != -- ] && [ "$1" != + ]; do
			runs+=("$1")
			shift
		done
		options=()
		if [ "${1:-}" = -- ]; then
			shift
			while [ $# -gt 0 ] && [ "$1" != + ]; do
				options+=("$1")
				shift
			done
		fi
		[ $# = 0 ] || shift
		for run in "${runs[@]}"; do
			draw "$run" "${options[@]}"
		done
	done
}

# Files are drawn while others are judged. Optimizing the engine takes longer than loading small files into it.
quick=--liftoff-only
[ -z "${CT_PERFETTO_LARGE:-}" ] || quick=
# shellcheck disable=SC2086
draw_all "$@" | node $quick "$here/judge.mjs" "$engine"
