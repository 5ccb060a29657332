r"""The metapopulation: the programs found so far, each with what it says of every row.

What a program says of the rows is its behaviour. Of programs with the same behaviour the shortest
is kept, and scores under other weights of the rows need no further evaluation. An exemplar is
drawn with probability

.. math:: P(f) \propto e^{-s(f) / T}, \qquad s(f) = \text{errors}(f) + c\,\text{size}(f)

where errors may be weighted.
"""

from dataclasses import dataclass, field

import numpy as np

from metafs.data.typing import Array
from metafs_moses.packed import Target
from metafs_moses.program import Program, size


@dataclass(frozen=True)
class Member:
    """A program, what it says of the rows, and how long it is."""

    program: Program
    behaviour: Array
    size: int


@dataclass
class Metapopulation:
    """Programs that behave differently, at most so many of them.

    Examples
    --------
    >>> known = Metapopulation(complexity=0.1, most=10)
    >>> target = Target.of(np.array([True, False]), np.array([1, 1]))
    >>> for program, words in ((("and", 0, 2), 1), (0, 1), (2, 3)):
    ...     known.add(program, np.array([words], dtype=np.uint64), target)
    >>> [(member.program, member.size) for member in known.members.values()]
    [(0, 1), (2, 1)]
    >>> known.scores(target).tolist()
    [0.1, 1.1]
    """

    complexity: float
    most: int
    members: dict[bytes, Member] = field(default_factory=dict)

    def add(self, program: Program, behaviour: Array, target: Target, unit: int = 1) -> None:
        """Add a program; of too many the one with the worst score on the target goes."""
        key, length = behaviour.tobytes(), size(program)
        if key in self.members and self.members[key].size <= length:
            return
        self.members[key] = Member(program, behaviour, length)
        if len(self.members) > self.most:
            worst = int(np.argmax(self.scores(target, unit)))
            del self.members[list(self.members)[worst]]

    def scores(self, target: Target, unit: int = 1) -> Array:
        """Return the score of each member, the lower the better; `unit` is a weight of one."""
        behaviours = np.array([member.behaviour for member in self.members.values()])
        sizes = np.array([member.size for member in self.members.values()])
        return np.asarray(target.errors(behaviours) / unit + self.complexity * sizes)

    def draw(
        self, target: Target, temperature: float, rng: np.random.Generator, unit: int = 1
    ) -> Member:
        """Draw an exemplar among the programs that get some row wrong."""
        scores = self.scores(target, unit)
        behaviours = np.array([member.behaviour for member in self.members.values()])
        scores = np.where(target.errors(behaviours) > 0, scores, np.inf)
        chances = np.exp((scores.min() - scores) / temperature)
        drawn = int(rng.choice(len(scores), p=chances / chances.sum()))
        return list(self.members.values())[drawn]
