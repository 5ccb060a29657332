"""What holds of all commands, and of `metafs db`."""

import json

from metafs.cli.app import Commands

from .running import run


def test_db_check_and_migrate(solved):
    assert "is clean" in run("db", "check", "--db", solved).stdout
    assert json.loads(run("db", "check", "--json", "--db", solved).stdout)["clean"] is True
    assert "up to date" in run("db", "migrate", "--db", solved).stdout
    assert json.loads(run("db", "migrate", "--json", "--db", solved).stdout)["applied"] == []


def test_every_command_has_an_example_in_its_help():
    for name in Commands.MODULES:
        if name != "db":
            assert "Example: metafs" in run(name, "--help").stdout
    assert "metafs" in run("--version").stdout


def test_a_misspelt_command_gets_a_suggestion():
    assert "No such command 'solv': did you mean solve?" in run("solv", code=2).stderr
    assert "did you mean" not in run("xyzzy", code=2).stderr
