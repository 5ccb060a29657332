"""How much noise each form of mi-confidence keeps, and what it costs.

    python benchmarks/noise_columns.py [--rows 300 1000 5000 20000] [--seeds 10]
                                       [--stream FOLDER] [--budget 1000]

Each search is the published climb. *Noise* has 3 true columns, which together decide the target of
two classes but for a tenth of the rows, and 20 columns of noise, all normal; *random* has 23 of
these. With --stream it also solves a folder of problems and scores logistic regression on what
was selected, by nested cross-validation.
"""

import argparse
import os
from pathlib import Path
from time import process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np

from metafs import Registry, solve
from metafs_climb.mi_confidence import MIConfidence

MEASURES = {
    "mi-confidence": MIConfidence(),
    "mi-interval, 5 %": MIConfidence(confidence="interval", width=0.05),
    "mi-interval, 10 %": MIConfidence(confidence="interval"),
    "mi-interval, 20 %": MIConfidence(confidence="interval", width=0.2),
    "mi-adjusted": MIConfidence(adjusted=True),
    "mi-adjusted, 10 %": MIConfidence(adjusted=True, confidence="interval"),
    "mi-adjusted, 4 sigmas": MIConfidence(adjusted=True, sigmas=4.0),
}
N_TRUE, N_NOISE, FLIPPED = 3, 20, 0.1


def problem(n_rows, seed, random_target=False):
    """Return X and y: the sign of a sum of three columns, a tenth of the rows flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_TRUE + N_NOISE))
    y = X[:, :N_TRUE].sum(axis=1) > 0
    y ^= rng.random(n_rows) < FLIPPED
    return X, rng.random(n_rows) < 0.5 if random_target else y


def kept(registry, measure, X, y, budget, seed):
    climb = registry.selectors["climb"].set_params(
        measure=MEASURES[measure], max_evaluations=budget, random_state=seed
    )
    start = process_time()
    chosen = climb.fit(X, y).get_support()
    return chosen[:N_TRUE].sum(), chosen[N_TRUE:].sum(), process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--rows", nargs="*", type=int, default=(300, 1000, 5000, 20_000))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--stream", type=Path)
    parser.add_argument("--budget", type=int, default=1000)
    options = parser.parse_args()
    registry = Registry()
    print("| rows | measure | true of 3 | noise of 20 | random target: kept of 23 | CPU s |")
    print("|--:|---|--:|--:|--:|--:|")
    for n_rows in options.rows:
        for measure in options.measures:
            found = [
                kept(registry, measure, *problem(n_rows, seed, at_random), options.budget, seed)
                for at_random in (False, True)
                for seed in range(options.seeds)
            ]
            noise, random = np.array(found).reshape(2, options.seeds, 3).mean(axis=1)
            print(
                f"| {n_rows:,} | {measure} | {noise[0]:.1f} | {noise[1]:.1f} "
                f"| {random[:2].sum():.1f} | {noise[2]:.2f} |",
                flush=True,
            )
    if options.stream:
        print("\n| measure | problems | features | score | CPU s |\n|---|--:|--:|--:|--:|")
        for measure in options.measures:
            start = process_time()
            settings = {"selector": "climb", "params": {"measure": MEASURES[measure]}, "check": 0}
            done = list(
                solve(
                    options.stream,
                    **settings,
                    db=None,
                    learner="logistic",
                    transfer="none",
                    budget=options.budget,
                )
            )
            solved = [each for each in done if each.status == "solved"]
            print(
                f"| {measure} | {len(solved)} | {np.mean([len(s.features) for s in solved]):.1f} "
                f"| {np.mean([s.score for s in solved]):.4f} | {process_time() - start:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
