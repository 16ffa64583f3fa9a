#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The interpreters of this machine, one of each version 3.8 and later, by their paths: Debian's, those in PATH, and those
# that are installed beside one of these. They have to run: what stands for several versions may stand for none.
prefixes=()
for python in $(type -ap python3); do
	prefixes+=("$("$python" -c 'import os, sys; print(os.path.dirname(sys.base_prefix))' 2>/dev/null)")
done
seen=" "
for python in /usr/bin/python3 /usr/bin/python3.[0-9]* $(type -ap python3) "${prefixes[@]/%//*/bin/python3}"; do
	for python in $python; do
		case $python in *-config) continue ;; esac
		[ -x "$python" ] || continue
		version=$("$python" -c 'import sys, ctypes; v = sys.version_info; print("%d.%d" % v[:2] if v >= (3, 8) else "")' 2>/dev/null) || continue
		case $seen in *" $version "*) continue ;; esac
		[ -n "$version" ] || continue
		seen="$seen$version "
		echo "$python"
	done
done
