"""What a fit learnt: the program of each class, how far to trust it, and what else was kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.stats.function_quality import Function
from metafs_moses.as_function import as_function
from metafs_moses.learning import Learning
from metafs_moses.literals import Literals
from metafs_moses.packed import holds
from metafs_moses.program import Program, size
from metafs_moses.search import Found
from metafs_moses.sentence import sentence
from metafs_moses.serial import Serial, serialised


@dataclass(frozen=True)
class Learnt:
    """Programs with what the training rows say of them.

    Attributes
    ----------
    programs : list of tuple or int
        The best program of each target.
    literals : Literals
        What their codes mean.
    binary : frozenset of int
        Columns that hold zeros and ones.
    rates : array of shape (2, n_targets)
        How probable a target is where its program does not hold, and where it does.
    kept : list of (int, program, int)
        Target, program and errors of all that the search kept.
    scale : float
        The weight of a row of weight 1 in the errors.
    weight : float
        That of all rows.
    """

    programs: list[Program]
    literals: Literals
    binary: frozenset[int]
    rates: Array
    kept: list[tuple[int, Program, int]]
    scale: float
    weight: float

    @classmethod
    def of(
        cls,
        learning: Learning,
        found: Sequence[Found],
        X: Matrix,
        codes: Array,
        weights: Array,
        targets: Sequence[int],
    ) -> "Learnt":
        """Gather what the searches found, and count on the rows how often it is right."""
        programs = [each.program for each in found]
        kept = [
            (target, program, errors)
            for target, search in zip(targets, learning.searches, strict=True)
            for program, errors in search.population
        ]
        rates = np.empty((2, len(targets)))
        for i, (program, target) in enumerate(zip(programs, targets, strict=True)):
            outputs, wanted = holds(program, learning.literals, X), codes == target
            for side in (0, 1):
                there = weights[outputs == side].sum()
                right = weights[(outputs == side) & wanted].sum()
                rates[side, i] = (right + 1) / (there + 2)
        weight = float(weights.sum()) * learning.scale
        return cls(
            programs, learning.literals, learning.binary, rates, kept, learning.scale, weight
        )

    def serialised(self, names: Sequence[str] | None) -> list[Serial]:
        """Return the programs as JSON can hold them."""
        return [self._serialised(each, names) for each in self.programs]

    def sentences(
        self,
        X: Matrix,
        codes: Array,
        targets: Sequence[int],
        labels: Array,
        names: Sequence[str],
    ) -> list[str]:
        """Write each program, and of how many of these rows it is right."""
        return [
            sentence(
                labels[target],
                self._serialised(program, names),
                holds(program, self.literals, X),
                codes == target,
            )
            for program, target in zip(self.programs, targets, strict=True)
        ]

    def probabilities(self, X: Matrix) -> Array:
        """Return the probability of each class for each row: (n_rows, n_classes)."""
        outputs = np.column_stack([holds(each, self.literals, X) for each in self.programs])
        rates = np.where(outputs, self.rates[1], self.rates[0])
        if len(self.programs) == 1:
            return np.column_stack([1 - rates[:, 0], rates[:, 0]])
        return np.asarray(rates / rates.sum(axis=1, keepdims=True))

    def functions(self) -> list[Function]:
        """Return all programs that were kept, each with the share of rows it gets right."""
        return [
            as_function(program, self.literals, 1 - errors / self.weight)
            for _, program, errors in self.kept
        ]

    def candidates(self, complexity: float) -> list[tuple[int, Serial, int, float]]:
        """Return target, program, literals and score of all that were kept, best first.

        The score is minus the number of errors; a literal must save `complexity` of them.
        """
        found = [
            (
                target,
                self._serialised(program, None),
                size(program),
                0.0 - errors / self.scale,
            )
            for target, program, errors in self.kept
        ]
        return sorted(found, key=lambda each: complexity * each[2] - each[3])

    def lowest_score(self) -> float:
        """Return the score of a program that is wrong about every row."""
        return -self.weight / self.scale

    def _serialised(self, program: Program, names: Sequence[str] | None) -> Serial:
        return serialised(program, self.literals, names, self.binary)
