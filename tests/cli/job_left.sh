#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A command may end before its ranks do. Those that are killed with it are in the run when `run` returns; those that go on
# are reported, their run stays, and no report calls it healthy when one of them stands still.
cat >job <<'EOF'
mkdir "$1"
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$CT_GLOO_JOB" --rank $rank --size 2 --store "$1" --ops 100000000 --pace-us 1000 \
		</dev/null >/dev/null 2>&1 &
	echo $! >pid.$rank
done
for rank in 0 1; do
	for _ in $(seq 200); do
		commtrace dump "$COMMTRACE_DIR" --ranks $rank --limit 1 2>/dev/null | grep -q "^ *$rank " && break
		sleep 0.1
	done
done
[ "$2" = leave ] || kill -9 $(cat pid.*) $$
kill -STOP $(cat pid.*) # as a rule before they write to disk: all there is of this run are its rings
EOF
commtrace run -o killed -- bash job store1 kill 2>said
echo "exit $?, rings left: $(ls "$COMMTRACE_RING_DIR")"
cp -r killed copy
COMMTRACE_RING_DIR=$PWD/none commtrace dump copy 2>&1 | awk '!/^#/ { print $1 }' | sort -u
COMMTRACE_RING_DIR=$PWD/none commtrace report copy --format=kv | grep -c 'RING_LOST'
grep -cE 'still run|warning' said

commtrace run --set=HANG_AFTER=600s -o left -- bash job store2 leave 2>said
echo "exit $?"
grep -oE 'ranks 0 and 1 still run:.*| operations so far' said
kill -CONT "$(cat pid.0)"
for _ in $(seq 100); do
	commtrace report left --verbose --fail-on=any >report
	[ $? = 3 ] && grep -qE ', entered, for [0-9.]+ [mun]?s since ' report && break
	sleep 0.2
done
grep -io ^healthy report
commtrace hang left | grep -o 'counts as stalled'
grep -cE '^in flight [0-9]+ operations? [(].*[)] now$' report
kill -9 $(cat pid.*)
for _ in $(seq 100); do
	commtrace collect left >collected
	[ -n "$(ls "$COMMTRACE_RING_DIR")" ] || break
	sleep 0.1
done
ls "$COMMTRACE_RING_DIR"
commtrace report left --verbose --fail-on=any | grep -cE '^in flight [0-9]+ operations? [(].*[)] when recording ended$'
echo "fail-on: ${PIPESTATUS[0]}"
