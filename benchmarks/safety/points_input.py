"""What readers refused or took wrongly, what reached a terminal, and what of a cell was kept."""

import io
import os
import pty
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from command import Installation, Outcome

ROWS = "1.5,2,no\n3,4,yes\n2,2,no\n3.5,5,yes\n" * 6
TABLE = f"a,b,y\n{ROWS}"
PATIENCE_S = 300
ESCAPE = "\x1b]0;owned\x07"


def told(done: Outcome) -> str:
    if done.code is None:
        return "had to be stopped"
    if done.traceback:
        return f"exit {done.code}, a traceback"
    return {0: "solved", 1: "refused: exit 1", 2: "refused: exit 2"}.get(done.code, str(done.code))


def solve(metafs: Installation, folder: Path, name: str, *words: object) -> Outcome:
    words = ("solve", name, *words, "--db", "m.duckdb", "--folds", 2)
    return metafs.metafs(*words, cwd=folder, timeout=PATIENCE_S)


def notes(done: Outcome) -> str:
    n = sum(line.startswith("note: ") for line in done.err.splitlines())
    return told(done) + (f", {n} note{'s' if n > 1 else ''}" if n else "")


def special(kind: str) -> Callable[[Installation, Path], str]:
    def look(metafs: Installation, folder: Path) -> str:
        path = folder / "p.csv"
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("p.csv" if kind == "loop" else "nowhere.csv")
        return told(solve(metafs, folder, "p.csv", "--target", "y"))

    return look


def meta_pipe(metafs: Installation, folder: Path) -> str:
    (folder / "t.csv").write_text(TABLE)
    os.mkfifo(folder / "kinds.csv")
    words = ("--target", "y", "--meta-features", "kinds.csv")
    return told(solve(metafs, folder, "t.csv", *words))


def wide(metafs: Installation, folder: Path) -> str:
    names = ",".join(f"gene_{j:05d}" for j in range(25_000))
    rows = [",".join([*(str((i + j) % 7) for j in range(25_000)), "no"]) for i in range(12)]
    rows = [row[:-2] + ["no", "yes"][i % 2] for i, row in enumerate(rows)]
    (folder / "t.csv").write_text("\n".join([f"{names},y", *rows]) + "\n")
    words = ("--target", "y", "--selector", "infogain")
    return told(solve(metafs, folder, "t.csv", *words))


def petabytes(metafs: Installation, folder: Path) -> str:
    np.savez(folder / "p.npz", y=[0, 1] * 10)
    header = io.BytesIO()
    promise = {"descr": "<f8", "fortran_order": False, "shape": (20, 10**14)}
    np.lib.format.write_array_header_1_0(header, promise)
    with zipfile.ZipFile(folder / "p.npz", "a") as file:
        file.writestr("X.npy", header.getvalue() + bytes(160))
    done = solve(metafs, folder, "p.npz")
    return told(done) + (", by size" if "METAFS_MAX_TABLE_GB" in done.err else ", as broken")


def bomb(metafs: Installation, folder: Path) -> str:
    header = io.BytesIO()
    promise = {"descr": "<f8", "fortran_order": False, "shape": (20, 2 * 10**7)}
    np.lib.format.write_array_header_1_0(header, promise)
    np.savez(folder / "p.npz", y=[0, 1] * 10)
    with (
        zipfile.ZipFile(folder / "p.npz", "a", zipfile.ZIP_DEFLATED) as file,
        file.open("X.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(400):
            member.write(bytes(8 * 10**6))
    megabytes = (folder / "p.npz").stat().st_size / 1e6
    measured = metafs.python(
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6\n"
        "print(done.returncode, round(peak, 1), 'METAFS_MAX' in done.stderr)",
        *(metafs.bin / "metafs", "solve", "p.npz", "--db", "m.duckdb", "--selector", "infogain"),
        cwd=folder,
        timeout=PATIENCE_S,
    )
    if measured.code is None:
        return "had to be stopped"
    code, peak, by_size = measured.out.split()
    refused = "refused by size" if by_size == "True" else f"exit {code}"
    return f"{megabytes:.0f} MB of zeros: {refused}, {peak} GB of memory"


def odd_table(content: bytes, *words: object) -> Callable[[Installation, Path], str]:
    def look(metafs: Installation, folder: Path) -> str:
        (folder / "t.csv").write_bytes(content)
        return notes(solve(metafs, folder, "t.csv", "--target", "y", *words))

    return look


def typo(metafs: Installation, folder: Path) -> str:
    for number in range(5):
        (folder / f"t{number}.csv").write_text(TABLE)
    done = solve(metafs, folder, ".", "--target", "churn")
    times = (done.out + done.err).count("churn")
    ghosts = metafs.metafs("problems", "--json", "--db", "m.duckdb", cwd=folder).out.count("name")
    return f"{told(done)}, told {times} times, {ghosts} ghost problems"


def unreadable(metafs: Installation, folder: Path) -> str:
    (folder / "t.csv").write_text("")
    done = solve(metafs, folder, "t.csv", "--target", "y")
    ghosts = metafs.metafs("problems", "--json", "--db", "m.duckdb", cwd=folder).out.count("name")
    times = (done.out + done.err).count("is empty")
    return f"{told(done)}, told {times} times, {ghosts} ghost problems"


EVERY = """
import numpy as np
from metafs import Problem, Registry, solve
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 4)) + y[:, None]
X[rng.random(X.shape) < 0.1] = np.nan
problem = Problem.of(X, y, feature_names=list("abcd"), meta_features=np.arange(4.0))
names = sorted(Registry().selectors)
found = [next(solve(problem, db=None, selector=name, folds=2, seconds=2)).status for name in names]
print(found.count("solved"), "of", len(found), "selectors")
"""
MIXED = """
import pandas as pd
from metafs import MetaSelector, solve
n = 40
frame = pd.DataFrame({"colour": ["red", "blue"] * 20, "n": range(n),
    "when": pd.date_range("2020-01-01", periods=n),
    "size": pd.Categorical(["s", "s", "m", "l"] * 10)})
y = ["no", "yes"] * 20
def tried(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__
print(tried(lambda: MetaSelector("fisher").fit(frame, y) and "fitted"), end=", ")
told = tried(lambda: [each.status for each in solve(frame.assign(y=y), target="y", db=None)])
print("solve:", told if isinstance(told, str) else told[0])
"""


def said(code: str) -> Callable[[Installation, Path], str]:
    def look(metafs: Installation, folder: Path) -> str:
        done = metafs.python(code, cwd=folder, timeout=PATIENCE_S)
        return done.out.strip() if done.code == 0 else told(done)

    return look


def raw(*words: str) -> Callable[[Installation, Path], str]:
    """Run a command with a terminal for its output, and look for the escape sequence."""

    def look(metafs: Installation, folder: Path) -> str:
        (folder / "t.csv").write_text(TABLE.replace("a,b", f"{ESCAPE}a,b"))
        quoted = ESCAPE.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
        (folder / "s.toml").write_text(f'[[problem]]\nsource = "{quoted}"\ntarget = "y"\n')
        solve(metafs, folder, "t.csv", "--target", "y")
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [str(metafs.bin / "metafs"), *words],
            cwd=folder,
            env={**os.environ, "METAFS_DB": "m.duckdb"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the other side has closed
            pass
        os.close(ours)
        process.wait()
        return "reaches the terminal" if ESCAPE.encode() in seen else "taken out"

    return look


def cell(metafs: Installation, folder: Path) -> str:
    secret = "Ms Miller"
    (folder / "t.csv").write_text(TABLE + f"{secret},1,no\n" + ROWS)
    solve(metafs, folder, "t.csv", "--target", "y")
    kept = any(secret.encode() in path.read_bytes() for path in folder.glob("m.duckdb*"))
    return "the cell is in the file" if kept else "not in the file"


def quoting_plugin(metafs: Installation, folder: Path) -> str:
    code = """
import sys, numpy as np
from sklearn.base import BaseEstimator
from metafs import Problem, solve
class Quotes(BaseEstimator):
    def fit(self, X, y):
        raise ValueError(f"cannot use 61-diabetic {X[0, 0]}")
X = np.random.default_rng(0).random((20, 2))
list(solve(Problem.of(X, [0, 1] * 10, feature_names=["a", "b"]), db="m.duckdb", selector=Quotes()))
"""
    metafs.python(code, cwd=folder)
    kept = any(b"61-diabetic" in path.read_bytes() for path in folder.glob("m.duckdb*"))
    return "the message is in the file" if kept else "not in the file"


LATIN = TABLE.replace("yes", "sí").encode("latin-1")
EMPTY = "a,none,y\n" + "1,,no\n2,,yes\n3,,no\n4,,yes\n" * 5
COMMAS = "a;b;y\n" + "1,5;2;no\n2,75;1;yes\n3,5;2;no\n4,25;1;yes\n" * 5

POINTS = [
    ("4m", "a pipe as a source", special("pipe")),
    ("4n", "a link to itself as a source", special("loop")),
    ("4o", "a link to nothing as a source", special("dangling")),
    ("4p", "a pipe as `--meta-features`", meta_pipe),
    ("11a", "a comma csv of 25,000 columns", wide),
    ("11b", "an npz that promises 16 petabytes", petabytes),
    ("11c", "an npz that unpacks to 3.2 GB", bomb),
    ("12a", "a column without any value", odd_table(EMPTY.encode())),
    ("12b", "`n/a` among numbers", odd_table((TABLE + "n/a,1,no\n" + ROWS).encode())),
    ("12c", "decimal commas", odd_table(COMMAS.encode())),
    ("12d", "an infinite value", odd_table((TABLE + "inf,1,no\n").encode())),
    ("12e", "Latin-1 text", odd_table(LATIN)),
    ("12f", "a mistyped target, folder of five", typo),
    ("12g", "a table that cannot be read", unreadable),
    ("12h", "missing values", said(EVERY)),
    ("12i", "text, dates and categories in a frame", said(MIXED)),
    ("13a", "an escape sequence in a usage error", raw("solve", "demo:digits", "--budget", ESCAPE)),
    ("13b", "in an error of `sql`", raw("sql", f'select "{ESCAPE}"')),
    ("13c", "in `sql --csv`", raw("sql", "from feature", "--csv")),
    ("13d", "in the source of a TOML stream", raw("solve", "s.toml")),
    ("14a", "a cell that fails its table", cell),
    ("14b", "a plugin's error that quotes the data", quoting_plugin),
]
