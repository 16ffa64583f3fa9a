# SPDX-License-Identifier: Apache-2.0
"""real_nccl.py ID LIBNCCL: what real_nccl_calls.c does, by ctypes."""
import ctypes
import sys


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_ubyte * 128)]


nccl = ctypes.CDLL(sys.argv[2])
nccl.ncclGetErrorString.restype = ctypes.c_char_p
INIT = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
nccl.ncclCommInitRank.argtypes = INIT
nccl.ncclCommInitRankConfig.argtypes = INIT + [ctypes.c_void_p]
REDUCE = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
nccl.ncclAllReduce.argtypes = REDUCE
nccl.ncclBcast.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
nccl.ncclSend.argtypes = nccl.ncclRecv.argtypes = nccl.ncclBcast.argtypes
FLOAT, SUM = 7, 0

number = ctypes.c_int(0)
r = nccl.ncclGetVersion(ctypes.byref(number))
print("version", r, number.value)
print("error string", nccl.ncclGetErrorString(4).decode())
unique = UniqueId()
r = nccl.ncclGetUniqueId(ctypes.byref(unique))
print("id", r, int(any(unique.internal)))

print("group", nccl.ncclGroupStart(), nccl.ncclGroupEnd())
print("group in a group", nccl.ncclGroupStart() + nccl.ncclGroupStart(), nccl.ncclGroupEnd(), nccl.ncclGroupEnd())
print("end of no group", nccl.ncclGroupEnd())

buffer = (ctypes.c_float * 4)(1, 2, 3, 4)
print("allreduce", nccl.ncclAllReduce(buffer, buffer, 4, FLOAT, SUM, None, None))
print("bcast", nccl.ncclBcast(buffer, 4, FLOAT, 0, None, None))
print("start", nccl.ncclGroupStart())
print("send", nccl.ncclSend(buffer, 4, FLOAT, 1, None, None), "recv", nccl.ncclRecv(buffer, 4, FLOAT, 1, None, None))
print("end", nccl.ncclGroupEnd())
number = ctypes.c_int(-7)
print("count", nccl.ncclCommCount(None, ctypes.byref(number)), number.value)
number = ctypes.c_int(0)
print("async error", nccl.ncclCommGetAsyncError(None, ctypes.byref(number)), number.value)
print("destroy", nccl.ncclCommDestroy(None))
child = ctypes.c_void_p()
print("split", nccl.ncclCommSplit(None, 0, 0, ctypes.byref(child), None), int(not child))
print("buffer", *("%g" % value for value in buffer))

comm = ctypes.c_void_p()
r = nccl.ncclCommInitRank(ctypes.byref(comm), 2, unique, 5)
print("init of rank 5 of 2", r, int(not comm))
r = nccl.ncclCommInitRank(ctypes.byref(comm), 1, unique, 0)
print("init", r, int(not comm))
r = nccl.ncclCommInitRankConfig(ctypes.byref(comm), 1, unique, 0, None)
print("init with config", r, int(not comm))
r = nccl.ncclCommInitAll(ctypes.byref(comm), 1, None)
print("init of all", r, int(not comm))
r = nccl.ncclGroupEnd()
print("end of what they left open", r, nccl.ncclGroupEnd())
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(bytes(unique.internal).hex(), file=file)
