#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The interpreters of this machine, one of each version 3.8 and later, by their paths: Debian's, those in PATH, pyenv's.
# They have to run: a pyenv shim that stands for none does not.
seen=" "
for python in /usr/bin/python3 /usr/bin/python3.[0-9]* $(type -ap python3) \
	"${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	case $python in *-config) continue ;; esac
	[ -x "$python" ] || continue
	version=$("$python" -c 'import sys, ctypes; v = sys.version_info; print("%d.%d" % v[:2] if v >= (3, 8) else "")' 2>/dev/null) || continue
	case $seen in *" $version "*) continue ;; esac
	[ -n "$version" ] || continue
	seen="$seen$version "
	echo "$python"
done
