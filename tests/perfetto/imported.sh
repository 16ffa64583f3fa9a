#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs written as lines, with all that makes a timeline hard, in Perfetto's own engine; whole, and cut in each way that
# `commtrace timeline` knows. A large one: its overview.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
commtrace=$CT_BUILD/bin/commtrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# job NAME HOSTS RANKS STEPS STOP
job() {
	awk -v seed="${#1}" -v hosts="$2" -v ranks="$3" -v steps="$4" -v stop="$5" -f "$here/gpu_job.awk" >lines
	"$commtrace" import jsonl lines -o "$1" >/dev/null
}

job whole 1 4 8 0
job stops 2 4 8 1
job three-hosts 3 6 10 1
job one 1 1 3 0
"$commtrace" import jsonl "$here/../cli/data/four_ranks.jsonl" -o gloo >/dev/null
"$CT_BUILD/bin/commtrace-synth" -o large --hosts 2 --workload ddp --steps 20 --fault slow-rank:rank=5,pct=30
"$here/check.sh" whole stops three-hosts one gloo \
	+ stops -- --window 20ms..45ms \
	+ three-hosts -- --ranks 1,3-4 --flows=all \
	+ whole -- --max-slices 500 --flows=none \
	+ large -- --max-slices 4000
