#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which rank a job waits for: what is said of jobs that hang, died, or exited cleanly, on a screen of 25 lines of 80 columns; the exit
# status shows whether there is a verdict.
made() {
	rm -rf run run.truth.json
	commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 "$@" >/dev/null
	echo "# $*"
}
judged() {
	commtrace hang "$@" >said
	echo "exit $?"
	cat said
	awk 'length > 80 { print "more than 80 columns: " $0 } END { if (NR > 25) print NR " lines" }' said
}
made --fault missing:rank=1,op=20
judged run
# all that is known, and the same for scripts
commtrace hang run --verbose | sed -E '/^  read/s/[0-9.]+ [KM]?i?B/N KiB/g' | diff said -
commtrace hang run --format=kv
made --fault exit:rank=1,op=20,code=3
judged run
made
judged run
