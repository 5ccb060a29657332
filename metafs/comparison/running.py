"""Run pipelines over a stream: every problem by each of them, on the same folds.

A pipeline with memory has a copy of it for itself, in which it records the problems of the stream
as `solve` does, so the order of the stream matters and problems follow one another. Without memory
they do not depend on each other. Neither depends on the number of jobs.

The folds follow from the rows and the seed. Where a table is so large that `auto` compares on a
sample of its rows (`metafs.pipeline.choice.rows`), its folds are those of the sample.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from joblib import cpu_count

from metafs.comparison.pipelines import Pipeline, pipelines_of
from metafs.comparison.result import Comparison, Entry
from metafs.data.readers import ReadOptions
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.pipeline.batch import Readable, tried
from metafs.pipeline.engines.opening import open_engine, require_engine
from metafs.pipeline.events import Listener, listening
from metafs.pipeline.loop import readables, results_of
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import Solution
from metafs.pipeline.task import PreparedTask, TaskResult
from metafs.plugin.registry import Registry
from metafs.stability.indices import jaccard, kuncheva


def compare(
    problems: Any,
    selectors: Sequence[Any],
    learners: Sequence[Any] = (),
    *,
    db: str | PathLike[str] | None = None,
    registry: Registry | None = None,
    target: str | Sequence[str] = (),
    space: str | None = None,
    jobs: int = 1,
    **settings: Any,
) -> Comparison:
    """Compare pipelines on a stream of problems.

    Parameters
    ----------
    problems
        What `metafs.solve` takes: paths, ``demo:digits``, data frames, `Problem` objects.
    selectors, learners
        Every selector is compared with every learner: see `pipelines_of`.
    db : path, optional
        A memory. Every pipeline uses and fills a copy; the file itself is not changed.
    registry : Registry, optional
        The plugins; by default those that are installed.
    target, space
        How to read tables.
    jobs : int, default=1
        Number of processes.
    **settings
        Other fields of `metafs.pipeline.settings.Settings`, for all pipelines.

    Examples
    --------
    >>> from metafs import Problem
    >>> from sklearn.datasets import load_iris
    >>> iris = Problem.of(*load_iris(return_X_y=True), name="iris")
    >>> found = compare(iris, ["fisher:n_features_to_select=1", "infogain"], ["logistic"], folds=2)
    >>> [round(each.mean_score, 2) for each in found.summaries.values()]
    [0.95, 0.96]
    """
    targets = (target,) if isinstance(target, str) else tuple(target)
    pipelines = pipelines_of(selectors, learners, Settings(**settings))
    stream = readables(problems, ReadOptions(targets, space))
    found = list(run(stream, pipelines, registry, db=db, jobs=jobs))
    return Comparison([each.name for each in pipelines], found, len(stream))


def run(
    stream: Sequence[Readable],
    pipelines: Sequence[Pipeline],
    registry: Registry | None = None,
    *,
    db: str | PathLike[str] | None = None,
    jobs: int = 1,
    listener: Listener | None = None,
) -> Generator[Entry, None, None]:
    """Check everything, then yield what each pipeline reached on each problem, as it is known."""
    registry = registry or Registry()
    plans = [each.settings.resolve(registry) for each in pipelines]
    require_engine("local", jobs)
    return _run(list(stream), pipelines, plans, None if db is None else Path(db), jobs, listener)


def _run(
    stream: Sequence[Readable],
    pipelines: Sequence[Pipeline],
    plans: Sequence[Plan],
    db: Path | None,
    jobs: int,
    listener: Listener | None,
) -> Generator[Entry, None, None]:
    # With memory a problem needs what was recorded of the one before.
    at_once = 1 if db is not None else cpu_count() if jobs < 0 else jobs
    with (
        TemporaryDirectory(prefix="metafs-compare-") as folder,
        open_engine("local", jobs, listener) as side_by_side,
    ):
        contestants = [
            Contestant(each.name, plan, _own_memory(db, Path(folder, f"{i}.duckdb"), plan, stream))
            for i, (each, plan) in enumerate(zip(pipelines, plans, strict=True))
        ]
        numbered = list(enumerate(stream))
        for start in range(0, len(stream), at_once):
            with listening(listener):
                attempts = [
                    attempt
                    for index, readable in numbered[start : start + at_once]
                    for attempt in _attempts(index, readable, contestants)
                ]
            tasks = [each.ready for each in attempts if isinstance(each.ready, PreparedTask)]
            results = results_of(side_by_side, tasks)
            for each in attempts:
                if isinstance(each.ready, PreparedTask):
                    yield _entry(each, each.ready, next(results))
                else:
                    yield Entry(each.contestant.name, each.index, each.ready)


@dataclass(frozen=True, eq=False)
class Contestant:
    """A pipeline that is ready to run, with the memory it has for itself."""

    name: str
    plan: Plan
    memory: Memory | None


@dataclass(frozen=True, eq=False)
class Attempt:
    """A problem as a pipeline gets it, or why it does not."""

    index: int
    contestant: Contestant
    ready: PreparedTask | Solution


def _own_memory(
    db: Path | None, copy: Path, plan: Plan, stream: Sequence[Readable]
) -> Memory | None:
    """Return the memory of one pipeline: a copy of the file, or an empty one if there is none."""
    if db is None:
        return None
    if db.exists():
        MetaDB(db).export(copy)
    own = MetaDB(copy)
    own.ensure()
    return Memory(own, plan.distance, len(stream))


def _attempts(
    index: int, readable: Readable, contestants: Sequence[Contestant]
) -> Iterator[Attempt]:
    """Read a problem once, and prepare it for each pipeline."""
    problem = tried(lambda: readable.read().by_name(), readable.name)
    for each in contestants:
        if isinstance(problem, Solution):
            yield Attempt(index, each, problem)
            continue
        plan = each.plan.keeping(getattr(readable, "keep", each.plan.settings.keep))
        step = partial(prepare, problem, plan, each.memory)
        yield Attempt(index, each, tried(step, readable.name))


def _entry(attempt: Attempt, task: PreparedTask, result: TaskResult | Solution) -> Entry:
    """Record what came of an attempt in the pipeline's own memory, and how stable its sets are."""
    name, index = attempt.contestant.name, attempt.index
    solution = finish(task, result, attempt.contestant.memory)
    if isinstance(result, Solution) or result.scores is None:
        return Entry(name, index, solution)
    sets = np.zeros((len(result.scores.fold_columns), task.problem.n_features), dtype=bool)
    for row, columns in zip(sets, result.scores.fold_columns, strict=True):
        row[columns] = True
    return Entry(name, index, solution, kuncheva(sets), jaccard(sets))
