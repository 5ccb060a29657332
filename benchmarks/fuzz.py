"""Damaged tables of every format: each must be solved or refused in a sentence.

    python benchmarks/fuzz.py [--inputs 2000] [--seed 0]

Tables of eleven kinds are spoiled at random: cells and columns are replaced by what readers stumble
over, and in every other file bytes are flipped, cut out, doubled, inserted or replaced, or the file
is cut short. `metafs solve` then runs on each in this process. Counted are exit codes and what must
never be seen: a traceback, more than one sentence for an input, a control character in the output,
more than 20 seconds of computing, and in the end a memory that `metafs db check` finds wrong or
that knows a problem which was not read.
"""

import argparse
import gzip
import io
import json
import random
import signal
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from metafs.cli.app import cli
from metafs.data.printable import one_line
from metafs.memory import MetaDB

LIMIT_S = 20  # of computing
PATIENCE_S = 300  # of the clock, which also counts what others compute
OPTIONS = ("--selector", "infogain", "--folds", "2", "--check", "0", "--engine", "inline")
JUNK = (
    b"\x00", b"\xff\xfe", b"\x1b]0;t\x07", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"{", b"}",
    b"[", b"]", b"nan", b"inf", b"-1e999", b"n/a", b"1,5", b"NULL", b"\xe9", b"\xf0\x9f\x98\x80",
    b"%", b"@data", b"9" * 400, b"=", b"[[problem]]", b"\\", b"../", b"\x80\x81", b":", b"1:1",
)  # fmt: skip


class Hung(BaseException):
    """Not to be caught by anything but this script."""


CELLS = (
    "n/a", "-", "1,5", "1,234", "inf", "-Infinity", "1e999", "nan", "", " ", "tru", "2020-13",
    "é",
    "\x1b[2J", "\x9b31m", "9" * 300, "x" * 200_000, "\u202e", '"', "a;b", "0x10", "1_000", "NULL",
)  # fmt: skip


def table(rng):
    """Return a good table, or, every other time, one with cells and columns that are not."""
    frame = good_table(rng)
    if rng.random() < 0.5:
        return frame
    frame = frame.astype(object)
    for _ in range(rng.randint(1, 4)):
        column, what = rng.choice(list(frame)), rng.randrange(6)
        if what < 3:
            rows = rng.sample(range(len(frame)), rng.choice([1, 2, len(frame)]))
            frame.loc[rows, column] = rng.choice(CELLS)
        elif what == 3:
            frame[column] = pd.Series(
                [rng.choice([None, 1, "same", ""])] * len(frame), dtype=object
            )
        elif what == 4:
            frame = frame.rename(columns={column: rng.choice([*CELLS[:-8], "A", "a"])})
        else:
            copied = frame.iloc[:, list(frame).index(column)].astype(object)
            frame[f"copy of {column}"] = copied
    return frame


def good_table(rng):
    n = rng.randint(12, 30)
    return pd.DataFrame(
        {
            "a": [round(rng.gauss(0, 1), 3) for _ in range(n)],
            "b": [rng.choice([1, 2, 3, None]) for _ in range(n)],
            "colour": [rng.choice(["red", "blü", "n/a"]) for _ in range(n)],
            "when": [f"2020-01-{rng.randint(1, 28):02d}" for _ in range(n)],
            "y": [rng.choice(["yes", "no"]) for _ in range(n)],
        }
    )


def csv(rng):
    return table(rng).to_csv(index=False, sep=rng.choice(",;|\t")).encode()


def arff(rng):
    head = (
        "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute colour string\n"
        "@attribute when date\n@attribute y {yes,no}\n@data\n"
    )
    rows = table(rng).to_csv(index=False, header=False, na_rep="?")
    return (head + rows).encode()


def parquet(rng):
    file = io.BytesIO()
    frame = table(rng)
    frame.columns = [f"{name}{number or ''}" for number, name in enumerate(frame)]
    frame = frame.rename(columns={name: "y" for name in frame if name.startswith("y")})
    frame.apply(lambda column: column.map(str)).to_parquet(file)
    return file.getvalue()


def npz(rng):
    frame, file = good_table(rng), io.BytesIO()
    X = frame[["a", "b"]].to_numpy(dtype=float, copy=True)
    for _ in range(rng.randint(0, 3)):
        X[rng.randrange(len(X)), rng.randrange(2)] = rng.choice([np.inf, np.nan, 1e308, -1e300, 0])
    save = rng.choice([np.savez, np.savez_compressed])
    save(file, X=X, y=frame["y"].to_numpy(dtype=str), feature_names=["a", "b"], name="p")
    return file.getvalue()


def sparse_npz(rng):
    file, n = io.BytesIO(), 20
    parts = {"data": np.ones(n), "indices": np.arange(n) % 4, "indptr": np.arange(n + 1)}
    np.savez(file, shape=[n, 4], y=[0, 1] * 10, **parts)
    return file.getvalue()


def svmlight(rng):
    lines = [f"{i % 2} 1:{rng.random():.3f} 3:{rng.randint(0, 4)}" for i in range(20)]
    return "\n".join(lines).encode()


def stream(rng):
    text = '[[problem]]\nsource = "good.csv"\ntarget = "y"\nname = "one"\ndrop = ["when"]\n'
    return text.encode()


def jsonl(rng):
    frame = table(rng)
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    # By hand, because pandas refuses two columns of one name.
    pairs = [", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in zip(frame, row, strict=True))
             for row in rows]  # fmt: skip
    return "\n".join(f"{{{each}}}" for each in pairs).encode()


KINDS = {
    "csv": csv,
    "tsv": lambda rng: table(rng).to_csv(index=False, sep="\t").encode(),
    "csv.gz": lambda rng: gzip.compress(csv(rng)),
    "json": lambda rng: b"[" + jsonl(rng).strip().replace(b"\n", b",") + b"]",
    "jsonl": jsonl,
    "arff": arff,
    "parquet": parquet,
    "npz": npz,
    "sparse.npz": sparse_npz,
    "svm": svmlight,
    "toml": stream,
}


def damaged(content, rng):
    """Return the content after one to four mutations."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(content) + 1)
        end = min(len(content), at + rng.choice([1, 2, 8, 1 + len(content) // 4]))
        match rng.choice([0, 1, 2, 3, 3, 4, 4, 5]):
            case 0:
                for place in rng.sample(range(len(content)), min(len(content), 2)):
                    content[place] ^= 1 << rng.randrange(8)
            case 1:
                del content[at:end]
            case 2:
                content[at:at] = content[at:end]
            case 3:
                content[at:at] = rng.choice(JUNK) * rng.randint(1, 3)
            case 4:
                junk = rng.choice(JUNK)
                content[at : at + len(junk)] = junk
            case 5:
                del content[at:]
    return bytes(content)


def run(*words):
    """Run the command; None if it takes longer than it may."""

    def hung(*_):
        raise Hung

    signal.signal(signal.SIGPROF, hung)
    signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    signal.alarm(PATIENCE_S)
    try:
        return CliRunner().invoke(cli, [str(word) for word in words])
    except Hung:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def outcome(result):
    """Return in a word what became of one input."""
    if result is None:
        return "HUNG"
    unforeseen = result.exception and not isinstance(result.exception, SystemExit)
    if unforeseen or "Traceback (most recent" in result.output or result.exit_code not in (0, 1, 2):
        return "TRACEBACK"
    if any(not each.isprintable() and each != "\n" for each in result.output):
        return "CONTROL CHARACTER"
    if result.exit_code == 2:
        return "refused as usage" if len(result.stderr.splitlines()) == 1 else "SEVERAL LINES"
    told = [json.loads(line) for line in result.stdout.splitlines()]
    for each in told:
        if each["error"] and result.stderr.count(one_line(each["error"])) != 1:
            return "TOLD TWICE"
    if result.exit_code == 1:
        return "failed with a sentence"
    return "solved with a note" if any(each["notes"] for each in told) else "solved"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "good.csv").write_bytes(table(random.Random(0)).to_csv(index=False).encode())
        db = folder / "memory.duckdb"
        run("solve", folder / "good.csv", "--target", "y", "--db", db, *OPTIONS)  # imports all
        for number in range(arguments.inputs):
            rng = random.Random(f"{arguments.seed}/{number}")
            kind = list(KINDS)[number % len(KINDS)]
            path = folder / f"t{number}.{kind}"
            content = KINDS[kind](rng)
            path.write_bytes(content if rng.random() < 0.5 else damaged(content, rng))
            target = () if kind in ("npz", "sparse.npz", "svm", "toml") else ("--target", "y")
            result = run("solve", path, *target, "--db", db, "--json", *OPTIONS)
            seen = outcome(result)
            counts[kind][seen] += 1
            if seen.isupper():
                print(f"input {number} ({kind}): {seen}", path.read_bytes()[:300], flush=True)
                if result is not None:
                    print(result.output[-2000:], repr(result.exception)[:500], flush=True)
            path.unlink()
        found = MetaDB(db).check() if db.exists() else []
        recorded = Counter(MetaDB(db).runs().column("status"))
        unread = [n for n in MetaDB(db).problems().column("n_samples") if n == 0]
    outcomes = sorted({each for kind in counts.values() for each in kind})
    print(f"| file | {' | '.join(outcomes)} |\n|---|{'--:|' * len(outcomes)}")
    for kind, row in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"| {kind} | {' | '.join(str(row[each]) for each in outcomes)} |")
    print(f"\nmemory: {dict(recorded)}, db check: {found or 'clean'}, not read: {len(unread)}")


if __name__ == "__main__":
    main()
