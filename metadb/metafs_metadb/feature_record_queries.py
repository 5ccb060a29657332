"""The queries of `feature_record`: how features did in the best runs of a space.

`incoming_feature` holds the names asked for and their positions.
"""

# The problems that count, each by its best run.
_TOLD = """
told as (
    select r.run_id
    from best_run r
    join recallable p using (problem_id)
    where p.space = $space
      and ($exclude_fingerprint is null or p.fingerprint <> $exclude_fingerprint)
      and ($exclude_name is null or p.name <> $exclude_name)
      and ($exclude_source is null or p.source <> $exclude_source)
)
"""

# A score as a number from 0 to the largest double: unknown is 0, infinite is the largest.
_Q = "least(greatest(coalesce(nullif(s.q, 'nan'), 0), 0), 1.7976931348623157e308)"

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

N_SOLVED = f"with {_TOLD} select count(*) from told"

FEATURE_RECORD = f"""
with {_TOLD},
best as (
    select s.run_id, max({_Q}) as q
    from selection s
    join told using (run_id)
    group by s.run_id
),
scored as (
    select i.position, s.selected, case when b.q > 0 then {_Q} / b.q else 0 end as r
    from incoming_feature i
    join feature f on f.name = i.name and f.space = $space
    join selection s using (feature_id)
    join best b using (run_id)
)
select position, {_TOTALS}
from scored
group by position
"""
