#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kill truth from outside: jobs over libgloo whose ranks die at random moments or end themselves in every way. What their
# journals have as returned is in the trace, and how and when each one ended is what its launcher saw.
. "$(dirname "$0")/e2e.sh"

repeat=1 at=0
[ "$long" = 0 ] || repeat=40
# A daemon has closed its standard descriptors, and may write to them all the same.
cat >closed.sh <<EOF
#!/bin/sh
exec 0<&- 1>&- 2>&-
exec "$gloo_job" "\$@"
EOF
chmod +x closed.sh

echo "seed $seed"
for ((i = 0; i < repeat; i++)); do
	# Single ranks, killed anywhere between their start and a second of work. The moment covers: nothing made yet, the
	# ring half made, before and after the first flush, in the middle of one.
	kill_round "first-steps.$i" "" --apart --ranks 3 --total 12 --to-ms 150 -- --threads 2 --ops 1000000 --pace-us 100
	kill_round "apart.$i" "" --apart --ranks 3 --total 12 --under-way --to-ms 600 --wait wait4 -- \
		--threads 3 --ops 1000000 --pace-us 100
	COMMTRACE_FLUSH=20ms \
		kill_round "flushing.$i" "" --apart --ranks 3 --total 15 --under-way --to-ms 500 --wait waitid -- \
		--threads 2 --ops 1000000 --pace-us 100
	# (a ring so small that a slow disk costs records)
	COMMTRACE_RING_MB=1 COMMTRACE_SEGMENT_BYTES=64K COMMTRACE_FLUSH=100ms \
		kill_round "small-files.$i" --allow-lost --apart --ranks 2 --total 8 --under-way --to-ms 900 --wait wait3 -- \
		--threads 4 --ops 1000000 --pace-us 100
	kill_round "many-threads.$i" "" --apart --ranks 2 --total 4 --under-way --to-ms 700 --wait wait -- \
		--threads 16 --ops 1000000 --pace-us 500
	# (each thread takes a chunk of its own)
	kill_round "fresh-threads.$i" --by-process --apart --ranks 2 --total 6 --under-way --to-ms 500 -- \
		--ops 1000000 --fresh-threads --pace-us 1000
	# As fast as they can, into the smallest ring: records are lost, and counted.
	COMMTRACE_RING_MB=1 \
		kill_round "unpaced.$i" --allow-lost --apart --ranks 2 --total 6 --under-way --to-ms 500 -- \
		--threads 2 --ops 1000000
	# A launcher that looks rarely, as torchrun does: who starts meanwhile must leave it the dead to wait for.
	kill_round "slow-parent.$i" "" --apart --ranks 3 --total 12 --under-way --to-ms 300 --poll-ms 150 -- --ops 1000000 --pace-us 100
	kill_round "sigterm.$i" "" --apart --ranks 2 --total 4 --under-way --to-ms 400 --signal 15 -- \
		--threads 2 --ops 1000000 --pace-us 100

	# Jobs of several ranks, one of which is killed; the others see it in an exception, wherever they are, and the first
	# of their threads to see it ends the process, while others are inside calls.
	for size in 2 3; do
		for mode in collectives p2p mixed; do
			kill_round "$mode-$size.$i" --cut-at-exit --ranks $size --victims 1 --under-way --to-ms 900 -- \
				--threads 2 --ops 1000000 --pace-us 300 --mode $mode --timeout-s 4
		done
	done
	kill_round "never-returns.$i" "" --ranks 2 --victims 2 --under-way --to-ms 900 -- \
		--threads 3 --ops 1000000 --pace-us 300 --never-returns

	job=$work/closed.sh kill_round "closed-stdio.$i" "" --apart --ranks 2 --victims 0 -- --threads 2 --ops 1000 --end throw

	# Ends of their own choice, in the middle and at the end.
	for end in return exit:4 _exit:3 abort segfault throw; do
		between at 0 3000
		kill_round "${end/:*/}.$i" --cut-at-exit --apart --ranks 2 --total 2 --victims 0 -- \
			--threads 3 --ops 3000 --pace-us 100 --end $end --end-at "$at"
		kill_round "${end/:*/}-last.$i" "" --ranks 2 --victims 0 -- --threads 2 --ops 300 --end $end
		# What a process itself leaves behind, where its parent notes nothing.
		launch=untraced kill_round "${end/:*/}-alone.$i" "" --apart --ranks 2 --victims 0 --preload "$library" -- \
			--ops 300 --end $end
	done
done

# Deaths that lie further apart than two heartbeats come in an order that the trace knows.
kill_round order "" --apart --ranks 3 --under-way --to-ms 100 --stagger-ms 3200 --poll-ms 300 -- --threads 2 --ops 1000000 --pace-us 1000
[ "$orders" -ge 1 ] || fail "order: no order compared"

echo "$processes processes recorded, $kills of them killed, $calls calls and $waits waits returned, $in_flight in flight," \
	"$in_flight_found of those recorded"
[ $((kills)) -ge 60 ] || fail "only $kills killed processes had recorded something"
# A call is recorded before it is made: those that their thread died in are there, but for the few not yet quite begun.
[ $((in_flight_found * 10)) -ge $((in_flight * 7)) ] || fail "most calls in flight are not recorded"
