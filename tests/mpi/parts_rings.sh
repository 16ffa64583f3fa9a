#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commtrace-mpi where all nodes see the segments, and the rings are on another node than process 0: what one process says that sees both,
# while the job hangs and after it was killed. Only the rings are sent.
. "$(dirname "$0")/mpi.sh"
unset LD_PRELOAD
export TMPDIR=$work/tmp CT_WORK=$work CT_RINGS=$rings
mkdir tmp none
program=$build/bin/commtrace-mpi.$flavour

# The last operations are in the rings only.
COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=600s COMMTRACE_FLUSH=600s COMMTRACE_DIR=$work/run LD_PRELOAD=$library \
	"$build/bin/commtrace-simjob" --ranks 2 --steps 100 --fault missing:rank=1,op=40 --give-up 100 >/dev/null 2>&1 &
launcher=$!
cat >on_node <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] || export COMMTRACE_RING_DIR="$CT_WORK/none"
exec "$@"
END
chmod +x on_node

# one: what one process says, and its exit status in `code`.
one() {
	code=0
	"$commtrace" hang --json run >one.json 2>err || code=$?
}
# nodes WHAT OPTION...: the nodes say the same. In `files`: how many were sent.
nodes() {
	local what=$1 got=0
	shift
	rm -f got.json
	mpi_start 60 2 ./on_node "$program" -v "$@" hang --json run -o "$work/got.json" >out 2>err || got=$?
	[ $got = $code ] || fail "$what: exit $got, not $code: $(cat out err)"
	same "$what" <(jq "$said" one.json) <(jq "$said" got.json)
	! grep "warning: " err || fail "$what: a warning"
	files=$(sed -nE 's/^commtrace: process 0 of 2 got ([0-9]+) files.*/\1/p' err)
}

said='[.ranks[] | {rank, state, last}]'
for _ in $(seq 200); do
	one
	[ "$(jq -c "[$said[].last.seq]" one.json 2>err)" != "[40,39]" ] || break
	sleep 0.1
done
[ "$(jq -c "[$said[].last.seq]" one.json)" = "[40,39]" ] || fail "it does not hang: $(cat one.json)"
# for so long that the end of the job is not what it waited for
for _ in $(seq 200); do
	one
	[ "$(jq '.not_stalled[0].age_ns > 6e9' one.json)" != true ] || break
	sleep 0.1
done
nodes "it hangs"
[ "$files" = 2 ] || fail "it hangs: $files files were sent, not the 2 rings"

# shellcheck disable=SC2046
kill -KILL $launcher $(pgrep -P $launcher)
wait $launcher 2>/dev/null || :
for _ in $(seq 100); do
	one
	[ "$(jq '.verdicts | length' one.json)" = 0 ] || break
	sleep 0.1
done
said='.missing_data, .verdicts, [.ranks[] | {rank, state, last}]'
[ $code = 3 ] && [ "$(jq -c '.verdicts[0] | .code, .ranks' one.json)" = $'"NEVER_ENTERED"\n[1]' ] || fail "one process: exit $code: $(cat one.json)"
nodes "killed"
[ "$files" = 2 ] || fail "killed: $files files were sent, not the 2 rings"
nodes "killed, --keep" --keep=30
echo "rings of another node: what one process says"
