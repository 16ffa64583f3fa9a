#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What of a hang is pasted and used by scripts: a message in Markdown, and the hosts to exclude. Neither blames a host for what the program
# does wrong.
made() {
	rm -rf run run.truth.json
	commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 "$@" >/dev/null
	echo "# $*"
}
hosts() {
	commtrace hang run --hosts
	echo "exit $?"
}
made --fault missing:rank=1,op=20
hosts
commtrace hang run --format=markdown
extension=md # this is no page
commtrace hang run -o said.$extension
commtrace hang run --format=markdown | cmp - said.$extension
made --fault exit:rank=2,op=20,code=3
hosts
made --fault mismatch:rank=1,op=20,field=count
hosts
# where the machine may be the cause: a GPU that does not come to it or does not complete it, a library that does not return or reports an
# error
for fault in block-stream:rank=1,op=20 never-ends:rank=1,op=20 async-error:rank=1,op=20; do
	made --on-death wait --fault "$fault"
	hosts
done
made --workload moe --fault host-stall:rank=1,call=groupend,op=20
hosts
made
hosts
commtrace hang run --format=markdown
commtrace hang run --hosts --json
echo "exit $?"
