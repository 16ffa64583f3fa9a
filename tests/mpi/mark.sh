#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps that a program in C marks with their samples: report has the samples per second that the job measured itself. Without the
# preload marking does nothing, with --skip-steps the first do not count.
. "$(dirname "$0")/mpi.sh"
export COMMTRACE_QUIET=1
program=$(mpi_program mark)

mpi_start 60 2 "$program" >bare.known || fail "without the preload: exit $?"
mpi_traced 60 2 "$work/run" "$program" >run.known || fail "exit $?"
"$commtrace" report run --json >run.json
"$commtrace" report run --json --skip-steps=100 >skipped.json
"$python" - <<'PYTHON' || fail "other figures"
import json
low, high = map(float, open("run.known"))
seen, skipped = (json.load(open(f"{name}.json"))["throughput"] for name in ("run", "skipped"))
print(low, high, seen, skipped)
assert low * 0.999 < seen["samples_per_s"] < high * 1.001
assert (seen["samples"], seen["marks"], seen["ranks"]) == (199 * 3, 398, 2)
assert (skipped["samples"], skipped["marks"]) == (99 * 3, 198)
PYTHON
