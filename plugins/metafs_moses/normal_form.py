r"""The normal form of a program: what it says, in fewer literals where simple rules see how.

Operators alternate, operands are in order, and at each node these rules hold, for "and" as written
and for "or" with both sides exchanged:

- a literal that the literals above it already imply or exclude is a constant, and gone:
  :math:`a \wedge (a \vee b) = a`, :math:`a \wedge (\bar a \vee b) = a \wedge b`;
- no operand follows from another: :math:`(a \vee b) \wedge (a \vee b \vee c) = a \vee b`;
- what all operands have in common stands outside:
  :math:`(a \vee b) \wedge (a \vee c) = a \vee (b \wedge c)`.

Each rule shortens the program, so there is an end to it. These are the reductions of C. Holman,
"Elements of an expert system for determining the satisfiability of general Boolean expressions",
1990, that M. Looks, "Competent program evolution", 2006, has for programs.
"""

from metafs_moses.literals import Literals
from metafs_moses.program import FALSE, OPPOSITE, TRUE, Program

_MOST_KEPT = 100_000


def normal_form(program: Program, literals: Literals) -> Program:
    """Return the normal form of a program.

    Examples
    --------
    >>> literals = Literals.of([(0, 0.5), (1, 0.5), (2, 0.5)])
    >>> normal_form(("and", 0, ("or", 1, ("and", 0, 2))), literals)
    ('and', 0, 2)
    >>> normal_form(("or", ("and", 0, 2), ("and", 0, 4)), literals)
    ('and', 0, ('or', 2, 4))
    """
    return NormalForms(literals).of(program)


class NormalForms:
    """Normal forms of many programs that have much in common: what was reduced once is known."""

    def __init__(self, literals: Literals) -> None:
        self.literals = literals
        self._known: dict[tuple[Program, frozenset[int], frozenset[int]], Program] = {}

    def of(self, program: Program) -> Program:
        """Return the normal form of a program."""
        before: Program | None = None
        while program != before:
            before, program = program, self._reduced(program, frozenset(), frozenset())
        return program

    def forget(self) -> None:
        """Free the memory."""
        self._known.clear()

    def _reduced(self, program: Program, holds: frozenset[int], fails: frozenset[int]) -> Program:
        """Return a shorter program, for rows where some literals hold and others do not."""
        if isinstance(program, int):
            return self._literal(program, holds, fails)
        key = program, holds, fails
        short = self._known.get(key)
        if short is None:
            if len(self._known) >= _MOST_KEPT:
                self.forget()
            short = self._known[key] = self._node(program, holds, fails)
        return short

    def _node(self, program: Program, holds: frozenset[int], fails: frozenset[int]) -> Program:
        assert isinstance(program, tuple)
        op, nothing, decided = program[0], (program[0],), (OPPOSITE[program[0]],)
        waiting, own, operands = list(program[1:]), set[int](), list[Program]()
        while waiting:  # literals first: what they say shortens the rest
            operand = waiting.pop()
            if isinstance(operand, int):
                operand = self._literal(
                    operand, *((holds | own, fails) if op == "and" else (holds, fails | own))
                )
            if operand == decided:
                return decided
            if operand == nothing:
                continue
            if isinstance(operand, int):
                related = self.literals.related(operand)
                own -= related.implied if op == "and" else related.implying
                own.add(operand)
            elif operand[0] == op:
                waiting += operand[1:]
            else:
                operands.append(operand)
        holds, fails = (holds | own, fails) if op == "and" else (holds, fails | own)
        short = [self._reduced(operand, holds, fails) for operand in operands]
        if decided in short:
            return decided
        return _joined(op, [*own, *(each for each in short if each != nothing)])

    def _literal(self, literal: int, holds: frozenset[int], fails: frozenset[int]) -> Program:
        """Return a literal, or the constant that it is here."""
        related = self.literals.related(literal)
        if not (holds.isdisjoint(related.implying) and fails.isdisjoint(related.exhausting)):
            return TRUE
        if not (holds.isdisjoint(related.excluding) and fails.isdisjoint(related.implied)):
            return FALSE
        return literal


def _joined(op: str, operands: list[Program]) -> Program:
    """Return a node with these operands, flat, without those that follow from others."""
    flat: dict[Program, frozenset[Program]] = {}
    for operand in operands:
        inner = operand[1:] if isinstance(operand, tuple) and operand[0] == op else (operand,)
        flat |= {each: _parts(op, each) for each in inner}
    kept = {
        one: parts
        for one, parts in flat.items()
        if not any(other < parts for other in flat.values())
    }
    if len(kept) == 1:
        return next(iter(kept))
    common = frozenset[Program]() if not kept else frozenset.intersection(*kept.values())
    if not common:
        return op, *sorted(kept, key=_order)
    rest = [_node(OPPOSITE[op], parts - common) for parts in kept.values()]
    return _node(OPPOSITE[op], common | {_joined(op, rest)})


def _parts(op: str, operand: Program) -> frozenset[Program]:
    """Return the operands of an operand of `op`, or itself."""
    if isinstance(operand, tuple) and operand[0] == OPPOSITE[op]:
        return frozenset(operand[1:])
    return frozenset([operand])


def _node(op: str, operands: frozenset[Program]) -> Program:
    if len(operands) == 1:
        return next(iter(operands))
    return op, *sorted(operands, key=_order)


def _order(program: Program) -> tuple[bool, int, str]:
    """Sort literals by code, then the rest by what is written."""
    if isinstance(program, int):
        return False, program, ""
    return True, 0, repr(program)
