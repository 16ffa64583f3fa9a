#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One rank is killed: its ring goes into the run, the verdict shows who, no ring stays behind, and whether its host may be to blame. Collecting while the job
# lives takes a copy that can be read; collecting again afterwards gives what the run itself gives. (Gloo does not show a
# peer's death who begins a transfer with it in that moment; that transfer ends by its timeout, and counts as a hang then.)
cat >job <<'EOF'
mkdir store
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$CT_GLOO_JOB" --rank $rank --size 2 --store store --ops 100000000 --pace-us 1000 --timeout-s 5 \
		2>/dev/null &
	echo $! >pid.$rank
done
for _ in $(seq 200); do
	commtrace dump run1 --ranks 1 --limit 1 2>/dev/null | grep -q '^ *1 ' && break
	sleep 0.1
done
commtrace collect run1 -o copy | grep -c '2 copied from living processes'
commtrace collect run1 | grep -c ' 2 left to them'
[ "$(commtrace dump copy 2>/dev/null | awk '!/^#/ { print $1 }' | sort -u | tr '\n' ' ')" = "0 1 " ] || echo "the copy lacks a rank"
kill -9 $(cat pid.1)
wait 2>/dev/null
exit 5
EOF
commtrace run -o run1 -- bash job
echo "exit $?"
ls "$COMMTRACE_RING_DIR"
commtrace info run1 --format=json | grep -E '"(end|signal)"' | sort | uniq -c
commtrace collect run1 -o copy >/dev/null
cmp <(commtrace dump run1) <(commtrace dump copy)
commtrace dump run1 --ranks 1 | tail -n 1 | awk '{ print $NF ~ /^gloo::/ ? "a call" : $0 }'
# a process of the job did it: no machine is to blame
commtrace hang run1 --hosts
echo "exit $?"
# no one is known to have done it: the kernel or the machine may have
rm -rf store copy
sed 's/^kill -9/env -u LD_PRELOAD kill -9/; s/run1/run2/g; /collect/d; /a rank"$/d' job >job2
commtrace run -o run2 -- bash job2 2>/dev/null
[ "$(commtrace hang run2 --hosts)" = "$(uname -n)" ] || echo "no host to look at"
