#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes for Slurm of docs/how-to/LAUNCHERS.md and docs/how-to/ON_VERDICT.md, on a cluster of this machine: TaskProlog has tasks recorded, the epilog
# collects what scancel leaves, --on-verdict cancels a job that hangs, and the batch script with one watcher writes hangs.log; a sleeping
# rank's host is not to be excluded.
# `--possible`: whether this machine has Slurm and may start its daemons.
. "$(dirname "${BASH_SOURCE[0]}")/slurm.sh"
[ "${1:-}" != --possible ] || { slurm_possible; exit; }
. "$(dirname "$0")/../e2e/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s
trap 'slurm_stop; cleanup' EXIT

# recipe LANGUAGE N: the N-th block of that language.
recipe() {
	(cd "$root" && awk -v fence="\`\`\`$1" -v n="$2" '
		/^```/ { inside = !inside && $0 == fence && ++k == n; next }
		inside' docs/how-to/LAUNCHERS.md)
}

# verdict RUN: code and ranks.
verdict() {
	local code=0
	timeout -k 5 240 env -u COMMTRACE_RING_DIR "$commtrace" hang --format=json "$1" >said || code=$?
	[ $code = 3 ] || fail "commtrace hang: exit $code: $(cat said)"
	"$python" -c 'import json; print([(v["code"], v["ranks"]) for v in json.load(open("said"))["verdicts"]])'
}

mkdir bin store store2 store3
ln -s "$commtrace" bin/commtrace
# Slurm gives these two scripts an environment of their own.
for name in epilog taskprolog; do
	{
		echo '#!/bin/sh'
		echo "PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin COMMTRACE_RING_DIR=$rings"
		echo 'export PATH COMMTRACE_RING_DIR'
		recipe sh $([ $name = epilog ] && echo 2 || echo 3) | sed 1d
	} >$name
	chmod +x $name
done
# The job: of three ranks, 1 does nothing for a minute after its first operation.
cat >job <<-END
	#!/bin/sh
	pace=0
	[ \$1 != 1 ] || pace=60000000
	RANK=\$1 WORLD_SIZE=3 exec "$gloo_job" --rank \$1 --size 3 --store \$2 --mode collectives --timeout-s 3600 --ops 5 --pace-us \$pace
END
chmod +x job
slurm_start "$work/slurm" "Epilog=$work/epilog" "TaskProlog=$work/taskprolog" || fail "no cluster: $(tail -n 3 slurm/*.log slurm/*.out)"

COMMTRACE_DIR=$work/run1 sbatch -n 3 --overcommit -o "$work/out1" --parsable --wrap \
	"srun --overcommit sh -c 'exec $work/job \$SLURM_PROCID $work/store'" >id 2>err || fail "sbatch: $(cat err)"
# its ranks record, and two of them wait: a verdict while it runs
slurm_until 60 sh -c "'$commtrace' hang run1; [ \$? = 3 ]" || fail "not recorded by TaskProlog: $(cat out1) $(ls run1)"
scancel "$(cat id)"
slurm_until 60 sh -c "! ls '$rings' | grep -q '[.]ring\$'" || fail "the epilog leaves rings: $(ls "$rings")"
echo "TaskProlog, epilog: $(verdict run1)"

# shellcheck disable=SC2016
sbatch -n 3 --overcommit -o "$work/out2" --parsable --wrap "srun -n 1 --overcommit '$commtrace' run -o '$work/run2' --interval=1 \
	--on-verdict 'test \"\$COMMTRACE_EVENT\" = resolved || scancel \"\$SLURM_JOB_ID\"' -- \
	sh -c 'for r in 0 1 2; do $work/job \$r $work/store2 & done; wait'" >id 2>err || fail "sbatch: $(cat err)"
slurm_until 120 sh -c "! squeue -h | grep -q ." || fail "not cancelled: $(cat out2)"
slurm_until 30 sh -c "! ls '$rings' | grep -q '[.]ring\$'" || fail "the epilog leaves rings: $(ls "$rings")"
tar -tf run2/verdict-*.tar | grep -q '^run/' || fail "no evidence: $(ls run2) $(cat out2)"
hosts=$("$commtrace" hang run2 --hosts) && fail "a rank sleeps in its own code, and its host is blamed: $hosts"
sbatch --exclude="$(uname -n)" --test-only --wrap true >/dev/null 2>err && fail "started where it is excluded"
echo "--on-verdict: $(verdict run2), cancelled"

# The batch script, which looks more often here.
{
	printf '#!/bin/bash\nexport PATH=%s:$PATH\n' "$work/bin"
	awk '/^```/ { on = 0; fence = NR } /^srun --ntasks-per-node=1/ && fence == NR - 1 { on = 1 } on' "$root/docs/how-to/ON_VERDICT.md" |
		sed "s|/shared/|$work/|g; s|--interval=30|--interval=1|; s|torchrun ... train.py|sh -c 'for r in 0 1 2; do $work/job \$r $work/store3 \& done; wait'|"
} >batch
[ "$(wc -l <batch)" = 6 ] || fail "the page has another recipe: $(cat batch)"
sbatch -n 1 --overcommit -o "$work/out3" --parsable batch >id 2>err || fail "sbatch: $(cat err)"
slurm_until 60 test -s hangs.log || fail "no verdict: $(cat out3)"
scancel "$(cat id)"
slurm_until 60 sh -c "! squeue -h | grep -q ." || fail "not ended: $(cat out3)"
echo "one watcher: $(sed 's/;.*//' hangs.log)"
