"""Which statements of a person may run: one that only reads, as DuckDB itself parses it.

The first word does not decide: ``explain analyze`` executes the statement that follows it, and
the parts of a ``with`` may insert, update, delete or copy to a file. So the statement is parsed by
DuckDB and written down as a tree of nodes, each of which must be known to read only; of an
``explain``, the statement that it explains.
"""

from collections.abc import Iterator

import duckdb

from metafs_metadb.errors import QueryRefused

# `from`, `with`, `values`, `describe`, `show` and `summarize` are kinds of SELECT_NODE.
READING = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}

# Of the tree of a query: how many statements it has, and the types of everything in it.
TYPES = """
select json_array_length(tree, '$.statements'), tree ->> '$..type'
from (select json_serialize_sql($query::varchar) as tree)
"""

SELECT, EXPLAIN = duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN


def only_reading(con: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    """Return the one statement of a query, or refuse it; nothing is executed."""
    statements = con.extract_statements(query)
    if len(statements) != 1:
        raise QueryRefused(f"give exactly one SQL statement, not {len(statements)}")
    (statement,) = statements
    if statement.type == EXPLAIN:
        if not any(_reads(con, explained) for explained in _explained(statement.query)):
            raise QueryRefused(
                "refused to explain a statement that is not a `select`: "
                "`explain analyze` would execute it"
            )
    elif statement.type != SELECT:
        raise QueryRefused(
            f"refused a statement of type {statement.type.name}: the MetaDB answers only "
            "`select` and `explain`"
        )
    elif not _reads(con, query):
        raise QueryRefused(
            "refused a `select` that writes, or is nested too deeply to check: the MetaDB answers "
            "only queries that read"
        )
    return statement


def _explained(query: str) -> Iterator[str]:
    """Return what an ``explain`` explains: what follows its words and its options in brackets.

    A bracket may also be the beginning of a ``select``, so there can be two readings, of which one
    at most can be parsed.
    """
    text = query.encode()  # DuckDB counts bytes
    tokens = duckdb.tokenize(query)
    ends = [*(begin for begin, _ in tokens[1:]), len(text)]
    words = [
        (begin, text[begin:end].strip().lower())
        for (begin, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
    rest = words[2:] if words[1:2] and words[1][1] == b"analyze" else words[1:]
    if rest:
        yield text[rest[0][0] :].decode()
    if rest and rest[0][1] == b"(":
        closing = [place for place, (_, word) in enumerate(rest) if word == b")"]
        for begin, _ in rest[closing[0] + 1 :][:1] if closing else ():
            yield text[begin:].decode()


def _reads(con: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Tell whether a query is one statement that is a tree of nodes that read."""
    ((n_statements, types),) = con.execute(TYPES, {"query": query}).fetchall()
    nodes = {each for each in types if each.endswith("_NODE")}
    return n_statements == 1 and nodes <= READING  # none, if it cannot be parsed
