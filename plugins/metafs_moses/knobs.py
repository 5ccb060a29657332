"""Representation building: an exemplar as a tree of nodes, and the knobs by which it may vary.

Each literal of the exemplar becomes a node of its own, under the operator opposite to the one
above it, and the whole program gets one above, so that something can be added everywhere. There is

- at each node a knob for each addition: a literal, or a pair of literals under the opposite
  operator; which ones is drawn anew for each representation;
- at each node below the root a knob that takes it out, and one that negates it.

A knob is on or off, and with all off the representation is the exemplar.
"""

from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metafs.data.typing import Array
from metafs_moses.packed import as_whole
from metafs_moses.program import OPPOSITE, Program, negated


@dataclass(frozen=True)
class Pool:
    """What knobs may add.

    Attributes
    ----------
    truth : array of shape (n_literals, n_words)
        What rows satisfy each literal.
    chances : array of shape (n_literals / 2,)
        Probability of each cut to be drawn; they sum to 1.
    n_cuts, n_pairs : int
        Cuts and pairs drawn for a representation, at most.
    has_missing : bool
        Whether some values are missing, so that the negation of a program does not hold wherever
        the program fails.
    """

    truth: Array
    chances: Array
    n_cuts: int
    n_pairs: int
    has_missing: bool = False

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return literals, (n,), and pairs of them, (n, 2)."""
        n = len(self.chances)
        cuts = np.flatnonzero(self.chances)
        n_pairs = self.n_pairs if len(cuts) > 1 else 0
        if len(cuts) > self.n_cuts:
            cuts = rng.choice(n, self.n_cuts, replace=False, p=self.chances)
        literals = np.sort(np.concatenate([2 * cuts, 2 * cuts + 1]))
        ends = np.searchsorted(self._cumulated, rng.random((n_pairs, 2)), side="right")
        sides = rng.integers(2, size=ends.shape)
        drawn = np.sort(2 * ends + sides, axis=1)[ends[:, 0] != ends[:, 1]]
        pairs = sorted({(a, b) for a, b in drawn.tolist()})
        return literals, np.array(pairs, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def whole(self) -> list[int]:
        """The truth of each literal as one whole number."""
        return as_whole(self.truth)

    @cached_property
    def _cumulated(self) -> Array:
        return np.asarray(np.cumsum(self.chances[:-1]))


@dataclass
class Node:
    """An operator over what the exemplar says there; one made for a literal has no children."""

    op: str
    parent: int
    program: Program
    children: list[int]
    literal: int | None = None


class Representation:
    """An exemplar with its knobs.

    Attributes
    ----------
    nodes : list of Node
        Each after its parent; node 0 is the root. Knob k of a node is that of addition k, and
        the last two are `absent` and `turned`.
    added : dict of str to array of shape (n_additions, n_words)
        What the additions to an "and" and to an "or" say of the rows.
    sizes : array of shape (n_additions,)
        How many literals each addition has.

    Examples
    --------
    >>> truth = np.array([[10], [5], [12], [3]], dtype=np.uint64)
    >>> pool = Pool(truth, np.array([0.5, 0.5]), 2, 0)
    >>> knobs = Representation(("or", 0, 2), pool, np.random.default_rng(0))
    >>> [(node.op, node.literal) for node in knobs.nodes]
    [('and', None), ('or', None), ('and', 0), ('and', 2)]
    >>> knobs.program({(2, knobs.absent), (3, 1)})
    ('and', ('or', ('and', 2, 1)))
    """

    def __init__(self, exemplar: Program, pool: Pool, rng: np.random.Generator) -> None:
        self.pool = pool
        op = "and" if isinstance(exemplar, int) else OPPOSITE[exemplar[0]]
        self.nodes = [Node(op, -1, exemplar, [])]
        self._grow(exemplar, 0)
        literals, pairs = pool.draw(rng)
        self.additions: dict[str, list[Program]] = {}
        self.added: dict[str, Array] = {}
        for op, inner, combine in (("and", "or", np.bitwise_or), ("or", "and", np.bitwise_and)):
            both = [(inner, a, b) for a, b in pairs.tolist()]
            self.additions[op] = [*literals.tolist(), *both]
            of_pairs = combine(pool.truth[pairs[:, 0]], pool.truth[pairs[:, 1]])
            self.added[op] = np.concatenate([pool.truth[literals], of_pairs])
        self.sizes = np.array([1] * len(literals) + [2] * len(pairs))
        self.absent = len(self.sizes)
        self.turned = len(self.sizes) + 1

    @property
    def n_knobs(self) -> int:
        """How many knobs each node has."""
        return len(self.sizes) + 2

    def program(self, on: Set[tuple[int, int]]) -> Program:
        """Return the program with these knobs on: pairs of a node and one of its knobs."""
        by_node: dict[int, list[int]] = {}
        above: set[int] = set()
        for place, knob in sorted(on):
            by_node.setdefault(place, []).append(knob)
            while place >= 0 and place not in above:
                above.add(place)
                place = self.nodes[place].parent
        return self._program(0, by_node, above)

    def _program(self, place: int, on: dict[int, list[int]], above: set[int]) -> Program:
        """Return what a node says with these knobs on, all of them at or below `above`."""
        node, knobs = self.nodes[place], on.get(place, [])
        if place not in above:
            return node.program
        operands = [
            self._program(child, on, above)
            for child in node.children
            if self.absent not in on.get(child, [])
        ]
        if node.literal is not None:
            operands.append(node.literal)
        operands += [self.additions[node.op][knob] for knob in knobs if knob < self.absent]
        made = node.op, *operands
        return negated(made) if self.turned in knobs else made

    def _grow(self, program: Program, parent: int) -> None:
        place = len(self.nodes)
        op = OPPOSITE[self.nodes[parent].op]
        self.nodes[parent].children.append(place)
        literal = program if isinstance(program, int) else None
        self.nodes.append(Node(op, parent, program, [], literal))
        for operand in () if isinstance(program, int) else program[1:]:
            self._grow(operand, place)
