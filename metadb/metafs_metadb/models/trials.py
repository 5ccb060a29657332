"""Pipelines that were tried on a problem: written with its run, read for problems of its space."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

N_PROBLEMS = 64
"""How many problems of a space are asked for their trials, the latest first."""

INSERT = """
insert into trial (run_id, selector, params, size, learner, fold, score, seconds)
select
    $run_id, unnest($selector::varchar[]), unnest($params::varchar[]), unnest($size::bigint[]),
    unnest($learner::varchar[]), unnest($fold::integer[]), unnest($score::double[]),
    unnest($seconds::float[])
"""

# The scores of a pipeline on one run are averaged over its folds.
OF_SPACE = """
with latest as (
    select
        r.run_id, r.problem_id, p.name, p.source, p.n_samples, p.n_features, r.scoring, r.no_skill
    from run r
    join problem p using (problem_id)
    where p.space = $space and not p.excluded
      and r.status = 'solved' and r.n_trials > 0 and r.no_skill is not null
    qualify row_number() over (partition by r.problem_id order by r.run_id desc) = 1
    order by r.run_id desc
    limit $n_problems
)
select
    l.run_id, l.problem_id, l.name, l.source, l.n_samples, l.n_features, l.scoring, l.no_skill,
    t.selector, t.size, t.learner, avg(t.score)
from latest l
join trial t using (run_id)
where t.score is not null
group by all
order by l.run_id desc, t.learner, t.selector, t.size
"""


@dataclass(frozen=True)
class TrialRow:
    """A pipeline on one fold."""

    selector: str
    size: int | None
    learner: str
    fold: int
    score: float
    seconds: float
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PastTrials:
    """The pipelines that were tried on one problem, with the mean score of each."""

    problem_id: int
    name: str
    source: str
    n_samples: int
    n_features: int
    scoring: str
    no_skill: float
    scores: dict[tuple[str, int | None, str], float] = field(default_factory=dict)
    """By selector, size and learner."""


def write(
    con: duckdb.DuckDBPyConnection, run_id: int, trials: Sequence[TrialRow], tally: dict[str, int]
) -> None:
    """Write the trials of a run."""
    if not trials:
        return
    columns: dict[str, list[Any]] = {
        name: [getattr(each, name) for each in trials]
        for name in ("selector", "size", "learner", "fold", "score", "seconds")
    }
    columns["params"] = [json.dumps(dict(each.params), sort_keys=True) for each in trials]
    con.execute(INSERT, {"run_id": run_id, **columns})
    tally["trial"] = len(trials)


def of_space(con: duckdb.DuckDBPyConnection, space: str) -> list[PastTrials]:
    """Return what was tried on the latest problems of a space, the latest first."""
    found: dict[int, PastTrials] = {}
    rows = con.execute(OF_SPACE, {"space": space, "n_problems": N_PROBLEMS}).fetchall()
    for run_id, *about, selector, size, learner, score in rows:
        past = found.setdefault(run_id, PastTrials(*about))
        past.scores[selector, size, learner] = score
    return list(found.values())
