#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# parts_of_others.sh BIN DATA: recordings of production jobs by others, imported and split. With --exact, parts give the bytes of the whole run;
# without, the same verdict, or none.
set -euo pipefail
PATH=$1:$PATH data=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/commtrace-parts.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { commtrace report --json --threads=1 "$@" && commtrace info --json "$@" && commtrace dump --json "$@" && { commtrace hang --json "$@" || [ $? = 3 ]; }; }
verdict() { commtrace report --json "$@" | jq -c '[.verdict.code, (.findings | map(select(.confidence != "low" and .severity != "info") | [.kind, .ranks]) | sort)]'; }
n=0
for file in "$data"/*.jsonl.gz; do
	rm -rf ./*
	zcat "$file" | commtrace import jsonl - -o run >/dev/null
	for share in 1 2 3; do
		commtrace partial run -o exact$share --share=$share/3 --exact >/dev/null
		commtrace partial run -o thin$share --share=$share/3 --keep=30 >/dev/null
	done
	say run >whole
	say exact3 exact1 exact2 | sed 's/"exact3"/"run"/' | cmp whole - || { echo "$file: other bytes"; exit 1; }
	thin=$(verdict thin2 thin3 thin1) all=$(verdict run)
	case $thin in
	"$all" | '["NOT_ENOUGH_EVIDENCE",'*) ;;
	*) echo "$file: $thin, not $all" && exit 1 ;;
	esac
	echo "$(basename "$file"): $all"
	n=$((n + 1))
done
[ $n -gt 0 ]
