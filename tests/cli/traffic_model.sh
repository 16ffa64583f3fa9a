#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three ranks of MPI: an all-reduce of 300 bytes, 7 bytes from each to each other, and a message of 1000 bytes. The all-reduce is
# laid on pairs by a model, the rest is exact.
for rank in 0 1 2; do
	call() {
		echo "{\"rank\":$rank,\"call\":\"MPI_$1\",\"op\":\"$1\",\"comm\":\"00c0ffee00000001\",\"nranks\":3,\"comm_rank\":$rank,\"seq\":$2,\"bytes\":$3,\"enter_ns\":$((1000000000 + 1000000 * $2)),\"return_ns\":$((1000500000 + 1000000 * $2)),\"timing\":\"call\"}"
	}
	call AllReduce 0 300
	call AllToAll 1 7
	[ $rank -ne 0 ] || echo '{"rank":0,"op":"Send","comm":"00c0ffee00000001","nranks":3,"comm_rank":0,"peer":2,"peer_seq":0,"bytes":1000,"enter_ns":2000000000,"return_ns":2000001000,"timing":"call"}'
	[ $rank -ne 2 ] || echo '{"rank":2,"op":"Recv","comm":"00c0ffee00000001","nranks":3,"comm_rank":2,"peer":0,"peer_seq":0,"bytes":1000,"enter_ns":2000000000,"return_ns":2000001000,"timing":"call"}'
done >job.jsonl
commtrace import jsonl job.jsonl -o run1 >/dev/null
commtrace report run1 --format=json | tr -d '\n ' | grep -o '"traffic":{.*"layers":' |
	sed 's/,"why.*exact_bytes/, exact_bytes/; s/,"unattributed.*//; s/],\[/],\n [/g'
commtrace info --whole run1 | sed -n '/^traffic/,/^$/p'
