#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# watch where something does not work: its output is closed or full, no file may be large enough for the evidence, the run is a file, what
# was seen is not sure enough, and it is asked to end while its command runs.
hung() { rm -rf run* && commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null; }
hung
{ sleep 0.1; commtrace watch run --interval=1; echo "closed: exit $?" >&2; } | true
commtrace watch run --interval=1 >/dev/full
echo "full: exit $?"
commtrace watch /dev/null
echo "a file: exit $?"

(ulimit -f 8; commtrace watch run --interval=1 --first --termination-log=none --on-verdict 'echo "bundle [$COMMTRACE_BUNDLE]"' 2>&1 >/dev/null)
ls -A run | sed 's#[.][0-9a-f]*[.][0-9].*[.]seg$#.FILE.seg#' | sort -u

# Rank 1 left nothing: no rank is accused, and there is no event.
hung
rm run/*.4000001.*
commtrace watch run --interval=1 --on-verdict 'echo never' | cut -d ' ' -f 2-

# The command goes with what it started; nothing of it is waited for.
seconds=7532.$$
hung
commtrace watch run --interval=1 --first --command-limit=600 --termination-log=none \
	--on-verdict 'echo $$ >pid; sleep '$seconds' & sleep '$seconds >/dev/null &
for _ in $(seq 200); do [ -s pid ] && break; sleep 0.05; done
kill -TERM $!
wait $!
echo "asked to end: exit $?, of its command $(pgrep -f "sleep $seconds\$" | wc -l)"
