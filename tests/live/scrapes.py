#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""1,000 scrapes a second beside a running job, with malformed requests, clients that do not read their answers and clients that never finish
asking: each scrape is answered, and the reader's memory is bounded. Prints METRIC lines for gates.sh. --seconds: how long."""
import argparse
import contextlib
import http.client
import socket
import threading
import time

import metrics
from live import job, wait_for

RATE, CLIENTS = 1000, 4
JUNK = [b"\x00\xff" * 500, b"GET\r\n\r\n", b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]


class Clients:
    def __init__(self, address, seconds):
        self.address, self.end = address, time.monotonic() + seconds
        self.answered, self.failed, self.junk, self.slow = [0] * CLIENTS, [], 0, 0

    def scrape(self, k):
        """A line for a hundred scrapes, then another one, at its share of the rate; what is late is made up for."""
        begin, n, line = time.monotonic(), 0, None
        while time.monotonic() < self.end:
            time.sleep(max(0, begin + n * CLIENTS / RATE - time.monotonic()))
            n += 1
            try:
                if n % 100 == 1:
                    line = http.client.HTTPConnection(*self.address, timeout=30)
                line.request("GET", "/metrics")
                answer = line.getresponse()
                text = answer.read()
                if answer.status != 200 or not text.endswith(b"\n"):
                    raise ValueError(f"{answer.status}, {len(text)} bytes")
                self.answered[k] += 1
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
                line = http.client.HTTPConnection(*self.address, timeout=30)
            if n % 100 == 0:
                line.close()

    def misbehave(self):
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError), socket.create_connection(self.address, timeout=5) as line:
                line.settimeout(0.05)
                line.sendall(JUNK[self.junk % len(JUNK)])
                self.junk += 1
                line.recv(100)

    def dawdle(self):
        """Half of them never finish to ask, the others never read."""
        held = []
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError):
                line = socket.create_connection(self.address, timeout=5)
                line.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n" + (b"X-A: " if self.slow % 2 else b"\r\n") )
                held.append(line)
                self.slow += 1
            if len(held) > 8:
                held.pop(0).close()
            time.sleep(0.5)
        for line in held:
            line.close()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=int, default=60)
    options = arguments.parse_args()
    with job("--ranks=4", "--steps=1000000", "--step-ms=50") as running:
        reader = metrics.Reader(running, "--interval=1", "--listen=127.0.0.1:0", running.run)
        wait_for("figures", reader.values)
        for _ in range(200):
            reader.ask()
        before = most = reader.resident()
        clients = Clients(reader.address, options.seconds)
        threads = [threading.Thread(target=clients.scrape, args=(k,)) for k in range(CLIENTS)]
        threads += [threading.Thread(target=clients.misbehave), threading.Thread(target=clients.dawdle)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            most = max(most, reader.resident())
        took, n = time.monotonic() - begin, sum(clients.answered)
        print(f"# {n} scrapes in {took:.1f} s, {clients.junk} malformed requests, {clients.slow} clients that do not read or finish; "
              f"resident {before >> 10} KiB before, {most >> 10} KiB at most; failed: {clients.failed[:3]}")
        print(f"METRIC live.scrapes_per_s {n / max(options.seconds, took - 1):.0f} >={RATE * 0.95:.0f}")
        print(f"METRIC live.scrapes_failed {len(clients.failed)} 0")
        print(f"METRIC live.scrapes_growth_MiB {(most - before) / (1 << 20):.2f} 16")
        reader.end()


main()
