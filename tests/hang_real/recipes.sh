#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes of docs/how-to/LAUNCHERS.md, taken from there and executed: after each, `commtrace hang` names the rank that was planted from
# what the recipe brought together. `torch` as the argument: that of torchrun, which needs torch; else the others.
. "$(dirname "$0")/../e2e/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s
mkdir "$work/bin"
ln -s "$commtrace" "$work/bin/commtrace"
export PATH=$work/bin:$PATH

# recipe LANGUAGE N: the N-th block of that language.
recipe() {
	(cd "$root" && awk -v fence="\`\`\`$1" -v n="$2" '
		/^```/ { inside = !inside && $0 == fence && ++k == n; next }
		inside' docs/how-to/LAUNCHERS.md)
}

# names CODE RANK RUN: the one verdict.
names() {
	local code=0
	timeout -k 5 240 env -u COMMTRACE_RING_DIR commtrace hang --format=json "$3" >said || code=$?
	[ $code = 3 ] || fail "commtrace hang: exit $code: $(cat said)"
	"$python" - "$1" "$2" said <<-'END' || fail "not $1 of rank $2: $(cat said)"
		import json, sys
		verdicts = json.load(open(sys.argv[3]))["verdicts"]
		sys.exit([(v["code"], v["ranks"]) for v in verdicts] != [(sys.argv[1], [int(sys.argv[2])])])
	END
	echo "$1 of rank $2"
}

# hanging_job: three ranks, of which 1 does nothing for a minute after its first operation. `pids` are theirs.
hanging_job() {
	local rank pace
	pids=()
	mkdir "$work/store"
	for rank in 0 1 2; do
		pace=0
		[ $rank != 1 ] || pace=60000000
		RANK=$rank WORLD_SIZE=3 LD_PRELOAD=$library "$gloo_job" --rank $rank --size 3 --store "$work/store" \
			--mode collectives --timeout-s 3600 --ops 5 --pace-us $pace >"$work/job.$rank" 2>&1 </dev/null &
		pids+=($!)
	done
	sleep 4
}

if [ "${1:-}" = torch ]; then
	recipe sh 1 >recorded.sh
	printf '#!/bin/sh\nexec "%s" -m torch.distributed.run "$@"\n' "$python" >bin/torchrun
	chmod +x bin/torchrun recorded.sh
	status=0
	OMP_NUM_THREADS=1 timeout -k 5 400 sh recorded.sh -r 1 -t 1 --log_dir log --nproc_per_node=2 --master_addr 127.0.0.1 \
		--master_port "$("$python" "$root/tools/free_port.py")" "$root/tests/hang_real/crash_job.py" \
		--rank 1 --phase step --way segfault >out 2>err || status=$?
	[ $status = 1 ] || fail "torchrun: exit $status: $(cat err)"
	grep -q 'rank 1' err || fail "does not say who it was: $(cat err)"
	[ "$(find "$rings" -name '*.ring' | wc -l)" = 0 ] || fail "rings are left: $(ls "$rings")"
	names DEAD_RANK 1 commtrace-run
	exit 0
fi

# Slurm ends all tasks of a cancelled job, and calls the epilog.
recipe sh 2 >epilog
COMMTRACE_DIR=$work/shared/commtrace-17 && export COMMTRACE_DIR
mkdir shared
hanging_job
kill -TERM "${pids[@]}"
wait "${pids[@]}" 2>/dev/null || true
env -i PATH="$work/bin:/usr/sbin:/usr/bin:/sbin:/bin" COMMTRACE_RING_DIR="$rings" SLURM_JOB_ID=17 SLURM_JOB_USER="$(id -un)" \
	SLURM_JOB_UID="$(id -u)" SLURM_CLUSTER_NAME=test SLURM_NODELIST="$(uname -n)" sh epilog || fail "epilog: exit $?"
[ "$(find "$rings" -name '*.ring' | wc -l)" = 0 ] || fail "the epilog leaves rings: $(ls "$rings")"
printf 'Slurm epilog: '
names NEVER_ENTERED 1 shared/commtrace-17
rm -rf store shared

# A container: mounts, processes and a small /dev/shm of its own, which no one sees once it has ended. Its hook runs while it
# hangs, and then everything in it is killed.
recipe yaml 1 >pod
hook=$(sed -n 's/^ *command: *//p' pod | "$python" -c 'import json, shlex, sys; print(shlex.join(json.load(sys.stdin)))')
[ -n "$hook" ] || fail "no command in the recipe"
if unshare -mpf --mount-proc true 2>/dev/null; then
	mkdir -p results
	hook=${hook//\/results/$work/results}
	COMMTRACE_DIR=$work/results/run && export COMMTRACE_DIR
	export -f hanging_job
	export library gloo_job work hook
	# shellcheck disable=SC2016
	timeout -k 5 240 unshare -mpf --mount-proc --propagation private bash -c '
		mount -t tmpfs -o size=64m tmpfs /dev/shm && unset COMMTRACE_RING_DIR && hanging_job && sh -c "$hook"' >hook.out 2>&1 ||
		fail "preStop: exit $?: $(cat hook.out)"
	printf 'preStop: '
	names NEVER_ENTERED 1 results/run
fi
