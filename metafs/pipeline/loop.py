"""The loop: read, describe, recall, expect, select, learn, record; then the next problem.

`solve` gives a generator of frozen records. Each problem starts from the memory of
the earlier ones. The problems of a batch are solved in parallel from the same memory and recorded
in stream order, so results depend on the batch size and the seed, never on jobs or engine.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw

from metafs.data.parameters import check_at_least
from metafs.data.problem import Problem
from metafs.data.readers import ReadOptions, sources, sources_of_frames
from metafs.errors import UsageError
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.pipeline.batch import Readable, batch_key, prepare_all, read_problem
from metafs.pipeline.display.progress import Progress
from metafs.pipeline.engines.opening import open_engine, require_engine
from metafs.pipeline.engines.pool import Map
from metafs.pipeline.engines.worker import WorkerError
from metafs.pipeline.events import Event, Listener, emit, listening
from metafs.pipeline.models.archive import make_folder
from metafs.pipeline.models.saving import keep_model
from metafs.pipeline.plan import Plan
from metafs.pipeline.presets import preset_named
from metafs.pipeline.recording import fail, failure, finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import Solution
from metafs.pipeline.steps import work
from metafs.pipeline.task import PreparedTask, TaskResult
from metafs.plugin.registry import Registry


@dataclass(frozen=True, eq=False)
class InMemorySource:
    """A problem that was handed over ready made."""

    problem: Problem

    @property
    def name(self) -> str:
        """How the problem is called."""
        return self.problem.name

    @property
    def origin(self) -> str:
        """Where it comes from."""
        return self.problem.source

    def read(self) -> Problem:
        """Return the problem."""
        return self.problem


def solve(
    problems: str | PathLike[str] | Problem | Iterable[Any],
    *,
    db: MetaDB | str | PathLike[str] | None = "metafs.duckdb",
    registry: Registry | None = None,
    target: str | Sequence[str] = (),
    space: str | None = None,
    keep: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    task: str = "auto",
    meta_features: str | PathLike[str] | None = None,
    groups: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    batch: int = 1,
    jobs: int = 1,
    engine: str = "local",
    check: int = 0,
    strict: bool = False,
    progress: bool = False,
    listener: Listener | None = None,
    save_models: str | PathLike[str] | None = None,
    preset: str | None = None,
    wave: int | None = None,
    **settings: Any,
) -> Iterator[Solution]:
    """Solve a stream of problems, each with the memory of the earlier ones.

    Parameters
    ----------
    problems : str, path, data frame, Problem, or several of them
        Files, folders, TOML streams, ``demo:digits``, or data frames and problems in memory.
    db : path, MetaDB or None
        The memory. None forgets everything.
    registry : Registry, optional
        The plugins; by default those that are installed.
    target, space, keep, drop, task, meta_features
        How to read tables: what to predict, the pool of features they belong to, columns always
        selected, columns never seen, whether the target holds "classes" or "numbers", and a
        table of features' properties for problems that bring none of their own.
    groups, time, weight : str, optional
        Columns that tell of rows, and are no features: rows of one group are never divided between
        folds, folds are tested on later rows than they learn from, and rows count by weight.
    batch, jobs, engine
        Number of problems that are solved from the same memory, number of processes, and where
        they run.
    check : int
        Every `check`-th problem that memory guided is also searched cold, to measure what memory
        saves; 0 turns that off.
    strict : bool
        Whether a problem fails if its table looks wrong: identifiers, leaks, free text, dates and
        amounts as text, a class for nearly every row, rows that repeat or that another source
        holds. Otherwise these are notes.
    progress : bool
        Whether to show in one line, on a terminal or in a notebook, what is going on. Takes the
        place of a listener.
    listener : callable, optional
        Called with each `metafs.pipeline.events.Event`: what is going on inside a problem.
    save_models : path, optional
        A folder in which the model of each problem is saved, and which the memory remembers. A
        problem that was solved before, but has no model there, is solved again.
    preset : str, optional
        Settings that belong together, instead of the defaults: "paper" is the published system.
    wave
        Deprecated name of `batch`.
    **settings
        The fields of `metafs.pipeline.settings.Settings`: selector, learner, transfer, budget, ...

    Yields
    ------
    Solution
        One for each problem, in the order of the stream; a failing one does not stop the rest.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C. If a pipeline was being chosen, its problem comes first, with the best of what
        was tried and ``stopped="interrupted"``; it is solved again when the stream is resumed.

    Examples
    --------
    >>> first = next(solve("demo:digits", db=None, selector="infogain", folds=2))
    >>> first.problem, first.status
    ('digits 0 vs 1', 'solved')
    """
    settings = {**(preset_named(preset) if preset is not None else {}), **settings}
    plan = Settings(keep=_names(keep), **settings).resolve(registry or Registry())
    if wave is not None:
        warnings.warn("`wave` is deprecated: use `batch`.", DeprecationWarning, stacklevel=2)
        batch = wave
    if batch < 1:
        raise UsageError(f"batch must be at least 1, not {batch}.")
    check_at_least("check", check, 0)
    require_engine(engine, jobs)
    described = None if meta_features is None else Path(meta_features)
    read = ReadOptions(
        _names(target),
        space,
        _names(keep),
        _names(drop),
        task,
        described,
        groups=groups,
        time=time,
        weight=weight,
    )
    stream = readables(problems, read)
    memory = None
    if db is not None:
        db = db if isinstance(db, MetaDB) else MetaDB(db)
        db.ensure()
        memory = Memory(db, plan.distance, len(stream))
    models = None if save_models is None else make_folder(Path(save_models))
    line = Progress(len(stream)) if progress else None
    solutions = _solve(
        stream, plan, memory, batch, jobs, engine, check, models, line or listener, strict
    )
    return line.through(solutions) if line else solutions


def _names(one_or_more: str | Sequence[str]) -> tuple[str, ...]:
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def _kind(given: Any) -> str:
    if isinstance(given, (str, PathLike)):
        return "path"
    return "frame" if nw.dependencies.is_into_dataframe(given) else "problem"


def readables(problems: Any, read: ReadOptions) -> list[Readable]:
    """Return the problems of a stream, none of them read yet."""
    alone = isinstance(problems, (str, bytes)) or nw.dependencies.is_into_dataframe(problems)
    if alone or not isinstance(problems, Iterable):
        problems = [problems]
    stream: list[Readable] = []
    for kind, group in groupby(problems, key=_kind):
        given = list(group)
        if kind == "path":  # all in one call, which makes their names unique
            stream += sources(given, read)
        elif kind == "frame":
            stream += sources_of_frames(given, read)
        else:
            stream += [
                InMemorySource(each) if isinstance(each, Problem) else each for each in given
            ]
    for each in stream:
        if not hasattr(each, "read"):
            raise UsageError(
                f"{each!r} is not a problem: give paths, a demo, data frames or `Problem` objects."
            )
    return stream


def _solve(
    stream: Sequence[Readable],
    plan: Plan,
    memory: Memory | None,
    batch: int,
    jobs: int,
    engine: str,
    check: int,
    models: Path | None,
    listener: Listener | None,
    strict: bool = False,
) -> Iterator[Solution]:
    with open_engine(engine, jobs, listener) as side_by_side:
        for start in range(0, len(stream), batch):
            with listening(listener):
                some = stream[start : start + batch]
                read = [read_problem(each, plan, memory, models) for each in some]
                key = batch_key(read) if memory is not None and batch > 1 else None
                ready = prepare_all(read, memory, key, strict=strict)
            for place, each in enumerate(ready, start=start + 1):
                if check and place % check == 0 and isinstance(each, PreparedTask):
                    ready[place - start - 1] = each = replace(each, checked=True)
                if models is not None and isinstance(each, PreparedTask):
                    ready[place - start - 1] = replace(each, saves_model=True)
            tasks = [each for each in ready if isinstance(each, PreparedTask)]
            results = results_of(side_by_side, tasks)
            for one, each in zip(read, ready, strict=True):
                if isinstance(each, PreparedTask):
                    result = next(results)
                    with listening(listener):
                        emit(Event(each.problem.name, "recording"))
                    found = finish(each, result, memory)
                    if models is not None:
                        found = keep_model(found, each.problem, models, memory)
                    yield found
                elif each.status == "failed":
                    yield fail(each, one.problem, one.plan, memory)
                else:
                    yield each
            for _ in results:  # there are none, but Ctrl-C ends the stream here
                pass
            if memory is not None and key is not None:
                memory.complete(key)
    if memory is not None:
        memory.db.fold()  # so that the file can be copied by itself


def results_of(side_by_side: Map, tasks: Sequence[PreparedTask]) -> Iterator[TaskResult | Solution]:
    """Solve the problems of a batch; a problem whose process dies has failed."""
    results = side_by_side(try_work, tasks)
    for task in tasks:
        name = task.problem.name
        try:
            yield next(results)
        except WorkerError as error:
            message = f"{error} while {task.plan.settings.selector_name!r} worked on {name!r}"
            yield failure(WorkerError(message), name)
        except Exception as error:  # from the engine: try_work itself never raises
            yield failure(error, name)
    for _ in results:  # after Ctrl-C this raises KeyboardInterrupt
        pass


def try_work(task: PreparedTask) -> TaskResult | Solution:
    """Solve a task; whatever a plugin raises is returned as a failure."""
    try:
        return work(task)
    except Exception as error:
        return failure(error, task.problem.name)
