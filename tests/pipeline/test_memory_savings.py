"""What memory saved, as solve tells it."""

import numpy as np
import pytest
from click.testing import CliRunner

from metafs import Problem, solve
from metafs.cli.app import cli
from metafs.errors import UsageError
from metafs.pipeline.fitting.selection import Selection
from metafs.pipeline.memory_savings import Saving, in_words, saving

from ..cli.running import write_digits


def found(candidates, n_evaluations, fitness):
    return Selection(
        np.array([True]), np.ones(1), np.ones(1), n_evaluations, "done", fitness, candidates
    )


def test_both_sides_are_charged_up_to_the_first_set_as_good_as_the_cold_one():
    cold = found(((10, (0,), 0.2), (40, (0, 1), 0.5)), 100, 0.5)
    warm = found(((4, (0,), 0.3), (8, (1,), 0.5), (30, (2,), 0.7)), 50, 0.7)
    seconds = {
        "describe": 0.1,
        "recall": 0.2,
        "expect": 0.3,
        "select": 5.0,
        "record": 0.4,
        "learn": 9,
    }
    assert saving(cold, 2.0, warm, seconds) == Saving(40, 8, 0.8, pytest.approx(1.8), True)


def test_a_search_that_never_gets_there_is_charged_in_full_and_hurts():
    cold = found(((40, (0, 1), 0.5),), 100, 0.5)
    warm = found(((4, (0,), 0.3),), 30, 0.3)
    results = saving(cold, 2.0, warm, {"select": 1.0})
    assert (results.evaluations, results.reached, results.hurt) == (30, False, True)
    assert saving(found((), 5, None), 1.0, warm, {}) is None
    assert "it hurt in 1 of 2" in in_words([results, Saving(40, 8, 1.0, 0.5, True)])


def test_what_memory_cost_is_not_called_a_saving():
    assert "(2.0 times more in the geometric mean)" in in_words([Saving(50, 100, 1.0, 2.0, True)])
    assert "(4.0 times fewer in the geometric mean)" in in_words([Saving(400, 100, 2.0, 0.5, True)])


def stream(n=6):
    rng = np.random.default_rng(0)
    names = [f"word{j}" for j in range(30)]
    for i in range(n):
        X = (rng.random((120, 30)) < 0.3).astype(float)
        y = (X[:, 3] + X[:, 7] + X[:, 11] >= 1).astype(int)
        yield Problem.of(X, y, feature_names=names, name=f"p{i}", source=f"p{i}.csv")


def test_every_so_many_problems_are_searched_cold_too(tmp_path):
    results = list(
        solve(stream(), db=tmp_path / "m.duckdb", budget=100, folds=2, check=2, selector="climb")
    )
    assert [each.experience for each in results] == ["none"] + ["near"] * 5
    assert [each.saving is not None for each in results] == [False, True] * 3
    plain = list(
        solve(stream(), db=tmp_path / "other.duckdb", budget=100, folds=2, selector="climb")
    )
    assert all(each.saving is None for each in plain)
    assert [each.features for each in plain] == [each.features for each in results]
    cold = list(
        solve(
            stream(),
            db=tmp_path / "cold.duckdb",
            transfer="none",
            budget=100,
            folds=2,
            selector="climb",
        )
    )
    assert all(each.experience is None for each in cold)
    with pytest.raises(UsageError, match="check"):
        solve(stream(), db=None, check=-1, selector="climb")


def test_the_command_says_what_memory_saved_and_when_there_was_none(tmp_path):
    stream, db = tmp_path / "digits.toml", tmp_path / "m.duckdb"
    write_digits(tmp_path, stream, [(0, 1), (0, 2), (1, 2), (0, 3)])
    arguments = ["solve", str(stream), "--selector", "climb", "--db", str(db), "--budget", "80"]
    result = CliRunner().invoke(cli, [*arguments, "--folds", "2", "--check", "2"])
    assert result.exit_code == 0
    assert "none: searched cold" in result.stdout.splitlines()[1]
    assert "near experience for 3 of 4 problems, no relevant experience for 1" in result.stderr
    assert "evaluations instead of" in result.stderr and "of 2." in result.stderr


def test_columns_without_names_are_told_apart_from_lack_of_experience(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    (tmp_path / "bare").mkdir()
    for number in range(2):
        np.savez(tmp_path / "bare" / f"p{number}.npz", X=X + number, y=(X[:, 0] > 0).astype(int))
    arguments = [
        "solve",
        "--selector",
        "climb",
        str(tmp_path / "bare"),
        "--folds",
        "2",
        "--db",
        str(tmp_path / "m.duckdb"),
    ]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0
    assert result.stdout.count("none: columns without names") == 2
    assert "none for 2 whose columns have no names" in result.stderr
    assert "--space NAME" in result.stderr
    named = CliRunner().invoke(cli, [*arguments[:-1], str(tmp_path / "n.duckdb"), "--space", "s"])
    assert "no names" not in named.stderr and "p0 (" in named.stdout
