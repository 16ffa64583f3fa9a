#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes are rooted and follow the arrows of docs/ARCHITECTURE.md; no room for things that have no home.
. "$(dirname "$0")/rule.sh"

sources '^(.*/)?(common|utils?)/|(^|/)misc\.' | verdict "a folder or file without a subject"

mapfile -t files < <(sources '[.](c|cc|h|def|S)$')
[ ${#files[@]} -gt 0 ] || exit 0
awk '
	# The reading half of trace/ is not for code that runs inside a job.
	function reading_half(inc) { return inc ~ /_read\.h$/ || inc ~ /\/(reader|run)\.h$/ }

	# The ids of operations and data types are the words of all who speak of them.
	function words(inc) { return inc ~ /^trace\/(ops\.h|[a-z]+\.def)$/ }

	function allowed(file, inc) {
		if (file ~ /^trace\//) return inc ~ /^trace\//
		if (file ~ /^interpose\/abi\//) return inc ~ /^interpose\/abi\//
		if (file ~ /^interpose\//) return inc ~ /^interpose\// || (inc ~ /^trace\// && !reading_half(inc))
		if (file ~ /^analyzer\//) return inc ~ /^(analyzer|trace)\//
		if (file ~ /^tools\/commtrace\//) return inc ~ /^(analyzer|trace|tools\/commtrace)\//
		if (file ~ /^tools\/workload\//) return inc ~ /^tools\/workload\// || words(inc)
		if (file ~ /^tools\/synth\//) return inc ~ /^tools\/(synth|workload)\// || (inc ~ /^trace\// && !reading_half(inc))
		if (file ~ /^tools\/sim\/job\// && words(inc)) return 1
		if (file ~ /^tools\/sim\//) return inc ~ /^(interpose\/abi|tools\/sim|tools\/workload)\//
		return file ~ /^tests\//
	}

	# Angle brackets would hide an edge from grep.
	/^[ \t]*#[ \t]*include[ \t]*<(trace|interpose|analyzer|tools|examples|tests)\// {
		printf "%s:%d: %s: quotes, not angle brackets\n", FILENAME, FNR, $0
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\""); inc = part[2]
		if ((getline line < inc) < 0)
			printf "%s:%d: \"%s\" is not a path from the root\n", FILENAME, FNR, inc
		else if (!allowed(FILENAME, inc))
			printf "%s:%d: may not include \"%s\"\n", FILENAME, FNR, inc
		close(inc)
	}
' "${files[@]}" | verdict "includes against the arrows"
