#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""open.py RUN FILE: what `commtrace open` serves, to whom, and when it ends. FILE is the same run's timeline by `timeline`.
Prints a line for each thing that was looked at; what is not as it should be ends it with a message."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse

UI = "https://ui.perfetto.dev"
RUN, FILE = sys.argv[1:]
PORT = int(subprocess.check_output([sys.executable, os.environ["root"] + "/tools/free_port.py"]))
TIMELINE = open(FILE, "rb").read()
ALLOWED = b"access-control-allow-origin: " + UI.encode()


class Serving:
    """A `commtrace open` that has printed its link."""

    def __init__(self, *args, env=None):
        self.said = tempfile.TemporaryFile()
        command = ["commtrace", "open", "--port", str(PORT), *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.said,
                                        env={**os.environ, **(env or {})})
        self.link = self.process.stdout.readline().decode().strip()

    def end(self, sig=None):
        if sig:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=30)
        self.said.seek(0)
        return code, self.said.read().decode()


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=30)


def receive(s):
    answer = bytearray()
    try:
        while chunk := s.recv(1 << 16):
            answer += chunk
    except ConnectionResetError:
        pass
    s.close()
    return bytes(answer)


def send(raw):
    s = connect()
    s.sendall(raw)
    return receive(s)


def ask(method="GET", path="/run.pftrace", host=None, **lines):
    """Status, head in lower case, body."""
    text = f"{method} {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{PORT}'}\r\n"
    for name, value in lines.items():
        text += f"{name.replace('_', '-')}: {value}\r\n"
    head, _, body = send(text.encode() + b"\r\n").partition(b"\r\n\r\n")
    return int(head.split()[1]), head.lower(), body


def check(what, ok, *got):
    if not ok:
        sys.exit(f"not so: {what}: {got}")
    print(what)


def look_at_link(link):
    origin, _, rest = link.partition("/#!/?")
    args = dict(urllib.parse.parse_qsl(rest, strict_parsing=True))
    tuples = subprocess.check_output(["commtrace", "timeline", RUN, "--format=tuples"],
                                     stderr=subprocess.DEVNULL, text=True)
    rows = [line.split("\t") for line in tuples.splitlines()]
    slices = [row for row in rows if row[2].isdigit()]
    first = min(int(row[0]) for row in slices)
    last = max(int(row[0]) + max(int(row[1]), 0) for row in slices)
    names = {part for row in slices for part in row[3].split(" > ")}
    pins = [command["args"][0] for command in json.loads(args["startupCommands"])]
    check("the link is the page's and names the file", origin == UI and
          args["url"] == f"http://127.0.0.1:{PORT}/run.pftrace", link)
    check("its range lies in the timeline", first <= int(args["visStart"]) < int(args["visEnd"]) <= last,
          args, first, last)
    check("every pattern that is pinned finds one track, the findings first", pins[0] == "^Findings$" and
          all(sum(1 for name in names if re.search(pin, name)) == 1 for pin in pins), pins, names)


def look_at_answers():
    status, head, body = ask(origin="https://example.org")
    check("another page is not let in", status == 200 and b"access-control" not in head)
    for site in ("cross-site", "same-site"):
        status, head, body = ask(Sec_Fetch_Site=site)
        check(f"refused: a part of a page, {site}", status == 403 and body == b"" and b"access-control" not in head)
        status, _, body = ask(Sec_Fetch_Site=site, Origin="https://example.org")
        check(f"refused: another page's fetch, {site}", status == 403 and body == b"")
    status, head, body = ask(Sec_Fetch_Site="cross-site", Origin=UI)
    check("the page that may is let in by a browser that tells sites", status == 200 and ALLOWED in head and
          body == TIMELINE)
    status, head, body = ask("HEAD", Origin=UI)
    check("HEAD tells the size and sends nothing", status == 200 and ALLOWED in head and body == b"" and
          b"content-length: %d\r" % len(TIMELINE) in head + b"\r", head)
    status, head, _ = ask("OPTIONS", Origin=UI, Access_Control_Request_Private_Network="true")
    check("OPTIONS lets the page in, into this machine, too", status == 200 and ALLOWED in head and
          b"access-control-allow-private-network: true" in head, head)
    status, head, _ = ask("OPTIONS", Origin="null", Access_Control_Request_Private_Network="true")
    check("OPTIONS lets nobody else in", status == 200 and b"access-control" not in head, head)
    for method, path in (("POST", "/status"), ("POST", "/run.pftrace"), ("GET", "/"), ("GET", "/run.pftrace/"),
                         ("GET", "/../etc/passwd"), ("GET", "//run.pftrace"), ("GET", "run.pftrace"),
                         ("GET", "/" + 300 * "a"), ("PUT", "/run.pftrace")):
        status, head, body = ask(method, path, Origin=UI)
        check(f"{method} {path[:20]}: {status}", status == 404 and body == b"")
    for host in ("example.org", f"example.org:{PORT}", "127.0.0.1", f"127.0.0.1.example.org:{PORT}"):
        check(f"refused: host {host.replace(str(PORT), 'PORT')}", ask(host=host)[0] == 421)
    check("localhost is this machine, too", ask("HEAD", host=f"LOCALHOST:{PORT}")[0] == 200)


def look_at_ranges():
    n = len(TIMELINE)
    for text, begin, end in (("0-3", 0, 4), (f"{n - 5}-", n - 5, n), ("-7", n - 7, n), (f"9-{n * 9}", 9, n)):
        status, head, body = ask(Range="bytes=" + text, Origin=UI)
        check("a part: " + text.replace(str(n - 5), "N-5").replace(str(n * 9), "9N"),
              status == 206 and body == TIMELINE[begin:end] and
              b"content-range: bytes %d-%d/%d" % (begin, end - 1, n) in head, head)
    for text in (f"{n}-", "-0"):
        status, head, body = ask(Range="bytes=" + text, Origin=UI)
        check("no such part", status == 416 and b"content-range: bytes */%d" % n in head, head)
    # From another page, so that being answered in whole does not end it.
    for text in ("bytes=0-1,4-5", "bytes=5-3", "bytes=", "bytes=99999999999999999999-", "lines=0-3"):
        status, _, body = ask(Range=text, Origin="https://example.org")
        check("no sense in " + text, status == 200 and body == TIMELINE)


def look_at_bad_clients():
    own = f"Host: 127.0.0.1:{PORT}\r\n".encode()
    for raw in (b"GET /run.pftrace HTTP/1.1\r\n\r\n", b"GET /run.pftrace HTTP/1.1\r\n" + own + own + b"\r\n",
                b"GET  /run.pftrace HTTP/1.1\r\n" + own + b"\r\n", b"GET /run.pftrace HTTP/2\r\n" + own + b"\r\n",
                b"GET /run.pftrace HTTP/1.1\n" + own + b"\r\n", b"\r\n\r\n", b"\x16\x03\x01\0\xff\r\n\r\n",
                b"GET /run.pftrace HTTP/1.1\r\n" + own + b" folded\r\n\r\n",
                b"GET /run.pftrace HTTP/1.1\r\n" + own + b"Range : bytes=0-3\r\n\r\n",
                b"GET /run.pftrace HTTP/1.1\r\n" + own + b"Range: \0\r\n\r\n"):
        answer = send(raw)
        check("malformed: 400", answer.startswith(b"HTTP/1.1 400 "), raw, answer)
    check("a head that is too long: 431", send(b"GET / HTTP/1.1\r\nX: " + 8192 * b"x").startswith(b"HTTP/1.1 431 "))

    # More than there are slots for: some begin to ask and never end, some ask and never read.
    slow = [connect() for _ in range(40)]
    for i, s in enumerate(slow):
        s.sendall(b"GET /run.pftrace HTTP/1.1\r\n" + (own + b"\r\n" if i % 2 else b"Host: "))
    check("slow clients keep nobody out", ask("HEAD")[0] == 200)
    for s in slow:
        s.close()
    left = connect()
    left.sendall(b"GET /run.pftrace HTTP/1.1\r\n" + own + b"\r\n")
    left.recv(10)
    left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    left.close()


def main():
    server = Serving(RUN, "--serve")
    look_at_link(server.link)
    look_at_answers()
    look_at_ranges()
    look_at_bad_clients()
    for _ in range(2):
        status, head, body = ask(Origin=UI)
        check("with --serve it may be fetched again", status == 200 and ALLOWED in head and body == TIMELINE)
    second = subprocess.run(["commtrace", "open", RUN, "--port", str(PORT)], capture_output=True, text=True)
    check("who has the port is said", second.returncode == 1 and second.stdout == "" and
          f"'commtrace' (pid {server.process.pid}) has it" in second.stderr, second)
    check("nothing is left lying around while it runs", os.listdir(os.environ["TMPDIR"]) == [])
    code, said = server.end(signal.SIGINT)
    check("Ctrl-C ends it with 130", code == 130, code, said)

    server = Serving(RUN)
    idle = connect()  # a browser connects before it has anything to ask
    _, _, body = ask(Origin=UI)
    code, said = server.end()
    check("without --serve it ends once the file was fetched", (code, body) == (0, TIMELINE), code, said)
    idle.close()

    server = Serving(FILE)
    torn = connect()
    torn.sendall(f"GET /run.pftrace HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode())
    while len(torn.recv(1 << 16, socket.MSG_PEEK)) < len(TIMELINE):
        pass  # until all was sent, and nothing of it taken
    torn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    torn.close()
    ask(Range="bytes=0-3")
    ask(origin="https://example.org")
    ask(Sec_Fetch_Site="cross-site")
    ask(Sec_Fetch_Site="none")
    _, _, body = ask()
    code, said = server.end()
    check("who tears the line off has not fetched it; a file is served as it is, and its link shows the findings", (code, body) == (0, TIMELINE) and
          "visStart" not in server.link and "Findings" in server.link, code, said, server.link)

    with open("large.pftrace", "wb") as file:
        file.write(TIMELINE)
        file.truncate(32 << 20)  # more than the line holds
    server = Serving("large.pftrace")
    stalled = connect()
    stalled.sendall(f"GET /run.pftrace HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode())
    stalled.recv(10)
    _, _, body = ask()
    code, said = server.end()
    check("once it was fetched, who stalls does not keep it", (code, len(body)) == (0, 32 << 20), code, said)
    stalled.close()
    os.remove("large.pftrace")

    server = Serving(FILE, "--idle", "1")
    code, said = server.end()
    check("it gives up when nobody comes", code == 1 and "no browser fetched the timeline within 1s" in said, code, said)

    server = Serving(FILE, env={"DISPLAY": ":9", "PATH": os.getcwd() + "/bin:" + os.environ["PATH"]})
    code, said = server.end()
    check("a browser is opened where there is a screen", code == 0 and open("opened").read().strip() == server.link)
    server = Serving(FILE, "--no-browser", "--idle", "1", env={
        "DISPLAY": ":9", "PATH": os.getcwd() + "/bin:" + os.environ["PATH"]})
    check("and not with --no-browser", server.end()[0] == 1)


main()
