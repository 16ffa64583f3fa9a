#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of a job that died, who died and what was under way comes before how it ran; what is queued up behind one another is one line.
commtrace-synth -o run --seed 1 --workload megatron --steps 20 --hosts 2 --gpus-per-host 4 --fault exit:rank=3,op=90,code=1 >/dev/null
commtrace report run --verbose | sed -n '/^ended .*rank 3 /p; /^run /p; /^operation /p; /#[0-9]*-[0-9]* on /p' | cut -c 1-36
