"""Timing for the benchmarks: the best of several rounds, which disturbs least."""

from time import perf_counter


def best_of(times, work):
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = work()
        seconds.append(perf_counter() - start)
    return min(seconds), result
