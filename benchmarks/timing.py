"""Timing for the benchmarks: the best of several rounds, which disturbs least, and its growth."""

from time import perf_counter

import numpy as np


def best_of(times, work):
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = work()
        seconds.append(perf_counter() - start)
    return min(seconds), result


def exponent(sizes, seconds):
    """The slope of log time over log size."""
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
