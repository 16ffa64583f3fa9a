#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the preload drags into a process: libc only, no search path, and so little static TLS that it can also be
# opened with dlopen.
. "$(dirname "$0")/rule.sh"
need "$library"
judged "entries of the dynamic section" "$(readelf --wide -d "$library" | awk '/\(NEEDED\)/' | wc -l)"

readelf --wide -d "$library" | awk '
	/\(NEEDED\)/ && !/\[libc\.so\.6\]/
	/\((RPATH|RUNPATH|TEXTREL)\)/
' | verdict "dynamic section"
readelf --wide -l "$library" | awk '
	function hex(s,  i, v) { for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v + 0 }
	$1 == "TLS" && hex($6) > 64 { print "static TLS is " hex($6) " bytes, at most 64" }
	$1 == "GNU_STACK" && /RWE/ { print "the stack would become executable" }
' | verdict "program headers"
