"""Programs: packed evaluation, normal form, negation, JSON and sentences against an interpreter."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import UsageError
from metafs.plugin.programs import written
from metafs_moses.literals import Literals
from metafs_moses.normal_form import normal_form
from metafs_moses.packed import Target, holds, packed, unpacked
from metafs_moses.program import OPPOSITE, negated, size
from metafs_moses.serial import columns_by, cuts_in, parsed, serialised

from .interpreting import LITERALS, VALUES, every_row, interpreted, programs

NAMES = np.array(["free", "meeting", "length", "height"])


def rows(min_size=0):
    cells = st.tuples(*(st.sampled_from(values) for values in VALUES))
    return st.lists(cells, min_size=min_size, max_size=150).map(
        lambda held: np.array(held, dtype=np.float64).reshape(-1, len(VALUES))
    )


@given(programs(), rows())
def test_packed_evaluation_is_the_interpreter(program, X):
    found = holds(program, LITERALS, X)
    np.testing.assert_array_equal(found, interpreted(program, LITERALS, X))


@given(st.lists(st.booleans(), max_size=200))
def test_packing_can_be_undone(bits):
    bits = np.array(bits, dtype=bool)
    np.testing.assert_array_equal(unpacked(packed(bits), len(bits)), bits)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 300)), min_size=1))
def test_weighted_errors_are_the_sum_of_the_weights(rows):
    said, wanted, weights = map(np.array, zip(*rows, strict=True))
    errors = Target.of(wanted, weights).errors(packed(said))
    assert errors == weights[said != wanted].sum()


@given(programs())
@settings(max_examples=300)
def test_the_normal_form_means_the_same_on_the_whole_truth_table(program):
    short, X = normal_form(program, LITERALS), every_row()
    np.testing.assert_array_equal(
        interpreted(short, LITERALS, X), interpreted(program, LITERALS, X)
    )


@given(programs())
@settings(max_examples=300)
def test_the_normal_form_is_not_longer_alternates_and_is_its_own(program):
    short = normal_form(program, LITERALS)
    assert size(short) <= size(program)
    assert normal_form(short, LITERALS) == short
    assert alternates(short)


def alternates(program):
    if isinstance(program, int):
        return True
    inner = [each for each in program[1:] if not isinstance(each, int)]
    enough = len(program) != 2
    return enough and all(each[0] == OPPOSITE[program[0]] and alternates(each) for each in inner)


@pytest.mark.parametrize(
    ("program", "short"),
    [
        (("or", 0, 1), ("and",)),  # no value of column 0 is missing
        (("or", 2, 3), ("or", 2, 3)),  # some of column 1 are
        (("and", 2, 3), ("or",)),
        (("and", 4, 6), 6),  # above 3 is above 1
        (("or", 4, 6), 4),
        (("or", ("and", 0, 2), ("and", 0, 8)), ("and", 0, ("or", 2, 8))),
        (("and", 0, ("or", 1, ("and", 0, 2))), ("and", 0, 2)),
    ],
)
def test_normal_forms(program, short):
    assert normal_form(program, LITERALS) == short


@given(programs())
def test_where_nothing_is_missing_the_negation_is_the_complement(program):
    X = every_row()
    X = X[~np.isnan(X).any(axis=1)]
    said = interpreted(program, LITERALS, X)
    np.testing.assert_array_equal(interpreted(negated(program), LITERALS, X), ~said)


@given(programs(), st.booleans())
def test_a_program_survives_json(program, knows_binary):
    binary = {0, 1} if knows_binary else ()
    given = json.loads(json.dumps(serialised(program, LITERALS, NAMES, binary)))
    columns = columns_by(NAMES, len(NAMES))
    assert parsed(given, LITERALS, columns) == program
    assert set(cuts_in(given, columns)) <= set(LITERALS.cuts)


def test_literals_of_features_that_are_not_there_are_left_out():
    literals = Literals.of([(0, 0.5)])
    other = {"feature": "viagra", "above": 0.5}
    own = {"feature": "free", "at_most": 0.5}
    columns = columns_by(NAMES, len(NAMES))
    assert parsed({"and": [own, {"or": [other]}]}, literals, columns) == ("and", 1)
    assert parsed({"not": other}, literals, columns) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        "free",
        {"xor": []},
        {"and": 3},
        {"feature": "free"},
        {"feature": "free", "above": 1, "at_most": 1},
        {"feature": "free", "above": "much"},
        {"feature": "free", "above": float("nan")},
        {"feature": "free", "is": 2},
        {"feature": "free", "is": 1, "above": 1},
    ],
)
def test_what_is_no_program_is_refused(wrong):
    with pytest.raises(UsageError, match="is no program"):
        list(cuts_in(wrong, columns_by(NAMES, len(NAMES))))


@given(programs(), st.integers(0, 2**32))
def test_a_sentence_says_what_the_interpreter_does(program, seed):
    """Python reads the sentence; where nothing is missing, as the sentence cannot say that."""
    X = every_row()
    X = X[~np.isnan(X).any(axis=1)]
    row = X[seed % len(X)]
    text = written(serialised(program, LITERALS, NAMES, {0, 1}))
    if "()" in text or not text:  # constants within a program are gone in its normal form
        program = normal_form(program, LITERALS)
        if program in (("and",), ("or",)):
            return
        text = written(serialised(program, LITERALS, NAMES, {0, 1}))
    said = eval(text, {}, dict(zip(NAMES, row, strict=True)))
    assert bool(said) == interpreted(program, LITERALS, row[None])[0]
