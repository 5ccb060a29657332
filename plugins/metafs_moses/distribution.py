r"""Univariate estimation of distribution: several knobs of an exemplar turned at once.

Each knob is on with a probability of its own. The first probabilities come from how good the
programs one knob away are, in the order of their scores, so that two knobs are on in the mean:

.. math:: p_k \propto 1 / \operatorname{rank}(k), \qquad \sum_k p_k = 2

Then programs are drawn and scored, and the probabilities move half of the way towards how often
each knob is on in the best third of them.
"""

import numpy as np

from metafs.data.typing import Array
from metafs_moses.neighbourhood import NEUTRAL, OPERATE, Neighbourhood

KNOBS_ON = 2.0
_MOST = 0.5
_LEARNT = 0.5


def first_chances(scores: Array) -> Array:
    """Return the probability of each knob to be on; a knob with an infinite score stays off.

    >>> first_chances(np.array([3.0, np.inf, 1.0, 2.0, 4.0])).round(2)
    array([0.32, 0.  , 0.5 , 0.48, 0.24])
    """
    places = np.empty(len(scores))
    places[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    chances = np.where(np.isfinite(scores), 1 / places, 0.0)
    return np.asarray(np.minimum(KNOBS_ON * chances / max(chances.sum(), 1e-300), _MOST))


def drawn(chances: Array, n: int, rng: np.random.Generator) -> Array:
    """Return which knobs are on in each of n programs."""
    return rng.random((n, len(chances))) < chances


def learnt(chances: Array, on: Array, scores: Array) -> Array:
    """Return the probabilities after n programs were scored, the lower the better.

    >>> on = np.array([[True, False], [False, True], [False, True]])
    >>> learnt(np.array([0.5, 0.5]), on, np.array([0.0, 1.0, 2.0]))
    array([0.5 , 0.25])
    """
    best = np.argsort(scores, kind="stable")[: max(1, len(scores) // 3)]
    moved = (1 - _LEARNT) * chances + _LEARNT * on[best].sum(axis=0) / len(best)
    return np.asarray(np.minimum(moved, _MOST))


def outputs_of(near: Neighbourhood, on: Array, knobs: Array) -> Array:
    """Return what programs with several knobs on say of the rows: (n_programs, n_words).

    Parameters
    ----------
    near : Neighbourhood
    on : array of bool, shape (n_programs, n)
        Which of the knobs are on.
    knobs : array of int, shape (n, 2)
        Node and number of each.
    """
    nodes, tree, n_words = near.knobs.nodes, near.knobs, near.values.shape[1]
    programs, which = np.nonzero(on)
    order = np.lexsort((knobs[which, 1], knobs[which, 0]))
    programs, numbers = programs[order], knobs[which, 1][order]
    # Where the changes of each node begin, and of these its last two knobs.
    begins = np.searchsorted(knobs[which, 0][order], np.arange(len(nodes) + 1)).tolist()
    outputs: list[Array] = [near.values[:0]] * len(nodes)
    is_new = [False] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        node, mine = nodes[place], slice(begins[place], begins[place + 1])
        is_new[place] = mine.start < mine.stop or any(is_new[child] for child in node.children)
        if not is_new[place]:
            outputs[place] = near.values[place, None]
            continue
        operate = OPERATE[node.op]
        value = np.empty((len(on), n_words), dtype=np.uint64)
        value[:] = NEUTRAL[node.op] if node.literal is None else near.values[place]
        for child in node.children:
            operate(value, outputs[child], out=value)
        if mine.start < mine.stop:
            rows, own = programs[mine], numbers[mine]
            n_added = int(np.searchsorted(own, tree.absent))
            n_kept = int(np.searchsorted(own, tree.turned))
            operate.at(value, rows[:n_added], tree.added[node.op][own[:n_added]])
            value[rows[n_kept:]] = ~value[rows[n_kept:]]
            # The knob that takes a node out has the last word, as in the program.
            value[rows[n_added:n_kept]] = ~NEUTRAL[node.op]
        outputs[place] = value
    return np.broadcast_to(outputs[0], (len(on), n_words))
