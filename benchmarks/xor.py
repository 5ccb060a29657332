"""The xor problem of section 5.1: what Simba and Relief make of three features among ten.

    python benchmarks/xor.py

1000 points uniform in [0, 1]^10, the class is the xor of the first three features above one
half. 20 seeds, 1000 steps each; the angle is that between the final weights (Simba's w^2) and
the vector that is one for the first three features and zero for the others, in radians.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))


import numpy as np

from metafs_margin import Margin, Relief, Simba

SEEDS = range(20)
TRUTH = np.repeat([1.0, 0.0], [3, 7])


def xor(seed):
    X = np.random.default_rng(seed).uniform(size=(1000, 10))
    return X, (X[:, :3] > 0.5).sum(axis=1) % 2


def angle(weights):
    cosine = weights @ TRUTH / (np.linalg.norm(weights) * np.linalg.norm(TRUTH))
    return np.arccos(np.clip(cosine, -1, 1))


def angles_and_margins(problem, seed):
    """Return the angle and e(w) of one ascent after 150, 200, ... 1000 steps (figure 3)."""
    found = []
    for n_steps in range(150, 1001, 50):
        fit = Simba(3, n_steps=n_steps, n_restarts=1, random_state=seed).fit(*problem)
        w = np.sqrt(np.maximum(fit.scores_, 0) / fit.scores_.max())
        found.append((angle(fit.scores_), Margin().of_weights(*problem, w)))
    return np.array(found)


def main():
    methods = {
        "simba": lambda seed: Simba(3, n_steps=1000, random_state=seed),
        "simba, 1 restart": lambda seed: Simba(3, n_steps=1000, n_restarts=1, random_state=seed),
        "relief": lambda seed: Relief(3, n_steps=1000, random_state=seed),
    }
    problems = [xor(seed) for seed in SEEDS]
    fitted = {
        name: [make(seed).fit(*problems[seed]) for seed in SEEDS] for name, make in methods.items()
    }
    angles = {
        name: np.array([angle(each.scores_) for each in fits]) for name, fits in fitted.items()
    }
    print("| method | mean angle | largest | below relief's | top three right | mean e(w) |")
    print("|---|---|---|---|---|---|")
    for name, fits in fitted.items():
        right = sum(each.get_support()[:3].all() for each in fits)
        below = (angles[name] < angles["relief"]).sum()
        norms = [np.sqrt(np.maximum(each.scores_, 0) / each.scores_.max()) for each in fits]
        e = [Margin().of_weights(*p, w) for p, w in zip(problems, norms, strict=True)]
        print(
            f"| {name} | {angles[name].mean():.4f} | {angles[name].max():.4f} "
            f"| {below} of {len(SEEDS)} | {right} of {len(SEEDS)} | {np.mean(e):.2f} |"
        )
    true = [Margin().of_weights(*problem, TRUTH) for problem in problems]
    print(f"| the true vector | 0 | 0 | | | {np.mean(true):.2f} |")
    along = [
        angles_and_margins(problem, seed) for problem, seed in zip(problems, SEEDS, strict=True)
    ]
    correlations = [np.corrcoef(each.T)[0, 1] for each in along]
    print(
        "figure 3: correlation of angle and e(w) from step 150 on: "
        f"median {np.median(correlations):.2f}, "
        f"{min(correlations):.2f} to {max(correlations):.2f}"
    )
    assert angles["simba"].mean() <= 0.06
    assert (angles["simba"] < angles["relief"]).sum() >= 19
    assert all(each.get_support()[:3].all() for each in fitted["simba"])


if __name__ == "__main__":
    main()
