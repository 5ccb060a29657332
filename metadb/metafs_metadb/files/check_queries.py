"""The queries of `check`: each returns the rows that should not be."""

from metafs_metadb.definitions import ELSEWHERE, IS_WHOLE
from metafs_metadb.record_queries import TALLIED

TALLY = "select table_name, n_rows from tally order by table_name"

# Table names cannot be bound; these are ours.
COUNT_ROWS = " union all ".join(f"select '{table}', count(*) from {table}" for table in TALLIED)

RUN_COUNTS = """
with
    s as (select run_id, count(*) as n from selection group by run_id),
    c as (select run_id, count(*) as n from candidate group by run_id),
    b as (select run_id, count(*) as n from neighbour group by run_id)
select
    r.run_id,
    r.n_selections, coalesce(s.n, 0),
    r.n_candidates, coalesce(c.n, 0),
    r.n_neighbours, coalesce(b.n, 0)
from run r
left join s using (run_id)
left join c using (run_id)
left join b using (run_id)
where (r.n_selections, r.n_candidates, r.n_neighbours)
    <> (coalesce(s.n, 0), coalesce(c.n, 0), coalesce(b.n, 0))
order by r.run_id
"""

# What refers to what: child table, column, parent table.
_REFERENCES = (
    ("run", "problem_id", "problem"),
    ("signature", "problem_id", "problem"),
    ("selection", "run_id", "run"),
    ("selection", "feature_id", "feature"),
    ("candidate", "run_id", "run"),
    ("neighbour", "run_id", "run"),
    ("neighbour", "problem_id", "problem"),
    ("stability", "problem_id", "problem"),
    ("meta_feature", "feature_id", "feature"),
    ("reference_model", "run_id", "run"),
    ("reference_model", "problem_id", "problem"),
    ("weight", "run_id", "run"),
    ("weight", "feature_id", "feature"),
    ("transfer_loss", "run_id", "run"),
    ("row_sketch", "problem_id", "problem"),
    ("belief", "run_id", "run"),
    ("trial", "run_id", "run"),
    ("learner_candidate", "run_id", "run"),
    ("reference_column", "run_id", "run"),
    ("reference_column", "feature_id", "feature"),
    ("saved_model", "problem_id", "problem"),
)

# One query for all that is asked of one kind: planning each by itself takes longer than answering.
# The ids that lead nowhere; a neighbour may be elsewhere.
REFERENCES = (
    " union all ".join(
        f"""
select '{child}' as child, '{column}' as col, '{parent}' as parent, {column} as id, count(*) as n
from {child}
where {column} not in (select {parent}_id from {parent})
  and not ('{child}.{column}' = 'neighbour.problem_id' and {column} = {ELSEWHERE})
group by {column}
"""
        for child, column, parent in _REFERENCES
    )
    + " order by child, col, id"
)

CANDIDATE_FEATURES = """
with member as (select unnest(features) as feature_id from candidate)
select feature_id, count(*) from member
where feature_id not in (select feature_id from feature)
group by feature_id order by feature_id
"""

BAD_SIGNATURES = """
select
    s.problem_id, any_value(p.name), s.distance,
    count(*) - count(distinct s.key)                      as n_repeated,
    count(*) filter (where not (s.p > 0 and s.p <= 1))    as n_outside,
    sum(s.p)                                              as total
from signature s
left join problem p using (problem_id)
group by s.problem_id, s.distance
having n_repeated > 0 or n_outside > 0 or not abs(total - 1) <= 1e-9
order by s.problem_id, s.distance
"""

# Keys that DuckDB does not enforce: table, columns, and which rows must not repeat them.
_KEYS = (
    ("problem", "problem_id", "true"),
    ("problem", "fingerprint", "true"),
    ("feature", "feature_id", "true"),
    ("feature", "space, name", "true"),
    ("run", "run_id", "true"),
    ("stability", "stability_id", "true"),
    ("meta_feature", "feature_id, name", "true"),
    ("reference_model", "problem_id", "true"),
    ("belief", "run_id", "true"),
    ("basis", "space, part", "true"),
    ("reference_column", "run_id, feature_id", "true"),
    ("saved_model", "problem_id", "true"),
    ("run", "problem_id, settings", f"{IS_WHOLE} and settings is not null"),
)

# The values that are used more than once.
REPEATED = (
    " union all ".join(
        f"""
select '{table}' as place, '{columns}' as cols, concat_ws(' ', {columns}) as key, count(*) as n
from {table}
where {condition}
group by {columns} having count(*) > 1
"""
        for table, columns, condition in _KEYS
    )
    + " order by place, cols, key"
)

# Rows that a reference model wrote and that are there, where they differ.
REFERENCE_COUNTS = """
with
    w as (select run_id, count(*) as n from weight group by run_id),
    t as (select run_id, count(*) as n from transfer_loss group by run_id)
select m.run_id, m.n_weights, coalesce(w.n, 0), m.n_transfers, coalesce(t.n, 0)
from reference_model m
left join w using (run_id)
left join t using (run_id)
where (m.n_weights, m.n_transfers) <> (coalesce(w.n, 0), coalesce(t.n, 0))
order by m.run_id
"""

TRIAL_COUNTS = """
with t as (select run_id, count(*) as n from trial group by run_id)
select r.run_id, r.n_trials, coalesce(t.n, 0)
from run r
left join t using (run_id)
where r.n_trials <> coalesce(t.n, 0)
order by r.run_id
"""

LEARNER_CANDIDATE_COUNTS = """
with l as (select run_id, count(*) as n from learner_candidate group by run_id)
select r.run_id, r.n_learner_candidates, coalesce(l.n, 0)
from run r
left join l using (run_id)
where coalesce(r.n_learner_candidates, 0) <> coalesce(l.n, 0)
order by r.run_id
"""

COLUMN_COUNTS = """
with c as (select run_id, count(*) as n from reference_column group by run_id)
select m.run_id, m.n_columns, coalesce(c.n, 0)
from reference_model m
left join c using (run_id)
where coalesce(m.n_columns, 0) <> coalesce(c.n, 0)
order by m.run_id
"""

BAD_WEIGHTS = """
select run_id, count(*) from weight
where not isfinite(weight) or not isfinite(coalesce(apart, 0.0))
group by run_id order by run_id
"""

BAD_BASES = """
select space, part from basis
where octet_length(weights) = 0
   or octet_length(feature_ids) % 8 <> 0
   or octet_length(weights) % greatest(octet_length(feature_ids) // 2, 1) <> 0
order by space, part
"""
