#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --format=kv is for scripts: a word, then key=value, where a value of several words is quoted and an error has a key of its own.
commtrace-synth -o run --seed 1 --hosts 2 --gpus-per-host 4 --ranks-per-process 4 --steps 60 --fault rotating:every=7,ms=80 >/dev/null
commtrace report run --format=kv >kv
python3 -c '
import re, shlex
for line in open("kv"):
    word, *pairs = shlex.split(line)
    bad = [pair for pair in pairs if not re.match("[a-z_]+=.", pair) or "±" in pair]
    print(word, *(pair.split("=")[0] for pair in pairs), *(["BAD", *bad] if bad else []))'
grep -o 'about="[a-z]*' kv
