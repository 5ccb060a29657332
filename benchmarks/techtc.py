"""Collections like techtc300 and techtc500, from any tree of categories with texts.

    python benchmarks/techtc.py TREE FOLDER [--size 300] [--positive Top/Arts/Music]
                 [--negative Top/Science/Math] [--documents 150] [--least 50] [--min-df 1]
                 [--mi 0.001] [--seed 0] [--separator /]

TREE is a folder whose folders are the categories and whose text files their documents, or a jsonl
or jsonl.gz file with a text and a label in each line, where the label is the path of the category:
with `--separator .` the groups of 20 Newsgroups are a tree. FOLDER, which must be new or empty,
gets one npz file for each data set, which `metafs solve FOLDER` reads.

A data set has the documents of a category below `--positive` as its class "positive", those of one
below `--negative` as "negative"; the documents of a category are its own and those of all below it.
Neither of the two holds the other, both have at least `--least` documents, of which `--documents`
are drawn, and no pair comes twice, whichever is positive. Features are words that occur in at least
`--min-df` documents and have at least `--mi` bits of information about the class.

D. Davidov, E. Gabrilovich, S. Markovitch, "Parameterized generation of labeled datasets for text
categorization based on a hierarchical directory", SIGIR 2004. They choose pairs by the distance of
categories; here, as in techtc-builder (N. Geisweiller, 2011), pairs are drawn at random.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from streams import summary, write_stream
from text_stream import each_text_pair, order_of, read_texts

from metafs import Problem
from metafs.data.parameters import check_at_least
from metafs.data.readers.files import shown
from metafs.errors import MetafsError, UsageError

Category = tuple[str, ...]
Tree = Mapping[Category, Sequence[str]]
"""The documents of each category itself, without those below."""


def read_tree(path: Path, separator: str = "/") -> Tree:
    """Read a folder of folders of text files, or lines of JSON with a path as label."""
    if not path.is_dir():
        texts = read_texts(path)
        return {tuple(label.split(separator)): found for label, found in texts.items()}
    found: dict[Category, list[str]] = {}
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            try:
                text = file.read_text(encoding="utf8")
            except UnicodeDecodeError:
                raise UsageError(f"{shown(file)}: is no text in UTF-8; take it out.") from None
            found.setdefault(file.parent.relative_to(path).parts, []).append(text)
    if not found:
        raise UsageError(f"{shown(path)}: holds no text files; give a folder of categories.")
    return found


def with_those_below(tree: Tree) -> dict[Category, list[str]]:
    """Return all documents of each category, and of each that only holds others.

    Examples
    --------
    >>> with_those_below({("a", "b"): ["one"], ("a", "c"): ["two"]})
    {('a',): ['one', 'two'], ('a', 'b'): ['one'], ('a', 'c'): ['two']}
    """
    found: dict[Category, list[str]] = {}
    for category, documents in sorted(tree.items()):
        for depth in range(1, len(category) + 1):
            found.setdefault(category[:depth], []).extend(documents)
    return dict(sorted(found.items()))


def below(category: Category, top: Category) -> bool:
    """Tell whether a category is another one or lies below it."""
    return category[: len(top)] == top


def pairs_of(
    categories: Sequence[Category], positive: Category, negative: Category
) -> Iterator[tuple[Category, Category]]:
    """Yield the pairs of a positive and a negative category, no two with the same categories."""
    sides = [[each for each in categories if below(each, top)] for top in (positive, negative)]
    seen = set()
    for one, other in product(*sides):
        apart = not below(one, other) and not below(other, one)
        if apart and frozenset((one, other)) not in seen:
            seen.add(frozenset((one, other)))
            yield one, other


def collection(
    tree: Tree,
    *,
    size: int = 300,
    positive: Category = (),
    negative: Category = (),
    documents: int = 150,
    least: int = 50,
    min_df: int = 1,
    mi: float = 0.001,
    seed: int = 0,
    separator: str = "/",
) -> list[Problem]:
    """Return the data sets of a collection; fewer than `size` if there are not so many pairs."""
    for name, value in {"size": size, "documents": documents, "least": least}.items():
        check_at_least(name, value)
    known = {name: texts for name, texts in with_those_below(tree).items() if len(texts) >= least}
    tops = sorted({each[0] for each in known})
    for top in (positive, negative):
        if not any(below(each, top) for each in known):
            raise UsageError(
                f"no category below {separator.join(top)!r} has {least} documents: lower --least"
                + (f", or name one of {', '.join(tops)}." if tops else ".")
            )
    pairs = list(pairs_of(list(known), positive, negative))
    if not pairs:
        raise UsageError("there are no two categories of which neither holds the other.")
    order = np.random.default_rng(seed).permutation(len(pairs))
    chosen = [pairs[place] for place in order[:size]]
    # In half of the pairs within one tree the category that comes later is positive.
    turned = np.random.default_rng([seed, 1]).random(len(chosen)) < 0.5
    if positive == negative:
        chosen = [pair[::-1] if turn else pair for pair, turn in zip(chosen, turned, strict=True)]
    named = {separator.join(each): texts for each, texts in known.items()}
    used = {separator.join(each) for pair in chosen for each in pair}
    drawn = {
        name: [texts[place] for place in order_of(name, len(texts), seed)[:documents]]
        for name, texts in named.items()
        if name in used
    }
    found = each_text_pair(
        drawn,
        [(separator.join(one), separator.join(other)) for one, other in chosen],
        min_df=min_df,
        mi=mi,
    )
    return [with_target(problem) for problem in found]


def with_target(problem: Problem) -> Problem:
    """Return a pair whose first category is the class "positive", the other one "negative"."""
    first, _ = problem.name.split(" vs ")
    assert problem.classes is not None
    y = (np.asarray(problem.classes)[problem.y] == first).astype(np.int64)
    return replace(problem, y=y, classes=("negative", "positive"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", metavar="TREE", type=Path)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--size", type=int, default=300, help="how many data sets")
    parser.add_argument("--positive", default="", help="category above all positive ones (any)")
    parser.add_argument("--negative", default="", help="category above all negative ones (any)")
    parser.add_argument("--documents", type=int, default=150, help="drawn from each category")
    parser.add_argument("--least", type=int, default=50, help="documents a category must have")
    parser.add_argument("--min-df", type=int, default=1, help="documents of a pair with a word")
    parser.add_argument("--mi", type=float, default=0.001, help="information of a word, in bits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--separator", default="/", help="between the categories of a label")
    given = vars(parser.parse_args())
    tree, folder, separator = given.pop("tree"), given.pop("folder"), given["separator"]
    for side in ("positive", "negative"):
        given[side] = tuple(part for part in given[side].split(separator) if part)
    try:
        problems = collection(read_tree(tree, separator), **given)
        if len(problems) < given["size"]:
            print(f"only {len(problems)} data sets could be made", file=sys.stderr)
        write_stream(problems, folder)
    except MetafsError as error:
        print(f"techtc: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(summary(problems))


if __name__ == "__main__":
    main()
