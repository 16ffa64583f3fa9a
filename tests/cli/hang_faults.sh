#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One job for each way to hang, on two hosts unless said: the truth of who made it, and what is said of it: verdicts, since when, facts,
# and how far every rank had come.
try() {
	echo "$*"
	commtrace-synth -o run --hosts 2 --gpus-per-host 4 --steps 6 --on-death wait "$@" >/dev/null || { rm -rf run; return; }
	commtrace hang run --format=json 2>err | python3 "$data/hang_lines.py" run.truth.json
	# where a file is cut follows from how well its records compress
	sed -E 's/offset [0-9]+/offset N/' err >&2
	rm -rf run run.truth.json
}
mesh="--workload megatron --tp 2 --pp 2 --dp 2"
try --fault missing:rank=1,op=20 $mesh
try --fault missing:rank=5,op=20 --timing host --clock-offset-ms 40
try --fault missing:rank=5,op=60 --workload moe
try --fault skip:rank=1,op=20
try --fault extra:rank=1,op=20 --timing host
try --fault mismatch:rank=1,op=20,field=count --workload fsdp
try --fault mismatch:rank=1,op=20,field=dtype --timing host
try --fault kill:rank=1,op=20
try --fault kill:rank=6,op=20,signal=11 $mesh --timing host
try --fault kill:rank=1,op=20 --on-death kill
try --fault exit:rank=1,op=20,code=3 --on-death kill $mesh
try --fault exit:rank=1,op=20
try --fault async-error:rank=1,op=20
try --fault block-stream:rank=1,op=20
try --fault block-stream:rank=1,op=20 --timing host
try --fault order-inversion:ranks=0+1 $mesh
try --fault host-inversion:ranks=1+2 $mesh
try --fault unbatched-p2p:ranks=0+1 $mesh
try --fault transport-stall:rank=1,op=20
try --fault never-ends:rank=1,op=20
try --fault stray-split:rank=1,op=20
try --fault skip-init:rank=1
try --fault skip-send:rank=1,peer=5,op=4 $mesh
try --fault skip-send:rank=1,peer=3,op=20 --workload moe
try --fault host-stall:rank=1,call=groupend,op=20 --workload moe
try --fault host-stall:rank=1,call=init
try --fault host-stall:rank=1,call=split $mesh
try --fault host-stall:rank=1,call=finalize
try --fault missing:rank=1,op=20 --ranks-per-process 2
try --fault missing:rank=1,op=20 --give-up 20
try --fault missing:rank=1,op=20 $mesh --fault drop-trace:rank=1
try --fault missing:rank=1,op=20 $mesh --fault drop-trace:rank=7
try --fault missing:rank=1,op=20 $mesh --fault drop-trace:rank=0 --fault drop-trace:rank=3 --timing host
try --fault missing:rank=1,op=20 --fault truncate:rank=1,keep=0.7
try --fault missing:rank=1,op=20 --fault truncate:rank=6,keep=0.5 --timing host
try --fault transport-stall:rank=1,op=20 --fault truncate:rank=1,keep=0.9
try --workload megatron --tp 2 --pp 2 --dp 2 --fault late-host:rank=3,ms=40
# The end of a process is that of all its ranks: which of its threads ended it is not on record.
commtrace-synth -o run --hosts 1 --gpus-per-host 4 --ranks-per-process 4 --steps 6 --fault exit:rank=1,op=20,code=5 >/dev/null
commtrace hang run | head -n 1
