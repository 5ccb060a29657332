"""Ctrl-C while a pipeline is chosen: the best so far is kept, and a second one ends everything."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from metafs import MetaClassifier
from metafs.pipeline.engines.interruption import broken_off, handled, is_interrupted, waiting
from metafs.pipeline.engines.pool import Pool
from metafs.pipeline.loop import solve
from metafs_metadb import MetaDB

ENGINES = {
    "one job": {},
    "two jobs": {"batch": 4, "jobs": 2},
    "dask": {"batch": 4, "jobs": 2, "engine": "dask"},
    "inline": {"engine": "inline"},
}


class Slow(ClassifierMixin, BaseEstimator):
    """A learner of the majority that takes its time, and writes down each fit."""

    def __init__(self, log=None, seconds=0.1, stubborn=False):
        self.log = log
        self.seconds = seconds
        self.stubborn = stubborn

    def fit(self, X, y):
        with open(self.log, "a") as log:
            print(len(X), X.shape[1], file=log)
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            try:
                time.sleep(until - time.monotonic())
            except KeyboardInterrupt:
                if not self.stubborn:
                    raise
        self.classes_, counts = np.unique(y, return_counts=True)
        self._most = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self._most)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "fits"


class CtrlC:
    """Sends this process SIGINT from threads, none of which outlives the test."""

    def __init__(self):
        self.over = threading.Event()
        self.threads = []

    def after(self, log, n_fits, again_after=None):
        """Press as soon as so many fits have begun, and perhaps once more."""

        def press():
            while not (log.exists() and len(log.read_text().splitlines()) >= n_fits):
                if self.over.wait(0.01):
                    return
            os.kill(os.getpid(), signal.SIGINT)
            if again_after is not None and not self.over.wait(again_after):
                os.kill(os.getpid(), signal.SIGINT)

        self.threads.append(threading.Thread(target=press, daemon=True))
        self.threads[-1].start()


ctrl_c = CtrlC()


@pytest.fixture(autouse=True)
def no_late_ctrl_c():
    ctrl_c.over.clear()
    yield
    ctrl_c.over.set()
    while ctrl_c.threads:
        ctrl_c.threads.pop().join()


def solved(stream, log, learner, *, n_fits, again_after=None, **options):
    """Return what a stream yields before it raises KeyboardInterrupt."""
    found = []
    ctrl_c.after(log, n_fits, again_after)
    with pytest.raises(KeyboardInterrupt):
        for each in solve(stream, learner=learner, **options):
            found.append(each)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_ctrl_c_keeps_the_best_so_far_and_ends_the_stream(db, related, log, engine, ask):
    stream = [related(n, n_samples=60) for n in range(5)]
    n_at_once = ENGINES[engine].get("jobs", 1)
    learner = Slow(str(log))
    found = solved(stream, log, learner, n_fits=16, db=db, **ENGINES[engine])
    assert 1 <= len(found) <= n_at_once
    for each in found:
        assert (each.status, each.stopped) == ("solved", "interrupted")
        assert each.notes[0].startswith("interrupted")
        assert each.model.predict(np.zeros((3, each.n_features))).shape == (3,)
    whole = [each for each in found if each.score is not None]
    assert whole
    assert all("the best of " in each.notes[0] for each in whole)
    assert ask("select stopped from run") == [("interrupted",)] * len(found)
    assert ask("select count(*) > 0 from trial") == [(True,)]
    n_fits = len(log.read_text().splitlines())
    time.sleep(0.3)
    assert len(log.read_text().splitlines()) == n_fits, "a worker goes on"
    assert MetaDB(db).check() == []


def test_an_interrupted_problem_is_solved_again_and_then_known(db, related, log):
    stream = [related(n, n_samples=60) for n in range(2)]
    solved(stream, log, Slow(str(log)), n_fits=8, db=db)
    quick = {"db": db, "learner": Slow(str(log), seconds=0.0)}
    first = [each.status for each in solve(stream[:1], **quick)]
    assert first == ["solved"]
    again = list(solve(stream, db=db, learner=Slow(str(log), 0.1), size=2))
    assert [each.status for each in again] == ["solved", "solved"]
    assert [each.stopped == "interrupted" for each in again] == [False, False]
    known = list(solve(stream, db=db, learner=Slow(str(log), 0.1), size=2))
    assert [each.status for each in known] == ["skipped", "skipped"]


def test_before_the_first_score_the_default_is_kept(related, log):
    (found,) = solved(related(0), log, Slow(str(log), 0.2), n_fits=2, db=None)
    assert found.score is None
    assert found.notes[0] == "interrupted: the default pipeline, which is not scored yet"
    assert found.pipeline == {"selector": "all", "size": None, "learner": "Slow"}


@pytest.mark.parametrize("engine", ["one job", "two jobs", "dask"])
def test_a_second_ctrl_c_ends_at_once(related, log, engine):
    stubborn = Slow(str(log), seconds=600.0, stubborn=True)
    started = time.monotonic()
    stream = [related(0), related(1)]
    found = solved(stream, log, stubborn, n_fits=1, again_after=1, db=None, **ENGINES[engine])
    assert found == []
    assert time.monotonic() - started < 300, "the fit was waited for"


def test_a_named_selector_has_nothing_to_keep(related, log):
    named = {"selector": "infogain", "params": {"n_features_to_select": 2}}
    assert solved(related(0), log, Slow(str(log), 60.0), n_fits=1, db=None, **named) == []


def test_an_estimator_keeps_the_best_so_far(related, log):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 12)), np.arange(60) % 2
    ctrl_c.after(log, n_fits=8)
    with pytest.warns(UserWarning, match="interrupted: the best of"):
        model = MetaClassifier(learner=Slow(str(log))).fit(X, y)
    assert model.predict(X).shape == (60,)
    assert model.notes_[0].startswith("interrupted: the best of")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_an_estimator(log):
    X, y = np.arange(60.0).reshape(30, 2), np.arange(30) % 2
    ctrl_c.after(log, n_fits=1, again_after=0.3)
    with pytest.raises(KeyboardInterrupt):
        MetaClassifier(learner=Slow(str(log), seconds=5.0)).fit(X, y)


def press():
    signal.raise_signal(signal.SIGINT)


def test_an_alarm_leaves_no_handler_behind_whenever_it_rings():
    for number in range(300):
        until = time.perf_counter() + number % 30 * 1e-6
        assert broken_off(lambda: None, until=until) in (None, "late")
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


@pytest.mark.parametrize("seconds", [1e30, float("inf")])
def test_a_limit_may_be_as_far_off_as_one_likes(seconds):
    assert broken_off(lambda: None, until=time.perf_counter() + seconds) is None


def test_a_signal_that_comes_after_the_answer_breaks_off_nothing_else():
    pool = Pool(1)
    try:
        results = pool.map(abs, [-1])
        results._start()
        ((_, worker),) = results._busy.values()
        assert worker.connection.poll(30)
        time.sleep(0.1)  # for the worker to wait for its next task
        results.interrupt()
        assert next(results) == 1
        assert list(pool.map(abs, [-2, -3])) == [2, 3]
    finally:
        pool.close()


def test_the_first_waits_except_for_what_can_be_broken_off():
    with handled():
        with waiting():
            press()
            assert is_interrupted()
            assert broken_off(lambda: None) == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            press()
    with handled(), waiting():
        assert broken_off(press) == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            press()
    with handled(), pytest.raises(KeyboardInterrupt):
        broken_off(press)
    with pytest.raises(KeyboardInterrupt), waiting():
        broken_off(press)  # nobody handles it, so nobody would make use of it
