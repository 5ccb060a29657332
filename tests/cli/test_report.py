"""The command `metafs report`."""

import sys

import pytest

from metafs_metadb import MetaDB

from .running import run, write_tables


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_tables(folder, [[*"abcdefgh", "y"]] * 2)
    path = folder / "m.duckdb"
    options = ["--target", "y", "--selector", "infogain", "--folds", "2", "--check", "0"]
    run("solve", "--selector", "climb", folder / "t0.csv", "--space", "one", "--db", path, *options)
    run("solve", "--selector", "climb", folder / "t1.csv", "--space", "two", "--db", path, *options)
    return path


def test_the_page_is_written_and_its_size_told(db, tmp_path):
    page = tmp_path / "page.html"
    result = run("report", "--db", db, "-o", page)
    assert result.stdout == ""
    assert str(page) in result.stderr and " kB" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and ">t0</bdi>" in text and ">t1</bdi>" in text
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_one_space_goes_to_stdout(db):
    result = run("report", "--db", db, "--space", "two", "-o", "-")
    assert result.stdout.startswith("<!doctype html>") and result.stderr == ""
    assert ">t1</bdi>" in result.stdout and ">t0</bdi>" not in result.stdout


def test_what_has_nothing_to_show_gets_a_sentence_and_no_page(db, tmp_path):
    page, empty = tmp_path / "page.html", tmp_path / "empty.duckdb"
    MetaDB(empty).ensure()
    for database, more, sentence in (
        (tmp_path / "none.duckdb", [], "no MetaDB at"),
        (empty, [], "holds no problem"),
        (db, ["--space", "three"], "holds no problem in space 'three'"),
    ):
        result = run("report", "--db", database, "-o", page, *more, code=1)
        assert sentence in result.stderr and result.stderr.count("\n") == 1
        assert not page.exists()
    result = run("report", "--db", db, "-o", tmp_path / "nowhere" / "page.html", code=1)
    assert "no folder" in result.stderr


def test_the_dashboard_says_how_to_install_what_it_lacks(db, monkeypatch):
    monkeypatch.delitem(sys.modules, "metafs.dashboard.app", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    result = run("dashboard", "--db", db, code=2)
    assert "pip install 'metafs-automl[dashboard]'" in result.stderr
    assert result.stderr.count("\n") == 1
