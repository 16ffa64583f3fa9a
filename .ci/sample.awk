# SPDX-License-Identifier: Apache-2.0
# sample.awk — the lines of `commtrace dump` for a job of 4 ranks, 10 steps, one all-reduce each, in which rank 2 comes
# 60 ms late: what the tarball's sample run is made from where there is no torch to record.
BEGIN {
	ms = 1000000
	for (rank = 0; rank < 4; rank++) {
		for (step = 0; step < 10; step++) {
			begin = (1000 + step * 100) * ms
			enter = begin + (rank == 2 ? 60 * ms : 0) + rank * 20000
			leave = begin + 72 * ms + rank * 30000
			printf "{\"rank\":%d,\"pid\":%d,\"tid\":%d,\"lane\":0,\"backend\":\"import\",\"call\":\"gloo::allreduce\",", rank, 1000 + rank, 1000 + rank
			printf "\"op\":\"AllReduce\",\"comm\":\"00000000c0ffee00\",\"seq\":%d,\"peer\":null,\"peer_seq\":null,\"root\":null,", step
			printf "\"count\":399370,\"dtype\":\"float32\",\"redop\":\"sum\",\"bytes\":1597480,\"stream\":null,\"group\":null,"
			printf "\"state\":\"finished\",\"result\":0,\"enter_ns\":%.0f,\"return_ns\":%.0f,", enter, leave
			printf "\"start_ns\":%.0f,\"start_err_ns\":0,\"end_ns\":%.0f,\"end_err_ns\":0,", enter, leave
			printf "\"timing\":\"call\",\"captured\":false,\"site\":null,\"stack\":null}\n"
		}
	}
}
