"""The definitions that tests of margins share, from the papers, one sample at a time."""

from math import exp, inf, sqrt

UTILITY_OF = {
    "linear": lambda t, beta: t,
    "sigmoid": lambda t, beta: 1 / (1 + exp(-beta * t)),
    "zero-one": lambda t, beta: 1.0 if t > 0 else 0.0,
}


def slow_nearest(X, y, i, w):
    """The nearest hit and miss of sample i, None where there is none; of equals the first."""
    best = {True: (inf, None), False: (inf, None)}
    for k in range(len(y)):
        if k != i:
            d2 = sum(wj**2 * (a - b) ** 2 for wj, a, b in zip(w, X[i], X[k], strict=True))
            side = bool(y[k] == y[i])
            if best[side][1] is None or d2 < best[side][0] * (1 - 1e-12):
                best[side] = d2, k
    return best[True], best[False]


def slow_margins(X, y, w):
    found = []
    for i in range(len(y)):
        (hit2, hit), (miss2, miss) = slow_nearest(X, y, i, w)
        there = hit is not None and miss is not None
        found.append((sqrt(miss2) - sqrt(hit2)) / 2 if there else 0.0)
    return [0.0 if abs(margin) < 1e-12 else margin for margin in found]


def slow_e(X, y, w, utility="linear", beta=1.0):
    """Definition 2, with one of the utilities of section 6."""
    total = sum(UTILITY_OF[utility](t, beta) for t in slow_margins(X, y, w))
    return 0.0 if abs(total) < 1e-12 else total
