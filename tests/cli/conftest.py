"""A memory that several tests of the command look at, and none changes."""

import pytest

from .running import QUICK, run, write_digits


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """A MetaDB in which the first digits have been solved twice: cold, and with memory."""
    folder = tmp_path_factory.mktemp("cli")
    stream = folder / "some.toml"
    write_digits(folder, stream, pairs=[(0, 1), (0, 2), (1, 2), (3, 4), (0, 3)])
    for transfer in ("none", "guided"):
        where = ["--db", folder / "m.duckdb"]
        run("solve", stream, "--selector", "climb", "--transfer", transfer, *where, *QUICK)
    return folder / "m.duckdb"
