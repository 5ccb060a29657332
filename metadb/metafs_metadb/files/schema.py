"""What the tables of a MetaDB must look like, and what a damaged file lacks of it."""

from functools import cache

import duckdb

from metafs_metadb.files import migrate

# What can be dropped from a schema: (kind, name).
PARTS = """
select 'table ' || table_name from duckdb_tables()
where database_name = current_database() and schema_name = 'main'
union all
select 'column ' || column_name || ' of ' || table_name from duckdb_columns()
where database_name = current_database() and schema_name = 'main'
union all
select 'view ' || view_name from duckdb_views()
where database_name = current_database() and schema_name = 'main' and not internal
union all
select 'sequence ' || sequence_name from duckdb_sequences()
where database_name = current_database() and schema_name = 'main'
"""


@cache
def _whole(migrations: tuple[migrate.Migration, ...]) -> frozenset[str]:
    """Return all parts of the schema, from the migrations themselves."""
    with duckdb.connect(":memory:") as con:
        for migration in migrations:
            con.execute(migration.sql)
        return _parts(con)


def _parts(con: duckdb.DuckDBPyConnection) -> frozenset[str]:
    return frozenset(part for (part,) in con.execute(PARTS).fetchall())


def missing(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Name the parts that a file of the current schema lacks; of a table, not its columns."""
    lacking = sorted(_whole(migrate.known()) - _parts(con))
    whole = [part for part in lacking if not part.startswith("column ")]
    gone = {f" of {part.split(maxsplit=1)[1]}" for part in whole}
    columns = [part for part in lacking if part.startswith("column ")]
    return [*whole, *(part for part in columns if not any(map(part.endswith, gone)))]
