#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What docs/how-to/LAUNCHERS.md says that a launcher needs to record on other nodes, with a remote shell that goes nowhere and hands on nothing of the
# environment. One rank, so that no network is needed between nodes.
. "$(dirname "$0")/mpi.sh"
cat >"$work/remote" <<'SHELL'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
shift # the host
exec env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash -c "$*"
SHELL
chmod +x "$work/remote"
unset HYDRA_LAUNCHER
case $flavour in
openmpi) remote=(--mca plm_rsh_agent "$work/remote" -H 192.0.2.99:1) ;;
mpich) remote=(-launcher ssh -launcher-exec "$work/remote" -hosts 127.0.0.2) ;;
esac

# there RUN OPTION...: the processes that a job on the other node left a trace of.
there() {
	local run=$work/$1
	shift
	timeout -k 5 240 "$commtrace" run -q -o "$run" -- "mpirun.$flavour" "${remote[@]}" "$@" -n 1 "$(mpi_program linked_stencil)" --steps 3 \
		>"$work/out" 2>"$work/err" || fail "the job ended with $?: $(cat "$work/out" "$work/err")"
	"$commtrace" info "$run" --format=json 2>/dev/null | grep -c '"pid"' || true
}
is() { [ "$2" = "$3" ] || fail "$1: $2 processes on record, not $3: $(cat "$work/err")"; }
if [ "$flavour" = openmpi ]; then
	is "nothing handed on" "$(there bare)" 0
	is "-x" "$(there handed -x LD_PRELOAD -x COMMTRACE_DIR)" 1
else
	is "by itself" "$(there itself)" 1
	is "-genvnone" "$(there bare -genvnone)" 0
	is "-genv" "$(there handed -genvnone -genv LD_PRELOAD "$library" -genv COMMTRACE_DIR "$work/handed")" 1
fi
