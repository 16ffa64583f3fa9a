#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job under `run`: its standard output is its own, the last lines on standard error show what was recorded.
cat >job <<'EOF'
mkdir store
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$CT_GLOO_JOB" --rank $rank --size 2 --store store --ops 50 &
done
wait
EOF
bash job >plain
rm -r store
commtrace run -o run1 -- bash job >traced
cmp <(sort plain) <(sort traced)
commtrace dump run1 | awk '!/^#/ { n[$1]++ } END { for (rank in n) print rank, (n[rank] > 50 ? "more than 50" : n[rank]) }' | sort
commtrace run -q -o run1 -- bash job
echo "exit $?"
rm -r store
commtrace run -q --force -o run1 -- bash job >/dev/null
commtrace info run1 --format=json | grep -c '"pid":'
commtrace dump run1 --format=jsonl | sort >first
commtrace dump run1 --format=jsonl | commtrace import jsonl - -o run2 >/dev/null
commtrace dump run2 --format=jsonl | sort | cmp first -
# Where rank 0 did not run, another machine has the word.
mkdir alone
COMMTRACE_RANK=3 commtrace run -o other -- "$CT_GLOO_JOB" --rank 0 --size 1 --store alone --ops 5 >/dev/null
commtrace info other --format=json | grep -c '"pid":'
ls "$COMMTRACE_RING_DIR"
