#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that move no data are dumped if asked for, read back, and judged by: the slow rank of a job that waits in
# messages only is named from the lines alone, and not without the lines of its waits.
awk -v steps=120 'BEGIN {
	# Two ranks exchange a message a step and reduce every second step; rank 1 computes 30 ms longer in each.
	now[0] = now[1] = 1000000000
	for (r = 0; r < 2; r++) {
		common(r, "MPI_Init", now[r] - 5000000, now[r] - 1000)
		printf "\"op\":null,\"comm\":\"00000000c0ffee01\",\"nranks\":2,\"comm_rank\":%d}\n", r
	}
	for (s = 0; s < steps; s++) {
		for (r = 0; r < 2; r++) {
			posted[r] = now[r] + 20000000 + r * 30000000 + (s * 7 + r * 3) % 5 * 10000
			waits[r] = posted[r] + 5000
		}
		last = (posted[0] > posted[1] ? posted[0] : posted[1]) + 40000
		for (r = 0; r < 2; r++) {
			end = last > waits[r] ? last : waits[r]
			for (recv = 0; recv < 2; recv++)
				line(r, recv ? "Recv" : "Send", recv ? "MPI_Irecv" : "MPI_Isend",
					sprintf("\"peer\":%d,\"peer_seq\":%d,\"tag\":%d,\"count\":64,\"dtype\":\"float64\",\"start_ns\":%.0f,\"end_ns\":%.0f",
						1 - r, s, recv ? r : 1 - r, posted[r] + 1000 * recv, end), posted[r] + 1000 * recv, posted[r] + 1000 * recv + 500)
			call(r, "MPI_Waitall", waits[r], end)
			now[r] = end
		}
		if (s % 2)
			continue
		last = (now[0] > now[1] ? now[0] : now[1]) + 20000
		for (r = 0; r < 2; r++) {
			line(r, "AllReduce", "MPI_Allreduce", sprintf("\"seq\":%d,\"count\":1,\"dtype\":\"float64\",\"redop\":\"max\"", s / 2), now[r], last)
			now[r] = last
		}
	}
	# and one that never came back
	call(0, "MPI_Probe", now[0] + 1000, 0)
}
function common(r, name, enter, leave) {
	printf "{\"rank\":%d,%s\"timing\":\"call\",\"call\":\"%s\",\"enter_ns\":%.0f,", r, name ~ /Init|Wait|Probe/ ? "" : "\"backend\":\"mpi\",", name, enter
	printf leave ? "\"return_ns\":%.0f,\"result\":0," : "\"return_ns\":null,", leave
}
function line(r, op, name, what, enter, leave) {
	common(r, name, enter, leave)
	printf "\"op\":\"%s\",\"comm\":\"00000000c0ffee01\",\"nranks\":2,\"comm_rank\":%d,%s}\n", op, r, what
}
function call(r, name, enter, leave) {
	common(r, name, enter, leave)
	print "\"op\":null}"
}' >job.jsonl
commtrace import jsonl job.jsonl -o run1
commtrace dump run1 --calls -o first.jsonl
commtrace import jsonl first.jsonl -o run2
commtrace dump run2 --calls --format=jsonl | cmp - first.jsonl
grep -c '"op":null' first.jsonl
commtrace dump run1 --format=jsonl | grep -c '"op":null'
commtrace dump run1 --calls | grep -m 1 ' MPI_Waitall$'
commtrace dump run1 --calls | grep ' MPI_Probe$'
commtrace dump run2 --format=jsonl | grep -c '"backend":"mpi"'
commtrace report run2 | sed -n 's/ costs .*//; 1p'
grep -v '"op":null' first.jsonl | commtrace import jsonl - -o run3
commtrace report run3 | sed -n 's/:.*//; 1p'
echo '{"op":null,"enter_ns":5}' | commtrace import jsonl - -o run4
echo "exit $?"
