#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that was copied: info shows the place that it reads and the one where it was recorded, and only one where they are the
# same, by whatever path.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1
places() { commtrace info "$1" | grep -E '^(directory|recorded) ' | sed "s|$PWD|HERE|g"; }
echo "= where it was recorded"
places run1
ln -s run1 link
places link/
echo "= a copy"
cp -r run1 run2
places run2
echo "= moved"
mv run1 run3
places "$PWD/run3"
echo "= JSON: where it was recorded, as ever"
commtrace info run3 --format=json | grep '"dir"' | sed "s|$PWD|HERE|g"
