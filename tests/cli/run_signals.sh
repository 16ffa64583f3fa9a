#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A signal sent to `run` reaches the program, and its end is what run shows; a program that does not care goes on.
# ready: the program has said so.
ready() {
	for _ in $(seq 400); do
		[ -s out ] && return
		sleep 0.05
	done
}
for signal in TERM HUP USR1 USR2; do
	commtrace run -q -- sh -c 'trap "echo '$signal'; exit 9" '$signal'; echo ready; while :; do sleep 0.05; done' >out &
	ready
	kill -$signal $!
	wait $!
	echo "exit $?: $(tail -n 1 out)"
	rm out
done
commtrace run -q -- sh -c 'echo ready; exec sleep 30' >out &
ready
kill -TERM $!
wait $!
echo "exit $?"
# Its own signal state is not the program's: SIGPIPE ends a program as ever, an ignored signal stays ignored.
commtrace run -q -- sh -c 'yes; echo "yes: $?" >&2' | head -n 1
(trap '' USR1; commtrace run -q -- sh -c 'kill -USR1 $$; echo "not ended"')
