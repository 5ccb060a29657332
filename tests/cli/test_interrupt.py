"""Stopping the real command: Ctrl-C, kill -9, and going on afterwards."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metafs_metadb import MetaDB

from .running import COMMAND, invoke, start, terminal, write_digits

ROOT = Path(__file__).parent.parent.parent
QUICK = ["--budget", "100", "--folds", "2"]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(db):
    arguments = ["solve", "--selector", "climb", "demo:digits", "--db", str(db), "--json", *QUICK]
    process = start(*arguments)
    first = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    rest, messages = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "run the same command again" in messages
    assert "Traceback" not in messages
    done = [*first, *map(json.loads, rest.splitlines())]
    assert len(MetaDB(db).problems().rows) == len(done) < 45
    assert MetaDB(db).check() == []
    again = start(*arguments)
    statuses = [json.loads(again.stdout.readline())["status"] for _ in range(len(done) + 2)]
    assert statuses == ["skipped"] * len(done) + ["solved"] * 2
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=120)


def test_ctrl_c_keeps_the_best_so_far_of_the_problem_at_hand(db):
    arguments = ["solve", "demo:digits", "--db", str(db), "--json"]
    with terminal(*arguments, stdout=subprocess.PIPE) as (process, screen):
        screen.wait_for(b" scored")
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 130
    shown = screen.whole()
    last = json.loads(printed.splitlines()[-1])
    assert last["status"] == "solved"
    assert last["stopped"] == "interrupted"
    assert last["notes"][0].startswith("interrupted")
    assert f"with the best so far for {last['problem']}; run the same".encode() in shown
    assert b"stopping (Ctrl-C again: at once)" in shown
    again = start(*arguments)
    assert json.loads(again.stdout.readline())["status"] == "solved"
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=120)
    assert MetaDB(db).check() == []


ENGINES = {
    "one job": [],
    "two jobs": ["--batch", "4", "--jobs", "2"],
    "dask": ["--batch", "4", "--jobs", "2", "--engine", "dask"],
}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_ctrl_c_in_a_terminal_reaches_every_process_and_none_complains(db, engine):
    """A terminal sends the signal to the whole group, workers included."""
    command = [
        *COMMAND,
        "solve",
        "--selector",
        "climb",
        "demo:digits",
        "--db",
        str(db),
        "--json",
        *QUICK,
        *engine,
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == 130
    stopped, done, *rest = filter(None, messages.splitlines())
    assert stopped.startswith("stopped: ")
    assert " solved, 0 skipped, 0 failed in " in done
    assert all(each.startswith("memory: ") for each in rest)
    assert MetaDB(db).check() == []


def test_ctrl_c_while_a_command_is_still_loading_just_ends_it(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("metafs.cli.app.Commands.get_command", interrupted)
    result = invoke("solve", "--selector", "climb", "demo:digits")
    assert (result.exit_code, result.output) == (130, "")


def test_kill_9_loses_nothing():
    script = ROOT / "benchmarks" / "kill.py"
    done = subprocess.run(
        [sys.executable, str(script), "--solves", "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "`metafs solve`" in done.stdout


def test_progress_is_shown_on_a_terminal_only(db):
    """A terminal sees problem, speed and time left; a pipe sees the summary alone."""
    stream = db.parent / "digits.toml"
    write_digits(db.parent, stream, [(0, 1), (0, 2), (8, 9)])
    arguments = ["solve", str(stream), "--db", str(db), "--selector", "fisher", *QUICK]
    with terminal(*arguments, stdout=subprocess.DEVNULL) as (process, screen):
        shown = screen.whole()
        assert process.wait() == 0
    assert b"[3/3] 8-9" in shown
    assert b"problems/s" in shown
    assert b"left" in shown
    piped = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True)
    assert "problems/s" not in piped.stderr
    assert "3 skipped" in piped.stderr
