#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A scheduler asks `run` to end while the command of --on-verdict outlives the job: both end at once, with the job's status, and what the job
# left is there.
cat >job <<'EOF'
mkdir store
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$CT_GLOO_JOB" --rank $rank --size 2 --store store --ops 5 --pace-us $((rank * 60000000)) --timeout-s 600 2>/dev/null &
	echo $! >>pids
done
for _ in $(seq 600); do [ -e started ] && break; sleep 0.1; done
kill -9 $(cat pids)
wait 2>/dev/null
touch ended
exit 5
EOF
commtrace run -o run1 --set HANG_AFTER=1s --interval=1 --command-limit=600 --termination-log=none \
	--on-verdict 'touch started; sleep 7533.5 & sleep 7533.5' -- bash job 2>err &
for _ in $(seq 900); do [ -e ended ] && break; sleep 0.1; done
sleep 0.5
kill -TERM $!
wait $!
echo "exit $?, of its command $(pgrep -f 'sleep 7533[.]5' | wc -l)"
grep -oE 'Hang: rank 1|killed: .*' err
ls "$COMMTRACE_RING_DIR"
echo "parts of files: $(find run1 -name '*part*' -o -name '*rings*')"
