# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# rule.sh — sourced by every rule. CT_ROOT is the tree that is judged (default: the one this file lies in), CT_BUILD
# its build tree. A rule prints what breaks it, one line each, and exits 1. On stderr it says how much it has judged.
set -euo pipefail
export LC_ALL=C
root=${CT_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${CT_BUILD:-$root/build}
library=$build/lib/libcommtrace.so
cd "$root"

# sources REGEX: the project's files whose path matches. Without git (a tarball, a copy): everything not
# built. What git knows and no one has any more is left out.
sources() {
	{
		git ls-files -co --exclude-standard 2>/dev/null ||
			find . -type f ! -path './.git/*' ! -path './build*' ! -path './demo-out/*' ! -path './commtrace-*'
	} | sed 's|^\./||' | awk -v want="$1" '$0 ~ want' | { xargs -r -d '\n' ls -d 2>/dev/null || true; } | sort
}

# need FILE: a rule about something that is not there is broken, not kept.
need() {
	[ -e "$1" ] || { printf '%s is missing\n' "$1"; exit 1; }
}

# differ FILE FILE: diff, whose 1 is an answer and not a failure.
differ() {
	diff "$@" || [ $? = 1 ]
}

# verdict SENTENCE: the lines of stdin are violations; there must be none.
verdict() {
	local found
	found=$(cat)
	[ -z "$found" ] || { printf '%s:\n%s\n' "$1" "$found"; exit 1; }
}

# judged WHAT N: said on stderr, so that a rule that judges nothing any more is seen; none is a violation.
judged() {
	printf 'judged %s %s\n' "$2" "$1" >&2
	[ "$2" -gt 0 ] || { printf 'no %s to judge\n' "$1"; exit 1; }
}
