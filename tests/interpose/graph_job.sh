#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Jobs on simulated GPUs that decode with CUDA graphs: the same with and without the preload, what they recorded, who
# was slow, and what is there of a rank that was killed.
set -u
bin=$CT_BUILD/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# The jobs end before auto goes over to events.
export COMMTRACE_TIMING=events

# job NAME OPTIONS...: under the preload, recorded in NAME
job() {
	local name=$1
	shift
	LD_PRELOAD=$CT_BUILD/lib/libcommtrace.so COMMTRACE_DIR=$PWD/$name COMMTRACE_RING_DIR=$PWD COMMTRACE_QUIET=1 \
		"$bin/commtrace-simjob" --workload decode --ranks 4 --step-ms 4 --result "$name.json" "$@" >"$name.out"
}
bare() {
	"$bin/commtrace-simjob" --workload decode --ranks 4 --step-ms 4 --result bare.json "$@" >bare.out
}
ops() { "$bin/commtrace" dump "$1" --format=jsonl; }
# field KEY: of each line of JSON
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }

# The job notices nothing, whatever the mode; it fails by itself if CUDA was misused or a capture spoilt.
bare --steps 4 || fail "a job without graphs"
cp bare.out eager.out
for mode in global thread relaxed; do
	bare --steps 4 --graph=$mode || fail "a bare job, $mode"
	cmp -s bare.out eager.out || fail "graphs change what comes out, $mode"
	job "$mode" --steps 4 --graph=$mode || fail "a traced job, $mode"
	cmp "$mode.out" bare.out || fail "another output, $mode"
	cmp "$mode.json" bare.json || fail "another result, $mode"
done
for graph in off list; do
	COMMTRACE_GRAPH=$graph COMMTRACE_TIMING=off job "untimed-$graph" --steps 4 --graph || fail "untimed, $graph"
	cmp "untimed-$graph.json" bare.json || fail "another result, untimed, $graph"
done

# Three steps of 17 graphs: 16 of two all-reduces, one of the all-gather. Step 0 runs without them: 33 operations.
ops global >all.jsonl
grep '"op":"GraphLaunch"' all.jsonl >launches.jsonl
for rank in 0 1 2 3; do
	[ "$(grep -c "^{\"rank\":$rank,.*\"captured\":true" all.jsonl)" = 33 ] || fail "captured operations of rank $rank"
	grep "^{\"rank\":$rank," launches.jsonl | field seq | sort -n >seqs.$rank
	[ "$(wc -l <seqs.$rank)" = 51 ] || fail "launches of rank $rank"
	cmp seqs.$rank seqs.0 || fail "rank $rank numbers otherwise than rank 0"
	# what a launch carries out is what was captured under that number
	grep "^{\"rank\":$rank," launches.jsonl | head -17 | while read -r line; do
		list=$(field tag <<<"$line")
		[ "$(grep "^{\"rank\":$rank,.*\"group\":$list,.*\"captured\":true" all.jsonl | wc -l)" = "$(field count <<<"$line")" ] ||
			fail "list $list of rank $rank"
		[ "$(grep "^{\"rank\":$rank,.*\"group\":$list,.*\"captured\":true" all.jsonl | field bytes | awk '{ n += $1 } END { print n }')" = \
			"$(field bytes <<<"$line")" ] || fail "bytes of list $list of rank $rank"
	done || exit 1
done
[ "$(tail -1 seqs.0)" = 131 ] || fail "the last number is $(tail -1 seqs.0), not that of the 132nd operation"
[ "$("$bin/commtrace" report global --format=json | grep -c '"op": "GraphLaunch"')" -ge 1 ] || fail "no row"

# A rank that launches one graph less has the numbers of one graph less.
job skips --steps 4 --graph --fault skip:rank=2,op=131 --timing none --give-up 3 2>skips.err
[ "$(ops skips | grep '^{"rank":2,' | grep -c GraphLaunch)" = 50 ] || fail "rank 2 has launched all"
[ "$(ops skips | grep '^{"rank":1,' | grep -c GraphLaunch)" = 51 ] || fail "rank 1 has not launched all"

# Late between its graphs: named. Where others work on this machine one job may not show who it was; never is it someone else.
for try in 1 2 3 4 5 6; do
	rm -rf slow
	job slow --steps 40 --step-ms 20 --graph --fault slow-rank:rank=2,pct=100 || fail "a job with a slow rank"
	"$bin/commtrace" report slow --format=kv >slow.report || fail "report of a job with a slow rank"
	"$bin/commtrace" report slow --json | grep '"text": ' >>slow.report
	! grep -qE '^STRAGGLER ranks=2 |rank 2 was last in ' slow.report || break
	! grep -q '^STRAGGLER' slow.report || fail "somebody else is named: $(head -3 slow.report)"
	[ $try -lt 6 ] || fail "rank 2 is not named: $(head -3 slow.report)"
done

# A segment shows again what its graphs hold: the first ones can go.
COMMTRACE_SEGMENT_BYTES=64K COMMTRACE_FLUSH=100ms job long --ranks 2 --steps 1500 --graph --timing none || fail "a long job"
[ "$(ls long | grep -c '\.1\.seg$')" = 2 ] || fail "no second segment: $(ls long)"
rm long/*.0.seg
ops long | grep '"op":"GraphLaunch"' >long.jsonl
[ "$(wc -l <long.jsonl)" -gt 1000 ] || fail "hardly any launch in later segments"
grep -q '"bytes":null' long.jsonl && fail "what graphs hold was lost with the first segment"

# Killed while its peers' graphs wait for it: what it and they had under way is on record. On a busy machine it gets there later.
for ms in 1500 6000 15000; do
	rm -rf killed
	job killed --steps 40 --graph --fault block-stream:rank=1,op=500 --fault kill:rank=1,ms=$ms --on-death kill --give-up 20 2>/dev/null
	ops killed >killed.jsonl
	! grep '^{"rank":1,' killed.jsonl | grep '"op":"GraphLaunch"' | grep -q '"state":"\(started\|returned\)"' || break
	[ $ms -lt 15000 ] || fail "no launch of rank 1 is open"
done
[ "$(grep '^{"rank":1,' killed.jsonl | grep '"op":"GraphLaunch"' | grep -c '"state":"finished"')" -gt 100 ] ||
	fail "launches before that are lost"
exit 0
