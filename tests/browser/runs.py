# SPDX-License-Identifier: Apache-2.0
"""Runs of every kind, and what commtrace makes of them: report.html, its JSON and its text.

    pages = make(directory, binaries, gloo_job)      {name: Page}

`gpu` and `gloo` are as those of tools/demo.sh; `slow` is synthetic and has every chart, however busy the machine is; `wide`
has 1024 ranks; `empty` recorded no communication; of `died` a rank was killed, in `hung` one stopped calling; `hostile` was
imported and `named` recorded with names that want to be markup. Nothing is left running; everything lies in the directory.
"""
import functools
import json
import os
import pathlib
import re
import subprocess
import threading
from html import unescape

import values

HOSTILE = ["</script><script>document.title='taken'</script>", "<img src=x onerror=document.title='taken'>", "<!--<script>",
           "\"'`&amp;${1}\\", "a\u0001\u0008\u001b[31m\u007fb", "\u202eright to left\u2066 marks\u200f", "line\u2028and\u2029paragraph",
           "w\u0131de \U0001f980 e\u0301\u0301", "]]>", "x" * 2000, " ", "commtrace"]
# A host's name has neither a slash nor a line's end, and at most 63 bytes.
HOSTS = ["<img src=x onerror=alert(1)>", "\u202e\"'&<b>\u2028\u0001"]


class Page:
    def __init__(self, name, directory, run):
        self.name, self.run = name, run
        self.file = pathlib.Path(directory, name + ".html")
        self.report = json.loads(pathlib.Path(directory, name + ".json").read_text(encoding="utf-8"))

    @functools.cached_property
    def html(self):
        return self.file.read_text(encoding="utf-8")

    @functools.cached_property
    def own(self):
        """The page without its data."""
        return re.sub(r'(<script type="application/json" id="(?:report|charts)">).*?</script>', r"\1", self.html, flags=re.DOTALL)

    @functools.cached_property
    def numbers(self):
        return values.every(self.report)

    @functools.cached_property
    def sentences(self):
        """Where a number that is no value may stand: every string of the JSON, one text; and the page's own text."""
        def strings(value):
            if isinstance(value, str):
                yield value
            elif isinstance(value, (list, dict)):
                for item in value.values() if isinstance(value, dict) else value:
                    yield from strings(item)
        return [re.sub(r"\s+", " ", "\n".join(strings(self.report))), re.sub(r"\s+", " ", unescape(self.own))]


def hostile_lines():
    """A job of four ranks on two hosts in the lines that `commtrace import jsonl` takes; each communicator has a name of its own."""
    lines = []
    for rank in range(4):
        for c, name in enumerate(HOSTILE):
            for seq in range(12):
                begin = 10**9 + (seq * len(HOSTILE) + c) * 4 * 10**6 + (10**6 if rank == 3 else 0)
                end = 10**9 + (seq * len(HOSTILE) + c) * 4 * 10**6 + 2 * 10**6
                lines.append(json.dumps({
                    "rank": rank, "host": HOSTS[rank // 2], "pid": 100 + rank, "clock_offset_ns": 17 * 10**17, "tid": 100 + rank,
                    "backend": "gloo", "call": "gloo::allreduce", "op": "AllReduce", "comm": f"{c + 1:016x}", "comm_name": name,
                    "nranks": 4, "comm_rank": rank, "seq": seq, "count": 250000, "dtype": "float32", "redop": "sum",
                    "site": name, "enter_ns": begin, "return_ns": end, "result": 0, "timing": "call"}))
    return "\n".join(lines) + "\n"


def make(directory, binaries, gloo_job, only=None):
    """Two at a time: some of them sleep."""
    directory, binaries = pathlib.Path(directory), pathlib.Path(binaries)
    (directory / "rings").mkdir()
    env = dict(os.environ, COMMTRACE_RING_DIR=str(directory / "rings"))

    def call(*command, **more):
        subprocess.run([str(c) for c in command], check=True, cwd=directory, stdout=subprocess.DEVNULL, env={**env, **more},
                       timeout=120)

    # A busy machine would have the budget time a sample only, and the slowdown is not reported from that.
    def record(run, *command, **more):
        call(binaries / "commtrace", "run", "-q", "--set", "TIMING=events", "--set", "BUDGET=off", "-o", run, "--", *command, **more)

    def gloo(run, size, *options, **more):
        (directory / (run + ".store")).mkdir()
        one = f"{gloo_job} --size {size} --store '{run}.store' --threads 2 {' '.join(options)}"
        record(run, "sh", "-c", "for r in %s; do RANK=$r WORLD_SIZE=%d %s --rank $r & done; wait" % (
            " ".join(map(str, range(size))), size, one), **more)

    def synth(run, *options):
        call(binaries / "commtrace-synth", "-o", run, *options)

    def imported(run):
        (directory / "hostile.jsonl").write_text(hostile_lines(), encoding="utf-8")
        call(binaries / "commtrace", "import", "jsonl", "hostile.jsonl", "-o", run)

    kinds = {
        "gpu": lambda: record("gpu", binaries / "commtrace-simjob", "--ranks", 8, "--nodes", 2, "--node-env", "COMMTRACE_HOST",
                              "--workload", "ddp", "--steps", 40, "--fault", "slow-rank:rank=5,ms=4"),
        "gloo": lambda: gloo("gloo", 4, "--ops", "60", "--mode", "mixed"),
        "slow": lambda: synth("slow", "--hosts", 2, "--gpus-per-host", 4, "--steps", 40, "--fault", "slow-rank:rank=5,ms=5"),
        "wide": lambda: synth("wide", "--hosts", 128, "--gpus-per-host", 8, "--steps", 4, "--fault", "slow-rank:rank=77,ms=20"),
        "empty": lambda: gloo("empty", 1, "--ops", "0"),
        "died": lambda: synth("died", "--hosts", 2, "--gpus-per-host", 4, "--steps", 30, "--fault", "kill:rank=2,op=77,signal=9"),
        "hung": lambda: synth("hung", "--hosts", 2, "--gpus-per-host", 4, "--workload", "megatron", "--tp", 2, "--pp", 2, "--dp", 2,
                              "--steps", 20, "--fault", "missing:rank=5,op=120"),
        "hostile": lambda: imported("hostile"),
        "named": lambda: gloo("<img src=x onerror=alert(1)>", 2, "--ops", "20", COMMTRACE_JOB=HOSTILE[0], COMMTRACE_HOST="<b>\"'&"),
    }
    runs = {"named": "<img src=x onerror=alert(1)>"}
    pages, trouble = {}, []

    def one(names):
        try:
            for name in names:
                kinds[name]()
                run = runs.get(name, name)
                for suffix in ("html", "json", "txt") if name == "gpu" else ("html", "json"):
                    call(binaries / "commtrace", "report", run, "-o", f"{name}.{suffix}")
                pages[name] = Page(name, directory, directory / run)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            trouble.append(error)

    wanted = [name for name in kinds if only is None or name in only]
    threads = [threading.Thread(target=one, args=(wanted[i::2],)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if trouble:
        raise trouble[0]
    return {name: pages[name] for name in wanted}
