#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The preload loads wherever glibc 2.28 does (RHEL 8, Debian 10): an unmet symbol version in a preload kills every
# process of the job before main().
. "$(dirname "$0")/rule.sh"
need "$library"
judged "undefined symbols" "$(readelf --wide --dyn-syms "$library" | awk '$7 == "UND" && $8 != ""' | wc -l)"

readelf --wide --dyn-syms "$library" | awk '
	$7 == "UND" && match($8, /@.*/) {
		version = substr($8, RSTART + 1)
		sub(/^@/, "", version)
		n = split(version, v, /[_.]/)
		if (v[1] != "GLIBC" || v[2] !~ /^[0-9]+$/ || v[2] > 2 || (v[2] == 2 && v[3] + 0 > 28))
			print $8
	}
' | verdict "symbols newer than GLIBC_2.28, or not of glibc"
# Versions needed without a symbol, such as GLIBC_ABI_DT_RELR.
readelf --wide -V "$library" | awk '
	/Name: / { name = $0; sub(/.*Name: /, "", name); sub(/ .*/, "", name) }
	/Name: / && name !~ /^GLIBC_2\.([0-9]|1[0-9]|2[0-8])(\.[0-9]+)?$/ { print name }
' | sort -u | verdict "version needs newer than GLIBC_2.28"
