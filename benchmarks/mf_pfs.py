"""Patch prototypes on COIL20: what meta-features tell of quality, and what MF-PFS makes of it.

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
inverse median squared distance between a prototype and an image; the paper does not tell its beta.
That of 20 was settled after seeing correlations and curves of several: meta-features tell much
there, mostly because large patches are then near to nothing. It and C = 1 were settled after short
runs whose accuracies came from test images of some of the same splits. What size alone tells is
printed too, as the accuracy of random patches of the smallest size.

In the overhead "MF-PFS itself" leaves out the SVMs, and the Gabor responses of the images count as
measuring.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from protocol import rows_of
from scipy.ndimage import zoom
from sklearn.svm import LinearSVC
from timing import best_of

from metafs import Registry
from metafs.generators import describe_all
from metafs.quality_map import QualityMap, correlation
from metafs_metafeatures import (
    MFPFS,
    GeneratorMeasurer,
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
METHODS = ("MF-PFS", "RFEall", "RFEsmall", "Baseline")
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


def predicted_quality(U, one, other, quality):
    """Return the quality of some features as predicted from that of others."""
    return QualityMap(WeightedKNN(random_state=0)).fit(U[one], quality[one]).predict(U[other])


def quality_work(folder, data, number, per_class, C, sharpness, without):
    """Section 5.1 on one split, with one meta-feature left out unless `without` is empty."""
    values, U, y = candidates(folder, data)
    train, _ = split(y, per_class, number)
    drawn = np.random.default_rng(number).permutation(len(U))[:1000]
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
        svm = LinearSVC(C=C, max_iter=100_000).fit(X[:, columns], y[train])
        row[name] = 100 * svm.score(X_test[:, columns], y[test])
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
    svm = LinearSVC(C=C, max_iter=100_000).fit(X[:, columns], y[train])
    accuracy = 100 * svm.score(X_test[:, columns], y[test])
    return {"accuracy": accuracy, "measured": mf_pfs.n_measured_ / n}


def smallest_work(folder, data, number, per_class, C, sharpness, n_smallest):
    """The accuracy of random patches of the smallest size: what size alone would tell."""
    values, U, y = candidates(folder, data)
    train, test = split(y, per_class, number)
    rng = np.random.default_rng([number, n_smallest])
    columns = rng.permutation(np.flatnonzero(U[:, 0] == U[:, 0].min()))[:n_smallest]
    X, X_test = (values[np.ix_(rows, columns)] ** sharpness for rows in (train, test))
    svm = LinearSVC(C=C, max_iter=100_000).fit(X, y[train])
    return {"accuracy": 100 * svm.score(X_test, y[test])}


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


def told(values):
    """Return a mean and its standard error."""
    values = np.asarray(values)
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def quality(options):
    """Print how well quality is predicted, and what each meta-feature contributes."""
    print("| sharpness | C | correlation (paper 0.94) | of ranks |\n|--:|--:|--:|--:|")
    for sharpness in (1, 5, 20, 60):
        for C in (0.01, 1, 10):
            rows = quality_rows(options, sharpness, C)
            found, ranks = ([row[key] for row in rows] for key in ("correlation", "of_ranks"))
            print(
                f"| {sharpness} | {C} | {np.mean(found):.3f} ± {np.std(found):.3f} "
                f"| {np.mean(ranks):.3f} |",
                flush=True,
            )
    settings = options.sharpness, options.C
    full = [row["correlation"] for row in quality_rows(options, *settings)]
    print("\n| without | drop of the correlation |\n|---|--:|")
    for name in NAMES:
        left = [row["correlation"] for row in quality_rows(options, *settings, [name])]
        drop = np.subtract(full, left)
        error = drop.std(ddof=1) / np.sqrt(len(drop)) if len(drop) > 1 else 0.0
        print(f"| {name} | {drop.mean():.3f} ± {error:.3f} |", flush=True)
    if options.pictures:
        plot_quality(options, quality_rows(options, *settings)[0])


def plot_quality(options, row):
    """Draw figures 3 and 4 of the first split."""
    import matplotlib.pyplot as plt

    _, U, _ = candidates(options.folder, options.data)
    U = U[np.random.default_rng(0).permutation(len(U))[:1000]]
    predicted, measured = np.array(row["predicted"]), np.array(row["measured"])
    figure, axes = plt.subplots(1, 4, sharey=True, figsize=(12, 3), layout="constrained")
    for size, axis in zip(np.unique(U[:, 0]), axes, strict=True):
        axis.plot(U[U[:, 0] == size, 2], measured[U[:, 0] == size], ".", markersize=3)
        axis.set(title=f"{size:.0f} by {size:.0f}", xlabel="standard deviation")
    axes[0].set(ylabel="measured quality")
    figure.savefig(options.pictures / "figure_3.png", dpi=150)

    measured = measured[500:]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot(measured, predicted, ".", markersize=3)
    left.axline((0, 0), slope=1, color="grey", linewidth=0.5)
    left.set(
        xlabel="measured quality",
        ylabel="predicted quality",
        title=f"correlation {row['correlation']:.2f} (paper 0.94)",
    )
    k = np.arange(1, 501)
    for label, by in (("measured", measured), ("predicted", predicted)):
        mean = np.cumsum(measured[np.argsort(-by)]) / k
        right.plot(k, mean, label=f"ranked by {label} quality")
    right.set(xlabel="k", ylabel="mean quality of the first k")
    right.legend()
    figure.savefig(options.pictures / "figure_4.png", dpi=150)


def curves(options):
    """Print the accuracies of figure 5."""
    found = {}
    print(f"\n{options.per_class} images a class, C {options.C}, sharpness {options.sharpness}\n")
    print(
        "| n | MF-PFS | RFEall | RFEsmall | Baseline | measured (paper 2.1n) | MF-PFS - RFEall "
        "| MF-PFS - RFEsmall | F_0 drawn afresh | measured then |\n" + "|--:" * 10 + "|"
    )
    for n in options.n:
        rows = rows_on_splits(curves_work, options, n=n)
        found[n] = rows
        accuracy = {name: np.array([row[name] for row in rows]) for name in METHODS}

        print(
            f"| {n} | "
            + " | ".join(told(accuracy[name]) for name in METHODS)
            + f" | {np.mean([row['measured'] for row in rows]):.2f}n"
            f" | {told(accuracy['MF-PFS'] - accuracy['RFEall'])}"
            f" | {told(accuracy['MF-PFS'] - accuracy['RFEsmall'])}"
            f" | {told([row['MF-PFS without reuse'] for row in rows])}"
            f" | {np.mean([row['without reuse'] for row in rows]):.2f}n |",
            flush=True,
        )
    if options.pictures:
        plot_curves(options, found)


def regressors(options):
    """Print the accuracy of MF-PFS with each regressor."""
    sizes = options.n
    print(f"\n| regressor | {' | '.join(f'n = {n}' for n in sizes)} |\n|---|{'--:|' * len(sizes)}")
    for regressor in options.regressors:
        cells = []
        for n in sizes:
            rows = rows_on_splits(regressor_work, options, n_selected=n, regressor=regressor)
            measured = np.mean([row["measured"] for row in rows])
            cells.append(f"{told([row['accuracy'] for row in rows])} ({measured:.2f}n)")
        print(f"| {regressor} | {' | '.join(cells)} |", flush=True)


def smallest(options):
    """Print the accuracy of random patches of the smallest size."""
    print("\n| n | random patches of the smallest size |\n|--:|--:|")
    for n in options.n:
        rows = rows_on_splits(smallest_work, options, n_smallest=n)
        print(f"| {n} | {told([row['accuracy'] for row in rows])} |", flush=True)


def plot_curves(options, found):
    """Draw figure 5."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(layout="constrained")
    for name in METHODS:
        accuracy = np.array([[row[name] for row in rows] for rows in found.values()])
        error = accuracy.std(axis=1, ddof=1) / np.sqrt(accuracy.shape[1])
        axes.errorbar(list(found), accuracy.mean(axis=1), error, label=name, marker=".", capsize=2)
    axes.set(
        xscale="log", xlabel="features selected, n of 10n", ylabel="accuracy on test images, %"
    )
    axes.set_xticks(list(found), list(map(str, found)))
    axes.legend()
    figure.savefig(options.pictures / "figure_5.png", dpi=150)


def timed_selection(generator, drawn, training_images, y, C, regressor):
    """Select 200 patches; return how many were measured, and seconds by what they went for."""
    svm_seconds = 0.0

    def timed_quality(columns, y):
        nonlocal svm_seconds
        begin = perf_counter()
        found = SVMWeights(C)(columns, y)
        svm_seconds += perf_counter() - begin
        return found

    described = describe_all(generator, drawn)
    begin = perf_counter()
    measurer = GeneratorMeasurer(generator, drawn, training_images)
    mf_pfs = MFPFS(200, quality=timed_quality, regressor=REGRESSORS[regressor], random_state=0)
    mf_pfs.fit_measured(measurer, y, described)
    seconds = perf_counter() - begin
    return (
        mf_pfs.n_measured_,
        measurer.seconds,
        svm_seconds,
        seconds - measurer.seconds - svm_seconds,
    )


def overhead(options):
    """Print what MF-PFS takes besides measuring, on images as they are and enlarged."""
    apart, X, y = images(options.folder, options.data)
    train, _ = split(y, options.per_class, 0)
    print(
        "\n| images | regressor | measured | measuring | SVMs (quality) | MF-PFS itself "
        "| of measuring | goal |\n|---|---|--:|--:|--:|--:|--:|--:|"
    )
    for side, settings in ((32, {}), (128, {"n_bands": 8, "pool": 8, "stride": 4})):
        factor = side // 32
        large = [zoom(each, (1, factor, factor), order=1) for each in (apart, X[train])]
        generator = PatchPrototypes(large[0], **settings)
        generator = replace(generator, beta=generator.sharpness * options.sharpness)
        drawn = generator.draw(2000, np.random.default_rng(2))
        for regressor in ("knn", "weighted-knn"):
            n_measured, measuring, svms, itself = timed_selection(
                generator, drawn, large[1], y[train], options.C, regressor
            )
            print(
                f"| {len(train)} of {side} by {side} | {regressor} | {n_measured} of 2000 "
                f"| {measuring:.2f} s | {svms:.2f} s | {itself:.2f} s | {itself / measuring:.1%} "
                "| 5 % |",
                flush=True,
            )


def slow_values(generator, patch, bands):
    """The value of a patch by the plain numpy expression over all its places."""
    prototype = generator.prototypes([patch])[0].astype(float)
    pieces = sliding_window_view(bands, prototype.shape, axis=(2, 3, 4))[:, :, :, :, 0]
    squared = ((pieces - prototype) ** 2).sum(axis=(4, 5, 6))
    return np.exp(-generator.sharpness * squared.min(axis=(1, 2, 3)))


def speed(options):
    """Print how much faster many patches are measured at once than each by plain numpy."""
    apart, X, _ = images(options.folder, options.data)
    generator = PatchPrototypes(apart)
    drawn = generator.draw(200, np.random.default_rng(3))
    prepared = generator.prepare(X[:100])
    fast, values = best_of(3, lambda: generator.measure_all(drawn, prepared))
    few = drawn[:20]
    slow, expected = best_of(
        1, lambda: np.column_stack([slow_values(generator, p, prepared.bands) for p in few])
    )
    np.testing.assert_allclose(values[:, :20], expected, rtol=1e-6)
    print("\n| 200 patches on 100 images | plain numpy, from 20 patches | ratio |\n|--:|--:|--:|")
    print(f"| {fast:.2f} s | {10 * slow:.1f} s | {10 * slow / fast:.0f} |")


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
