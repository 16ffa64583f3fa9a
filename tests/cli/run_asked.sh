#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `run` waits for the command of --on-verdict, but not for long if the job was ended by a signal that asked `run` to end.
seconds=7533.$$
commtrace-synth -o left --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null
commtrace run -q -o run --interval=1 --command-limit=600 --termination-log=none --on-verdict 'echo $$ >pid; trap "" TERM; sleep '$seconds -- \
	sh -c 'cp left/* "$COMMTRACE_DIR" && exec sleep 100' >/dev/null 2>&1 &
for _ in $(seq 400); do [ -s pid ] && break; sleep 0.05; done
kill -TERM $!
timeout 60 tail --pid=$! -f /dev/null && echo "run has ended"
echo "of its command $(pgrep -f "sleep $seconds\$" | wc -l)"
