# SPDX-License-Identifier: Apache-2.0
"""real_nccl_two.py ID LIBNCCL COPY: calls of two copies of libnccl, by ctypes. Each has its own groups. The bytes of the unique
ids that they give out go to the files ID1 and ID2, in hex."""
import ctypes
import sys


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_ubyte * 128)]


copies = [ctypes.CDLL(path) for path in sys.argv[2:4]]
for number, nccl in enumerate(copies, 1):
    unique = UniqueId()
    print("id", number, nccl.ncclGetUniqueId(ctypes.byref(unique)))
    with open(sys.argv[1] + str(number), "w", encoding="ascii") as file:
        print(bytes(unique.internal).hex(), file=file)
for one, other in copies, copies[::-1]:
    print("start", one.ncclGroupStart())
    print("end of the other's, which is none", other.ncclGroupEnd())
    print("end", one.ncclGroupEnd(), one.ncclGroupEnd())
