#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""commtrace-metrics beside running jobs: scraped by Debian's Prometheus, judged by promtool, compared with the report of the same run, and with
clients that misbehave. With --torchrun, beside a torchrun job, too (gates.sh)."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from live import BIN, ROOT, check, commtrace, job, main, report, run, wait_for

EXAMPLES = ROOT / "examples" / "metrics"


class Reader:
    def __init__(self, running, *words):
        self.log = open(running.run.parent / f"reader{time.monotonic_ns()}.log", "w+")
        self.process = subprocess.Popen([BIN / "commtrace-metrics", "--interval=0.3", *words], env=running.env,
                                        stderr=self.log, stdout=subprocess.DEVNULL)
        running.readers.append(self.process)
        self.address = None
        if any(str(word).startswith("--listen") for word in words):
            self.address = wait_for("the address of the server", self.find_address)

    def find_address(self):
        check(self.process.poll() is None, "the reader ended: " + self.text())
        found = re.search(r"serving /metrics on (\S+):(\d+)", self.text())
        return found and ("127.0.0.1", int(found.group(2)))

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def ask(self, path="/metrics", method="GET", headers=None, body=None):
        line = http.client.HTTPConnection(*self.address, timeout=30)
        with contextlib.closing(line):
            line.request(method, path, headers=headers or {}, body=body)
            answer = line.getresponse()
            return answer.status, answer.read().decode()

    def values(self):
        status, text = self.ask()
        return parse(text) if status == 200 else {}

    def resident(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10

    def end(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        code = self.process.wait(30)
        self.log.close()
        return code


def parse(text):
    """{name: {frozenset of labels: value}}; names and labels as the format has them."""
    values = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        found = re.fullmatch(r'([a-z_:]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)', line)
        check(found, "not a sample: " + line)
        labels = frozenset(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', found.group(2) or ""))
        of_name = values.setdefault(found.group(1), {})
        check(labels not in of_name, "twice: " + line)
        of_name[labels] = float(found.group(3))
    return values


def of_ranks(values, name):
    return {int(dict(labels)["rank"]): value for labels, value in values.get("commtrace_" + name, {}).items()}


def near(a, b, share=0.02):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9


def compare(values, told):
    """The figures of the whole run: those of the report."""
    for name, key, unit in (("operations_total", "ops", 1), ("bytes_total", "bytes", 1), ("wait_seconds_total", "wait_ns", 1e9),
                            ("exposed_comm_seconds_total", "exposed_ns", 1e9)):
        by_rank = of_ranks(values, name)
        for rank in told["ranks"]:
            if rank[key] is None:
                check(rank["rank"] not in by_rank, f"{name} of {rank['rank']}: {by_rank}, and the report does not know it")
            else:
                check(near(by_rank[rank["rank"]], rank[key] / unit),
                      f"{name} of rank {rank['rank']}: {by_rank[rank['rank']]}, report: {rank[key] / unit}")
    judged = sum(values["commtrace_collective_wait_seconds_total"].values())
    check(near(judged, sum(op["wait_ns"] or 0 for op in told["ops"]) / 1e9), f"{judged} s of waits by kind")
    check(near(sum(values["commtrace_transfer_duration_seconds_sum"].values()),
               sum(op["transfer_ns"] or 0 for op in told["ops"]) / 1e9), "transfers by kind")
    for name in ("operation_duration_seconds", "transfer_duration_seconds", "algorithm_bandwidth_bytes_per_second"):
        for labels, count in values[f"commtrace_{name}_count"].items():
            buckets = {dict(to)["le"]: value for to, value in values[f"commtrace_{name}_bucket"].items()
                       if to - {("le", dict(to)["le"])} == labels}
            check(buckets["+Inf"] == count, f"{name}: {buckets}")
            rising = [buckets[le] for le in sorted(buckets, key=float)]
            check(rising == sorted(rising), f"{name}: {rising}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def prometheus(scraped):
    """Debian's, which scrapes this port once a second, and is ready."""
    port, folder = free_port(), pathlib.Path(tempfile.mkdtemp(prefix="ct-prom-"))
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 1s}}\nrule_files: [{EXAMPLES / 'alerts.yml'}]\nscrape_configs:\n"
        f"- job_name: commtrace\n  static_configs: [{{targets: ['127.0.0.1:{scraped}']}}]\n")
    log = open(folder / "prometheus.log", "w")
    server = subprocess.Popen(["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'tsdb'}",
                               f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, cwd=folder)
    try:
        wait_for("Prometheus", lambda: ask_prometheus(port, "/api/v1/query", {"query": "1"}))
        yield lambda path, **query: ask_prometheus(port, path, query)
    finally:
        server.kill()
        server.wait()
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def ask_prometheus(port, path, query):
    with contextlib.suppress(ConnectionError, json.JSONDecodeError):  # "Service Unavailable", at its start
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(line):
            line.request("GET", path + "?" + urllib.parse.urlencode(query))
            return json.loads(line.getresponse().read())
    return {}


def queries():
    """Every query of the dashboard, as Grafana would send it."""
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"].replace("$job", ".*").replace("$__rate_interval", "1m")


def scraped_while_it_runs():
    port = free_port()
    with prometheus(port) as ask:
        with job("--ranks=16", "--steps=320", "--step-ms=20", "--fault=slow-rank:rank=5,pct=30") as running:
            reader = Reader(running, f"--listen=127.0.0.1:{port}", running.run)
            wait_for("a figure while the job runs", lambda: len(of_ranks(reader.values(), "rank_up")) == 16)
            early = wait_for("operations", lambda: sum(of_ranks(reader.values(), "operations_total").values()))
            reader.end(signal.SIGKILL)
            # its totals come from the record, so another one goes on with them
            reader = Reader(running, f"--listen=127.0.0.1:{port}", "--peak-gbps=100",
                            "--nvml=" + os.environ["CT_FAKE_NVML"])
            check(wait_for("figures of the next reader", lambda: sum(of_ranks(reader.values(), "operations_total").values()))
                  >= early, "totals began again with the reader")
            check(all(v == 1 for v in of_ranks(reader.values(), "rank_up").values()), "all run")
            in_flight = of_ranks(reader.values(), "last_operation_age_seconds")
            check(len(in_flight) == 16 and max(in_flight.values()) < 60, f"ages {in_flight}")
            wait_for("scrapes while the job runs", lambda: [r for r in ask("/api/v1/query", query=(
                "count_over_time(commtrace_transfer_duration_seconds_count[1m]) >= 2")).get("data", {}).get("result", [])])
            without = []
            for query in queries():
                answer = ask("/api/v1/query", query=query)
                check(answer.get("status") == "success", f"{query}: {answer}")
                without += [] if answer["data"]["result"] else [query]
            # a job of some seconds is not judged
            check(all("straggler" in query for query in without), f"no value: {without}")
            check(running.process.poll() is None, "the job ended too early for this test")
            running.wait()
            wait_for("the end", lambda: not any(of_ranks(reader.values(), "rank_up").values()))
            values = reader.values()
            told = report(running)
            compare(values, told)
            once = run(BIN / "commtrace-metrics", "--once", running.run, env=running.env).stdout
            compare(parse(once), told)
            run("promtool", "check", "metrics", input=once)
            scraped = 'commtrace_operations_total{rank="3"}'
            want = of_ranks(values, "operations_total")[3]
            wait_for("the last scrape", lambda: [r["value"][1] for r in ask("/api/v1/query", query=scraped).get("data", {})
                     .get("result", [])] == [f"{want:g}"])
            rules = ask("/api/v1/rules")["data"]["groups"][0]["rules"]
            check(len(rules) == 8, f"{rules}")
            check(reader.end() == 0, "the reader ended by SIGTERM")


def rules_and_dashboard():
    run("promtool", "check", "rules", EXAMPLES / "alerts.yml")
    run("promtool", "test", "rules", EXAMPLES / "alerts_test.yml")
    # each name in them is one that is served
    served = set(re.findall(r'^(?:RANK|KIND|RUN|READER|GPU)\(\w+, "(\w+)", (\w+)', (ROOT / "tools/metrics/metrics.def").read_text(), re.M))
    names = {"commtrace_" + name for name, _ in served}
    for file in ("alerts.yml", "dashboard.json"):
        for name in set(re.findall(r"\bcommtrace_[a-z_]+", (EXAMPLES / file).read_text())):
            check(re.sub("_(bucket|sum|count)$", "", name) in names, f"{file}: {name} is not served")


def hostile_clients():
    with job("--ranks=2", "--steps=400", "--step-ms=10") as running:
        reader = Reader(running, "--listen=127.0.0.1:0", running.run)
        wait_for("figures", reader.values)
        before = reader.resident()
        held = []
        for _ in range(60):  # more than are served at once; each holds its line with half a request
            line = socket.create_connection(reader.address)
            line.setblocking(False)
            held.append(line)
            with contextlib.suppress(OSError):
                line.send(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
        for line in held[:30]:
            line.close()
        junk = [b"\x00\xff" * 5000, b"GET\r\n\r\n", b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n", b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                b"99999999999\r\n\r\n" + b"z" * 100000, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        for data in junk:
            with contextlib.suppress(OSError), socket.create_connection(reader.address, timeout=5) as line:
                line.settimeout(0.05)
                line.sendall(data)
                line.recv(100)
        for line in held:
            line.close()
        check(reader.ask()[0] == 200, "it still answers")
        for _ in range(300):
            reader.ask()
        check(reader.resident() < before + (24 << 20), f"memory grew from {before} to {reader.resident()}")
        check(reader.ask("/")[0] == 404 and reader.ask("/../etc/passwd")[0] == 404, "one path")
        check(reader.ask(method="DELETE")[0] == 405 and reader.ask(method="POST", body=b"x" * 100000)[0] == 405, "GET only")
        check(reader.ask(headers={"Host": "evil.example"})[0] == 421, "a name that points here is refused")
        check(reader.ask(method="HEAD") == (200, ""), "HEAD")
        check(reader.ask("/healthz")[0] == 200, "/healthz")
        reader.process.send_signal(signal.SIGSTOP)
        running.wait()
        reader.process.send_signal(signal.SIGCONT)
        wait_for("it goes on", reader.values)
        check(reader.end(signal.SIGINT) == 0, "SIGINT")
        check(all(rank["complete"] for rank in report(running)["ranks"]), "the record is whole")


def tokens_files_and_gpus():
    with job("--ranks=2", "--steps=60", "--step-ms=10") as running:
        folder = running.run.parent
        (folder / "token").write_text("sesame\n")
        os.chmod(folder / "token", 0o600)
        running.env |= {"SLURM_JOB_ID": "77", "POD_NAME": 'tr"ainer\\', "POD_NAMESPACE": "ml"}
        done = run(BIN / "commtrace-metrics", "--listen=0.0.0.0:0", running.run, code=2, env=running.env)
        check("needs a token" in done.stderr, done.stderr)
        for wrong in ("nonsense", "127.0.0.1", "127.0.0.1:x", "256.0.0.1:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:99999", "127.0.0.1:-1"):
            run(BIN / "commtrace-metrics", "--listen=" + wrong, running.run, code=2, env=running.env)
        file = folder / "job.prom"
        reader = Reader(running, "--listen=0.0.0.0:0", f"--token-file={folder / 'token'}", f"--textfile={file}",
                        "--nvml=" + os.environ["CT_FAKE_NVML"], running.run)
        running.wait()
        token = {"Authorization": "Bearer sesame", "Host": "node7"}
        wait_for("figures", lambda: reader.ask(headers=token)[0] == 200)
        check(reader.ask()[0] == 401 and reader.ask(headers={"Authorization": "Bearer sesamf"})[0] == 401, "no token, no figures")
        values = wait_for("GPUs and the end", lambda: (lambda v: "commtrace_gpu_xid_errors_total" in v and
                          v["commtrace_gpu_xid_errors_total"][frozenset({("gpu", "1")})] == 1 and v)(
                          parse(reader.ask(headers=token)[1])))
        labels = dict(next(iter(values["commtrace_ranks"])))
        check(labels["slurm_job_id"] == "77" and labels["pod"] == r'tr\"ainer\\' and labels["namespace"] == "ml", f"{labels}")
        gpu = {name: dict(list(of.items())) for name, of in values.items() if name.startswith("commtrace_gpu_")}
        one = frozenset({("gpu", "1")})
        check(gpu["commtrace_gpu_utilization_ratio"][one] == 0.43 and gpu["commtrace_gpu_memory_used_bytes"][one] == 5 << 30, f"{gpu}")
        check(gpu["commtrace_gpu_pcie_bytes_per_second"][one | {("direction", "rx")}] == 2002e3, f"{gpu}")
        check(gpu["commtrace_gpu_nvlink_bytes_total"][one | {("direction", "tx")}] == 1024 * 139001, f"{gpu}")
        check(gpu["commtrace_gpu_clock_hertz"][one | {("clock", "sm")}] == 1501e6, f"{gpu}")
        check(gpu["commtrace_gpu_throttled"][one | {("reason", "sw_power_cap")}] == 1, f"{gpu}")
        check(gpu["commtrace_gpu_throttled"][one | {("reason", "hw_slowdown")}] == 0, f"{gpu}")
        check(gpu["commtrace_gpu_last_xid"] == {one: 79}, f"{gpu}")
        # what a GPU does not answer is left out
        check(frozenset({("gpu", "0")}) not in gpu["commtrace_gpu_utilization_ratio"], f"{gpu}")
        run("promtool", "check", "metrics", input=file.read_text())
        check(parse(file.read_text())["commtrace_ranks"] == values["commtrace_ranks"], "the file has the same")
        check([p.name for p in folder.glob("job.prom*")] == ["job.prom"], "nothing is left beside it")
        reader.end()


def of_mpi():
    """Where hosts time: several operations of a rank end in one call."""
    with job("--ranks=2", "--steps=1", "--step-ms=1") as running:
        running.wait()
        running.run = running.run.parent / "mpi"
        env = running.env | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                             "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        run(BIN / "commtrace", "run", "-q", "-o", running.run, "--", "mpirun.openmpi", "-n", "4", "-x", "LD_PRELOAD", "-x", "COMMTRACE_DIR", "-x",
            "COMMTRACE_RING_DIR", BIN / "mpi_stencil", env=env)
        compare(parse(run(BIN / "commtrace-metrics", "--once", running.run, env=running.env).stdout), report(running))


def beside_torchrun():
    """By hand and in gates.sh: DDP over Gloo."""
    import torch  # noqa: F401 (where it is missing, this fails at once)
    with job("--ranks=2", "--steps=1", "--step-ms=1") as running:
        running.wait()
        running.run = running.run.parent / "torch"
        reader = Reader(running, "--listen=127.0.0.1:0", running.run)
        port = free_port()
        done = run(BIN / "commtrace", "run", "-q", "-o", running.run, "--", sys.executable, "-m", "torch.distributed.run", "-r", "1", "-t", "1",
                   "--log_dir", running.run.parent / "log", "--nproc_per_node=4", "--master_addr=127.0.0.1", f"--master_port={port}",
                   ROOT / "examples/torch_ddp/train.py", env=running.env | {"OMP_NUM_THREADS": "1"})
        check(done.returncode == 0, done.stderr)
        wait_for("the end", lambda: (lambda up: len(up) == 4 and not any(up.values()))(of_ranks(reader.values(), "rank_up")))
        compare(reader.values(), report(running))
        reader.end()


if __name__ == "__main__":
    if sys.argv[1:] == ["--torchrun"]:
        sys.argv[1:] = ["beside_torchrun"]
        main([beside_torchrun])
    else:
        tests = [rules_and_dashboard, scraped_while_it_runs, hostile_clients, tokens_files_and_gpus]
        main(tests + [of_mpi] * (shutil.which("mpirun.openmpi") is not None and (BIN / "mpi_stencil").exists()))
