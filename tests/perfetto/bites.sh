#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge.mjs finds every mistake that the engine itself passes over.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
engine=$("$here/fetch.sh")
faults=(child-first begin-before-end late-end next-before-end no-end value unknown-name no-parent arrow no-arrow)
cd "$work"

for fault in none "${faults[@]}"; do
	"$CT_BROKEN" $fault $fault.trace $fault.tuples
done
# A file without its end, and an arrow that was reported.
cp none.trace short.trace
truncate -s -8 short.trace
{
	for fault in none "${faults[@]}"; do printf '%s\t%s.trace\t%s.tuples\n' $fault $fault $fault; done
	printf 'short\tshort.trace\tnone.tuples\ntold\tnone.trace\tnone.tuples\t2\n'
} | node --liftoff-only "$here/judge.mjs" "$engine" >said && { echo "all is well, it says:"; cat said; exit 1; }
grep -qx 'none: ok 4 slices, 2 values, 1 arrows, 0 stacks and colours' said || { echo "speaks up although all is well:"; cat said; exit 1; }
for fault in "${faults[@]}" short told; do
	# That it speaks up about the mistake, and not about something that is missing here.
	grep -Eq "^$fault: (.* are (seen|meant)|the engine complains)" said || { echo "keeps quiet about: $fault"; cat said; exit 1; }
done
