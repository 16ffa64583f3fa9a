#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job that died: report and hang say the same of who was first, and the exit status is 3 whether or not that is known. Ranks that
# ended in one way share a line, and none of them stands for the others.
try() {
	printf '%s\n' "$*"
	commtrace-synth -o run --seed 1 --hosts 2 --gpus-per-host 4 --steps 8 "$@" >/dev/null
	commtrace report run | sed -n '1p; /^ended /p; /^   *[.][.][.].*info$/p'
	commtrace hang run | sed -n '1p; /^  note /p; /library error/p'
	echo "exit ${PIPESTATUS[0]}"
	rm -rf run run.truth.json
}
# without a ring the last second of a process is not on record
try --fault kill:rank=2,op=20
try --fault kill:rank=2,op=20,signal=11
try --fault exit:rank=3,op=20
try --fault async-error:rank=2,op=20
try
