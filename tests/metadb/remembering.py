"""What the tests of forgetting and merging share: small random memories, and all they answer."""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import strategies as st

from metafs_metadb import (
    BeliefRow,
    LinearRows,
    MetaDB,
    NeighbourRow,
    ProblemRow,
    ReferenceRows,
    RunRow,
    SelectionRows,
    TrialRow,
)
from metafs_metadb.models import basis

from .building import STARTED, signature
from .indexing import limits

WORDS = ("a", "b", "c", "d", "e", "f")
SPACES = ("default", "other")
HASHES = np.arange(1, 5, dtype=np.uint64)


@dataclass(frozen=True)
class Solved:
    """One run to record; everything else of it follows from these numbers."""

    problem: int
    words: tuple[str, ...]
    seed: int
    settings: str | None
    failed: bool = False
    belongs: bool = True

    @property
    def name(self) -> str:
        return f"problem {self.problem}"

    @property
    def space(self) -> str:
        return SPACES[self.problem % 2]


runs = st.builds(
    Solved,
    problem=st.integers(0, 6),
    words=st.lists(st.sampled_from(WORDS), min_size=1, unique=True).map(tuple),
    seed=st.integers(0, 99),
    settings=st.sampled_from(["one", "two", None]),
    failed=st.sampled_from([False, False, False, True]),
)
memories = st.lists(runs, min_size=1, max_size=6).map(tuple)


def record(db: MetaDB, run: Solved, place: int) -> None:
    """Record a run, which began `place` seconds after the first, with rows in every table."""
    rng, n = np.random.default_rng(run.seed), len(run.words)
    earlier = dict(db.problems(run.space).only(["name", "problem_id"]).rows) if db.exists() else {}
    asked = [problem_id for name, problem_id in earlier.items() if name != run.name]
    problem = ProblemRow(
        run.space, run.name, f"source {run.problem % 3}", f"print of {run.name}", 10, n, "y"
    )
    values = RunRow(
        "climb",
        "guided",
        STARTED + timedelta(seconds=place),
        "0.1.0",
        status="failed" if run.failed else "solved",
        settings=run.settings,
        score=None if run.failed else float(rng.integers(5)),
        scoring="accuracy",
        no_skill=0.5,
        error="why" if run.failed else None,
    )
    if run.failed:
        db.record(problem, values)
        return
    weights = rng.normal(size=n)
    db.record(
        problem,
        values,
        signatures={"jsd": signature({k: 1 / 3 for k in (run.problem % 4, 10, 11 + run.problem)})},
        selections=SelectionRows(
            run.words,
            q=rng.random(n),
            quality=rng.random(n),
            selected=rng.random(n) < 0.5,
            relevance=rng.random(n),
            mean=rng.random(n),
            spread=rng.random(n),
        ),
        meta_features={"length": [float(ord(word)) for word in run.words]},
        candidates=[(1, [], 0.1), (2, list(range(n)), 0.5)],
        neighbours=[NeighbourRow(each, 1 + i, 0.5) for i, each in enumerate(asked)],
        reference=ReferenceRows(
            "standard",
            10,
            ["x"],
            [np.arange(n)],
            [weights],
            [0.0],
            transfers=[(2, 1.0, 0.5)],
            linear=LinearRows(
                classes=("x", "z"),
                intercepts=[0.5],
                slope=2.0,
                places=np.arange(n),
                words=np.zeros(n, dtype=bool),
                centre=weights,
                factor=rng.random(n),
                labels=[("f", "m"), *[None] * (n - 1)],
            ),
        ),
        belief=BeliefRow(
            1.0,
            "because",
            0.1,
            [0, *asked],
            [None, *("x" for _ in asked)],
            [0.5] * (1 + len(asked)),
        ),
        row_hashes=HASHES[[run.problem % 4]],
        trials=[TrialRow("climb", 3, "logistic", 0, float(rng.random()), 0.1)],
    )


def remember(db: MetaDB, solved: tuple[Solved, ...]) -> MetaDB:
    """Record runs, in their order."""
    db.ensure()
    for place, run in enumerate(solved):
        record(db, run, place)
    return db


@contextmanager
def early():
    """Have a basis and index caches from the first problem on."""
    with pytest.MonkeyPatch.context() as patch, limits(0):
        patch.setattr(basis, "FIRST", 1)
        patch.setattr(basis, "EVERY", 2)
        yield


def answers(db: MetaDB) -> dict[str, object]:
    """Return all that recall can ask, by names instead of ids."""
    names = {each: name for name, each in db.problems().only(["name", "problem_id"]).rows}
    found: dict[str, object] = {"check": db.check()}
    for space in SPACES:
        ids = dict(zip(db.feature_ids(space, WORDS).tolist(), WORDS, strict=True))
        query = signature({0: 0.3, 1: 0.2, 10: 0.3, 12: 0.2})
        for ask in (db.search("jsd", space), db.index("jsd", space)):
            near = ask.nearest(*query, 9, exclude_name="problem 4")
            found[f"{space} {type(ask).__name__}"] = [(n.name, n.distance) for n in near]
        history = db.feature_history(space, WORDS, exclude_source="source 1")
        found[f"{space} history"] = (
            history.n_solved,
            history.n_problems.tolist(),
            history.n_selected.tolist(),
        )
        found[f"{space} trials"] = [(each.name, each.scores) for each in db.trials(space)]
        found[f"{space} important"] = db.important_features(space, 9)
        about = db.feature_experience(space, limit=9)
        found[f"{space} properties"] = sorted(
            zip(
                about.names,
                about.n_problems.tolist(),
                about.quality.round(9).tolist(),
                about.relative.round(9).tolist(),
                about.meta_features.tolist(),
                strict=True,
            )
        )
        sharing = db.acquainted(space, "none", WORDS, HASHES).sharing
        found[f"{space} sharing"] = sorted((names[each], at) for each, at in sharing.items())
        found[f"{space} basis"] = {
            part: (each.n_runs, _gram(each, ids)) for part, each in db.basis(space).items()
        }
    known = db.problems().column("problem_id")
    vocabulary = dict(db.sql("select feature_id, name from feature")[1])
    for each, model in db.references(known).items():
        words = [vocabulary[feature_id] for feature_id in model.feature_ids.tolist()]
        found[f"model of {names[each]}"] = sorted(
            zip(words, model.relevance.tolist(), model.mean.tolist(), strict=True)
        )
    for each in known:
        if (linear := db.linear_model(each)) is not None:
            rows = zip(
                linear.names,
                linear.centre.tolist(),
                linear.factor.tolist(),
                linear.labels,
                *linear.weights.tolist(),
                strict=True,
            )
            told = (linear.classes, linear.intercepts.tolist(), linear.slope)
            found[f"linear model of {names[each]}"] = (told, sorted(rows))
    for each, best in db.experience(known).items():
        found[f"best run of {names[each]}"] = sorted(
            zip(best.names, best.q.tolist(), best.selected.tolist(), strict=True)
        )
    return found


def _gram(part: basis.Part, words: dict[int, str]) -> dict[tuple[str, str], float]:
    """Return what a basis says of each pair of features: signs and order of vectors are free."""
    table = part.weights.T @ part.weights
    called = [words[each] for each in part.feature_ids.tolist()]
    return {
        (one, other): round(float(table[i, j]), 4) + 0.0
        for i, one in enumerate(called)
        for j, other in enumerate(called)
    }
