"""The experiment of the paper: every problem cold, then each arm until the cold run's fitness.

1. Each problem is solved cold, once for each seed. The best fitness found is its target.
2. Each arm goes through the stream and searches every problem until its target or until the
   budget is spent. An arm with memory has its own MetaDB for each seed and order, and records its
   runs as `solve` does.

Costs are counted up to the target on both sides: the cold run is repeated with the same seed until
it reaches its own target, to measure its seconds. Of a selector that cannot stop at a target all
seconds count. One that reports no fitness has the learner's nested score in its place, and is
charged all its evaluations: then it is the score that tells what memory is worth.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, section 4.1.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from metafs.errors import MetafsError, describe
from metafs.experiment.arms import COLD, Arm, explained
from metafs.experiment.design import TARGET, Design
from metafs.experiment.explanation import why
from metafs.experiment.outcome import Failed, Outcome, fitness_of, outcome
from metafs.memory import MetaDB, MetaDBError
from metafs.memory.memory import Memory
from metafs.pipeline.batch import Readable, is_interrupt
from metafs.pipeline.engines.opening import open_engine, require_engine
from metafs.pipeline.engines.pool import Map
from metafs.pipeline.fitting.selection import configured
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import failure, finish
from metafs.pipeline.steps import work
from metafs.plugin.registry import Registry


@dataclass(frozen=True, eq=False)
class Task:
    """One pass of an arm over some problems, with the plan that all of them share."""

    arm: Arm
    seed: int
    order: int | None
    plan: Plan
    learning: bool
    problems: Sequence[tuple[int, Readable]]
    """(index in the stream, problem), in the order of the pass."""
    targets: Mapping[int, float]
    """By index; empty for the cold arm, which finds them."""
    db: Path | None = None
    explains: bool = False
    """Whether outcomes include an explanation."""

    def place(self, position: int, index: int) -> dict[str, Any]:
        """Return arm, seed, order, index and position of an outcome."""
        return {
            "arm": self.arm.name,
            "seed": self.seed,
            "order": self.order,
            "index": index,
            "position": index if self.order is None else position,
        }


def run(
    stream: Sequence[Readable], design: Design, registry: Registry | None = None, jobs: int = 1
) -> Generator[Outcome | Failed, None, None]:
    """Run every arm over a stream and yield the outcome of each problem as soon as it is known.

    Parameters
    ----------
    stream : sequence of problems to be read
        See `metafs.pipeline.loop.readables`.
    design : Design
        Arms, seeds, orders and settings.
    registry : Registry, default=None
        The plugins; by default those that are installed.
    jobs : int, default=1
        Number of processes; it does not change the results.

    Yields
    ------
    Outcome or Failed
        A problem that fails cold is tried in no other arm.
    """
    registry = registry or Registry()
    design.check(registry)
    require_engine("local", jobs)
    return _run(list(stream), design, registry, jobs)


def _run(
    stream: list[Readable], design: Design, registry: Registry, jobs: int
) -> Generator[Outcome | Failed, None, None]:
    cold, *others = design.arms
    with (
        TemporaryDirectory(prefix="metafs-experiment-") as folder,
        open_engine("local", jobs) as side_by_side,
    ):
        targets: dict[int, dict[int, float]] = {seed: {} for seed in design.seed_numbers()}
        failed: set[int] = set()
        own = [list(range(len(stream)))]
        for each in _drain(_tasks(cold, stream, own, design, registry), side_by_side, jobs):
            if isinstance(each, Outcome):
                targets[each.seed][each.index] = each.target
            else:
                failed.add(each.index)
            yield each
        sequences = [
            [index for index in sequence if index not in failed]
            for sequence in design.sequences(len(stream))
        ]
        tasks = [
            replace(task, targets=targets[task.seed], db=_own_db(task, Path(folder)))
            for arm in others
            for task in _tasks(arm, stream, sequences, design, registry)
        ]
        yield from _drain(tasks, side_by_side, jobs)


def _tasks(
    arm: Arm,
    stream: Sequence[Readable],
    sequences: Sequence[Sequence[int]],
    design: Design,
    registry: Registry,
) -> list[Task]:
    """Return the passes of an arm; without memory every problem is a separate pass.

    The first pass of one arm is explained.
    """
    tasks: list[Task] = []
    for seed in design.seed_numbers():
        settings = replace(design.settings, transfer=arm.transfer, seed=seed)
        task = Task(arm, seed, None, settings.resolve(registry), design.learning, (), {})
        if arm.remembers:
            for order, sequence in enumerate(sequences):
                passed = [(index, stream[index]) for index in sequence]
                explains = arm == explained(design.arms) and not tasks
                tasks.append(replace(task, order=order, problems=passed, explains=explains))
        else:
            tasks += [replace(task, problems=[(index, stream[index])]) for index in sequences[0]]
    return tasks


def _own_db(task: Task, folder: Path) -> Path | None:
    if not task.arm.remembers:
        return None
    return folder / f"{task.arm.name}-{task.seed}-{task.order}.duckdb"


def _drain(tasks: Sequence[Task], side_by_side: Map, jobs: int) -> Iterator[Outcome | Failed]:
    """Yield the outcomes of all tasks in order; in one process each as soon as it is known."""
    if jobs == 1:
        for task in tasks:
            yield from outcomes(task)
        return
    results = side_by_side(_listed, tasks)
    for task in tasks:
        try:
            yield from next(results)
        except (MetafsError, MetaDBError):
            raise
        except Exception as error:
            raise MetafsError(
                f"a process died in arm {task.arm.name!r} ({describe(error)}): try fewer --jobs."
            ) from error


def _listed(task: Task) -> list[Outcome | Failed]:
    return list(outcomes(task))


def outcomes(task: Task) -> Iterator[Outcome | Failed]:
    """Solve the problems of a task in order, each with the memory of the earlier ones."""
    memory = None
    if task.db is not None:
        db = MetaDB(task.db)
        db.ensure()
        memory = Memory(db, task.plan.distance, len(task.problems))
    attempt: Callable[..., Outcome] = _cold if task.arm.name == COLD else _warm
    for position, (index, readable) in enumerate(task.problems):
        try:
            yield attempt(task, position, index, readable, memory)
        except MetaDBError:
            raise  # without its memory the arm cannot go on
        except Exception as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            yield Failed(task.arm.name, index, failure(error, readable.name))


def _cold(
    task: Task, position: int, index: int, readable: Readable, memory: Memory | None
) -> Outcome:
    """Search to the end, which gives the target; repeat until the target, to measure seconds."""
    problem, plan = readable.read().by_name(), _plan_for(readable, task.plan)
    ready = prepare(problem, plan, None, learning=task.learning)
    result = work(ready, learning=task.learning)
    target = fitness_of(result, plan.settings.selector_name)
    timed = work(prepare(problem, aimed(plan, target), None, learning=False), learning=False)
    found = finish(ready, result, None)
    found = replace(found, seconds={**found.seconds, "select": timed.seconds["select"]})
    return outcome(result, found, target=target, **task.place(position, index))


def _warm(
    task: Task, position: int, index: int, readable: Readable, memory: Memory | None
) -> Outcome:
    """Search until the target, and record the run."""
    target = task.targets[index]
    problem, plan = readable.read().by_name(), aimed(_plan_for(readable, task.plan), target)
    ready = prepare(problem, plan, memory, learning=task.learning)
    result = work(ready, learning=task.learning)
    found = finish(ready, result, memory)
    reason = why(ready, result) if task.explains else None
    return outcome(result, found, target=target, why=reason, **task.place(position, index))


def _plan_for(readable: Readable, plan: Plan) -> Plan:
    return plan.keeping(getattr(readable, "keep", plan.settings.keep))


def aimed(plan: Plan, target: float) -> Plan:
    """Return the plan with a search that stops at the target.

    The target is a fitness on all rows, so it does not apply inside the learner's folds. A selector
    that cannot stop at a target searches to its end, and is charged until it reached the target.
    """
    if TARGET not in plan.selector.get_params(deep=False):
        return plan
    params = {**plan.settings.params, TARGET: target}
    return replace(
        plan,
        settings=replace(plan.settings, params=params),
        selector=configured(plan.selector, {TARGET: target}),
        fold_selector=plan.selector,
    )
