#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# golden.sh GOLDEN read|write — the run that version 1 of the trace format was defined with, tests/golden/1.
#   read   is read as 1.txt says: files that were written once stay readable.
#   write  today's writer puts the same columns down for the same records. If it does not, the format has changed: that takes a
#          new version (docs/dev/TRACE_FORMAT.md) and a new folder here.
set -euo pipefail
golden=$1
here=$(cd "$(dirname "$0")" && pwd)

case $2 in
read)
	diff "$here/1.txt" <("$golden" print "$here/1")
	;;
write)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	"$golden" write "$work"
	diff "$here/1.txt" <("$golden" print "$work")
	;;
esac
