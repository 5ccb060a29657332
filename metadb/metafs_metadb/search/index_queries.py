"""The queries of the index cache: the state of the database, and what was added since."""

from metafs_metadb.record_queries import PROBLEM_DIGEST, RUN_DIGEST

LEDGER = "select number, name, digest, applied_at::varchar from migration order by number"

TALLY = "select table_name, n_rows from tally"


def _stamp(table: str, digest: str) -> str:
    """Return bound, count and digest of the rows up to a bound, then the same of all rows."""
    key = f"{table}_id"
    return f"""
with hashed as (select {key}, {digest} as h from {table})
select
    ${key}::bigint,
    count(*) filter (where {key} <= ${key}),
    coalesce(bit_xor(h) filter (where {key} <= ${key}), 0),
    coalesce(max({key}), 0),
    count(*),
    coalesce(bit_xor(h), 0)
from hashed
"""


RUN_STAMP = _stamp("run", RUN_DIGEST)
PROBLEM_STAMP = _stamp("problem", PROBLEM_DIGEST)

# --- signatures ---------------------------------------------------------------------------------

PROBLEMS = "select problem_id, name, fingerprint from problem where space = $space"

# Who may have become a neighbour, or described in another way, since a run.
SOLVED_SINCE = """
select distinct problem_id
from run
join problem p using (problem_id)
where run_id > $run_id and status = 'solved' and p.space = $space and not p.excluded
order by problem_id
"""

RECALLABLE = "select problem_id, name, fingerprint from recallable where space = $space"

# `incoming_problem` holds problem ids.
COUNT_SIGNATURES = """
select count(*)
from signature
semi join incoming_problem using (problem_id)
where distance = $distance
"""

SIGNATURES_OF = """
select problem_id, key, p
from signature
semi join incoming_problem using (problem_id)
where distance = $distance and problem_id between $first_id and $last_id
"""
