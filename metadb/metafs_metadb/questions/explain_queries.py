"""The queries of `stored_run`: the rows of one run."""

from metafs_metadb.definitions import BEST_FIRST

# The run asked for, or else the one that the problem is remembered by.
RUN_OF_PROBLEM = f"""
select
    r.run_id, p.name as problem, p.space, p.fingerprint, r.status, r.selector, r.transfer,
    r.learner, r.distance, r.seed, r.fitness, r.score, r.non_nested_score, r.scoring,
    r.n_evaluations, r.n_selected, r.stopped, r.least_score, r.greatest_score, r.prior_used,
    r.error, r.started_at,
    r.metafs_version,
    (
        select round(any_value(1 / n.weight - n.distance * n.distance), 12)
        from neighbour n
        where n.run_id = r.run_id and n.rank = 1
    ) as c   -- of the weights of neighbours, 1 / (c + d^2)
from run r
join problem p using (problem_id)
where r.problem_id = $problem_id
  and case when $run_id::bigint is null then r.status = 'solved' else r.run_id = $run_id end
order by {BEST_FIRST}
limit 1
"""

SELECTION_OF_RUN = """
select f.feature_id, f.name, s.rank, s.q, s.quality, s.expected, s.selected, s.weight,
    s.from_memory
from selection s
join feature f using (feature_id)
where s.run_id = $run_id
order by s.rank nulls last, f.feature_id
"""

CANDIDATES_OF_RUN = """
select step, features, fitness from candidate where run_id = $run_id order by step
"""
