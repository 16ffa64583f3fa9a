#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of a run: each file is there and is what its name says.
commtrace-synth -o recorded --hosts 2 --gpus-per-host 2 --steps 12 --fault slow-rank:rank=2,ms=9
commtrace report recorded -o shown.html
for kind in traffic waits steps; do
	commtrace heatmap recorded --type "$kind" -o "shown-$kind.svg"
done
ls shown*
grep -c '</html>' shown.html
for picture in shown-*.svg; do
	python3 -c 'import sys, xml.etree.ElementTree as x; print(x.parse(sys.argv[1]).getroot().tag)' "$picture"
done
