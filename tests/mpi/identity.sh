#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Who a rank is, whoever started it. No directory is named: all ranks of a job find the same one by the name that they give the
# job, and another job another one. Ranks are the launcher's, all of them are there, and what they do matches.
. "$(dirname "$0")/mpi.sh"
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
program=$build/bin/mpi_stencil$suffix
job=(--steps 4 --rows 16 --columns 16)
export COMMTRACE_QUIET=1

# A node is what another shell starts; there is only this one.
cat >ssh <<-'END'
	#!/bin/sh
	while [ "${1#-}" != "$1" ]; do shift; done
	shift
	exec sh -c "$*"
END
chmod +x ssh
cp "$program" other_program

# who NAME RANKS COMMAND...: the command is run in ./NAME; its one run has the ranks, and their calls match. Sets `run`.
who() {
	local name=$1 ranks=$2 found
	shift 2
	mkdir -p "$name"
	(
		cd "$name"
		timeout -k 5 240 "$@" >out 2>err
	) || fail "$name: exit $?: $(cat "$name"/{out,err})"
	found=("$name"/commtrace-*)
	[ ${#found[@]} = 1 ] && [ -d "${found[0]}" ] || fail "$name: not one run: ${found[*]}"
	run=${found[0]##*/}
	timeout -k 5 240 "$commtrace" report --format=json "$name/$run" >"$name/report" || fail "$name: commtrace report: exit $?"
	"$python" - "$name/report" "$ranks" "$name" <<-'END' || fail "$name: $(head -c 600 "$name/report")"
		import json, sys
		report, ranks, name = json.load(open(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
		run = report["run"]
		seen = sorted(rank["rank"] if rank["rank"] is not None else -1 for rank in report["ranks"])
		expected = list(range(ranks))
		clashes = [comm for comm in report["comms"] if comm["nranks"] != len(comm["ranks"])]
		print("%-10s %s ranks %s of %s, %s communicators" % (name, run["job"], seen, run["ranks_expected"], len(report["comms"])))
		sys.exit(bool(seen != expected or run["ranks_expected"] != ranks or run["ranks_missing"] or clashes))
	END
}

traced=(env LD_PRELOAD="$library${yield:+:$yield}")
mpirun=("mpirun.$flavour")
who mpirun 3 "${mpirun[@]}" -n 3 "${traced[@]}" "$program" "${job[@]}"
first=$run
rm -rf mpirun
who mpirun 3 "${mpirun[@]}" -n 3 "${traced[@]}" "$program" "${job[@]}"
[ "$first" != "$run" ] || fail "two jobs have one name: $run"

# Between the launcher and a rank there may be a script that stays.
who script 2 "${mpirun[@]}" -n 2 sh -c '"$@"; exit $?' sh sh -c '"$@"; exit $?' sh "${traced[@]}" "$program" "${job[@]}"

# Several programs in one job.
who several 3 "${mpirun[@]}" -n 1 "${traced[@]}" "$program" "${job[@]}" : -n 2 "${traced[@]}" "$work/other_program" "${job[@]}"
timeout -k 5 240 "$commtrace" info --format=json "several/$run" >several/info
[ "$(grep -c '"exe": .*/other_program"' several/info)" = 2 ] || fail "several: $(cat several/info)"

# Two nodes: two proxies, or daemons, that have no ancestor in common.
if [ "$flavour" = openmpi ]; then
	who nodes 2 env OMPI_MCA_btl=self,tcp OMPI_MCA_plm_rsh_agent="$work/ssh" "${mpirun[@]}" -host "$(hostname):1,node2:1" -n 2 "${traced[@]}" \
		"$program" "${job[@]}"
else
	who nodes 2 "${mpirun[@]}" -launcher ssh -launcher-exec "$work/ssh" -hosts localhost,127.0.0.1 -n 2 "${traced[@]}" "$program" \
		"${job[@]}"
fi

# In a Slurm allocation mpirun starts the ranks of its own node itself, and the others through a step.
who slurm 2 env SLURM_JOB_ID=77 "${mpirun[@]}" -n 2 sh -c '
	[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ] || export SLURM_STEP_ID=3 SLURM_PROCID=0 SLURM_NTASKS=1
	exec "$@"' sh "${traced[@]}" "$program" "${job[@]}"
[[ $run = commtrace-77.* ]] || fail "slurm: $run"

# srun gives the rank in its own variables, whichever way the MPI gets it.
who srun 2 "${mpirun[@]}" -n 2 sh -c '
	rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
	export SLURM_JOB_ID=78 SLURM_STEP_ID=0 SLURM_PROCID=$rank SLURM_NTASKS=2 SLURM_LOCALID=$rank
	exec "$@"' sh "${traced[@]}" "$program" "${job[@]}"

# RANK and WORLD_SIZE go before, as torchrun sets them, under another launcher or none: then each rank is a world of MPI.
who plain 2 "${mpirun[@]}" -n 2 sh -c '
	export RANK=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1; exec "$@"' sh "${traced[@]}" "$program" \
	"${job[@]}"
who single 1 "${traced[@]}" "$program" "${job[@]}"
# (Open MPI removes a session directory that two such worlds share under the one that makes its own in it.)
who worlds 2 sh -c 'for rank in 0 1; do
	mkdir $rank
	OMPI_MCA_orte_tmpdir_base=$PWD/$rank RANK=$rank WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1 "$@" &
	done; wait' sh "${traced[@]}" "$program" "${job[@]}"
"$python" -c 'import json; exit(len(json.load(open("worlds/report"))["comms"]) != 2)' || fail "worlds: two worlds are not two communicators: $(cat worlds/report)"
