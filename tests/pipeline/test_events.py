"""Events: heard from inside a problem, wherever it is solved, and never part of the answer."""

import pytest

from metafs.pipeline.events import Event, Thinned, emit, is_heard, listening
from metafs.pipeline.loop import solve

AUTO = {"selector": "auto", "folds": 3, "learner": "remembered"}


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_the_phases_of_a_problem_are_heard(related, engine):
    heard = []
    (found,) = solve(related(0), db=None, engine=engine, listener=heard.append, **AUTO)
    assert found.status == "solved"
    phases = list(dict.fromkeys(each.phase for each in heard))
    assert phases == ["reading", "describing", "comparing pipelines", "fitting", "recording"]
    scored = [each for each in heard if each.phase == "comparing pipelines"]
    assert scored[-1].n_scored >= 1
    assert [each.n_scored for each in scored] == sorted(each.n_scored for each in scored)
    assert {each.problem for each in heard} == {related(0).name}


def test_listening_changes_no_answer(related):
    stream = [related(number) for number in range(2)]
    answers = [
        [(each.features, each.score) for each in solve(stream, db=None, **given, **AUTO)]
        for given in ({}, {"listener": lambda event: None, "batch": 2, "jobs": 2})
    ]
    assert answers[0] == answers[1]


def test_without_a_listener_nothing_is_told():
    assert not is_heard()
    emit(Event("nobody", "listens"))
    heard = []
    with listening(heard.append):
        assert is_heard()
        emit(Event("one", "fitting"))
    assert heard == [Event("one", "fitting")]
    assert not is_heard()


def test_many_events_of_a_phase_are_thinned():
    heard = []
    thinned = Thinned(heard.append)
    for number in range(1000):
        thinned(Event("one", "comparing pipelines", number))
    thinned(Event("one", "fitting"))
    assert heard[0].n_scored == 0
    assert heard[-1].phase == "fitting"
    assert len(heard) < 100
