# SPDX-License-Identifier: Apache-2.0
# spans.awk — holds the times of a dump against what the simulator tells about its kernels.
#   awk -f spans.awk SPANS.jsonl DUMP.jsonl      the dump sorted by entry
# The launches of a rank on a communicator, in the order of their calls, are its kernels there. Prints, in one line:
#   N launches, N timed, N started, N outside, N wide
# timed: with an end; started: with a start; outside: whose start or end is wrong by more than its error; wide: with an
# error of a millisecond and more. Of times that were polled for only those count that are too early: when a program sees
# the end of a simulated kernel depends on the machine.
function get(key, at) {
	at = index($0, "\"" key "\":")
	if (!at)
		return ""
	at = substr($0, at + length(key) + 3)
	sub(/^ */, "", at)
	sub(/^"/, "", at)
	sub(/[",}].*/, "", at)
	return at
}
FNR == 1 { file++ }
file == 1 {
	k = get("rank") " " get("comm") " " get("launch")
	start[k] = get("start_ns") + 0
	end[k] = get("end_ns") + 0
	next
}
{
	rank = get("rank"); comm = get("comm"); group = get("group")
	if (group == "null" || (get("pid"), group) in seen)
		next
	seen[get("pid"), group]
	k = rank " " comm " " nth[rank, comm]++ + 0
	if (!(k in start)) {
		print "no kernel", k > "/dev/stderr"
		exit 1
	}
	launches++
	bad = is_wide = 0
	s = get("start_ns"); se = get("start_err_ns") + 0; e = get("end_ns"); ee = get("end_err_ns") + 0
	polled = get("timing") == "host"
	if (s != "null") {
		started++
		if (start[k] - s > se || (!polled && s - start[k] > se))
			bad = 1
	}
	if (e != "null") {
		timed++
		if (end[k] - e > ee || (!polled && e - end[k] > ee))
			bad = 1
	}
	outside += bad
	wide += se >= 1000000 || ee >= 1000000
}
END { printf "%d launches, %d timed, %d started, %d outside, %d wide\n", launches, timed, started, outside, wide }
