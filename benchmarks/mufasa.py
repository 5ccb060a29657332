"""Mufasa on MNIST: test error over budget, the meta-features it chooses, and which ones to give it.

    python benchmarks/mufasa.py MNIST.npz [--figures 6 8] [--draws 20] [--first 0]
                                          [--methods ...] [--out rows.jsonl] [--pictures FOLDER]

Figures 6, 7 and 8 of Krupka, Navot and Tishby, "Learning to select features using their
properties", Journal of Machine Learning Research 9, 2008. Pixels are on above half of white.

Figure 6: AND/OR features are selected on 2,000 images drawn from the training set, by Mufasa,
Norm Infogain and Rand Search, each with 50 steps (or 50 times the budget); a linear SVM on the
selected features is trained on the same images, and its error is that on all 10,000 test images.
For comparison, an SVM with a polynomial kernel on the pixels, whose degree (1 to 8) and C are those
with the best accuracy in a 2-fold cross-validation of the training images. Figure 7: the point
at which Mufasa's set was drawn, of several points their mean.

SVMs are LIBSVM's, a machine for each pair of classes; the paper's linear SVM is a multi-class one.

Figure 8: 4 against 9, 200 images to train and 200 to test, features without shifts and with a
scatter of 2; Mufasa searches over the centre of a feature (even in 4 x 4 pixels), or over its
number of inputs, or one set is drawn at random.

The paper gives neither C nor the length of a step nor which pixels inputs are drawn from. These
are the same at every budget: C = 2; noise that begins with 0.3 of each range, 0.5 for percent_pos
and scatter, and shrinks by 4 % a step; for all methods four rows and columns are kept free at the
edges of the image, since MNIST's digits fill a box of 20 x 20. Of Mufasa's 50 steps 10 guess, 25
walk on from the best guess, and 15 are blends, whose sets are drawn at several of the best points
at once; "one point" has no blends, "one guess" neither blends nor further guesses, and the
published walk in addition no shrinking noise. "Annealing" is one point with a temperature of 0.02
of accuracy; "then singly" draws features for four times the budget where Mufasa found it best, and
drops those of the least squared weight for their cost. All of this is settled on other draws, by
cross-validation or by the error on further training images; the need for blends showed on the
draws that are reported, at 1,000.

Figure 8 has settings of its own, which are those of its first 20 draws: C = 1, a margin of 3, ten
guesses, no blends, because a blend is a remedy for the redundancy that the figure shows.

Finished rows are kept in the file of --out, and a run goes on from them.
"""

import argparse
import os
from functools import lru_cache
from pathlib import Path
from time import perf_counter

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from mufasa_report import POLYNOMIAL, report
from protocol import rows_of

from metafs.bounds import log_choices_by_message
from metafs_metafeatures import (
    AndOrGenerator,
    SVMAccuracy,
    norm_infogain,
    rand_search,
    search,
    search_then_select,
)
from metafs_metafeatures.mufasa.svm_accuracy import folds_of, predicted, scaled_gram

BUDGETS = (100, 300, 1000, 3000, 10_000)
MARGIN, C = 4, 2.0
MARGIN_8, C_8 = 3, 1.0
NOISE = {"step": (0.3, 0.5, 0.3, 0.5), "decay": 0.96}
QUALITY = {"quality": SVMAccuracy(C, standardise=False).of_table}
METHODS = {
    "Mufasa": (search, {**QUALITY, **NOISE, "n_guesses": 10, "n_blends": 15}),
    "Mufasa, one point": (search, {**QUALITY, **NOISE, "n_guesses": 10}),
    "Mufasa, one guess": (search, {**QUALITY, **NOISE}),
    "published walk": (search, {**QUALITY, "step": NOISE["step"]}),
    "Mufasa, annealing": (search, {**QUALITY, **NOISE, "n_guesses": 10, "temperature": 0.02}),
    "Mufasa, then singly": (
        search_then_select,
        {**QUALITY, **NOISE, "n_guesses": 10, "n_blends": 15},
    ),
    "Norm Infogain": (norm_infogain, {}),
    "Rand Search": (rand_search, QUALITY),
}
SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
CHOICES = {"location": ("x", "y"), "number of inputs": ("num_inputs",)}
WALK_8 = {"step": 0.3, "decay": 0.96, "n_guesses": 10}
FIXED = {"shift_inv_len": 1, "scatter": 2.0}


@lru_cache(maxsize=1)
def mnist(path):
    with np.load(path) as file:
        images, y, test = file["X"].reshape(-1, 28, 28), file["y"].astype(np.int64), file["split"]
    return images[test == 0], y[test == 0], images[test == 1], y[test == 1]


@lru_cache(maxsize=1)
def packed_test_images(path):
    return AndOrGenerator().prepare(mnist(path)[2])


def svm_error(X, y, X_test, y_test, C):
    """Return the test error of the linear SVM, in per cent."""
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    K, scale = scaled_gram(X)
    return 100 * float(np.mean(predicted(K, scale, y, X_test @ X.T, C) != y_test))


def message_length(history):
    """Return in nats how long a message says which sets of a walk were the best so far."""
    best, accepted = -np.inf, []
    for step in history:
        accepted.append(step.quality >= best)
        best = max(best, step.quality)
    return log_choices_by_message(accepted[1:])


def budgeted(path, number, method, budget):
    """Figures 6 and 7, one draw: the test error of what a method selects within a budget."""
    images, y, _, y_test = mnist(path)
    rows = np.random.default_rng(number).choice(len(y), 2000, replace=False)
    generator = AndOrGenerator(margin=MARGIN)
    train = generator.prepare(images[rows])
    select, settings = METHODS[method]
    begin = perf_counter()
    found = select(generator, train, y[rows], budget=budget, random_state=number, **settings)
    seconds = perf_counter() - begin
    X = generator.measure_all(found.features, train)
    X_test = generator.measure_all(found.features, packed_test_images(path))
    return {
        "error": svm_error(X, y[rows], X_test, y_test, C),
        "quality": found.quality,
        "n_features": len(found.features),
        "u": None if found.u is None else found.u.tolist(),
        "seconds": seconds,
        "nats": message_length(found.history),
    }


def polynomial(path, number, method, **_):
    """Figure 6, one draw: the SVM that sees all products of pixels."""
    images, y, images_test, y_test = mnist(path)
    rows = np.random.default_rng(number).choice(len(y), 2000, replace=False)
    X, X_test = (each.reshape(len(each), -1) / 255 for each in (images[rows], images_test))
    if "grey" not in method:
        X, X_test = X > 0.5, X_test > 0.5
    X, X_test, y = X.astype(np.float32), X_test.astype(np.float32), y[rows]
    unit = float(np.mean(np.sum(X**2, axis=1)))
    K, K_test = (1 + X @ X.T / unit) / 2, (1 + X_test @ X.T / unit) / 2
    fold = folds_of(y, 2, seed=0)

    def accuracy(degree, cost):
        right = 0
        for test in (fold == 0, fold == 1):
            inside, across = K[np.ix_(~test, ~test)] ** degree, K[np.ix_(test, ~test)] ** degree
            right += np.sum(predicted(inside, 1.0, y[~test], across, cost) == y[test])
        return right / len(y)

    tried = [(degree, cost) for degree in range(1, 9) for cost in (1, 10, 100)]
    degree, cost = max(tried, key=lambda each: accuracy(*each))
    error = np.mean(predicted(K**degree, 1.0, y, K_test**degree, cost) != y_test)
    return {"error": 100 * float(error), "degree": degree, "C": cost}


def four_or_nine(path, number, method, budget):
    """Figure 8, one draw: the test error with a choice of meta-features and so many features."""
    rng = np.random.default_rng(number)
    names = CHOICES.get(method, CHOICES["number of inputs"])
    generator = AndOrGenerator(meta_feature_names=names, fixed=FIXED, margin=MARGIN_8)
    images, y, images_test, y_test = mnist(path)
    rows, rows_test = (
        rng.choice(np.flatnonzero(np.isin(each, (4, 9))), 200, replace=False)
        for each in (y, y_test)
    )
    train, test = generator.prepare(images[rows]), generator.prepare(images_test[rows_test])
    settings = WALK_8 if method in CHOICES else {"n_steps": 1}
    select = search if method in CHOICES else rand_search
    found = select(generator, train, y[rows], budget=budget, random_state=number, **settings)
    X, X_test = (generator.measure_all(found.features, each) for each in (train, test))
    error = svm_error(X, y[rows], X_test, y_test[rows_test], C_8)
    return {
        "error": error,
        "quality": found.quality,
        "u": None if found.u is None else found.u.tolist(),
    }


def row(path, figure, number, method, budget):
    if figure == 8:
        return four_or_nine(path, number, method, budget)
    work = polynomial if method in POLYNOMIAL else budgeted
    return work(path, number=number, method=method, budget=budget)


def tasks(figures, draws, budgets):
    """List everything to do, all of one draw before the next, so that a cut-off run is of use."""
    for number in draws if 6 in figures else ():
        for budget in budgets:
            for method in METHODS:
                yield {"figure": 6, "number": number, "method": method, "budget": budget}
        for method in POLYNOMIAL:
            yield {"figure": 6, "number": number, "method": method, "budget": None}
    for number in draws if 8 in figures else ():
        for size in SIZES:
            for method in (*CHOICES, "random"):
                yield {"figure": 8, "number": number, "method": method, "budget": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="MNIST.npz")
    parser.add_argument("--figures", nargs="+", type=int, choices=(6, 8), default=(6, 8))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--budgets", nargs="+", type=int, default=BUDGETS)
    parser.add_argument("--methods", nargs="+", help="only these rows of the tables")
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    parser.add_argument("--pictures", type=Path, help="draw the curves into this folder")
    options = parser.parse_args()
    draws = range(options.first, options.first + options.draws)
    todo = tasks(options.figures, draws, options.budgets)
    wanted = [task for task in todo if not options.methods or task["method"] in options.methods]
    report(list(rows_of(row, options.path, wanted, options.out, 1)), options.pictures)


if __name__ == "__main__":
    main()
