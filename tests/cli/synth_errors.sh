#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be made is refused with a sentence, and nothing is left behind.
try() {
	printf '> %s\n' "$*" >&2
	commtrace-synth "$@" 2>&1 >/dev/null | grep -v '^Try .commtrace-synth --help' >&2
	[ "${PIPESTATUS[0]}" = "${exit:-2}" ] || echo "exit is not ${exit:-2}" >&2
	[ "$(echo *)" = bad.json ] || echo "left behind: $(echo *)" >&2
}
echo '{"hosts": 2' >bad.json
try
try -o run --hosts 0
try -o run --hosts 2x
try -o run --step-ms -1
try -o run --noise-pct nan
try -o run --hosts 1000 --gpus-per-host 1000
try -o run --ranks-per-process 3
try -o run --workload bert
try -o run --workload ddp --tp 2
try -o run --workload megatron --tp 3
try -o run --timing good
try -o run --hiccup 5
try -o run --hiccup 2:1
try -o run --on-mismatch stop
try -o run --fault slow-rank:rank=5
try -o run --fault slow-rank:rank=8,pct=5
try -o run --fault missing:rank=1,op=100000
try -o run --fault driver-lock:rank=1,s=5
try -o run --fault host-stall:rank=0,call=groupend,op=20
try -o run --fault abort-completes:rank=1,op=5
try -o run --scenario bad.json
try -o run --scenario missing.json
echo '{"hosts": [2], "colour": 3}' >bad.json
try -o run --scenario bad.json
echo '{"hosts": {}}' >bad.json
try -o run --scenario bad.json
try -o run and more
exit=1 try -o nowhere/run
mkdir there
commtrace-synth -o there || echo "exit $?"
commtrace-synth -o run --truth nowhere/truth.json --steps 2 || echo "exit $?"
rmdir there
exit=1 try -o run --steps 2 --truth /dev/full
(ulimit -n 39 && exit=1 try -o run)
(ulimit -f 4 && commtrace-synth -o run --steps 200 2>&1 | sed 's/: node.*: /: /')
# Interrupted in the middle: it dies of the signal, and nothing is left.
commtrace-synth -o run --steps 1000000 &
until compgen -G 'run/*.seg' >/dev/null; do sleep 0.02; done
kill -TERM $!
wait $!
echo "exit $?, left behind: $(echo *)"
