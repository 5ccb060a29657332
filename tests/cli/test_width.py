"""Tables and progress on terminals of 80 and 40 columns, in colour and without, and in a pipe."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from metafs.cli.table import GAP, Column, fitted
from metafs.data.printable import n_columns, padded, shortened

from .running import left_standing, on_a_terminal, run

QUICK = ["--selector", "fisher", "--folds", "2"]
WIDE = "顧客の解約 大阪市 二〇二六年 第三四半期 [red]"
LONG = "[bold]a very long name of a problem that nobody can read :smile: north 17"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three problems: one with a long name, one with wide characters, one that fails."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    for number, name in enumerate([LONG, WIDE]):
        values = {"X": X + number, "y": X[:, 0], "feature_names": ["a", "b", WIDE], "name": name}
        np.savez(folder / f"p{number}.npz", **values)
    np.savez(folder / "q.npz", X=X, y=np.zeros(40))
    return folder


@pytest.fixture(scope="module")
def solved(folder):
    path = folder / "m.duckdb"
    run("solve", "--selector", "climb", folder, "--db", path, *QUICK, code=1)
    return path


def columns_of(printed):
    return max(cell_len(line) for line in left_standing(printed))


@pytest.mark.parametrize("width", [80, 40])
def test_a_problem_takes_one_line_of_a_terminal(folder, tmp_path, width):
    db = tmp_path / "m.duckdb"
    printed = on_a_terminal("solve", "--selector", "climb", folder, "--db", db, *QUICK, width=width)
    rows = left_standing(printed.partition("1 failed in")[0])
    header, *problems = [row for row in rows if row][:4]
    assert header.split()[:3] == ["problem", "features", "fitness"]
    assert all(cell_len(row) <= width for row in [header, *problems])
    assert problems[0].startswith("[bold]") and "…" in problems[0]
    assert problems[1].startswith("顧客") and "…" in problems[1]
    assert problems[2].split() == ["q", "failed"]
    drawn = printed.partition("1 failed in")[0].replace("\r", "\n").split("\n")
    assert max(cell_len(left_standing(each)[0]) for each in drawn) <= width
    places = [cell_len(row[: row.index(" 1.000")]) for row in problems[:2]]
    assert places[0] == places[1]  # wide characters take two columns


@pytest.mark.parametrize("command", [["problems"], ["features"], ["runs"], ["sql", "from run"]])
@pytest.mark.parametrize("width", [80, 40])
def test_a_table_fits_a_terminal_and_says_what_it_leaves_out(solved, command, width):
    printed = on_a_terminal(*command, "--db", solved, width=width)
    lines = [line for line in left_standing(printed) if not line.startswith("too narrow for ")]
    assert max(cell_len(line) for line in lines) <= width
    columns = run(*command, "--db", solved).stdout.splitlines()[0].split()
    if (left_out := columns[len(lines[0].split()) :]) and command[0] != "features":
        assert f"too narrow for {', '.join(left_out)}:" in " ".join(printed.split())
    assert all(line == line.rstrip() for line in lines)


def test_a_pipe_gets_every_column_and_character(solved):
    printed = run("sql", "select name, * from problem order by name", "--db", solved).stdout
    assert LONG in printed and WIDE in printed and "\x1b" not in printed
    text = "x" * 500
    assert text in run("sql", f"select '{text}' as one, 2 as two", "--db", solved).stdout


@pytest.mark.parametrize(
    "environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_off_where_asked(solved, environment, coloured):
    printed = on_a_terminal("problems", "--db", solved, **environment)
    assert ("\x1b" in printed) == coloured
    assert "\x1b" not in on_a_terminal("problems", "--json", "--db", solved, **environment)


def test_a_dumb_terminal_sees_no_progress(folder, tmp_path):
    db = tmp_path / "m.duckdb"
    printed = on_a_terminal("solve", "--selector", "climb", folder, "--db", db, *QUICK, TERM="dumb")
    assert "\x1b" not in printed and "\r" not in printed and "[1/3]" not in printed
    assert "1 failed in" in printed


def test_ctrl_c_leaves_the_terminal_clean(tmp_path):
    arguments = [
        "solve",
        "--selector",
        "climb",
        "demo:digits",
        "--db",
        tmp_path / "m.duckdb",
        *QUICK,
    ]
    printed = on_a_terminal(*arguments, interrupt_at="digits 0 vs 2: ")
    assert "\x1b[?25l" not in printed  # the cursor was never hidden
    lines = left_standing(printed)
    assert any(line.startswith("stopped: ") for line in lines)
    assert not any(line.startswith("[") for line in lines)


@given(st.text(), st.integers(0, 30), st.booleans())
def test_shortened_and_padded_texts_have_their_width(text, width, middle):
    shown = shortened(text, width, middle=middle)
    assert n_columns(shown) <= width
    assert shown == text or "…" in shown or width == 0
    assert n_columns(padded(shown, width)) == width


@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1), st.integers(10, 200))
def test_fitted_columns_fit_and_numbers_stay_whole(shapes, width):
    columns = [Column(str(j), size, right=right) for j, (size, right) in enumerate(shapes)]
    shown = fitted(columns, width)
    total = sum(each.width for each in shown) + len(GAP) * (len(shown) - 1)
    assert total <= width
    assert [each.name for each in shown] == [each.name for each in columns[: len(shown)]]
    if len(shown) > 1:
        assert all(
            each.width == before.width
            for each, before in zip(shown, columns, strict=False)
            if before.right
        )
    if sum(each.width + len(GAP) for each in columns) - len(GAP) <= width:
        assert shown == columns
