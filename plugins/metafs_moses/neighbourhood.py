r"""All programs one knob away from an exemplar, at the cost of one operation on words each.

Programs are monotone in what any of their nodes says. So a node that says :math:`v` matters in a
set of rows :math:`M`, and elsewhere the whole is :math:`B` whatever the node says:

.. math:: f = (v \wedge M) \vee B, \qquad M \wedge B = 0

With :math:`o` what the node's siblings say together, M and B follow from those of its parent: they
are :math:`M \wedge o` and :math:`B` under "and", :math:`M \wedge \bar o` and
:math:`B \vee (M \wedge o)` under "or". A knob turns v into :math:`v \wedge a` or
:math:`v \vee a`, into what is neutral for the parent, or into :math:`\bar v`, and errors outside M
are counted once for all knobs of a node. For single rows of bits Python's whole numbers are faster
than arrays, so v, M and B are computed as such.
"""

from functools import reduce
from itertools import accumulate
from operator import and_, or_

import numpy as np

from metafs.data.typing import Array
from metafs_moses.knobs import Representation
from metafs_moses.packed import ALL, Target, as_words, weighted_count

OPERATE = {"and": np.bitwise_and, "or": np.bitwise_or}
NEUTRAL = {"and": ALL, "or": np.uint64(0)}
_WORDS_AT_ONCE = 2**17


def _others(op: str, values: list[int], every: int) -> list[int]:
    """Return, for each operand of a node, what the others say together."""
    combine, first = (and_, every) if op == "and" else (or_, 0)
    before = list(accumulate(values[:-1], combine, initial=first))
    after = list(accumulate(values[:0:-1], combine, initial=first))
    return [combine(a, b) for a, b in zip(before, reversed(after), strict=True)] if values else []


def _together(op: str, values: list[int], every: int) -> int:
    """Return what the operands of a node say together."""
    return reduce(and_, values, every) if op == "and" else reduce(or_, values, 0)


class Neighbourhood:
    """What each node of an exemplar says, and where it matters.

    Attributes
    ----------
    values, matters, otherwise : array of shape (n_nodes, n_words)
        v, M and B of each node.
    sizes : list of int
        Literals below each node.
    """

    def __init__(self, knobs: Representation) -> None:
        self.knobs = knobs
        nodes, literals = knobs.nodes, knobs.pool.whole
        n_words = knobs.pool.truth.shape[1]
        every = (1 << 64 * n_words) - 1
        values, self.sizes = [0] * len(nodes), [0] * len(nodes)
        for place in range(len(nodes) - 1, -1, -1):
            node = nodes[place]
            if node.literal is not None:
                values[place], self.sizes[place] = literals[node.literal], 1
            else:
                inner = [values[child] for child in node.children]
                values[place] = _together(node.op, inner, every)
                self.sizes[place] = sum(self.sizes[child] for child in node.children)
        matters, otherwise = [every] * len(nodes), [0] * len(nodes)
        for place, node in enumerate(nodes):
            M, B = matters[place], otherwise[place]
            others = _others(node.op, [values[child] for child in node.children], every)
            for child, o in zip(node.children, others, strict=True):
                if node.op == "and":
                    matters[child], otherwise[child] = M & o, B
                else:
                    matters[child], otherwise[child] = M & ~o, B | (M & o)
        self.values = as_words(values, n_words)
        self.matters, self.otherwise = as_words(matters, n_words), as_words(otherwise, n_words)

    @property
    def output(self) -> Array:
        """What the exemplar says of the rows."""
        return np.asarray(self.values[0])

    def scored(self, places: Array, target: Target, row: int) -> tuple[Array, Array]:
        """Return errors of the programs one knob at these nodes away, and what they say of a row.

        Both are of shape (n_places, n_knobs). The row must be one where each of the nodes matters.
        """
        word, bit = row // 64, np.uint64(1 << row % 64)
        n_knobs = self.knobs.n_knobs
        errors = np.empty((len(places), n_knobs), dtype=np.int64)
        says = np.empty((len(places), n_knobs), dtype=bool)
        at_once = max(1, _WORDS_AT_ONCE // (n_knobs * self.values.shape[1]))
        for start in range(0, len(places), at_once):
            block = slice(start, start + at_once)
            some = places[block]
            changed = self._changed(some)
            says[block] = (changed[:, :, word] & bit) != 0
            M = self.matters[some]
            outside = target.planes[:, None] & ~M
            elsewhere = weighted_count(self.otherwise[some] ^ target.words, outside)
            inside = (target.planes[:, None] & M)[:, :, None]
            changed ^= target.words
            errors[block] = elsewhere[:, None] + weighted_count(changed, inside)
        return errors, says

    def mattering(self, row: int) -> Array:
        """Return the nodes that decide what the exemplar says of a row."""
        bit = np.uint64(1 << row % 64)
        return np.flatnonzero(self.matters[:, row // 64] & bit)

    def allowed(self, places: Array) -> Array:
        """Return which knobs make a program of their own: (n_places, n_knobs)."""
        knobs = self.knobs
        allowed = np.ones((len(places), knobs.n_knobs), dtype=bool)
        allowed[places == 0, knobs.absent :] = False
        if knobs.pool.has_missing:
            is_leaf = [knobs.nodes[place].literal is not None for place in places.tolist()]
            allowed[:, knobs.turned] &= is_leaf
        return allowed

    def longer(self, places: Array) -> Array:
        """Return how many literals each of these programs has more: (n_places, n_knobs)."""
        own = np.array(self.sizes)[places]
        more = np.zeros((len(places), self.knobs.n_knobs), dtype=np.int64)
        more[:, : self.knobs.absent] = self.knobs.sizes
        more[:, self.knobs.absent] = -own
        return more

    def _changed(self, places: Array) -> Array:
        """Return what each node says after each of its knobs: (n_places, n_knobs, n_words)."""
        knobs, nodes = self.knobs, self.knobs.nodes
        changed = np.empty((len(places), knobs.n_knobs, self.values.shape[1]), dtype=np.uint64)
        is_and = np.array([nodes[place].op == "and" for place in places.tolist()], dtype=bool)
        for op, chosen in (("and", is_and), ("or", ~is_and)):
            values = self.values[places[chosen], None]
            changed[chosen, : knobs.absent] = OPERATE[op](values, knobs.added[op])
            # A node's parent has the other operator, and its neutral element takes the node out.
            changed[chosen, knobs.absent] = NEUTRAL["or" if op == "and" else "and"]
            changed[chosen, knobs.turned] = ~values[:, 0]
        for i, place in enumerate(places.tolist()):
            literal = nodes[place].literal
            if literal is not None:
                changed[i, knobs.turned] = knobs.pool.truth[literal ^ 1]
        return changed
