"""Are the nearest problems the related ones, whatever classes are called?

    python benchmarks/relatedness.py 20newsgroups.jsonl.gz

A problem is a pair of newsgroups; 60 pairs are remembered with 200 documents a group, 30 other
pairs are new, with few documents that no remembered pair has. Two pairs are related if they have a
group in common, which a fifth of them have. Told is the share of related ones among the 5 nearest.
Classes are called 0 and 1 (in the order of the groups) or by their groups, or the names of the new
pairs' classes are swapped. Distances are `jsd-features` and `jsd-labelled`.
"""

import sys
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from text_stream import read_texts

from metafs import Problem, Registry

N_DOCUMENTS = 200
LABELS = (5, 20, 100)
NEAREST = 5


def words_of(path: str) -> tuple[csr_array, np.ndarray, list[str], list[str]]:
    texts = {group: found[: 2 * N_DOCUMENTS] for group, found in read_texts(path, "train").items()}
    groups = sorted(texts)
    counter = CountVectorizer(binary=True, min_df=20, max_df=0.5)
    X = counter.fit_transform([text for group in groups for text in texts[group]])
    label = np.repeat(np.arange(len(groups)), [len(texts[group]) for group in groups])
    return csr_array(X.astype(float)), label, groups, counter.get_feature_names_out().tolist()


def main(path: str) -> None:
    X, label, groups, words = words_of(path)
    rng = np.random.default_rng(0)
    pairs = rng.permutation(list(combinations(range(len(groups)), 2))).tolist()
    remembered, new = pairs[:60], pairs[60:90]
    related = np.array([[bool({*one} & {*two}) for two in remembered] for one in new])

    def problem(pair: list[int], n: int, names: tuple[str, str], later: bool) -> Problem:
        halves = [np.flatnonzero(label == group) for group in pair]
        draw = np.random.default_rng([n, *pair])
        rows = [
            draw.permutation(half[N_DOCUMENTS:] if later else half[:N_DOCUMENTS])[:n]
            for half in halves
        ]
        y = np.repeat(names, [len(each) for each in rows])
        return Problem.of(X[np.concatenate(rows)], y, feature_names=words)

    def called(pair: list[int], how: str) -> tuple[str, str]:
        one, two = ("0", "1") if how != "groups" else (groups[pair[0]], groups[pair[1]])
        return (two, one) if how == "swapped" else (one, two)

    print("| distance | classes | " + " | ".join(f"{n} labels" for n in LABELS) + " |")
    print("|---|---|" + "--:|" * len(LABELS))
    for name in ("jsd-features", "jsd-labelled"):
        jsd = Registry().distances[name]
        for how in ("0 and 1", "groups", "swapped"):
            of_memory = "0 and 1" if how == "swapped" else how
            known = [
                jsd.signature(problem(pair, N_DOCUMENTS, called(pair, of_memory), False))
                for pair in remembered
            ]
            shares = []
            for n in LABELS:
                asked = [jsd.signature(problem(pair, n, called(pair, how), True)) for pair in new]
                d = np.array([[jsd.distance(one, two) for two in known] for one in asked])
                nearest = np.argsort(d, axis=1, kind="stable")[:, :NEAREST]
                shares.append(np.take_along_axis(related, nearest, axis=1).mean())
            print(
                f"| `{name}` | {how} | " + " | ".join(f"{s:.2f}" for s in shares) + " |", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1])
