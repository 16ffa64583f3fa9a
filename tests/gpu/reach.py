#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls of NCCL on one GPU that reach it by other ways than PyTorch's.

    reach.py ctypes|cupy|jax LIBRARY

Exit 77, with the reason on standard output, where what it takes is not there.
"""

import ctypes
import sys

CALLS = 5


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


def must(call, result):
    if result:
        raise SystemExit(f"reach.py: {call}: result {result}")


def missing(what):
    print(f"no {what}".replace(" ", "_"))
    raise SystemExit(77)


def with_ctypes(library):
    """As vLLM does it: the library opened by name, its functions looked up one by one."""
    try:
        cuda, nccl = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(library)
    except OSError as error:
        missing(str(error).split(":")[0])
    context, stream, memory, comm = (ctypes.c_void_p() for _ in range(4))
    unique = UniqueId()
    must("cuInit", cuda.cuInit(0))
    must("cuDevicePrimaryCtxRetain", cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must("cuCtxSetCurrent", cuda.cuCtxSetCurrent(context))
    must("cuStreamCreate", cuda.cuStreamCreate(ctypes.byref(stream), 1))
    must("cuMemAlloc", cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(8192)))
    must("ncclGetUniqueId", nccl.ncclGetUniqueId(ctypes.byref(unique)))
    must("ncclCommInitRank", nccl.ncclCommInitRank(ctypes.byref(comm), 1, unique, 0))
    send, receive = memory, ctypes.c_void_p(memory.value + 4096)
    for _ in range(CALLS):  # 256 of ncclFloat32, ncclSum
        must("ncclAllReduce", nccl.ncclAllReduce(send, receive, ctypes.c_size_t(256), 7, 0, comm, stream))
    must("cuStreamSynchronize", cuda.cuStreamSynchronize(stream))
    must("ncclCommDestroy", nccl.ncclCommDestroy(comm))


def with_cupy(_):
    try:
        import cupy
        from cupy.cuda import nccl
    except ImportError:
        missing("CuPy")
    values = cupy.ones(256, dtype=cupy.float32)
    comm = nccl.NcclCommunicator(1, nccl.get_unique_id(), 0)
    for _ in range(CALLS):
        comm.allReduce(values.data.ptr, values.data.ptr, 256, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, cupy.cuda.Stream.null.ptr)
    cupy.cuda.Stream.null.synchronize()


def with_jax(_):
    try:
        import jax
    except ImportError:
        missing("JAX")
    if jax.default_backend() != "gpu":
        missing("GPU for JAX")
    if jax.local_device_count() < 2:
        missing("second GPU, without which XLA calls no NCCL")
    import jax.numpy as jnp

    ones = jnp.ones((jax.local_device_count(), 256))
    for _ in range(CALLS):
        jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(ones).block_until_ready()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("ctypes", "cupy", "jax"):
        raise SystemExit(__doc__)
    globals()["with_" + sys.argv[1]](sys.argv[2])
