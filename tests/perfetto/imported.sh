#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs written as lines, with all that makes a timeline hard, in Perfetto's own engine; whole, and cut in each way that
# `commtrace timeline` knows. A large one: its overview and details, and that what was found shows in the file that the overview names.
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
	+ large -- --max-slices 4000 | tee said
grep -q '^large --max-slices 4000.detail-1: ok' said || { echo "no detail was judged"; exit 1; }

"$commtrace" timeline large --max-slices 4000 -o large.pftrace >/dev/null 2>&1
engine=$("$here/fetch.sh")
of_finding() { echo "extract_arg(s.arg_set_id, 'debug.$1')"; }
node --liftoff-only "$here/tp.mjs" "$engine" large.pftrace "select $(of_finding file), $(of_finding 'ranks[0]'), $(of_finding begin_ns),
	$(of_finding end_ns) from slice s join track t on t.id = s.track_id where t.name = 'Findings' and $(of_finding file) is not null" |
	grep -v '^--$' >places
[ -s places ] || { echo "the overview's findings name no file"; exit 1; }
while read -r file rank begin end; do
	node --liftoff-only "$here/tp.mjs" "$engine" "$file" "select count(*) from slice where category = 'comm.gpu'
		and extract_arg(arg_set_id, 'debug.rank') = $rank and ts between $begin and $end" |
		head -n 1 | grep -qx '[1-9][0-9]*' || { echo "$file shows nothing of rank $rank from $begin to $end ns"; exit 1; }
done <places
