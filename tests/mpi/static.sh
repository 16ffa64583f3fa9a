#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that has MPI in itself is reported by the doctor, one that loads it is not. What it is known by is what is in the
# library of this flavour.
. "$(dirname "$0")/mpi.sh"
loaded=$(ldd "$(mpi_program kinds)" | awk '$1 ~ /^libmpi/ { print $3; exit }')
mark=$(sed -nE 's/^CT_MARK\(MPI_STATIC, CONTAINS, "(.*)"\)$/\1/p' "$root/trace/invisible_marks.def" |
	while read -r text; do ! grep -qaF -- "$text" "$loaded" || echo "$text"; done)
[ -n "$mark" ] || fail "no mark of trace/invisible_marks.def is in $loaded"

printf 'const char *volatile text = "%s"; int main(void) { return !text; }\n' "$mark" >has.c
cc -O0 has.c -o has
code=0
"$commtrace" doctor -- ./has >said || code=$?
grep -q '^WARN *MPI_STATIC ' said || fail "the doctor says nothing of it (exit $code): $(cat said)"
"$commtrace" doctor -- "$(mpi_program kinds)" >said || true
! grep -q MPI_STATIC said || fail "the doctor says so of a program that loads it: $(cat said)"
case ${CT_MPI:-} in
openmpi) flavour='Open MPI' ;;
*) flavour='MPICH or of its kin' ;;
esac
grep -Eq "^OK +MPI +called through the loader by .*: /.*$(basename "$loaded") \($flavour\)$" said ||
	fail "the doctor does not say which MPI it is: $(cat said)"
