"""Drafts of files: put in place when they are whole, and removed when their process died."""

import os
import time

import pytest

from metafs_metadb import MetaDB
from metafs_metadb.search import index_file


def make_database(path):
    MetaDB(path).ensure()


def make_index(path):
    assert index_file.write(path, {}, {})


@pytest.mark.parametrize("make", [make_database, make_index])
def test_drafts_of_the_dead_are_removed_and_nothing_else(tmp_path, make):
    dead = [".a[b].file.1.1.new", ".a[b].file.1.1.new.wal"]
    others = [
        ".a[b].file.2.2.new",
        ".another.file.1.1.new",
        ".new",
        "a[b].file.new",
        ".ab.file.new",
    ]
    for name in [*dead, *others]:
        (tmp_path / name).write_text("half")
        if name != others[0]:  # which is of a living process
            os.utime(tmp_path / name, times=(time.time() - 7200,) * 2)
    make(tmp_path / "a[b].file")
    assert {each.name for each in tmp_path.iterdir()} == {"a[b].file", *others}
