"""What the tests of the MetaDB share."""

import pytest

from metafs_metadb import MetaDB

from .indexing import limits


@pytest.fixture
def db(tmp_path):
    """A MetaDB whose file does not exist yet."""
    return MetaDB(tmp_path / "metafs.duckdb")


@pytest.fixture
def indexed():
    """Index even the smallest memory."""
    with limits(0):
        yield
