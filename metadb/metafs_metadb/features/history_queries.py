"""The queries of `feature_history` and `feature_sums`: counts over best runs.

`incoming_id` holds the features asked for and their positions, `incoming_run` the runs that count.
"""

from metafs_metadb.definitions import IS_BEST

# The problems that count, each by its best run, or by the best it had before another one.
_SOLVED_RUN = f"""
solved_run as (
    select r.run_id
    from run r
    join problem p using (problem_id)
    where r.status = 'solved' and ($before::bigint is null or r.run_id < $before)
      and p.space = $space and not p.excluded
      and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
      and ($exclude_name is null or p.name <> $exclude_name)
      and ($exclude_source is null or p.source <> $exclude_source)
    qualify {IS_BEST}
)
"""

_TOTALS = """
count(*) as n_problems, count(*) filter (where s.selected) as n_selected
"""

N_SOLVED = f"with {_SOLVED_RUN} select count(*) from solved_run"

FEATURE_HISTORY = f"""
with {_SOLVED_RUN}
select i.position, {_TOTALS}
from incoming_id i
join selection s using (feature_id)
join solved_run using (run_id)
group by i.position
"""

# --- sums over all problems -----------------------------------------------------------------------

# The best runs, as of a run, of the problems that were solved since an earlier one.
BEST_RUNS = f"""
with touched as (
    select distinct problem_id from run where run_id > $since and run_id <= $upto
),
best as (
    select r.problem_id, r.run_id
    from run r
    semi join touched using (problem_id)
    where r.status = 'solved' and r.run_id <= $upto
    qualify {IS_BEST}
)
select b.problem_id, b.run_id, p.space
from best b
join problem p using (problem_id)
where not p.excluded
"""


def _run_totals(only: str) -> str:
    return f"""
select s.feature_id, {_TOTALS}
from selection s
semi join incoming_run using (run_id)
where s.run_id between $first_id and $last_id {only}
group by s.feature_id
order by s.feature_id
"""


RUN_TOTALS = _run_totals("")
RUN_TOTALS_OF_ASKED = _run_totals("and s.feature_id in (select feature_id from incoming_id)")

# The problems that are left out whichever source is, and those of each source, by its place.
LEFT_OUT = """
select
    problem_id,
    coalesce(fingerprint = $exclude_fingerprint or name = $exclude_name, false) as always,
    coalesce(list_position($exclude_sources::varchar[], source), 0) as place
from problem
where space = $space
  and (
      fingerprint = $exclude_fingerprint
      or name = $exclude_name
      or list_contains($exclude_sources::varchar[], source)
  )
"""

OTHERS = """
select problem_id
from problem
where space = $space
  and not coalesce(
      fingerprint = $exclude_fingerprint or name = $exclude_name or source = $exclude_source, false
  )
"""
