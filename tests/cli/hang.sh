#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which rank a job waits for: the beginnings of the sentence and of what stands below it, for jobs that hang, exit cleanly, or are ended from outside;
# the exit status tells whether there is a verdict.
made() {
	rm -rf run run.truth.json
	commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 "$@" >/dev/null
	echo "# $*"
}
judged() {
	commtrace hang "$@" | grep -v '^  \|^do' | cut -c 1-50
	echo "exit ${PIPESTATUS[0]}"
}
made --fault missing:rank=1,op=20
judged run
# the clock on the wall: runs made up begin 1700000000 s after 1970
commtrace hang run | grep ^since
made --fault exit:rank=1,op=20,code=3
judged run
made
judged run
