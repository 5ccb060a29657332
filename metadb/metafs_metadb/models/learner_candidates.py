"""What a learner tried on a problem: written with its run, read for problems near this one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from metafs_metadb.definitions import BEST_FIRST

INSERT = """
insert into learner_candidate (run_id, output, candidate, size, score)
select
    $run_id, unnest($output::varchar[]), unnest($candidate::varchar[]), unnest($size::bigint[]),
    unnest($score::double[])
"""

# The best candidates of each output, from the best run of each problem that has any.
OF_PROBLEMS = f"""
with best as (
    select r.problem_id, r.run_id
    from run r
    where r.status = 'solved' and r.n_learner_candidates > 0
      and list_contains($problem_ids::bigint[], r.problem_id)
    qualify row_number() over (partition by r.problem_id order by {BEST_FIRST}) = 1
)
select b.problem_id, l.output, l.candidate, l.size, l.score
from best b
join learner_candidate l using (run_id)
qualify row_number() over (
    partition by b.problem_id, l.output order by l.score desc, l.size, l.candidate
) <= $n_of_each
order by b.problem_id, l.output, l.score desc, l.size, l.candidate
"""

# The best candidate of each output of one run.
OF_RUN = """
select output, candidate, size, score
from learner_candidate
where run_id = $run_id
qualify row_number() over (partition by output order by score desc, size, candidate) = 1
order by output
"""


@dataclass(frozen=True)
class LearnerCandidate:
    """A candidate that a learner kept."""

    output: str | None
    candidate: Mapping[str, Any]
    """As JSON can hold it, with features by name."""
    size: int
    score: float


def write(
    con: duckdb.DuckDBPyConnection,
    run_id: int,
    candidates: Sequence[LearnerCandidate],
    tally: dict[str, int],
) -> None:
    """Write the candidates of a run."""
    if not candidates:
        return
    columns: dict[str, list[Any]] = {
        name: [getattr(each, name) for each in candidates] for name in ("output", "size", "score")
    }
    columns["candidate"] = [json.dumps(each.candidate, sort_keys=True) for each in candidates]
    con.execute(INSERT, {"run_id": run_id, **columns})
    tally["learner_candidate"] = len(candidates)


def best_of_run(con: duckdb.DuckDBPyConnection, run_id: int) -> list[LearnerCandidate]:
    """Return the best candidate of each output of a run."""
    found = con.execute(OF_RUN, {"run_id": run_id}).fetchall()
    return [LearnerCandidate(a, json.loads(b), size, score) for a, b, size, score in found]


def of_problems(
    con: duckdb.DuckDBPyConnection, problem_ids: Sequence[int], n_of_each: int
) -> dict[int, list[LearnerCandidate]]:
    """Return the best candidates of each output of each problem, the best first."""
    found: dict[int, list[LearnerCandidate]] = {}
    which = {"problem_ids": list(problem_ids), "n_of_each": n_of_each}
    for problem_id, output, candidate, size, score in con.execute(OF_PROBLEMS, which).fetchall():
        each = LearnerCandidate(output, json.loads(candidate), size, score)
        found.setdefault(problem_id, []).append(each)
    return found
