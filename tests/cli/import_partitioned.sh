#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A partitioned transfer is matched with its like only, whatever other transfer has the same tag and number.
line() {
	printf '{"rank":%d,"pid":%d,"backend":"mpi","call":"%s","op":"%s","comm":"00000000c0ffee01","nranks":2,"comm_rank":%d,"peer":%d,"peer_seq":0,"tag":9,"bytes":%d,"enter_ns":%d,"return_ns":%d}\n' \
		"$1" "$((100 + $1))" "$2" "$3" "$1" "$((1 - $1))" "$4" "$5" "$(($5 + 10))"
}
{
	line 0 MPI_Psend_init Send 64 100
	line 1 MPI_Precv_init Recv 64 100
	line 0 MPI_Send Send 8 200
	line 1 MPI_Recv Recv 8 200
} >in.jsonl
commtrace import jsonl in.jsonl -o run1
commtrace dump run1 --format=jsonl | grep -o '"call":"[A-Za-z_]*"\|"tag":[0-9]*' | paste - -
commtrace report run1 --format=json | grep -m 1 '"op_count"'
