#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hash of communicators in each version of NCCL, computed here by its published algorithm, against the library's.

Up to 2.25 (misc/utils.cc, init.cc): DJB2a of the id's 128 bytes; of a child, of the text "%016lx-%d" of the parent's hash and the
colour, in 128 bytes. Since 2.26 (bitops.h, init.cc): a hash of two words, of a child of the parent's hash, the number of the split
and the colour."""
import os
import platform
import random
import subprocess
import sys

WORD = (1 << 64) - 1
SIGNED_CHAR = platform.machine() in ("x86_64", "i686")


def djb2a(data):
    value = 5381
    for byte in data:
        if SIGNED_CHAR and byte > 127:
            byte -= 256
        value = ((value << 5) + value ^ byte) & WORD
    return value


def eat(acc, data):
    a, b = acc
    a ^= len(data)
    for at in range(0, len(data), 8):
        a = (a + b) & WORD
        b ^= a
        a ^= a >> 31
        a = a * 0x9DE62BBC8CEF3CE3 & WORD
        b ^= b >> 32
        b = b * 0x485CD6311B599E79 & WORD
        a = (a + int.from_bytes(data[at:at + 8], "little")) & WORD
    return a, b


def digest(acc):
    a, b = acc
    a ^= a >> 31
    h = (a * 0xBAC3BD562846DE6B + b) & WORD
    h ^= h >> 32
    return h * 0x995A187A14E7B445 & WORD


def of_id(version, data):
    return djb2a(data) if version < 22600 else digest(eat((1, 1), data))


def of_split(version, parent, nth, color):
    if version < 22600:
        return djb2a(b"%016x-%d" % (parent, color) + bytes(128 - len(b"%016x-%d" % (parent, color))))
    acc = eat((1, 1), parent.to_bytes(8, "little"))
    acc = eat(acc, nth.to_bytes(4, "little", signed=True))
    return digest(eat(acc, color.to_bytes(4, "little", signed=True)))


def main():
    seed = int(os.environ.get("CT_SEED", random.randrange(1 << 30)))
    dice = random.Random(seed)
    cases, wanted = [], []
    for version in (22005, 22304, 22505, 22602, 22809):
        for n in range(50):
            data = bytes(dice.randrange(256) for _ in range(128)) if n else bytes(range(128, 256))
            nth, color = (1 + n % 3, dice.choice((0, 5, 2147483647, dice.randrange(1 << 31))))
            key = of_id(version, data)
            cases.append("%d %s %d %d" % (version, data.hex(), nth, color))
            wanted.append((key, of_split(version, key, nth, color), nth, version))
    out = subprocess.run([sys.argv[1]], input="\n".join(cases), capture_output=True, text=True, check=True).stdout
    got = [tuple(int(word, 16) for word in line.split()) for line in out.splitlines()]
    assert len(got) == len(wanted), (len(got), seed)
    for (key, split, child), (id_hash, split_hash, nth, version), case in zip(got, wanted, cases):
        assert key == id_hash, ("id", case, "%016x" % key, "%016x" % id_hash, seed)
        assert split == split_hash, ("split", case, "%016x" % split, "%016x" % split_hash, seed)
        # the key is NCCL's hash, but where NCCL has one hash for several
        assert (child == split) == (nth == 1 or version >= 22600), ("key", case, seed)
    # what real libraries printed for an id of sevens: tests/interpose/test_nccl_key.c
    assert of_id(22809, bytes([7] * 128)) == 0x2258C19D731308EB
    print("%d ids and splits of 5 versions have NCCL's hash" % len(got))


main()
