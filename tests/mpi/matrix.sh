#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh RANKS PROGRAM [ARGUMENT...]: a program that writes down what it calls (matrix_journal.h), with and without the
# preload: it prints the same, and what commtrace shows the traced one is what it wrote. PROGRAM is a name of this
# folder's, in C or Fortran, or a script for Python, NAME.py.
. "$(dirname "$0")/mpi.sh"
ranks=$1 name=$2
shift 2
if [ "$name" = "${name%.py}" ]; then
	command=("$(mpi_program "$name")")
else
	command=("$python" "$root/tests/mpi/$name")
fi

mkdir plain.journals journals
mpi_start 60 "$ranks" "${command[@]}" plain.journals "$@" >plain 2>plain.err || fail "bare: exit $?: $(tail -n 5 plain plain.err)"
mpi_traced 60 "$ranks" run "${command[@]}" journals "$@" >traced 2>traced.err ||
	fail "traced: exit $?: $(tail -n 5 traced traced.err)"
grep -q '^result checksum=' plain || fail "no result"
same "standard output" plain traced
same "standard error" plain.err <(grep -v '^commtrace: recording to ' traced.err)
"$commtrace" dump run --format=jsonl >dump.jsonl
"$commtrace" report run -o report.json
info_json --whole run >info.json
"$python" "$root/tests/mpi/check_matrix.py" dump.jsonl report.json info.json journals || fail "the trace is not what was done"
