"""Nothing that a name, a cell or a message holds can steer the terminal it is printed on."""

import json

import numpy as np
import pytest

from metafs.memory import MetaDB

from .running import OUR_CODES, invoke, on_a_terminal, run

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x7f"
"""It sets a title, clears the screen, and changes the colour by a one-character code."""


def steering(text):
    """Return what of a text a terminal might obey; our own line ends are harmless."""
    return {each for each in text if not each.isprintable()} - {"\n"}


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A MetaDB with a problem and features whose names are escape sequences."""
    folder = tmp_path_factory.mktemp("solved")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    names = [f"{ESCAPE}{j}" for j in range(3)]
    np.savez(folder / "p.npz", X=X, y=X[:, 0], feature_names=names, name=f"p{ESCAPE}")
    run(
        "solve",
        "--selector",
        "climb",
        folder / "p.npz",
        "--db",
        folder / "m.duckdb",
        "--folds",
        "2",
    )
    return folder / "m.duckdb"


@pytest.mark.parametrize(
    "arguments",
    [
        [ESCAPE],
        [f"--{ESCAPE}"],
        ["solve", "--selector", "climb", f"--{ESCAPE}"],
        ["solve", "--selector", "climb", "demo:digits", "--budget", ESCAPE],
        ["solve", "--selector", "climb", "demo:digits", "--engine", ESCAPE],
        ["solve", "demo:digits", "--selector", ESCAPE],
        ["solve", "--selector", "climb", f"demo:{ESCAPE}"],
        ["solve", "--selector", "climb", f"{ESCAPE}.csv", "--target", "y"],
        ["solve", "--selector", "climb", "demo:digits", "--no-plugin", ESCAPE],
        ["solve", "--selector", "climb", "demo:digits", "--param", ESCAPE],
        ["solve", "--selector", "climb", "t.csv", "--target", ESCAPE],
        ["solve", "--selector", "climb", "t.csv", "--target", "y", "--drop", ESCAPE, "--debug"],
        ["solve", "--selector", "climb", "key.toml"],
        ["solve", "--selector", "climb", "source.toml"],
        ["solve", "--selector", "climb", "broken.toml"],
        ["explain", ESCAPE],
        ["sql", f'select "{ESCAPE}"'],
        ["sql", "select 1", "--db", f"{ESCAPE}.duckdb"],
    ],
    ids=lambda arguments: " ".join(each.replace(ESCAPE, "ESC") for each in arguments),
)
def test_an_error_quotes_without_control_characters(tmp_path, monkeypatch, solved, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METAFS_DB", str(solved))
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,2,no\n3,4,yes\n" * 10)
    quoted = json.dumps(ESCAPE)  # TOML escapes alike
    (tmp_path / "key.toml").write_text(f"[[problem]]\n{quoted} = 1\n")
    (tmp_path / "source.toml").write_text(f"[[problem]]\nsource = {quoted}\ntarget = 'y'\n")
    (tmp_path / "broken.toml").write_bytes(f"[[problem]]\nname = '{ESCAPE}'".encode())
    result = invoke(*arguments)
    assert result.exit_code in (1, 2)
    assert "owned" in result.stderr or arguments[-1] == "broken.toml"
    assert steering(result.output) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", "from feature"],
        ["sql", "from feature", "--csv"],
        ["sql", f'select 1 as "{ESCAPE.replace(chr(8), "")}"', "--csv"],
        ["sql", "from feature", "--json"],
        ["features"],
        ["explain", f"p{ESCAPE}"],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[2:]),
)
def test_a_terminal_gets_no_control_characters(solved, arguments):
    results = on_a_terminal(*arguments, "--db", solved, width=200, NO_COLOR="1")
    assert "owned" in results
    assert steering(results) == set()
    coloured = on_a_terminal(*arguments, "--db", solved, width=200)
    assert steering(OUR_CODES.sub("", coloured)) == set()


def test_a_program_gets_every_character(solved):
    results = run("sql", "select name from feature order by name", "--csv", "--db", solved).stdout
    assert results == "name\n" + "".join(f"{ESCAPE}{j}\n" for j in range(3))
    rows = json.loads(run("sql", "from feature", "--json", "--db", solved).stdout)
    assert {row["name"] for row in rows} == {f"{ESCAPE}{j}" for j in range(3)}
    assert MetaDB(solved).check() == []


def test_names_of_plugins_are_printed_without_control_characters(monkeypatch):
    from metafs.plugin.offers import Plugin
    from metafs.plugin.registry import Registry

    def with_a_failed_one(**options):
        registry = Registry(entry_points=False)
        registry.plugins.append(Plugin(ESCAPE, ESCAPE, "1", "failed", ESCAPE))
        return registry

    monkeypatch.setattr("metafs.cli.plugins.Registry", with_a_failed_one)
    result = run("plugins")
    assert "owned" in result.stderr
    assert steering(result.output) == set()
