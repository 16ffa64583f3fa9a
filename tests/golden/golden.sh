#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# golden.sh GOLDEN read|write — the runs that version 1 of the trace format was defined with: tests/golden/1, and 1.cost since COST
# records have context switches.
#   read   they are read as 1.txt and 1.cost.txt say: files that were written once stay readable.
#   write  today's writer puts the same columns down for the same records. If it does not, the format has changed: that takes a
#          new version (docs/dev/TRACE_FORMAT.md) and a new folder here.
set -euo pipefail
golden=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in 1 1.cost; do
	run=$here/$name
	if [ "$2" = write ]; then
		run=$work/$name
		mkdir "$run"
		"$golden" write $name "$run"
	fi
	diff "$here/$name.txt" <("$golden" print "$run")
done
