#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The queries of docs/PERFETTO.md, in Perfetto's own engine: of a job that the host times and of one on GPUs each gives an answer where
# there is one, and how long each rank waited is what the report says.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
page=$(cd "$here/../../docs" && pwd)/PERFETTO.md
commtrace=$CT_BUILD/bin/commtrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
engine=$("$here/fetch.sh")
awk '/^```sql$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print >("query" n) }' "$page"
[ -e query1 ] || { echo "docs/PERFETTO.md has no queries"; exit 1; }
waits=$(grep -l waited_ms query*)

# ask RUN EMPTY...: the queries that have nothing to tell of this run, by a word in them.
ask() {
	local run=$1 word query queries=() failed=0
	shift
	"$commtrace" merge "$run" -o "$run.pftrace" >/dev/null 2>&1
	for query in query*; do queries+=("$(cat "$query")"); done
	node --liftoff-only "$here/tp.mjs" "$engine" "$run.pftrace" "${queries[@]}" |
		awk -v run="$run" 'BEGIN { n = 1 } /^--$/ { n++; next } { print >(run "-query" n) }'
	for query in query*; do
		for word in "$@"; do ! grep -q "$word" "$query" || continue 2; done
		[ -s "$run-$query" ] || { echo "$run: no answer to: $(cat "$query")"; failed=1; }
	done
	"$commtrace" report "$run" --format=json 2>/dev/null >"$run.json"
	python3 - "$run.json" "$run-$waits" <<-'PY' || failed=1
	import json, sys
	want = {r["rank"]: r["wait_ns"] / 1e6 for r in json.load(open(sys.argv[1]))["ranks"] if r["wait_ns"] is not None}
	got = {int(rank): float(ms) for rank, ms in (line.split("\t") for line in open(sys.argv[2]))}
	# Waits that are smaller than their error are not drawn: only on GPUs is there such.
	least = 0.5 if sys.argv[1] == "gpu.json" else 1
	if any(want.values()) and want.keys() == got.keys() and all(least * want[r] - 1e-3 < got[r] < want[r] + 1e-3 for r in want):
	    sys.exit(0)
	sys.exit(f"{sys.argv[1]}: waited, in ms: the report says {want}, the timeline {got}")
	PY
	[ $failed = 0 ]
}

"$commtrace" import jsonl "$here/../cli/data/four_ranks.jsonl" -o host >/dev/null
awk -v seed=3 -v hosts=1 -v ranks=4 -v steps=8 -v stop=1 -f "$here/gpu_job.awk" >lines
"$commtrace" import jsonl lines -o gpu >/dev/null
failed=0
ask host 'from flow' n_ops || failed=1
ask gpu || failed=1
exit $failed
