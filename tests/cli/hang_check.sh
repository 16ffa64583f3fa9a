#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the ranks called, compared: proved equal in a healthy run, however long; the first operation that differs, also in a run that
# continued.
checked() {
	commtrace hang --check run | awk '/^  [a-z]/ { on = /^  (equal|differs|messages|excluded|unknown|call sites) / } on' | sed -E 's/[0-9a-f]{16}/KEY/'
	echo "exit ${PIPESTATUS[0]}"
	rm -rf run run.truth.json
}
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 3000 >/dev/null
checked
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 3000 --on-mismatch go-on --fault mismatch:rank=1,op=9000,field=count >/dev/null
checked
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null
checked
