#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By default a report has at most 25 lines, and its headlines at most 80 columns, whatever was found. A table says how many of
# its rows are left out.
try() {
	commtrace-synth -o run --steps 30 "$@" >/dev/null || return
	commtrace report run --color=never >report
	[ "$(wc -l <report)" -le 25 ] || { echo "$*: more than 25 lines"; cat report; }
	commtrace report --json run | jq -r '(.verdict, .findings[]) | "\(.title): \(.headline)"' |
		awk -v of="$*" 'length($0) > 80 { print of ": " $0 }'
	awk '/^$/ { in_table = 0 } in_table && /^[.][.][.] [0-9]+ more / { n += $2; next } in_table { n++ } /^operation / { in_table = 1 }
		END { if (n) print n }' report >rows
	[ ! -s rows ] || commtrace report --json run | jq -e --argjson n "$(cat rows)" '(.ops | length) == $n' >all || { echo "$*: rows"; cat report; }
	rm -r run run.truth.json
}
export LC_ALL=C.UTF-8
for workload in ddp fsdp megatron moe decode; do
	try --workload $workload --hosts 2 --gpus-per-host 8
	try --workload $workload --hosts 2 --gpus-per-host 8 --fault slow-rank:rank=5,pct=30
	try --workload $workload --hosts 2 --gpus-per-host 8 --fault pause:rank=3,every=5,ms=60
done
try --workload moe --hosts 4 --gpus-per-host 8 --fault slow-rank:rank=5,pct=20
try --workload ddp --hosts 16 --gpus-per-host 8 --fault kill:rank=100,op=60
try --workload ddp --hosts 2 --gpus-per-host 8 --fault drop-trace:rank=3
try --workload ddp --hosts 2 --gpus-per-host 8 --fault starve-sm:rank=2,ms=3
