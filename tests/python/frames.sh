#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is read of frames in every interpreter of this machine is what the interpreter says. usage: frames.sh walker.so
set -u
here=$(cd "$(dirname "$0")" && pwd)
n=0
for python in $("$here/interpreters.sh"); do
	"$python" "$here/frames.py" "$1" || { echo "FAIL: $python ($?)"; exit 1; }
	n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "FAIL: no Python 3.8 or later"; exit 1; }
