"""What a learner tried: recorded by name with scores, and where one of a near problem begins."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.data.problem import Problem
from metafs.memory import LearnerCandidate
from metafs.memory.memory import Memory
from metafs.pipeline.fitting.learner_candidates import programs_for
from metafs.pipeline.loop import solve
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.plugin.prior import Prior
from metafs.plugin.programs import with_features
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB
from metafs_moses import MosesClassifier


def holds(program, row):
    """Tell whether a program holds of a row, given as name to value."""
    if "feature" in program:
        value = row[program["feature"]]
        if "is" in program:
            return value == program["is"]
        return value > program["above"] if "above" in program else value <= program["at_most"]
    ((operator, operands),) = program.items()
    return (all if operator == "and" else any)(holds(each, row) for each in operands)


MOSES = {"selector": "climb", "learner": "moses", "budget": 60, "folds": 2}


def test_candidates_are_recorded_with_names_and_their_errors(db, related, ask):
    problem = related(0)
    list(solve([problem], db=db, **MOSES))
    rows = ask("select output, candidate, size, score from learner_candidate order by score desc")
    assert len(rows) >= 3
    for output, text, size, score in rows:
        program = json.loads(text)
        assert output == "yes" and text.count('"feature"') == size
        told = [
            holds(program, dict(zip(problem.feature_names, row, strict=True)))
            for row in problem.X.tolist()
        ]
        assert score == -np.sum(np.array(told) != problem.y)
    ((least, greatest, n),) = ask(
        "select least_score, greatest_score, n_learner_candidates from run"
    )
    assert (least, greatest, n) == (-problem.n_samples, 0.0, len(rows))
    assert MetaDB(db).check() == []


def test_those_of_columns_without_names_are_recorded_too(db, related, ask):
    problem = related(0)
    bare = Problem.of(problem.X, problem.y, name="bare")
    (found,) = solve([bare], db=db, **MOSES)
    texts = [text for (text,) in ask("select candidate from learner_candidate")]
    assert texts and all(set(re.findall(r"x\d+", text)) <= set(found.features) for text in texts)


def test_a_learner_that_tells_nothing_leaves_nothing(db, related, ask):
    list(solve([related(0)], db=db, **{**MOSES, "learner": "logistic"}))
    assert ask("select count(*) from learner_candidate") == [(0,)]
    assert ask("select least_score, n_learner_candidates from run") == [(None, 0)]


def test_search_begins_from_the_programs_of_near_problems_but_not_of_the_same_source(db, related):
    stream = [replace(related(number), source=f"{number}.csv") for number in range(2)]
    list(solve(stream, db=db, **MOSES))
    plan = Settings(**MOSES).resolve(Registry())
    memory = Memory(MetaDB(db), plan.distance)
    task = prepare(replace(related(2), source="1.csv"), plan, memory)
    kept = MetaDB(db).learner_candidates([each.problem_id for each in task.neighbours], 2)
    assert len(kept) == 2 and all(len(each) == 2 for each in kept.values())
    assert 0 < len(task.fold_prior.programs) < len(task.prior.programs) <= 8
    published = prepare(related(2), Settings(**MOSES, transfer="paper").resolve(Registry()), memory)
    assert published.neighbours and published.prior.programs == ()


def test_a_program_that_fits_is_found_at_once():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 8)) < 0.5).astype(float)
    y = (X[:, :3].sum(axis=1) % 2).astype(int)
    cold = MosesClassifier(max_evaluations=50, random_state=0).fit(X, y)
    assert cold.scores_[0] < 0
    names = tuple("abcdefgh")
    problem = Problem.of(X, y, feature_names=names)
    found = MosesClassifier(max_evaluations=50_000, random_state=0).fit(X, y)
    (best, *_) = found.candidates()
    assert best[3] == found.scores_[0] == 0 and best[2] == found.sizes_[0]
    named = with_features(best[1], names.__getitem__)
    for program in (named, {"not": named}):  # also where the classes are the other way round
        kept = programs_for(problem, [LearnerCandidate("1", program, best[2], best[3])])
        again = MosesClassifier(max_evaluations=50, random_state=0).fit(X, y, programs=kept)
        assert again.scores_ == [0.0] and again.n_evaluations_ <= 2


NAMES = ("a", "b", "c")
LITERALS = st.builds(
    lambda f, t: {"feature": f, "above": t}, st.sampled_from(NAMES), st.floats(0, 1)
)
PROGRAMS = st.recursive(
    LITERALS,
    lambda inner: (
        st.builds(
            lambda op, parts: {op: parts},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1),
        )
        | st.builds(lambda part: {"not": part}, inner)
    ),
    max_leaves=8,
)


@given(PROGRAMS, st.permutations(range(3)))
def test_names_become_numbers_and_back_again(program, order):
    there = with_features(program, dict(zip(NAMES, order, strict=True)).get)
    assert with_features(there, lambda j: NAMES[order.index(j)]) == program
    prior = Prior(np.zeros(3), programs=(there,))
    turned = prior.columns(np.array([2, 0, 1])).programs
    assert turned == (with_features(there, [1, 2, 0].__getitem__),)


@given(PROGRAMS)
def test_without_any_of_its_features_there_is_no_program(program):
    assert with_features(program, {}.get) is None
    some = with_features(program, {"a": 0}.get)
    assert (some is None) == ("'feature': 'a'" not in repr(program))
    assert Prior(np.zeros(1), programs=(program,)).columns(np.zeros(0, int)).programs == ()


def test_categories_leave_no_programs_because_columns_are_not_as_given(db, ask):
    import pandas as pd

    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 60)
    frame = pd.DataFrame({"colour": colour, "size": rng.random(60)})
    problem = Problem.of(frame, np.where(colour == "red", "yes", "no"), name="colours")
    (found,) = solve([problem], db=db, **MOSES)
    assert found.status == "solved" and "colour" in found.features
    assert ask("select count(*) from learner_candidate") == [(0,)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_answer_does_not_depend_on_the_processes(tmp_path, related, jobs):
    stream = [related(number) for number in range(4)]
    found = list(solve(stream, db=tmp_path / "m.duckdb", batch=2, jobs=jobs, **MOSES))
    alone = list(solve(stream, db=tmp_path / "n.duckdb", batch=2, **MOSES))
    assert [each.score for each in found] == [each.score for each in alone]
