"""Patch prototypes on COIL20: how well meta-features predict quality, and the results of MF-PFS.

    python benchmarks/mf_pfs.py DATA_FOLDER [--parts quality curves ...]
                                            [--out rows.jsonl] [--pictures FOLDER]

E. Krupka, A. Navot, N. Tishby, "Learning to Select Features using their Properties", JMLR 2008,
sections 5.1 and 5.2: the quality (squared weights of a multi-class SVM) of 500 features predicts
that of 500 others with correlation 0.94; of 10n candidates MF-PFS measures 2.1n and selects n that
are nearly as accurate as those of RFE over all 10n, better than those of RFE over 2.1n random ones.
The paper has Caltech-101, 101 categories in images of some 300 by 200 pixels; COIL20 has 20 objects
in 1440 images of 32 by 32. Ten images of each object are kept apart: prototypes are cut from them
and from nothing else. Of the others --per-class of each object are for training, the rest for
testing, 20 splits.

Linear SVMs have squared hinge loss, one class against the rest, C as given, the same for quality
and for classification; features are used as they are, in [0, 1]. Sharpness is beta in units of the
inverse median squared distance between a prototype and an image; the paper does not give its beta.
A value of 20 was chosen after comparing correlations and curves of several: meta-features predict
quality well there, mostly because large patches then match no image. It and C = 1 were chosen after
short runs whose accuracies came from test images of some of the same splits. The accuracy of random
patches of the smallest size is printed too, to show what size alone achieves.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
from functools import lru_cache
from pathlib import Path

import numpy as np
from mf_pfs_report import (
    draw_quality,
    report_curves,
    report_drops,
    report_overhead,
    report_quality,
    report_regressors,
    report_smallest,
    report_speed,
)
from mf_pfs_times import overhead_times, speed_times
from protocol import rows_of
from sklearn.svm import LinearSVC

from metafs import Registry
from metafs.plugin.generators import describe_all
from metafs.stats.quality_map import QualityMap, correlation
from metafs_metafeatures import (
    MFPFS,
    PatchPrototypes,
    TableMeasurer,
    random_features,
    rfe_all,
    rfe_small,
)
from metafs_regressors import WeightedKNN
from metafs_svm import SVMWeights

KEPT_APART = 10
N_PROTOTYPES = 5000
NAMES = PatchPrototypes.meta_feature_names
REGRESSORS = Registry().regressors


@lru_cache(maxsize=1)
def images(folder, data):
    """Return the images to cut prototypes from, the others, and the classes of those."""
    with np.load(Path(folder) / f"{data}.npz") as file:
        X, y = file["X"].astype(float), np.unique(file["y"], return_inverse=True)[1]
    X = X.reshape(len(X), 32, 32) / (X.max() if X.max() > 1 else 1)
    rng = np.random.default_rng(0)
    apart = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:KEPT_APART] for c in set(y)])
    rest = np.setdiff1d(np.arange(len(y)), apart)
    return X[apart], X[rest], y[rest]


@lru_cache(maxsize=1)
def candidates(folder, data):
    """Return values of all prototypes with sharpness 1, their meta-features, and the classes."""
    apart, X, y = images(folder, data)
    generator = PatchPrototypes(apart)
    drawn = generator.draw(N_PROTOTYPES, np.random.default_rng(1))
    values = generator.measure_all(drawn, generator.prepare(X))
    return values, describe_all(generator, drawn), y


def split(y, per_class, number):
    """Return the rows for training and for testing."""
    rng = np.random.default_rng(number)
    train = [rng.permutation(np.flatnonzero(y == c))[:per_class] for c in np.unique(y)]
    train = np.sort(np.concatenate(train))
    return train, np.setdiff1d(np.arange(len(y)), train)


def patches_of(number):
    """Return the prototypes of a split: half of them to learn from, half to predict."""
    return np.random.default_rng(number).permutation(N_PROTOTYPES)[:1000]


def accuracy(X, y, X_test, y_test, C):
    """Return the percentage of test images that a linear SVM classifies correctly."""
    return 100 * LinearSVC(C=C, max_iter=100_000).fit(X, y).score(X_test, y_test)


def predicted_quality(U, one, other, quality):
    """Return the quality of some features as predicted from that of others."""
    return QualityMap(WeightedKNN(random_state=0)).fit(U[one], quality[one]).predict(U[other])


def quality_work(folder, data, number, per_class, C, sharpness, without):
    """Section 5.1 on one split, with one meta-feature left out unless `without` is empty."""
    values, U, y = candidates(folder, data)
    train, _ = split(y, per_class, number)
    drawn = patches_of(number)
    X, U = values[np.ix_(train, drawn)] ** sharpness, U[drawn]
    halves = np.arange(500), np.arange(500, 1000)
    measured = np.concatenate([SVMWeights(C)(X[:, half], y[train]) for half in halves])
    U = np.delete(U, [NAMES.index(name) for name in without], axis=1)
    predicted = predicted_quality(U, *halves, measured)
    ranks = [np.argsort(np.argsort(each)) for each in (predicted, measured[500:])]
    return {
        "correlation": correlation(predicted, measured[500:]),
        "of_ranks": correlation(*ranks),
        "predicted": predicted.tolist() if number == 0 and not without else None,
        "measured": measured.tolist() if number == 0 and not without else None,
    }


def curves_work(folder, data, number, per_class, C, sharpness, n):
    """Section 5.2 on one split: the accuracy of each method, and what MF-PFS measured."""
    values, U, y = candidates(folder, data)
    train, test = split(y, per_class, number)
    rng = np.random.default_rng([number, n])
    drawn = rng.permutation(len(U))[: 10 * n]
    X, X_test = (values[np.ix_(rows, drawn)] ** sharpness for rows in (train, test))
    quality = SVMWeights(C)
    mf_pfs = MFPFS(n, quality=quality, random_state=number)
    mf_pfs.fit_measured(TableMeasurer(X), y[train], U[drawn])
    as_published = MFPFS(n, quality=quality, random_state=number, reuse=False)
    as_published.fit_measured(TableMeasurer(X), y[train], U[drawn])
    chosen = {
        "MF-PFS": np.flatnonzero(mf_pfs.get_support()),
        "RFEall": rfe_all(TableMeasurer(X), y[train], n, quality=quality),
        "RFEsmall": rfe_small(
            TableMeasurer(X), y[train], n, mf_pfs.n_measured_, rng, quality=quality
        ),
        "Baseline": random_features(10 * n, n, rng),
        "MF-PFS without reuse": np.flatnonzero(as_published.get_support()),
    }
    row = {"measured": mf_pfs.n_measured_ / n, "without reuse": as_published.n_measured_ / n}
    for name, columns in chosen.items():
        row[name] = accuracy(X[:, columns], y[train], X_test[:, columns], y[test], C)
    return row


def regressor_work(folder, data, number, per_class, C, sharpness, n_selected, regressor):
    """The accuracy of MF-PFS on one split, on the candidates of `curves_work`, with a regressor."""
    n = n_selected
    values, U, y = candidates(folder, data)
    train, test = split(y, per_class, number)
    drawn = np.random.default_rng([number, n]).permutation(len(U))[: 10 * n]
    X, X_test = (values[np.ix_(rows, drawn)] ** sharpness for rows in (train, test))
    mf_pfs = MFPFS(n, quality=SVMWeights(C), regressor=REGRESSORS[regressor], random_state=number)
    columns = np.flatnonzero(mf_pfs.fit(X, y[train], meta_features=U[drawn]).get_support())
    found = accuracy(X[:, columns], y[train], X_test[:, columns], y[test], C)
    return {"accuracy": found, "measured": mf_pfs.n_measured_ / n}


def smallest_work(folder, data, number, per_class, C, sharpness, n_smallest):
    """The accuracy of random patches of the smallest size: selection by size alone."""
    values, U, y = candidates(folder, data)
    train, test = split(y, per_class, number)
    rng = np.random.default_rng([number, n_smallest])
    columns = rng.permutation(np.flatnonzero(U[:, 0] == U[:, 0].min()))[:n_smallest]
    X, X_test = (values[np.ix_(rows, columns)] ** sharpness for rows in (train, test))
    return {"accuracy": accuracy(X, y[train], X_test, y[test], C)}


def rows_on_splits(work, options, **settings):
    """Return the results on all splits; tasks of different works differ in their keys."""
    common = {
        "data": options.data,
        "per_class": options.per_class,
        "C": options.C,
        "sharpness": options.sharpness,
    }
    tasks = [common | settings | {"number": number} for number in range(options.splits)]
    return list(rows_of(work, options.folder, tasks, options.out, 1))


def quality_rows(options, sharpness, C, without=()):
    """Return section 5.1's results on all splits."""
    settings = {"sharpness": sharpness, "C": C, "without": list(without)}
    return rows_on_splits(quality_work, options, **settings)


def quality(options):
    """How well quality is predicted, and what each meta-feature contributes."""
    settings = [(sharpness, C) for sharpness in (1, 5, 20, 60) for C in (0.01, 1, 10)]
    report_quality((each, quality_rows(options, *each)) for each in settings)
    ours = options.sharpness, options.C
    full = quality_rows(options, *ours)
    report_drops(full, ((name, quality_rows(options, *ours, [name])) for name in NAMES))
    if options.pictures:
        _, U, _ = candidates(options.folder, options.data)
        draw_quality(full[0], U[patches_of(0)], options.pictures)


def curves(options):
    """The accuracies of figure 5."""
    print(f"\n{options.per_class} images a class, C {options.C}, sharpness {options.sharpness}\n")
    by_size = ((n, rows_on_splits(curves_work, options, n=n)) for n in options.n)
    report_curves(by_size, options.pictures)


def smallest(options):
    """The accuracy of random patches of the smallest size."""
    report_smallest((n, rows_on_splits(smallest_work, options, n_smallest=n)) for n in options.n)


def regressors(options):
    """The accuracy of MF-PFS with each regressor."""

    def at_each_size(regressor):
        for n in options.n:
            yield rows_on_splits(regressor_work, options, n_selected=n, regressor=regressor)

    report_regressors(options.n, ((each, at_each_size(each)) for each in options.regressors))


def overhead(options):
    """The seconds of MF-PFS in addition to measuring."""
    apart, X, y = images(options.folder, options.data)
    train, _ = split(y, options.per_class, 0)
    report_overhead(overhead_times(apart, X[train], y[train], options.C, options.sharpness))


def speed(options):
    """How much faster many patches are measured at once than each by plain numpy."""
    apart, X, _ = images(options.folder, options.data)
    report_speed(*speed_times(apart, X[:100]))


PARTS = {
    "quality": quality,
    "curves": curves,
    "smallest": smallest,
    "regressors": regressors,
    "overhead": overhead,
    "speed": speed,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the .npz files are")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=tuple(PARTS))
    parser.add_argument("--data", default="COIL20", help="images of 32 by 32")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--per-class", type=int, default=20, help="training images a class")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--sharpness", type=float, default=20.0)
    parser.add_argument("--n", nargs="+", type=int, default=(10, 20, 50, 100, 200, 500))
    parser.add_argument("--regressors", nargs="+", choices=REGRESSORS, default=tuple(REGRESSORS))
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    parser.add_argument("--pictures", type=Path, help="save figures 3, 4 and 5 to this folder")
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        PARTS[part](options)


if __name__ == "__main__":
    main()
