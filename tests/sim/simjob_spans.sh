#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The truth about kernels that commtrace-simjob shows: one line for each, and in them what slow ranks, slow links and
# CPUs that run ahead do to a job. Durations on the simulated GPUs are computed, so that most of this is exact; where
# the machine's own noise comes in, the fault is much larger.
. "$(dirname "$0")/simjob.sh"

spans() {
	local name=$1
	shift
	run "$name" --ranks 4 --nodes 2 --steps 12 --step-ms 10 --spans "$dir/$name.spans" "$@"
	[ "$(cat "$dir/$name.rc")" = 0 ] || fail "$name: $(cat "$dir/$name.err")"
}

# table NAME: rank launch start end, by launch. All of them have one communicator.
table() {
	sed 's/[",:{}]/ /g' "$dir/$1.spans" | awk '{ for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
		printf "%d %d %.0f %.0f\n", v["launch"], v["rank"], v["start_ns"], v["end_ns"] }' | sort -n
}

# median: of the numbers on stdin.
median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# transfer NAME: of the largest all-reduce of each step (the fourth launch of seven), from its last start to its first end, ns.
transfer() {
	table "$1" | awk '$1 % 7 == 3 { n[$1]++; if ($3 > s[$1]) s[$1] = $3; if (!($1 in e) || $4 < e[$1]) e[$1] = $4 }
		END { for (i in n) printf "%.0f\n", e[i] - s[i] }' | median
}

# lead NAME RANK: how much later than the others this rank begins the first all-reduce of a step, ns.
lead() {
	table "$1" | awk -v rank="$2" '$1 % 7 == 2 { if ($2 == rank) mine[$1] = $3; else if ($3 > last[$1]) last[$1] = $3 }
		END { for (i in mine) printf "%.0f\n", mine[i] - last[i] }' | median
}

# step NAME: ns from one step's first kernel to the next one's.
step() {
	table "$1" | awk '$2 == 0 && $1 % 7 == 0 { if (before) printf "%.0f\n", $3 - before; before = $3 }' | median
}

spans plain
[ "$(wc -l <"$dir/plain.spans")" = $((4 * 12 * 7)) ] || fail "$(wc -l <"$dir/plain.spans") spans"
[ "$(sed -n 's/.*"comm": "\([0-9a-f]\{16\}\)".*/\1/p' "$dir/plain.spans" | sort -u | wc -l)" = 1 ] || fail "more than one communicator"
# No one ends an all-reduce before every rank has begun it, and no one long after the others.
table plain | awk '$1 % 7 >= 2 { if ($3 > s[$1]) s[$1] = $3; if ($4 > e[$1]) e[$1] = $4; if (!($1 in f) || $4 < f[$1]) f[$1] = $4; n[$1]++ }
	END { for (i in n) if (n[i] != 4 || f[i] < s[i] || e[i] - f[i] > 10000) { print "launch", i; bad = 1 } exit bad }' || fail "ends"

fast=$(transfer plain)
spans link --fault slow-link:src=1,dst=2,factor=0.25
slow=$(transfer link)
[ "$slow" -gt $((3 * fast)) ] && [ "$slow" -lt $((5 * fast)) ] || fail "a link of a quarter: $fast, then $slow ns"
spans other --fault slow-link:src=2,dst=1,factor=0.25
[ "$(transfer other)" -lt $((fast * 3 / 2)) ] || fail "a link that the ring does not use: $fast, then $(transfer other) ns"

spans rank --fault slow-rank:rank=1,ms=15
[ "$(lead rank 1)" -gt 8000000 ] || fail "the slow rank comes $(lead rank 1) ns after the others"
[ "$(lead rank 2)" -lt 0 ] || fail "another rank comes $(lead rank 2) ns after the others"

# Ten ms of CPU in every step: hidden if the CPU may be ahead, added to the step if not.
# A busy machine makes the other run slow as well, now and then.
for try in 1 2 3; do
	spans behind --fault late-host:rank=0,ms=8
	spans ahead --fault late-host:rank=0,ms=8 --fault run-ahead:ms=30
	[ $(($(step ahead) + 4000000)) -ge "$(step behind)" ] || break
	[ $try -lt 3 ] || fail "a step takes $(step behind) ns, with run-ahead $(step ahead)"
done

# Ranks end up to 200 us apart, and as far apart as that.
spans skew --end-skew-us 200
apart() {
	table "$1" | awk '$1 % 7 >= 2 { if ($4 > e[$1]) e[$1] = $4; if (!($1 in f) || $4 < f[$1]) f[$1] = $4 }
		END { for (i in e) { d = e[i] - f[i]; if (d > most) most = d } printf "%.0f\n", most }'
}
[ "$(apart skew)" -gt 100000 ] && [ "$(apart skew)" -lt 205000 ] || fail "ends are $(apart skew) ns apart, not 200 us"

# One hardware queue: no rank waits for it, unless timed events are recorded (and the job records none). A busy machine makes a run
# slow now and then; a queue would make all of them slow.
for try in 1 2 3; do
	queue=$(CUDA_DEVICE_MAX_CONNECTIONS=1 && export CUDA_DEVICE_MAX_CONNECTIONS && spans queue && step queue)
	[ "$queue" -ge $(($(step plain) * 3 / 2)) ] || break
	[ $try -lt 3 ] || fail "with one queue a step takes $queue ns, otherwise $(step plain)"
done

# Kernels that are aborted end so long after it.
"$simjob" --ranks 2 --steps 6 --step-ms 10 --fault abort-completes:rank=1,op=16,ms=200,after=400 --spans "$dir/late.spans" \
	>"$dir/late.out" 2>&1 && fail "an aborted job succeeds"
awk '/"aborted": 1/ { split($0, v, /[:,]/); n++; if (v[12] - v[10] < 350e6) { print; bad = 1 } } END { exit bad || !n }' \
	"$dir/late.spans" || fail "kernels do not end long after the abort: $(grep aborted.*1 "$dir/late.spans")"

# Without timing nothing takes any time.
spans none --timing none
table none | awk '$4 - $3 > 50000000 { exit 1 }' || fail "kernels take time"
