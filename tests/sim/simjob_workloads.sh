#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every workload ends well, with the same results whatever its ranks are made of: processes of their own or threads of
# fewer processes, with durations or without, once or again.
. "$(dirname "$0")/simjob.sh"

common=(--ranks 8 --nodes 2 --steps 4 --seed 7)
sums=
for workload in ddp megatron fsdp moe decode; do
	job=("${common[@]}" --workload "$workload")
	run "$workload" "${job[@]}"
	run threads2 "${job[@]}" --ranks-per-process 2
	run threads4 "${job[@]}" --ranks-per-process 4
	run untimed "${job[@]}" --timing none
	run again "${job[@]}"
	run ahead "${job[@]}" --fault run-ahead:ms=20
	for name in "$workload" threads2 threads4 untimed again ahead; do
		[ "$(cat "$dir/$name.rc")" = 0 ] || fail "$workload, $name: exit status $(cat "$dir/$name.rc"): $(cat "$dir/$name.err")"
		[ ! -s "$dir/$name.err" ] || fail "$workload, $name: says $(cat "$dir/$name.err")"
		cmp "$dir/$workload.out" "$dir/$name.out" || fail "$workload, $name: other checksums"
		[ "$(sum "$name" wrong) $(sum "$name" misuse) $(sum "$name" steps)" = "0 0 36" ] ||
			fail "$workload, $name: $(cat "$dir/$name.json")"
		grep '"rank":' "$dir/$name.json" >"$dir/$name.ranks"
		cmp "$dir/$workload.ranks" "$dir/$name.ranks" || fail "$workload, $name: other results"
	done
	cmp "$dir/$workload.json" "$dir/again.json" || fail "$workload: two runs, two results"
	[ "$(ends "$workload")" = "8 exit 0" ] || fail "$workload: $(ends "$workload")"
	[ "$(ends threads4)" = "2 exit 0" ] || fail "$workload: $(ends threads4)"
	grep -cx 'step=[0-3] checksum=[0-9a-f]\{16\}' "$dir/$workload.out" | grep -qx 4 || fail "$workload: $(cat "$dir/$workload.out")"
	# The checksum is made of data: every step, and every workload, has another.
	sums+=$(sed 's/.*checksum=//' "$dir/$workload.out")$'\n'
done
[ "$(printf '%s' "$sums" | sort | uniq -d)" = "" ] || fail "checksums repeat: $sums"

# A job of one rank, one of an odd number, and one that is larger than what it runs on.
run one --ranks 1 --steps 3 --workload fsdp --timing none
run seven --ranks 7 --steps 3 --workload moe --timing none
run many --ranks 64 --nodes 8 --steps 2 --workload megatron --tp 4 --pp 4 --scale 2048
for name in one seven many; do
	[ "$(cat "$dir/$name.rc") $(sum "$name" wrong) $(sum "$name" misuse)" = "0 0 0" ] || fail "$name: $(cat "$dir/$name.err")"
done
