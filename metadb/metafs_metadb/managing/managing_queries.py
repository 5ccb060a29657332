"""The queries that migrate, forget, exclude and merge; values are always bound."""

from metafs_metadb.definitions import ELSEWHERE, FIT_OF

HAS_ANYTHING = """
select 1 from duckdb_tables() where database_name = current_database()
union all
select 1 from duckdb_views() where database_name = current_database() and not internal
union all
select 1 from duckdb_sequences() where database_name = current_database()
limit 1
"""

# The casts refuse a foreign table that only has the same names.
LEDGER = "select number::integer, name::varchar, digest::varchar from migration order by number"

CREATE_LEDGER = """
create table if not exists migration (
    number      integer   not null,
    name        varchar   not null,
    digest      varchar   not null,   -- SHA-256 of the SQL as it was applied
    applied_at  timestamp not null    -- UTC
)
"""

RECORD_MIGRATION = """
insert into migration (number, name, digest, applied_at)
values ($number, $name, $digest, $applied_at)
"""

IN_USE = "select current_database()"

FORGET_LEDGER = "delete from migration"

COPY_LEDGER = "insert into migration by name select * from origin.migration order by number"

PROBLEMS_OF_ORIGIN = "select problem_id from origin.problem order by problem_id"

# Problems of a name that only selections without a learner were recorded for, as estimators make.
FITS_NAMED = f"""
select p.problem_id, p.fingerprint, p.space, p.n_samples
from problem p
where p.name = $name and (
    starts_with(p.source, '{FIT_OF}')
    or (
        p.source = ''
        and p.problem_id not in (select problem_id from run where learner is not null)
    )
)
order by p.problem_id
"""

SET_EXCLUDED = """
update problem set excluded = $excluded
where list_contains($problem_ids::bigint[], problem_id) and excluded <> $excluded
returning problem_id, space
"""

FORGOTTEN_NEIGHBOURS = f"""
select count(*)
from neighbour n
join run r using (run_id)
where r.problem_id = $problem_id and n.problem_id = {ELSEWHERE}
"""

# How many rows each problem has in the tables that make a memory large.
SIZES = """
with part as (
    select problem_id from signature
    union all
    select problem_id from row_sketch
    union all
    select r.problem_id
    from (
        select run_id from selection
        union all
        select run_id from candidate
        union all
        select run_id from weight
        union all
        select run_id from reference_column
        union all
        select run_id from trial
        union all
        select run_id from learner_candidate
    )
    join run r using (run_id)
)
select problem_id, count(*) from part group by problem_id
"""
