#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The language of everything people read. words.txt lists patterns that do not occur, where each is looked for, and what to write
# instead. A match may run over a line break, within a paragraph, a comment or a string that is continued.
. "$(dirname "$0")/rule.sh"
table=$root/tests/rules/words.txt
need "$table"

{ grep -vE $'^(#|$)|^(doc|text|html|comment|name)(,(doc|text|html|comment|name))*\t[^\t]+\t[^\t]+$' "$table" || [ $? = 1 ]; } |
	verdict "rows that are not WHERE, a tab, PATTERN, a tab, INSTEAD"

# bite.sh plants such words.
mapfile -t files < <(sources '[.](md|c|h|def|html|js|mjs|css|sh|py|cmake)$|CMakeLists[.]txt$' | grep -v '^tests/rules/bite[.]sh$')
judged "files" "${#files[@]}"

# FILE:LINE, the kind of text, the text: one line each.
pieces() {
	awk '
		function put(kind, text) {
			if (text != "") printf "%s\t%d\t%s\t%s\n", FILENAME, FNR, kind, text
		}
		# Comments, strings and the code of a line of C. in_comment outlives the line.
		function c_line(line,  comment, text, code, at, what) {
			comment = text = code = ""
			if (in_comment && line !~ /^[ \t]*\*\//) sub(/^[ \t]*\*/, "", line)
			while (line != "") {
				if (in_comment) {
					at = index(line, "*/")
					comment = comment " " (at ? substr(line, 1, at - 1) : line)
					line = at ? substr(line, at + 2) : ""
					in_comment = !at
				} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|\x27([^\x27\\]|\\.)*\x27/)) {
					what = substr(line, RSTART, RLENGTH)
					code = code substr(line, 1, RSTART - 1) " "
					line = substr(line, RSTART + RLENGTH)
					if (what == "/*") in_comment = 1
					else if (what == "//") { comment = comment " " line; line = "" }
					else if (what ~ /^"/) text = text substr(what, 2, length(what) - 2)
				} else {
					code = code line
					line = ""
				}
			}
			# Names first: a comment or a string may continue in the next line.
			if (is_spoken && code ~ /[A-Za-z]/) put("name", code)
			put("comment", comment)
			if (is_spoken) put("text", text)
		}
		FNR == 1 {
			in_comment = 0
			is_spoken = FILENAME ~ /^(analyzer|trace|interpose|tools\/commtrace)\//
			kind = "script"
			if (FILENAME ~ /[.]md$/) kind = "doc"
			if (FILENAME ~ /[.](c|h|def|js|mjs|css)$/) kind = "c"
			if (FILENAME ~ /[.]html$|^analyzer\/.*[.]js$/) kind = "html"
		}
		kind == "doc" || kind == "html" { put(kind, $0); next }
		kind == "c" { c_line($0); next }
		/^[ \t]*#[^!]/ { sub(/^[ \t]*#+/, ""); put("comment", $0) }
	' "${files[@]}"
}

pieces | awk -F '\t' -v table="$table" '
	BEGIN {
		while ((getline line < table) > 0) {
			if (line ~ /^(#|$)/) continue
			split(line, part, "\t")
			where[++rows] = "," part[1] ","; instead[rows] = part[3]
			pattern[rows] = "[^A-Za-z0-9_]" part[2] "[^A-Za-z0-9_]"
			any = any (rows > 1 ? "|" : "") pattern[rows]
		}
	}
	function judge(  both, i, from) {
		both = " " mine (kind == "text" ? "" : " ") after " "
		if (both !~ any) return
		for (i = 1; i <= rows; i++)
			if (index(where[i], "," kind ",") && match(both, pattern[i]) && RSTART <= length(mine))
				printf "%s:%d: \"%s\": %s\n", file, line_no, substr(both, RSTART + 1, RLENGTH - 2), instead[i]
	}
	{
		text = substr($0, length($1 $2 $3) + 4)
		if ($3 != "text") {
			gsub(/[ \t]+/, " ", text)
			gsub(/^ | $/, "", text)
		}
		after = $1 == file && $2 == line_no + 1 && $3 == kind ? text : ""
		if (NR > 1) judge()
		file = $1; line_no = $2; kind = $3; mine = text
	}
	END { after = ""; judge() }
' | verdict "words that are not ours"
