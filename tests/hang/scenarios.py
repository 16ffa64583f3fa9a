# SPDX-License-Identifier: Apache-2.0
"""What can go wrong in a job, and what has to be said of it: one row each.

A row has a name, the options and faults of a simulated job, and the truth: `events` where starts are known, `host` where
they are not (the same if left out). The notation of a truth is judge.py's. Other keys:

    ranks     8
    quiet_s   how long no one may have got on
    victims   how many have to wait because of them, where that is the same whenever the job is killed
    no_files  ranks that never began to record: they leave none
    drop      ranks whose files are taken away before anyone looks
    on_death  wait: who is left stays; kill: the launcher ends the others (and with them the job)
    after_s   the launcher ends the job so long after it has got stuck
    env       more settings of the recorder
    no_kill   the job is not killed: it is judged while it runs, and then ends by itself
    default   part of the short run
"""

DDP = "--nodes 2 --workload ddp --steps 40 --step-ms 5"
TP_DP = "--workload megatron --tp 2 --pp 1 --dp 2 --steps 40 --step-ms 5"
PIPE = "--workload megatron --tp 1 --pp 4 --dp 1 --steps 40 --step-ms 5"
MOE = "--workload moe --steps 40 --step-ms 5"
ALL8 = " 0-7"

ROWS = [
    # the table of scenarios: those that a job without real GPUs can play
    dict(name="01 never_entered", job=DDP, faults=["missing:rank=2,op=16"], events="NEVER_ENTERED 2", victims=7, default=True),
    dict(name="01 on_two_hosts", job=DDP + " --node-env COMMTRACE_HOST", faults=["missing:rank=2,op=16"], events="NEVER_ENTERED 2", victims=7,
         default=True),
    dict(name="02 two_missing", job=DDP, faults=["missing:rank=2,op=16", "missing:rank=3,op=16"], events="NEVER_ENTERED 2 3", victims=6),
    dict(name="03 dead", job=DDP, faults=["kill:rank=1,op=16"], events="DEAD_RANK 1", victims=7, default=True),
    dict(name="04 dead_after_start", job=DDP, faults=["slow-rank:rank=2,ms=1500,from=2,to=2", "kill:rank=1,ms=800"], events="DEAD_RANK 1", quiet_s=6),
    dict(name="05 exited", job=DDP, faults=["exit:rank=3,op=16"], events="EXITED_RANK 3", victims=7, default=True),
    dict(name="06 mismatch_op", job=DDP, faults=["mismatch:rank=2,op=16,field=op"], events="MISMATCH_OP 2", victims=7),
    dict(name="07 mismatch_count", job=DDP, faults=["mismatch:rank=0,op=16,field=count"], events="MISMATCH_COUNT 0", victims=7,
         default=True),
    dict(name="08 mismatch_dtype_tie", job="--workload ddp --steps 40 --step-ms 5", ranks=4,
         faults=["mismatch:rank=0,op=16,field=dtype", "mismatch:rank=1,op=16,field=dtype"], events="MISMATCH_DTYPE 0-3", victims=0),
    # large enough that no one may leave early
    dict(name="09 mismatch_root", job="--workload ddp --steps 40 --step-ms 5 --scale 1", ranks=4, faults=["mismatch:rank=3,op=14,field=root"],
         events="MISMATCH_ROOT 3", victims=3),
    dict(name="10 skipped", job=DDP, faults=["skip:rank=1,op=16"], events="SKIPPED_OP 1", victims=7, default=True),
    dict(name="11 recv_without_send", job=PIPE, ranks=4, faults=["skip-send:rank=0,peer=1,op=9"], events="P2P_UNMATCHED 0 1", victims=2,
         default=True),
    dict(name="12 sender_idle", job=PIPE, ranks=4, faults=["missing:rank=0,op=8"], events="NEVER_ENTERED 0", victims=3),
    dict(name="13 p2p_cycle", job=DDP, faults=["unbatched-p2p:ranks=0+1"], events="P2P_CYCLE 0 1", host="P2P_CYCLE 0 1 | -", victims=6),
    dict(name="14 order_on_a_stream", job=DDP, faults=["order-inversion:ranks=0+5"], events="ORDER_DEADLOCK 0 5",
         victims=6, default=True),
    dict(name="15 order_of_inits", job=DDP, faults=["host-inversion:ranks=2+1"], events="HOST_ORDER_DEADLOCK 1 2", victims=6),
    dict(name="16 stream_blocked", job=DDP, faults=["block-stream:rank=2,op=16"], events="STREAM_BLOCKED 2", host="-", victims=7,
         default=True),
    dict(name="17 transport", job=DDP, faults=["transport-stall:rank=1,op=16"], events="TRANSPORT_STALL" + ALL8, host="-", victims=0,
         default=True),
    dict(name="18 partial", job=DDP, faults=["never-ends:rank=1,op=16"], events="PARTIAL_COMPLETE 1", host="PARTIAL_COMPLETE 1 | -"),
    dict(name="19 init_missing", job=DDP, faults=["skip-init:rank=3"], events="NEVER_ENTERED 3 | NO_TRACE 3", victims=7, no_files=[3]),
    dict(name="20 init_stalls", job=DDP, faults=["host-stall:rank=0,call=init"], events="HOST_CALL_STALL" + ALL8, victims=0, default=True),
    dict(name="20 split_stalls", job=TP_DP, ranks=4, faults=["host-stall:rank=1,call=split"], events="HOST_CALL_STALL 0-3", victims=0),
    dict(name="20 finalize_stalls", job="--workload ddp --steps 5 --step-ms 5", faults=["host-stall:rank=3,call=finalize"],
         events="HOST_CALL_STALL" + ALL8, victims=0),
    dict(name="21 group_end", job=MOE, faults=["host-stall:rank=1,call=groupend,op=30"], events="HOST_BLOCKED_CALL 1", victims=7),
    dict(name="21 inside_a_call", job=DDP, faults=["host-stall:rank=0,call=groupend,op=16"], events="INSIDE_LIBRARY 0", victims=7),
    dict(name="22 cascade", job=TP_DP, ranks=4, faults=["missing:rank=1,op=40"], events="NEVER_ENTERED 1", victims=3, default=True),
    dict(name="23 pipeline_dead", job=PIPE, ranks=4, faults=["kill:rank=1,op=40"], events="DEAD_RANK 1", victims=3),
    dict(name="24 no_trace", job=DDP, faults=["missing:rank=2,op=16"], drop=[2], events="NO_TRACE 2", victims=7, default=True),
    dict(name="25 async_error", job=DDP, faults=["async-error:rank=1,op=16"], events="ASYNC_ERROR 1", default=True),
    dict(name="26 all_to_all", job=MOE, ranks=4, faults=["missing:rank=3,op=30"], events="NEVER_ENTERED 3", victims=3),
    dict(name="27 extra", job=DDP, faults=["extra:rank=0,op=16"], events="EXTRA_OP 0", victims=7),
    dict(name="28 independent", job=TP_DP, ranks=4, faults=["kill:rank=3,op=44", "missing:rank=1,op=44"],
         events="DEAD_RANK 3; NEVER_ENTERED 1"),
    dict(name="29 order_of_kernels", job=DDP, faults=["kernel-inversion:ranks=0+5"], events="ORDER_DEADLOCK 0 5",
         host="ORDER_DEADLOCK 0 5 | -"),
    dict(name="30 two_transports", job=TP_DP, ranks=4, faults=["transport-stall:rank=0,op=44", "transport-stall:rank=2,op=44"],
         events="TRANSPORT_STALL 0-3", host="-"),
    dict(name="31 split_against_op", job=DDP, faults=["stray-split:rank=2,op=16"], events="HOST_ORDER_DEADLOCK" + ALL8),
    # and those under it
    dict(name="in_progress", job=DDP + " --nonblocking", faults=["host-stall:rank=4,call=init"], events="HOST_CALL_STALL" + ALL8, victims=0),
    dict(name="nonblocking_missing", job=DDP + " --nonblocking", faults=["missing:rank=4,op=16"], events="NEVER_ENTERED 4", victims=7),
    dict(name="mismatch_redop", job=DDP, faults=["mismatch:rank=1,op=16,field=redop"], events="MISMATCH_REDOP 1", victims=7),
    dict(name="mismatch_dtype", job=DDP, faults=["mismatch:rank=1,op=16,field=dtype"], events="MISMATCH_DTYPE 1", victims=7),
    dict(name="message_count", job=PIPE, ranks=4, faults=["mismatch:rank=0,op=9,field=count"], events="MISMATCH_COUNT 0 1"),
    dict(name="segfault", job=DDP, faults=["kill:rank=5,op=16,signal=11"], on_death="kill", events="DEAD_RANK 5", victims=7, default=True),
    dict(name="segfault_3s", job=DDP, faults=["kill:rank=5,op=16,signal=11"], after_s=3, events="DEAD_RANK 5", victims=7),
    dict(name="abort", job=DDP, faults=["kill:rank=5,op=16,signal=6"], on_death="kill", events="DEAD_RANK 5", victims=7),
    dict(name="oom_like", job=DDP, faults=["kill:rank=5,op=16,signal=9"], on_death="kill", events="DEAD_RANK 5 | -"),
    dict(name="exit_code", job=DDP, faults=["exit:rank=3,op=16,code=5"], on_death="kill", events="EXITED_RANK 3 | DEAD_RANK 3", victims=7),
    dict(name="async_error_kill", job=DDP, faults=["async-error:rank=1,op=16"], on_death="kill", events="ASYNC_ERROR 1"),
    dict(name="graph_replay", job="--workload decode --graph --steps 200 --step-ms 5", faults=["missing:rank=2,op=3000"],
         events="GRAPH_REPLAY 2 | NEVER_ENTERED 2 | -", low=True),
    dict(name="fsdp_missing", job="--workload fsdp --steps 40 --step-ms 5", faults=["missing:rank=6,op=200"], events="NEVER_ENTERED 6",
         victims=7),
    dict(name="decode_missing", job="--workload decode --steps 40 --step-ms 5", faults=["missing:rank=6,op=300"], events="NEVER_ENTERED 6",
         victims=7),
    dict(name="ring_overrun", job="--workload decode --steps 4000 --step-ms 1", env={"COMMTRACE_RING_MB": "1"},
         faults=["slow-write:rank=1,s=1000", "missing:rank=2,op=40000"], events="NEVER_ENTERED 2 | -"),
]
