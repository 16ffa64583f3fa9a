# SPDX-License-Identifier: Apache-2.0
# gpu_job.awk: awk -v seed=N -v hosts=H -v ranks=R -v steps=S -v stop=0|1 -f gpu_job.awk writes the lines of a job on GPUs, as
# `commtrace import jsonl` reads them. It has everything that makes a timeline hard: several streams, groups, messages both
# ways at once, launches that jitter into each other or really overlap, nested calls, two threads, a clock of its own for each
# host, a failed call, captured work, spans without a start; and with stop=1 it hangs in the last step.
function jitter(most) { return int(rand() * most) }
function line(r, text) {
	printf "{\"rank\":%d,\"world_size\":%d,\"host\":\"gpu%d\",\"pid\":%d,\"clock_offset_ns\":%.0f,\"tid\":%d,\"backend\":\"nccl\",%s}\n",
		r, ranks, host(r), 1000 + r, 1700000000000000000 - clock(r, 0) + 3000000 * host(r), thread ? thread : 1000 + r, text
}
function host(r) { return int(r * hosts / ranks) }
# What host clocks show at job time t: each has been up for another time. Their wall clocks are 3 ms apart.
function clock(r, t) { return sprintf("%.0f", t + 1000000000 * (5 + 10 * host(r))) }
function comm(key, name, n, me) {
	return sprintf("\"comm\":\"%016x\",\"comm_name\":\"%s\",\"nranks\":%d,\"comm_rank\":%d", key, name, n, me)
}
function what(call, op, seq, count) {
	return sprintf("\"call\":\"%s\",\"op\":\"%s\",\"seq\":%d,\"count\":%d,\"dtype\":\"bfloat16\"%s", call, op, seq,
		count, op ~ /Reduce/ ? ",\"redop\":\"sum\"" : "")
}
function message(call, op, peer, seq, count) {
	return sprintf("\"call\":\"%s\",\"op\":\"%s\",\"peer\":%d,\"peer_seq\":%d,\"tag\":0,\"count\":%d,\"dtype\":\"bfloat16\"", call, op,
		peer, seq, count)
}
function called(r, enter, took) { return sprintf("\"enter_ns\":%s,\"return_ns\":%s,\"result\":0", clock(r, enter), clock(r, enter + took)) }
# A span on a stream; start or end 0: not measured.
function span(r, stream, start, end, group) {
	return sprintf("\"stream\":%d,\"device\":%d%s%s%s,\"start_err_ns\":3000,\"end_err_ns\":3000,\"timing\":\"events\"", stream, r % 8,
		start ? sprintf(",\"start_ns\":%s", clock(r, start)) : "",
		end ? sprintf(",\"end_ns\":%s,\"state\":\"finished\"", clock(r, end)) : ",\"state\":\"returned\"",
		group ? sprintf(",\"group\":%d", group) : "")
}
BEGIN {
	srand(seed)
	if (!ranks) ranks = 4
	if (!hosts) hosts = 1
	if (!steps) steps = 8
	for (s = 0; s < steps; s++) {
		t = 1000000 + s * 10000000
		last = s == steps - 1 && stop
		# Gradients: four all-reduces on the communicator of all, one after the other on one stream.
		end = t + 1500000
		for (b = 0; b < 4; b++) {
			end += 900000
			late = (s % 3 == 1) ? ranks - 1 : -1
			for (r = 0; r < ranks; r++) {
				start[r] = (b ? done[r] - jitter(2) * 2000 : t + 1000000 + jitter(40000)) + (r == late && !b ? 600000 : 0)
				enter = t + 100000 * b + jitter(9000)
				text = comm(3735928559, "dp", ranks, r) "," what("ncclAllReduce", "AllReduce", 4 * s + b, 1048576 * (b + 1)) "," \
					called(r, enter, 8000 + jitter(3000)) ",\"site\":\"train.py:" (40 + b) " step\","
				if (last && b == 2)
					line(r, text span(r, 7, r == 1 ? 0 : start[r], 0)) # rank 1 never got there
				else if (last && b > 2) {
					if (r != 1) line(r, text span(r, 7, 0, 0)) # behind it on the stream
				} else
					line(r, text span(r, 7, start[r], end + jitter(20000)))
				done[r] = end
			}
		}
		if (last) continue
		for (r = 0; r < ranks; r++) {
			# A group of three on one stream: one launch.
			for (k = 0; k < 3; k++)
				line(r, comm(3735928559, "dp", ranks, r) "," what("ncclReduceScatter", "ReduceScatter", 4 * steps + 3 * s + k, 4096) \
					"," called(r, t + 700000 + 12000 * k, 6000) "," span(r, 9, t + 6000000 + 30000 * r, t + 6500000, 4 * s + 1))
			# To the next and from the one before, in one group.
			next_rank = (r + 1) % ranks; before = (r + ranks - 1) % ranks
			line(r, comm(3735928559, "dp", ranks, r) "," message("ncclSend", "Send", next_rank, s, 65536) "," \
				called(r, t + 800000, 4000) "," span(r, 11, t + 6600000 + jitter(90000), t + 6900000, 4 * s + 2))
			line(r, comm(3735928559, "dp", ranks, r) "," message("ncclRecv", "Recv", before, s, 65536) "," \
				called(r, t + 806000, 4000) "," span(r, 11, t + 6600000, t + 6900000, 4 * s + 2))
			# The same messages to all: an all-to-all.
			for (p = 0; p < ranks; p++) {
				if (p == r) continue
				line(r, comm(49374, "ep", ranks, r) "," message("ncclSend", "Send", p, s, 777) "," \
					called(r, t + 820000 + 9000 * p, 3000) "," span(r, 13, t + 7000000 + 9000 * r, t + 7200000, 4 * s + 3))
				line(r, comm(49374, "ep", ranks, r) "," message("ncclRecv", "Recv", p, s, 777) "," \
					called(r, t + 824000 + 9000 * p, 3000) "," span(r, 13, t + 7000000 + 9000 * r, t + 7200000, 4 * s + 3))
			}
			# Pairs on another stream at the same time: really two at once, so two lanes.
			thread = 5000 + r
			pair = int(r / 2)
			for (k = 0; k < 2 && ranks % 2 == 0; k++)
				line(r, comm(43690 + pair, "pp", 2, r % 2) "," message(r % 2 ? "ncclRecv" : "ncclSend", r % 2 ? "Recv" : "Send", 1 - r % 2, \
					2 * s + k, 9999) "," called(r, t + 500000 + 20000 * k, 5000) "," \
					span(r, 21 + k, t + 3000000 + 200000 * k, t + 3500000 + 100000 * k, 0))
			thread = 0
			# On one stream, and overlapping all the same, by far more than the error of the times.
			for (k = 0; k < 2; k++)
				line(r, comm(3735928559, "dp", ranks, r) "," what("ncclBroadcast", "Broadcast", 7 * steps + 2 * s + k, 1000) ",\"root\":0," \
					called(r, t + 900000 + 9000 * k, 3000) "," span(r, 17, t + 8000000 + 100000 * k, t + 8300000 + 100000 * k))
			# A call inside of a call; one that failed; work in a graph; an end without a start.
			line(r, comm(3735928559, "dp", ranks, r) "," what("ncclAllGather", "AllGather", 9 * steps + 2 * s, 512) "," \
				called(r, t + 950000, 30000) "," span(r, 17, t + 8600000, t + 8700000))
			line(r, comm(3735928559, "dp", ranks, r) "," what("ncclAllGather", "AllGather", 9 * steps + 2 * s + 1, 512) "," \
				called(r, t + 960000, 5000) "," span(r, 17, t + 8700000, t + 8700000))
			if (s == 2)
				line(r, comm(3735928559, "dp", ranks, r) "," what("ncclReduce", "Reduce", 12 * steps, 5) ",\"root\":1,\"enter_ns\":" \
					clock(r, t + 990000) ",\"return_ns\":" clock(r, t + 991000) ",\"result\":4,\"state\":\"error\",\"timing\":\"off\"")
			if (s == 3)
				line(r, comm(3735928559, "dp", ranks, r) "," what("ncclAllReduce", "AllReduce", 12 * steps + 1, 5) ",\"captured\":true," \
					called(r, t + 992000, 1000))
			if (s == 4)
				line(r, comm(3735928559, "dp", ranks, r) "," what("ncclAllReduce", "AllReduce", 12 * steps + 2, 5) "," \
					called(r, t + 994000, 1000) "," span(r, 7, 0, t + 9000000))
		}
	}
	if (stop)
		# One is still inside of its call.
		line(0, comm(3735928559, "dp", ranks, 0) "," what("ncclAllReduce", "AllReduce", 12 * steps + 3, 5) ",\"enter_ns\":" \
			clock(0, 2000000 + steps * 10000000))
}
