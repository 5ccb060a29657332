"""A plugin that harms the process it runs in costs its problem and not the stream."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from metafs.errors import UsageError
from metafs.pipeline.engines.opening import open_engine
from metafs.pipeline.engines.worker import WorkerError
from metafs.pipeline.loop import solve
from metafs_metadb import MetaDB

BAD = 61
"""The problem with so many rows is the one on which the selector misbehaves."""


class Ended(BaseException):
    """Neither an error nor Ctrl-C."""


def crash():
    ctypes.string_at(0)


def wait_for_ever():
    threading.Thread(target=threading.Event().wait).start()


def fork():
    os.fork()


def raise_it(error):
    raise error


HARM = {
    "os._exit": lambda: os._exit(3),
    "a crash": crash,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "BaseException": lambda: raise_it(Ended("enough")),
    "KeyboardInterrupt": lambda: raise_it(KeyboardInterrupt()),
    "SystemExit": lambda: raise_it(SystemExit(4)),
    "closed files": lambda: os.closerange(3, 200),
    "chdir": lambda: os.chdir("/"),
    "threads": wait_for_ever,
    "fork": fork,
    "environment": lambda: os.environ.clear(),
}
HARMLESS = ("chdir", "threads", "fork", "environment")


class Harmful(BaseEstimator):
    """A selector of all columns that harms its process on one problem."""

    def __init__(self, way="none"):
        self.way = way

    def fit(self, X, y):
        if len(X) == BAD:
            HARM[self.way]()
        elif len(X) == 60:
            assert os.getcwd() != "/"
            assert "PATH" in os.environ
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self


@pytest.mark.parametrize("way", HARM)
def test_what_harms_a_process_costs_one_problem_at_most(db, related, way):
    stream = [related(0), related(1, n_samples=BAD), related(2)]
    threads = threading.active_count()
    found = list(solve(stream, db=db, selector=Harmful(way), folds=2))
    second = "failed" if way not in HARMLESS else "solved"
    assert [each.status for each in found] == ["solved", second, "solved"]
    if second == "failed":
        assert "'Harmful'" in found[1].error
        assert "'problem 1'" in found[1].error
    assert MetaDB(db).check() == []
    assert threading.active_count() <= threads


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_side_by_side_a_death_costs_its_own_problem_alone(related, engine):
    stream = [related(n, n_samples=BAD if n in (1, 2) else 60) for n in range(5)]
    found = solve(
        stream, db=None, selector=Harmful("a crash"), folds=2, batch=5, jobs=2, engine=engine
    )
    assert [each.status for each in found] == ["solved", "failed", "failed", "solved", "solved"]


def test_how_a_process_ended_is_told(related):
    (found,) = solve(related(1, n_samples=BAD), db=None, selector=Harmful("a crash"))
    assert found.error == (
        "the worker process was killed by SIGSEGV (Segmentation fault) while 'Harmful' worked on "
        "'problem 1'"
    )


def test_what_a_function_raises_is_raised_in_its_place_and_the_rest_comes():
    with open_engine() as side_by_side:
        results = side_by_side(lambda n: 6 // n, [1, 0, 2])
        assert next(results) == 6
        with pytest.raises(ZeroDivisionError):
            next(results)
        assert next(results) == 3
        with pytest.raises(WorkerError, match="pickle"):
            next(side_by_side(lambda _: threading.Lock(), [0]))


def test_no_task_is_hit_by_the_alarm_that_another_one_set():
    with open_engine() as side_by_side:
        next(side_by_side(lambda _: signal.setitimer(signal.ITIMER_REAL, 1.0), [0]))
        assert next(side_by_side(time.sleep, [1.2])) is None


def test_a_killed_fork_server_is_replaced():
    with open_engine(jobs=2) as side_by_side:
        os.kill(next(side_by_side(lambda _: os.getppid(), [0])), signal.SIGKILL)
        assert list(side_by_side(abs, [-1, -2, -3])) == [1, 2, 3]


def test_inline_is_this_process_and_only_one():
    with open_engine("inline") as here:
        assert list(here(lambda _: os.getpid(), [0])) == [os.getpid()]
    with pytest.raises(UsageError, match="one process, not 2 jobs"), open_engine("inline", 2):
        pass


PARENT = """
import os, subprocess, sys, time
from metafs.pipeline.engines.opening import open_engine

def work(_):
    child = subprocess.Popen(["sleep", "1000"])
    print(os.getppid(), os.getpid(), child.pid, flush=True)
    time.sleep(1000)

with open_engine(sys.argv[1], 2) as side_by_side:
    list(side_by_side(work, [0, 1]))
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def left_alive(pids, patience=120):
    """Return those that do not end in time."""
    deadline = time.monotonic() + patience
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if alive(pid)]


@pytest.mark.parametrize("engine", ["local", "dask"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_parent_however_that_dies(engine, number):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, engine], stdout=subprocess.PIPE, text=True
    )
    started = [int(pid) for _ in range(2) for pid in parent.stdout.readline().split()]
    assert all(map(alive, started))
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    assert left_alive(started) == []


def test_ctrl_c_during_a_fork_is_not_lost():
    """What a callback of a fork raises is only printed."""
    at_fork = [lambda: signal.raise_signal(signal.SIGINT)]
    os.register_at_fork(before=lambda: at_fork and at_fork.pop()())
    with pytest.raises(KeyboardInterrupt), open_engine():
        pass
    assert not at_fork
