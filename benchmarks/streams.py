"""Streams of problems from real data: a folder of npz files that `metafs solve FOLDER` reads.

    python benchmarks/streams.py text 20newsgroups.jsonl.gz FOLDER [--documents 150] [--min-df 3]
                 [--mi 0.02] [--seed 0] [--least 100] [--pairs 60] [--split train] [--stop-words]
    python benchmarks/streams.py digits MNIST.npz FOLDER [--images 150] [--binary 0.5] [--pairs 20]
    python benchmarks/streams.py unrelated DATA_FOLDER FOLDER [--samples 150] [--draws 2]

`text` takes any jsonl or jsonl.gz file with a label and a text in each line. FOLDER must be new or
empty. The same problems without files: `text_pairs`, `digit_pairs` and `unrelated`. What they
contain is described in `text_stream.py`, `image_stream.py` and `mixed_stream.py`.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from image_stream import digit_pairs
from mixed_stream import unrelated
from scipy.sparse import issparse
from text_stream import LETTERS, text_pairs

from metafs import Problem
from metafs.data.readers.files import shown
from metafs.data.typing import Array
from metafs.errors import MetafsError, UsageError

__all__ = ["digit_pairs", "text_pairs", "unrelated", "write_stream"]


def write_stream(problems: Sequence[Problem], folder: str | Path) -> None:
    """Write each problem to an npz file, numbered so that the folder keeps their order."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"'{shown(folder)}' is not an empty folder; name a new one.")
    folder.mkdir(parents=True, exist_ok=True)
    width = len(str(len(problems)))
    for number, problem in enumerate(problems, start=1):
        name = re.sub(r"[^\w .+-]", "_", problem.name)[:80]
        np.savez_compressed(folder / f"{number:0{width}} {name}.npz", **arrays_of(problem))


def arrays_of(problem: Problem) -> dict[str, Any]:
    """Return what an npz file holds of a problem."""
    X = problem.X
    if issparse(X):
        arrays: dict[str, Any] = {
            "data": _small(X.data),
            "indices": X.indices,
            "indptr": X.indptr,
            "shape": np.array(X.shape),
        }
    else:
        arrays = {"X": _small(X)}
    if problem.meta_features is not None:
        arrays["meta_features"] = problem.meta_features
        arrays["meta_feature_names"] = np.array(problem.meta_feature_names)
    return arrays | {
        "y": np.array(problem.classes)[problem.y],
        "feature_names": np.array(problem.feature_names),
        "name": np.array(problem.name),
    }


def summary(problems: Sequence[Problem]) -> str:
    """Return a line on the number of problems and their sizes."""
    features = [problem.n_features for problem in problems]
    rows = [problem.n_samples for problem in problems]
    return (
        f"{len(problems)} problems, {min(rows)} to {max(rows)} samples, features: "
        f"{min(features)} at least, {np.median(features):g} in the median, {max(features)} at most"
    )


def _small(values: Array) -> Array:
    """Return values that are whole and below 256 as bytes, which the reader turns back."""
    if not len(values) or values.min() < 0 or values.max() > 255:
        return values
    small = values.astype(np.uint8)
    return small if np.array_equal(small, values) else values


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)

    text = commands.add_parser("text", help="pairs of labels of a jsonl.gz file")
    text.add_argument("path", metavar="FILE")
    text.add_argument("--documents", type=int, default=150, help="drawn from each label")
    text.add_argument("--least", type=int, help="documents a label must have (--documents)")
    text.add_argument("--split", help="draw only from documents with this split")
    text.add_argument("--tokens", default=LETTERS, help="regular expression of a word")
    text.add_argument(
        "--stop-words", action="store_const", const="english", help="leave out English ones"
    )

    digits = commands.add_parser("digits", help="pairs of classes of square images in an npz file")
    digits.add_argument("path", metavar="FILE")
    digits.add_argument("--images", type=int, default=150, help="drawn from each class")
    digits.add_argument("--split", help="train or test")
    digits.add_argument(
        "--binary", type=float, help="share of the brightest pixel that counts as 1"
    )

    mixed = commands.add_parser("unrelated", help="problems that share no feature")
    mixed.add_argument("path", metavar="DATA_FOLDER")
    mixed.add_argument("--samples", type=int, default=150, help="drawn from each class")
    mixed.add_argument("--draws", type=int, default=1, help="problems from each collection")

    for command in (text, mixed):
        command.add_argument(
            "--min-df", type=int, default=3, help="documents of a pair with a word"
        )
        command.add_argument(
            "--mi", type=float, default=0.02, help="mutual information of a word with the label"
        )
    for command in (text, digits):
        command.add_argument("--pairs", type=int, help="how many pairs to draw (all)")
    for command in (text, digits, mixed):
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("folder", metavar="FOLDER")
    return parser.parse_args()


def main() -> None:
    options = vars(_arguments())
    build: dict[str, Any] = {"text": text_pairs, "digits": digit_pairs, "unrelated": unrelated}
    command, path, folder = (options.pop(key) for key in ("command", "path", "folder"))
    print(f"reading {path} ...", file=sys.stderr)
    try:
        problems = build[command](path, **options)
        print(f"writing {len(problems)} problems to {folder} ...", file=sys.stderr)
        write_stream(problems, folder)
    except MetafsError as error:
        print(f"streams: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(summary(problems))


if __name__ == "__main__":
    main()
