#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print a free TCP port of this machine that the kernel hands to no other process until it is used.

The kernel gives the ports of ip_local_port_range to whoever connects or asks for any port. One of those may be taken by
the time at which a job listens on it, which on a busy machine is many seconds later."""

import random
import socket


def first_given():
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
            return int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return 32768


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def main():
    end = first_given()
    ports = range(max(10000, end - 12000), end)
    for port in random.sample(ports, len(ports)):
        if is_free(port):
            print(port)
            return
    with socket.socket() as s:  # all are given by the kernel here
        s.bind(("127.0.0.1", 0))
        print(s.getsockname()[1])


if __name__ == "__main__":
    main()
