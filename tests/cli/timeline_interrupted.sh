#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of a timeline in several files either all appear or none: the overview names the others. The second detail is to go into a pipe that
# nobody reads, so that it surely waits there when it is interrupted, and then into a full device.
commtrace-synth -o large --hosts 2 --workload ddp --steps 40 --fault kill:rank=2,op=140 --fault slow-rank:rank=1,pct=40 >/dev/null
draw() {
	exec commtrace timeline large --max-slices 4000 -o x.pftrace --force
}
left() {
	head -c 40 x.pftrace | tr -cd '[:print:]'
	echo
	ls x.*
}
echo of an earlier timeline >x.pftrace
mkfifo x.detail-2.pftrace
draw >said 2>&1 &
while ! compgen -G 'x.detail-1.pftrace*' >/dev/null; do
	kill -0 $! || exit
	sleep 0.02
done
kill -TERM $!
wait $!
echo "exit $?"
tail -n 1 said
left
ln -sf /dev/full x.detail-2.pftrace
(draw) 2>&1 | grep -v '^hint\|^commtrace: warning'
left
rm x.detail-2.pftrace
(draw) 2>/dev/null | cut -d : -f 1
ls x.*
