"""Pairs of newsgroups, cold and with memory: what transfer saves where features are many.

    python benchmarks/text_pairs.py 20newsgroups.jsonl.gz [N_PAIRS]

The file holds one JSON object a line with `label` and `text`. From each label 100 documents are
drawn; a problem is a pair of labels over the words that occur in at least 3 of its documents.
"""

import gzip
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
from comparing import print_comparison, solve_all
from sklearn.feature_extraction.text import CountVectorizer

from metafs import Problem
from metafs_metadb import MetaDB

N_DOCUMENTS = 100


def pairs(path: str, n_pairs: int) -> Iterator[Problem]:
    rng = np.random.default_rng(0)
    texts = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for document in map(json.loads, lines):
            texts[document["label"]].append(document["text"])
    labels = sorted(texts)
    drawn = [t for label in labels for t in rng.permutation(texts[label])[:N_DOCUMENTS]]
    words = CountVectorizer(binary=True, min_df=5, token_pattern=r"[a-zA-Z]{2,}")
    X = words.fit_transform(drawn).astype(float).tocsr()
    y = np.repeat(labels, N_DOCUMENTS)
    names = words.get_feature_names_out()
    for one, two in rng.permutation(list(combinations(labels, 2)))[:n_pairs]:
        rows = (y == one) | (y == two)
        seen = np.flatnonzero(X[rows].sum(axis=0) >= 3)
        yield Problem.of(
            X[rows][:, seen], y[rows], feature_names=names[seen], name=f"{one} {two}", source=path
        )


def main() -> None:
    n_pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    stream = list(pairs(sys.argv[1], n_pairs))
    sizes = [problem.n_features for problem in stream]
    print(f"{len(stream)} pairs, {min(sizes)} to {max(sizes)} words, budget 1000\n")
    with tempfile.TemporaryDirectory() as folder:
        for transfer in ("paper", "guided"):
            db = MetaDB(Path(folder) / f"{transfer}.duckdb")
            solve_all(stream, db, transfer, budget=1000)
            solve_all(stream, db, "none", budget=1000)
            print_comparison(db)


if __name__ == "__main__":
    main()
