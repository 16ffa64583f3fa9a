#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the ranks called, held against one another: proved to be the same in a run that is well, however long; the first operation
# that differs, also in one that went on.
checked() {
	commtrace hang --check run | grep '^equal\|^differs\|^   *rank\|^places' | sed -E 's/comm=[0-9a-f]{16}/comm=KEY/'
	echo "exit ${PIPESTATUS[0]}"
	rm -rf run run.truth.json
}
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 3000 >/dev/null
checked
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 3000 --on-mismatch go-on --fault mismatch:rank=1,op=9000,field=count >/dev/null
checked
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null
checked
