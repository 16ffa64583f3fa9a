#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host that is a whole tensor group becomes slow in step 60 of 100. What its ranks do with each other hides who is late in it, not
# when: the line says that once, in times, steps and words that agree.
commtrace-synth -o run --seed 1 --workload megatron --tp 4 --pp 1 --dp 3 --hosts 3 --gpus-per-host 4 --steps 100 --noise-pct 2 \
	--fault slow-host:host=1,pct=15,from=60 >/dev/null
commtrace report run --format=kv | sed -n 's/^\(STRAGGLER_HOST ranks=[-0-9]* hosts=node1\) .*\( when=\)\([0-9.]*s\)\.\.\([0-9.]*s\)\( .*\) severity=.*/\1\2\3..\4\5/p' |
	sed 's/2\.[12][0-9]s/ABOUT_2.2s/; s/3\.7[0-9]s/ABOUT_3.7s/; s/steps=\(59\|6[01]\)\.\.9[678]/steps=ABOUT_60..98/'
