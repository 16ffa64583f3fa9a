#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench: files that nccl-tests, comm_bench and the OSU micro-benchmarks printed, as they are published; and damaged ones.
cat >allreduce.txt <<-'FILE'
	SLURM_NTASKS=16
	# nccl-tests version 2.17.9 nccl-headers=22903 nccl-library=22903
	# Collective test starting: all_reduce_perf
	# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 4294967296 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0
	#
	# Using devices
	#  Rank  0 Group  0 Pid    490 on node-a device  0 [0000:0f:00] NVIDIA A100-SXM4-40GB
	#  Rank 15 Group  0 Pid    263 on node-b device  7 [0000:da:00] NVIDIA A100-SXM4-40GB
	NCCL version 2.29.3+cuda13.1
	#
	#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
	#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
	  1073741824     268435456     float     sum      -1  10908.0   98.44  184.57       0  11220.1   95.70  179.43       0
	  2147483648     536870912     float     sum      -1  21500.1   99.88  187.28       0  21629.9   99.28  186.16       0
	# Out of bounds values : 0 OK
	# Avg bus bandwidth    : 185.594
	#
	# Collective test concluded: all_reduce_perf
FILE
cat >allgather.txt <<-'FILE'
	# Collective test starting: all_gather_perf_mpi
	#  Rank  0 Group  0 Pid 2989375 on        lab device  0 [0000:02:00] NVIDIA GeForce RTX 5090
	#  Rank  1 Group  0 Pid 2989376 on        lab device  0 [0000:02:00] NVIDIA GeForce RTX 5090
	#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
	    16777216       2097152     float    none      -1  3723.35    4.51    2.25       0  3746.57    4.48    2.24       0
FILE
# OSU: of an all-gather the size is one rank's share
cat >osu.txt <<-'FILE'
	# OSU MPI Latency Test v5.6.2
	# Size          Latency (us)
	0                       0.38
	8                       1.24

	# OSU MPI Bandwidth Test v7.5
	# Size      Bandwidth (MB/s)
	268435456           12254.16

	# OSU MPI Allreduce Latency Test v7.5
	# Datatype: MPI_INT.
	# Size       Avg Latency(us)
	1048576              1064.92

	# OSU MPI Allgather Latency Test v7.4
	# Datatype: MPI_CHAR.
	# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
	1048576               104.30            104.26            104.33          10
FILE
# comm_bench itself, with a row for each of ten cycles
for us in 10.1 10.2 10.3 10.4 10.5 10.6 10.7 10.8 10.9 11.0; do
	printf '# all_reduce, 4 ranks\n#  size  count type redop root time algbw busbw #wrong\n  1024 256 float sum -1 %s 0.10 0.15 0\n' $us
done >ours.txt
commtrace bench allreduce.txt allgather.txt
commtrace bench osu.txt --nranks=4
commtrace bench ours=ours.txt --json | grep -E '"(op|ranks|bytes|ns|backend|p50_ns)"'
echo "damaged:"
# bad SED FILE: what is said of the changed file
bad() {
	sed "$1" "$2" >bad.txt
	commtrace bench bad.txt
	echo "exit $?"
}
bad 's/  98.44  184.57.*//; s/ 10908.0//' allreduce.txt
bad 's/10908.0/-3/' allreduce.txt
bad 's/10908.0/1o908/' allreduce.txt
bad '/starting/d' allreduce.txt
bad 's/  time  /  tyme  /g' allreduce.txt
bad '/^ /d' allreduce.txt
bad '' osu.txt
bad 's/.*//' osu.txt
commtrace bench osu.txt --nranks=1
echo "exit $?"
# what has no lines is not a table, however long
commtrace bench /dev/zero; echo "exit $?"
