# SPDX-License-Identifier: Apache-2.0
"""What a job may report to commtrace about itself. Without commtrace in the process it does nothing.

    import commtrace
    for step, batch in enumerate(loader):
        ...
        commtrace.mark(step, samples=len(batch))
"""
import ctypes

try:
    _mark = ctypes.CDLL(None).commtrace_mark
    _mark.argtypes, _mark.restype = (ctypes.c_uint64, ctypes.c_uint64), None
except (AttributeError, OSError, TypeError):  # not preloaded, or a platform without dlopen(NULL)
    _mark = None


def mark(step, samples=0):
    """Mark the end of a training step, at the same point of the loop on every rank.

    step: its number, growing by one. samples: how many samples this rank has processed since its last mark. Each sample
    counts once: ranks that share samples (tensor and pipeline parallelism) pass 0, but for one of them. Numbers are cut
    to integers. What is no number is not marked: a job never fails by its marks.
    """
    if _mark is not None:
        try:
            _mark(int(step), int(samples))
        except (ArithmeticError, TypeError, ValueError):
            pass
