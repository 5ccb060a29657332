"""The queries of recalling: what is known of a problem, and which problems are near.

Values are bound, as ``$name`` or as a view: ``incoming_signature`` and the like are numpy arrays
that are registered on the connection.
"""

from metafs_metadb.definitions import BEST_FIRST, FORGOTTEN, IS_WHOLE

KNOWN_PROBLEM = "select problem_id, space from problem where fingerprint = $fingerprint"

FEATURE_IDS = """
select i.position, f.feature_id
from incoming_feature i
join feature f on f.name = i.name and f.space = $space
"""

SOLVED_RUN = f"""
select
    r.run_id, r.problem_id, p.name, p.space, r.selector, r.learner, r.distance, r.transfer, r.seed,
    r.fitness, r.score, r.non_nested_score, r.scoring, r.n_evaluations, r.n_selected, r.stopped,
    r.prior_used, r.duration_s, r.started_at, r.pipeline, r.all_features, r.no_skill
from run r
join problem p using (problem_id)
where p.fingerprint = $fingerprint and r.settings = $settings and {IS_WHOLE}
order by r.run_id desc
limit 1
"""

SELECTED_FEATURES = """
select f.name
from selection s
join feature f using (feature_id)
where s.run_id = $run_id and s.selected
order by s.rank nulls last, f.feature_id
"""

NEIGHBOURS_OF_RUN = f"""
select n.problem_id, coalesce(p.name, '{FORGOTTEN}'), n.distance, coalesce(p.fingerprint, '')
from neighbour n
left join problem p using (problem_id)
where n.run_id = $run_id
order by n.rank
"""

DISTANCES = """
select distinct distance from signature where problem_id = $problem_id order by distance
"""

DESCRIBES = """
select exists(
    select 1 from signature join problem using (problem_id)
    where distance = $distance and space = $space
)
"""

PROBLEM_SIGNATURE = """
select key, p from signature where problem_id = $problem_id and distance = $distance order by key
"""

# Each term is rounded to a multiple of 2^-50, which makes the sum exact in whatever order it is
# taken: equal problems get equal distances, here and in `memory_index`.
NEAREST = """
with affinity as (
    select
        s.problem_id,
        sum(round_even(1125899906842624 * (
            (s.p + i.p) * log2(s.p + i.p) - s.p * log2(s.p) - i.p * log2(i.p)
        ), 0)) / 1125899906842624 as shared
    from signature s
    join incoming_signature i on i.key = s.key
    where s.distance = $distance
    group by s.problem_id
)
select
    p.problem_id,
    p.name,
    greatest(round_even(1 - a.shared / 2, 12), 0) as divergence,
    p.fingerprint
from affinity a
join recallable p using (problem_id)
where p.space = $space
  and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
  and ($exclude_name is null or p.name <> $exclude_name)
order by divergence, p.problem_id
limit $k
"""

# Problems that share nothing with the one asked for, the oldest first.
UNRELATED = """
select p.problem_id, p.name, 1::double, p.fingerprint
from recallable p
where p.space = $space
  and not list_contains($known::bigint[], p.problem_id)
  and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
  and ($exclude_name is null or p.name <> $exclude_name)
order by p.problem_id
limit $k
"""

# The best run of each problem comes first, in the order of `best_run`, which would rank the runs of
# all problems. These are few, so sorting them is quicker than ranking them by problem.
RUNS_BEST_FIRST = f"""
select r.problem_id, r.run_id, p.source
from run r
join problem p using (problem_id)
where r.status = 'solved' and list_contains($problem_ids::bigint[], r.problem_id)
  and ($before::bigint is null or r.run_id < $before)
order by {BEST_FIRST}
"""

SELECTIONS = """
select run_id, feature_id, q, quality, selected
from selection
where run_id in (select unnest($run_ids::bigint[]))
"""

# `incoming_id` holds feature ids.
FEATURES_BY_ID = """
select feature_id, name
from feature
join incoming_id using (feature_id)
where feature_id between $first_id and $last_id
"""

IMPORTANT_FEATURES = """
select name, n_problems
from core_feature
where space = $space
order by share desc, name
limit $limit
"""

PROJECTION = "select feature_names from projection where space = $space and distance = $distance"
