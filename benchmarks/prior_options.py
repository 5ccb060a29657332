"""Low frequencies, tuned meta-features and machines trained together, on digits.

    python benchmarks/prior_options.py frequencies|limits|together MNIST.npz [--train 300]
                                       [--draws 4]

Sections 3 and 4 of Krupka and Tishby, "Incorporating prior knowledge on features into learning",
2007. Errors are those on 2,000 test images.

*frequencies*: the 784 pixels, their position as meta-features, reduced to frequencies of at most B
cycles a pixel; beside it as many principal components, and all pixels. Logistic regression, its C
by cross-validation.

*limits*: monomials of two and three pixels with bases of 2 to 10 pixels, the first draw's images;
which base lengths, orientations and numbers of inputs are used is tuned by 3-fold cross-validation
of gp-prior with sigma and C fixed. The paper settled on bases of at most 6 in the same way.

*together*: gp-prior on the paper's monomials with each class against the rest, and with all classes
trained together as Crammer and Singer do, sigma = 3.67, C by cross-validation.
"""

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from gp_prior import PRIOR, read
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegressionCV

from metafs_metafeatures.generators.monomials import MonomialGenerator, all_monomials
from metafs_metafeatures.gp_prior import (
    FrequencyReduction,
    GPPriorClassifier,
    GroupedGaussian,
    accuracy_within,
    tune_limits,
)

BANDWIDTHS = (0.0, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18)
N_TEST = 2000
SIGMA = 3.67


def drawn(folder, draw, n):
    images, y, test, y_test = read(folder)
    rng = np.random.default_rng(draw)
    rows, some = rng.permutation(len(y))[:n], rng.permutation(len(y_test))[:N_TEST]
    return images[rows], y[rows], test[some], y_test[some]


def error(model, X, y, X_test, y_test):
    unit = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    X, X_test = X / unit * 10, X_test / unit * 10
    return 100 * (1 - model.fit(X, y).score(X_test, y_test))


def frequencies(folder, n, draws):
    positions = np.stack(np.meshgrid(range(28), range(28), indexing="ij"), -1).reshape(-1, 2)
    found = {}
    for draw in range(draws):
        images, y, test, y_test = drawn(folder, draw, n)
        X, X_test = (each.reshape(len(each), -1) / 255.0 for each in (images, test))
        learner = LogisticRegressionCV(
            Cs=np.geomspace(1e-3, 10, 5),
            cv=3,
            max_iter=500,
            l1_ratios=(0,),
            use_legacy_attributes=False,
        )
        found.setdefault(("all pixels", 784), []).append(error(learner, X, y, X_test, y_test))
        for bandwidth in BANDWIDTHS:
            low = FrequencyReduction(bandwidth).fit(X, meta_features=positions)
            columns = low.basis_.shape[1]
            key = f"B = {bandwidth}", columns
            given = low.transform(X), y, low.transform(X_test), y_test
            found.setdefault(key, []).append(error(learner, *given))
            pca = PCA(min(columns, n - 1), random_state=0).fit(X)
            given = pca.transform(X), y, pca.transform(X_test), y_test
            found.setdefault(("principal components", columns), []).append(error(learner, *given))
    print(f"{n} images, {draws} draws\n\n| columns | of | error |\n|--:|---|--:|")
    for (name, columns), errors in sorted(found.items(), key=lambda each: each[0][1]):
        print(f"| {columns} | {name} | {np.mean(errors):.1f} % ± {np.std(errors):.1f} |")


def limits(folder, n, draws):
    images, y, test, y_test = drawn(folder, 0, n)
    generator = MonomialGenerator(
        margin=5, orientations=tuple((base, 8) for base in (2, 4, 6, 8, 10))
    )
    features, U = all_monomials(generator)
    X, X_test = (
        generator.measure_all(features, generator.prepare(each)).astype(np.float32)
        for each in (images, test)
    )
    covariance = GroupedGaussian(SIGMA, groups=(0, 1, 2), positions=(3, 4))

    def learner():
        return GPPriorClassifier(covariance, C=1e-4, random_state=0)

    quality = accuracy_within(X, y, U, learner(), cv=3)
    tuned = tune_limits(U[:, :3], quality, max_rounds=1)
    print("| features | limits of inputs, base, orientation | cross-validated | test error |")
    print("|--:|---|--:|--:|")
    every, paper = np.ones(len(U), bool), U[:, 1] <= 6
    for name, support in (("all", every), ("base at most 6", paper), (tuned.limits, tuned.support)):
        model = learner().fit(X[:, support], y, meta_features=U[support])
        wrong = 100 * (1 - model.score(X_test[:, support], y_test))
        shown = name if isinstance(name, str) else np.round(name, 1).tolist()
        print(f"| {support.sum():,} | {shown} | {quality(support):.3f} | {wrong:.2f} % |")


def together(folder, n, draws):
    generator, (features, U) = MonomialGenerator(), all_monomials()
    found = {"against-rest": [], "crammer-singer": []}
    for draw in range(draws):
        images, y, test, y_test = drawn(folder, draw, n)
        X, X_test = (
            generator.measure_all(features, generator.prepare(each)) for each in (images, test)
        )
        for way, errors in found.items():
            model = GPPriorClassifier(PRIOR, sigma=SIGMA, multi_class=way, random_state=draw)
            model.fit(X, y, meta_features=U)
            errors.append(100 * (1 - model.score(X_test, y_test)))
    print(f"{n} images, {draws} draws\n\n| machines | error |\n|---|--:|")
    for way, errors in found.items():
        print(f"| {way} | {np.mean(errors):.2f} % ± {np.std(errors):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("frequencies", "limits", "together"))
    parser.add_argument("folder", help="where MNIST.npz is")
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args()
    globals()[options.what](options.folder, options.train, options.draws)


if __name__ == "__main__":
    main()
