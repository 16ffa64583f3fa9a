#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh RUN... [-- OPTION...]: merges each run (with these options of `commtrace merge`), loads the file into Perfetto's own
# engine and compares what that sees, slice by slice, with what the analyzer meant. Says what differs, exit 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CT_BUILD:-$here/../../build}
commtrace=$build/bin/commtrace
runs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	runs+=("$1")
	shift
done
[ $# = 0 ] || shift
[ ${#runs[@]} -gt 0 ] || { echo "usage: check.sh RUN... [-- OPTION...]" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for run in "${runs[@]}"; do
	rm -f "$work"/*
	"$commtrace" merge "$run" "$@" -o "$work/run.pftrace" >"$work/said" 2>"$work/warned" || { cat "$work/warned"; exit 1; }
	"$commtrace" merge "$run" "$@" --format=tuples >"$work/tuples" 2>/dev/null
	arrows=$(sed -n 's/.* \([0-9]*\) arrows,.*/\1/p' "$work/said")
	case " $* " in *" --flows=all "*) arrows= ;; esac # those are chains: not one arrow each
	"$here/judge.sh" "$work/run.pftrace" "$work/tuples" "$arrows"
	printf '%s: %s\n' "$run" "$(head -n 1 "$work/said" | sed "s| into .*||")"
done
