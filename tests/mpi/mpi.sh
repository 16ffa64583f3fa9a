# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# mpi.sh — sourced by tests that run MPI jobs, after or instead of e2e.sh: one way to start a job on OpenMPI and MPICH.
# CT_MPI is the flavour (openmpi where it is not set). Both work as root, with more ranks than cores, without a network,
# without ssh, and say nothing of their own.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/e2e.sh"
flavour=${CT_MPI:-openmpi}
mpi=$build/tests/mpi

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_plm_rsh_agent=false OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_osc=sm,pt2pt # windows without reading other processes' memory, which containers may forbid
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_orte_base_help_aggregate=0
export OMPI_MCA_orte_tmpdir_base="$work"
# With more ranks than cores, who waits has to let the others run; MPICH does so with yield.c only.
export OMPI_MCA_mpi_yield_when_idle=1
yield=
[ "$flavour" != mpich ] || yield=$mpi/mpi_yield.so
export HYDRA_LAUNCHER=fork

# mpi_start SECONDS RANKS COMMAND...: the job without the tracer, in bounded time (four times as long, as in e2e.sh).
mpi_start() {
	local limit=$(($1 * 4)) ranks=$2
	shift 2
	timeout -k 5 "$limit" "mpirun.$flavour" -n "$ranks" env LD_PRELOAD="${preloads:+$preloads:}$yield" "$@"
}

# mpi_traced SECONDS RANKS DIR COMMAND...: its ranks have the preload and record into DIR; the launcher does not.
# `preloads` are other preloads, in front of ours; settings come from the environment.
mpi_traced() {
	local limit=$1 ranks=$2 dir=$3
	shift 3
	COMMTRACE_DIR=$dir preloads=${preloads:+$preloads:}$library mpi_start "$limit" "$ranks" "$@"
}

# mpi_program NAME: the file of this flavour.
mpi_program() {
	printf '%s/%s.%s\n' "$mpi" "$1" "$flavour"
}
