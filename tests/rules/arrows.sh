#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes are rooted and follow the arrows of docs/dev/ARCHITECTURE.md and of rooms.txt; files and rooms include one another in no
# circle; no room for things that have no home.
. "$(dirname "$0")/rule.sh"
rooms=$root/tests/rules/rooms.txt
need "$rooms"

sources '^(.*/)?(common|utils?)/|(^|/)misc\.' | verdict "a folder or file without a subject"

mapfile -t files < <(sources '[.](c|cc|h|def|S)$')
judged "source files" "${#files[@]}"

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
		if (file ~ /^tools\/stacks\//) return inc ~ /^(tools\/stacks|interpose\/python)\//
		if (file ~ /^tools\/metrics\//) return inc ~ /^(analyzer|trace|tools\/metrics)\// || inc ~ /^tools\/commtrace\/base\/(codes|say|signals|this_host)\.h$/
		if (file ~ /^tools\/mpi\//) return inc ~ /^(trace|tools\/mpi)\// || inc ~ /^tools\/commtrace\/(base\/(codes|options|recording|say|this_host)|copy\/partial)\.h$/
		if (file ~ /^tools\/pages\//) return inc ~ /^tools\/(pages\/|commtrace\/base\/command_table\.h)/ || words(inc)
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
		# A folder of examples is compiled alone, and has no root.
		if (FILENAME ~ /^examples\// && inc !~ /\//) next
		if ((getline line < inc) < 0)
			printf "%s:%d: \"%s\" is not a path from the root\n", FILENAME, FNR, inc
		else if (!allowed(FILENAME, inc))
			printf "%s:%d: may not include \"%s\"\n", FILENAME, FNR, inc
		close(inc)
	}
' "${files[@]}" | verdict "includes against the arrows"

awk -v table="$rooms" '
	# The row of a file: its own, else the nearest folder that has one; "" outside all rooms.
	function room(path) {
		while (path != "" && !(path in rows))
			if (!sub(/\/[^\/]*$/, "", path))
				path = ""
		return path
	}

	# The top-level folder: between these the arrows above judge.
	function top(path) { sub(/\/.*/, "", path); return path }

	# A .c, its .h and its _private.h.
	function module(path) { sub(/(_private)?[.][ch]$/, "", path); return path }

	# Take away what nothing left points at, until there is only what lies on a circle or behind one; walk that.
	function circle(what, points,  edge, more, n, part, at, path, seen) {
		do {
			more = 0
			for (edge in points) {
				split(edge, part, SUBSEP)
				n[part[1]] = 1
			}
			for (edge in points) {
				split(edge, part, SUBSEP)
				if (!(part[2] in n)) { delete points[edge]; more = 1 }
			}
			delete n
		} while (more)
		for (edge in points) {
			split(edge, part, SUBSEP)
			if (at == "" || part[1] < at) at = part[1]
		}
		if (at == "")
			return
		for (path = at; !(at in seen); path = path " -> " at) {
			seen[at] = 1
			more = ""
			for (edge in points) {
				split(edge, part, SUBSEP)
				if (part[1] == at && (more == "" || part[2] < more)) more = part[2]
			}
			at = more
		}
		printf "%s in a circle: %s\n", what, path
	}

	BEGIN {
		while ((getline line < table) > 0) {
			if (line ~ /^(#|$)/) continue
			n = split(line, word, /[: \t]+/)
			if (line !~ /^[^: ]+:( |$)/ || word[1] in rows)
				printf "%s: not \"ROOM: ROOMS\", or a second row: %s\n", table, line
			rows[word[1]] = 1
			if (sub(/[ \t]+strict$/, "", line)) { strict[word[1]] = 1; n-- }
			for (i = 2; i <= n; i++)
				if (word[i] != "") may[word[1], word[i]] = 1
		}
		for (edge in may) {
			split(edge, part, SUBSEP)
			if (!(part[2] in rows))
				printf "%s: %s may include %s, which has no row\n", table, part[1], part[2]
			down[edge] = 1
		}
		circle("rows of the table", down)
	}
	FNR == 1 {
		mine = room(FILENAME); lives[mine] = 1
		folder = FILENAME; sub(/\/[^\/]*$/, "", folder)
		if (mine != "" && mine != FILENAME && mine != folder)
			printf "%s: its folder has no row in %s\n", FILENAME, table
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\""); inc = part[2]; theirs = room(inc)
		from = module(FILENAME); to = module(inc)
		if (from != to && mine == theirs && (mine in strict))
			modules[from, to] = 1
		if (inc != FILENAME)
			includes[FILENAME, inc] = 1
		if (mine != "" && theirs != "" && theirs != mine && top(mine) == top(theirs) && !((mine, theirs) in may))
			printf "%s:%d: %s may not include \"%s\" (%s)\n", FILENAME, FNR, mine, inc, theirs
	}
	END {
		for (row in rows)
			if (!(row in lives))
				printf "%s: the row of %s has no sources\n", table, row
		circle("files", includes)
		circle("modules", modules)
	}
' "${files[@]}" | verdict "includes against the rooms"
