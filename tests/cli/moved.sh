#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that was copied: info shows the directory that it reads and the one where it was recorded, and only one where they are the
# same, by whatever path.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1
directories() { commtrace info "$1" | grep -E '^(directory|recorded) ' | sed "s|$PWD|HERE|g"; }
echo "= where it was recorded"
directories run1
ln -s run1 link
directories link/
echo "= a copy"
cp -r run1 run2
directories run2
echo "= moved"
mv run1 run3
directories "$PWD/run3"
echo "= JSON: where it was recorded, as ever"
commtrace info run3 --format=json | grep '"dir"' | sed "s|$PWD|HERE|g"
