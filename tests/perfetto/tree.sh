#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tree of tracks, as the UI asks Perfetto's own engine for it, is the one of docs/reference/PERFETTO.md: on one host, on several, on more than 64,
# and where operations overlap.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
engine=$("$here/fetch.sh")
cd "$work"

draw() { "$CT_BUILD/bin/commtrace" timeline "$1" -o "$1.pftrace" >/dev/null 2>&1; }
# synth RUN OPTION...
synth() {
	"$CT_BUILD/bin/commtrace-synth" -o "$@"
	draw "$1"
}
synth one --gpus-per-host 2 --workload megatron --tp 1 --pp 2 --steps 3 --fault slow-rank:rank=1,pct=90
synth several --hosts 2 --gpus-per-host 2 --workload fsdp --steps 2
synth many --hosts 66 --gpus-per-host 1 --workload ddp --steps 2
awk -v seed=3 -v hosts=1 -v ranks=2 -v steps=4 -v stop=0 -f "$here/gpu_job.awk" >lines
"$CT_BUILD/bin/commtrace" import jsonl lines -o overlapping >/dev/null
draw overlapping
node --liftoff-only "$here/tree.mjs" "$engine" {one,several,many,overlapping}.pftrace >seen

# A root without children stands in a group that the UI makes.
findings() { printf 'Global Track Events\n\tFindings\n'; }
job() {
	echo Job
	printf '\t%s\n' "$@"
}
# rank INDENT RANK THREAD TRACK...
rank() {
	local indent=$1 number=$2 thread=$3 track
	shift 3
	printf '%srank %04d · GPU 0\n' "$indent" "$number"
	for track in "$@"; do
		[ "$track" != thread ] || track="host thread $thread (main)"
		printf '%s\t%s\n' "$indent" "$track"
	done
}
# node INDENT NODE RANKS FIRST LAST
node_of() {
	local r
	printf '%sNode %03d node%d (%s)\n' "$1" "$2" "$2" "$3"
	for r in $(seq "$4" "$5"); do
		rank "$1"$'\t' "$r" $((4000000 + r)) 'nccl:9442 · stream 0x3' thread 'nccl:9442 busbw (GB/s, scale: busbw)'
	done
}
{
	echo '# one.pftrace'
	findings
	job 'nccl:9442 (2 ranks)' 'nccl:020e (2 ranks)' 'nccl:9442 busbw (GB/s, scale: busbw)' 'nccl:020e busbw (GB/s, scale: busbw)'
	for r in 0 1; do
		rank '' $r 400000$r 'nccl:9442 · stream 0x3' 'nccl:020e · stream 0x4' p2p thread 'nccl:9442 busbw (GB/s, scale: busbw)' \
			'nccl:020e busbw (GB/s, scale: busbw)'
	done
	echo '# several.pftrace'
	findings
	job 'nccl:9442 (4 ranks) [2 rows]' 'nccl:9442 busbw (GB/s, scale: busbw)'
	node_of '' 0 'ranks 0-1' 0 1
	node_of '' 1 'ranks 2-3' 2 3
	echo '# many.pftrace'
	job 'nccl:9442 (66 ranks)' 'nccl:9442 busbw (GB/s, scale: busbw)'
	for n in $(seq 0 65); do
		[ $((n % 64)) != 0 ] || printf 'Node group %02d\n' $((n / 64))
		node_of $'\t' "$n" "rank $n" "$n" "$n"
	done
	echo '# overlapping.pftrace'
	job 'dp:beef (2 ranks) [2 rows]' 'ep:c0de (2 ranks)' 'dp:beef busbw (GB/s, scale: busbw)' 'ep:c0de busbw (GB/s, scale: busbw)'
	for r in 0 1; do
		rank '' $r $((1000 + r)) 'dp:beef · stream 0x7 [2 rows]' 'dp:beef · stream 0x9' 'dp:beef · stream 0xb' \
			'dp:beef · stream 0x11 [2 rows]' 'ep:c0de · stream 0xd' 'p2p [2 rows]' thread "host thread $((5000 + r))" \
			'dp:beef busbw (GB/s, scale: busbw)' 'ep:c0de busbw (GB/s, scale: busbw)' | sed "1s/GPU 0/GPU $r/"
	done
} >want
diff want seen
