#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# judge.sh finds every mistake that the engine itself passes over.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

judged() {
	"$CT_BROKEN" "$1" "$work/trace" "$work/tuples"
	"$here/judge.sh" "$work/trace" "$work/tuples" >"$work/said" 2>&1
}

judged none || { echo "speaks up although all is well:"; cat "$work/said"; exit 1; }
for fault in child-first begin-before-end late-end next-before-end no-end value unknown-name no-parent; do
	if judged $fault || [ ! -s "$work/said" ]; then
		echo "keeps quiet about: $fault"
		exit 1
	fi
	# That it speaks up about the mistake, and not about something that is missing here.
	grep -q "^$work/trace: " "$work/said" || { cat "$work/said"; exit 1; }
done
# A file without its end, and an arrow too few.
judged none
truncate -s -8 "$work/trace"
"$here/judge.sh" "$work/trace" "$work/tuples" >/dev/null && { echo "keeps quiet about a file that ends early"; exit 1; }
judged none
"$here/judge.sh" "$work/trace" "$work/tuples" 1 >/dev/null && { echo "keeps quiet about an arrow that is not there"; exit 1; }
exit 0
