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

Context = tuple[frozenset[int], frozenset[int]]
"""Literals known to hold where a node counts, and literals known not to."""

NOWHERE: Context = (frozenset(), frozenset())


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
    before: Program | None = None
    while program != before:
        before, program = program, _reduced(program, literals, NOWHERE)
    return program


def _reduced(program: Program, literals: Literals, known: Context) -> Program:
    if isinstance(program, int):
        return _literal(program, literals, known)
    op, nothing, decided = program[0], (program[0],), (OPPOSITE[program[0]],)
    waiting, own, operands = list(program[1:]), list[int](), list[Program]()
    while waiting:  # literals first: what they say shortens the rest
        operand = waiting.pop()
        if isinstance(operand, int):
            operand = _literal(operand, literals, _within(op, own, known))
        if operand == decided:
            return decided
        if operand == nothing:
            continue
        if isinstance(operand, int):
            own = [a for a in own if not _follows(op, a, operand, literals)] + [operand]
        elif operand[0] == op:
            waiting += operand[1:]
        else:
            operands.append(operand)
    inside = _within(op, own, known)
    short = [_reduced(operand, literals, inside) for operand in operands]
    if decided in short:
        return decided
    return _joined(op, [*own, *(each for each in short if each != nothing)])


def _literal(literal: int, literals: Literals, known: Context) -> Program:
    """Return a literal, or the constant that it is here."""
    holds, fails = known
    if any(literals.implies(a, literal) for a in holds):
        return TRUE
    if any(literals.exclude(a, literal) for a in holds):
        return FALSE
    if any(literals.implies(literal, a) for a in fails):
        return FALSE
    if any(literals.exhaust(literal, a) for a in fails):
        return TRUE
    return literal


def _within(op: str, own: list[int], known: Context) -> Context:
    """Return what is known beside these operands of a node."""
    holds, fails = known
    return (holds.union(own), fails) if op == "and" else (holds, fails.union(own))


def _follows(op: str, a: int, b: int, literals: Literals) -> bool:
    """Tell whether operand a adds nothing to operand b."""
    return literals.implies(b, a) if op == "and" else literals.implies(a, b)


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
