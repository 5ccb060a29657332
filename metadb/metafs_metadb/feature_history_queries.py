"""The queries of `feature_history` and `feature_sums`: how features did in best runs.

`incoming_id` holds the features asked for and their positions, `incoming_run` the runs that speak.
"""

from metafs_metadb.definitions import IS_BEST, SCORE, relative

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

# Of rows with columns selected and r, the relative score.
_TOTALS = """
count(*)                          as n_problems,
count(*) filter (where selected)  as n_selected,
""" + ",\n".join(
    f"sum(round_even(1099511627776 * {power}, 0)::bigint)::bigint as {name}"
    for name, power in (
        ("relative", "r"),
        ("relative2", "(r * r)"),
        ("relative4", "((r * r) * (r * r))"),
    )
)

N_SOLVED = f"with {_SOLVED_RUN} select count(*) from solved_run"

# What the runs of `solved_run` say of each feature asked for.
FEATURE_RECORD = f"""
with {_SOLVED_RUN},
best as (
    select s.run_id, max({SCORE}) as q
    from selection s
    join solved_run using (run_id)
    group by s.run_id
),
scored as (
    select i.position, s.selected, {relative("b.q")} as r
    from incoming_id i
    join selection s using (feature_id)
    join best b using (run_id)
)
select position, {_TOTALS}
from scored
group by position
"""

# --- sums over all problems -----------------------------------------------------------------------

# The best runs, as of a run, of the problems that were solved since an earlier one.
TELLERS = f"""
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
with best as (
    select s.run_id, max({SCORE}) as q
    from selection s
    semi join incoming_run using (run_id)
    where s.run_id between $first_id and $last_id
    group by s.run_id
),
scored as (
    select s.feature_id, s.selected, {relative("b.q")} as r
    from selection s
    join best b using (run_id)
    where s.run_id between $first_id and $last_id {only}
)
select feature_id, {_TOTALS}
from scored
group by feature_id
order by feature_id
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
