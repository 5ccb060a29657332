"""Pairs of labels of a collection of texts, as problems over words.

From each label documents are drawn once, so a label has the same ones in all its pairs; which they
are depends on the seed and the label alone, and fewer are a part of more. A feature says whether a
word occurs in a document. Of the words of a pair those stay that occur in at least `min_df` of its
documents and have a mutual information of at least `mi` bits with the label.

The last is the prefilter MI of section 4 of B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning
for feature selection", 2021, which has 0.001 on techtc300 and 0.05 on techtc500. It sees the labels
of all documents, so scores on the same documents come out too high, alike for every way to select.
"""

import gzip
import json
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from metafs import Problem
from metafs.data.checks import listing, well_formed
from metafs.data.parameters import check_at_least
from metafs.data.readers.files import shown
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_filters import InfoGain

LETTERS = r"[a-zA-Z]{2,}"


def text_pairs(
    path: str | Path,
    *,
    documents: int = 150,
    least: int | None = None,
    min_df: int = 3,
    mi: float = 0.02,
    seed: int = 0,
    pairs: int | None = None,
    split: str | None = None,
    tokens: str = LETTERS,
    stop_words: str | None = None,
) -> list[Problem]:
    """Return one problem for each pair of labels, in the order of the labels.

    Labels with fewer than `least` documents (as many as `documents` unless given) are left out.
    Of all pairs `pairs` are drawn, if given. The other parameters are those of `each_text_pair`.
    """
    texts = read_texts(path, split)
    drawn = draw(texts, documents, least, seed, where=shown(Path(path)))
    chosen = some(list(combinations(drawn, 2)), pairs, seed)
    problems = list(
        each_text_pair(
            drawn, chosen, min_df=min_df, mi=mi, tokens=tokens, stop_words=stop_words, source=path
        )
    )
    if not problems:
        raise UsageError(
            f"{shown(Path(path))}: in no pair does a word occur in {min_df} documents and have "
            f"{mi:g} bits of information about the label; lower --min-df or --mi."
        )
    return problems


def each_text_pair(
    drawn: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]],
    *,
    min_df: int,
    mi: float,
    tokens: str = LETTERS,
    stop_words: str | None = None,
    source: str | Path = "",
) -> Iterator[Problem]:
    """Yield the problem of each pair; one without any word left is named on stderr and left out."""
    check_at_least("min_df", min_df)
    if not mi >= 0:
        raise UsageError(f"mi is a number of bits, at least 0, not {mi:g}.")
    X, words = word_presence(
        [text for texts in drawn.values() for text in texts], tokens, stop_words
    )
    y = np.repeat(list(drawn), [len(texts) for texts in drawn.values()])
    for one, two in pairs:
        rows = np.flatnonzero((y == one) | (y == two))
        X_pair, y_pair = X[rows], y[rows]
        kept = np.flatnonzero(np.bincount(X_pair.indices, minlength=len(words)) >= min_df)
        X_pair = X_pair[:, kept]
        informative = InfoGain()(X_pair, y_pair) >= mi if len(kept) else np.zeros(0, dtype=bool)
        if not informative.any():
            print(f"{one} vs {two}: no word is left, so neither is the pair", file=sys.stderr)
            continue
        yield Problem.of(
            X_pair[:, np.flatnonzero(informative)],
            y_pair,
            feature_names=words[kept[informative]].tolist(),
            name=f"{one} vs {two}",
            source=shown(Path(source)),
        )


def read_texts(path: str | Path, split: str | None = None) -> dict[str, list[str]]:
    """Return the texts of each label of a jsonl or jsonl.gz file, or of one split of it."""
    where, texts, splits = shown(Path(path)), defaultdict(list), set()
    opened = gzip.open if Path(path).suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf8") as lines:
            for number, line in enumerate(lines, start=1):
                document = _document(line, f"{where}, line {number}")
                splits.add(str(document.get("split")))
                if split is None or document.get("split") == split:
                    texts[well_formed(str(document["label"]))].append(document["text"])
    except FileNotFoundError:
        raise UsageError(f"there is no file '{where}'; check the path.") from None
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UsageError(f"{where}: cannot be read as lines of JSON: {error}.") from None
    if not texts:
        held = f"the splits are {listing(sorted(splits))}" if splits else "the file is empty"
        raise UsageError(f"{where}: there is no document to draw from; {held}.")
    return dict(texts)


def draw(
    texts: Mapping[str, Sequence[str]],
    documents: int,
    least: int | None,
    seed: int,
    *,
    where: str = "texts",
) -> dict[str, list[str]]:
    """Return at most so many texts of each label that has at least `least`, labels sorted."""
    check_at_least("documents", documents)
    least = documents if least is None else least
    check_at_least("least", least)
    check_at_least("seed", seed, 0)
    enough = sorted(label for label in texts if len(texts[label]) >= least)
    if len(enough) < 2:
        most = ", ".join(str(n) for n in sorted(map(len, texts.values()), reverse=True)[:2])
        raise UsageError(
            f"{where}: a pair needs two labels with at least {least} documents, the largest have "
            f"{most}; lower --documents or --least."
        )
    return {
        label: [texts[label][i] for i in order_of(label, len(texts[label]), seed)[:documents]]
        for label in enough
    }


def word_presence(
    texts: Sequence[str], tokens: str = LETTERS, stop_words: str | None = None
) -> tuple[csr_array, Array]:
    """Return which words occur in each text, as ones, and the words, in lower case."""
    try:
        vectoriser = CountVectorizer(
            binary=True, token_pattern=tokens, stop_words=stop_words, dtype=np.float64
        )
        X = vectoriser.fit_transform(texts)
    except (re.error, ValueError) as error:
        raise UsageError(f"the pattern '{tokens}' finds no words here: {error}.") from None
    return csr_array(X), vectoriser.get_feature_names_out()


def some(pairs: Sequence[Any], n: int | None, seed: int) -> list[Any]:
    """Return n of the pairs, drawn without putting back, in their own order; None returns all."""
    if n is None:
        return list(pairs)
    check_at_least("pairs", n)
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[i] for i in sorted(order[:n])]


def order_of(name: str, n: int, seed: int) -> Array:
    """Return 0, ..., n-1 in an order that depends on name and seed, not on anything around it."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())]).permutation(n)


def _document(line: str, where: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"{where}: is not JSON: {error}.") from None
    if not isinstance(document, dict) or not isinstance(document.get("text"), str):
        raise UsageError(f"{where}: holds no text; give each line an object of label and text.")
    if document.get("label") is None:
        raise UsageError(f"{where}: holds no label; give each line an object of label and text.")
    return document
