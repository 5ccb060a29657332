"""The experiment with the wrapper as fitness, for any learner: what memory saves in seconds.

    python benchmarks/wrapper_experiment.py FOLDER [--learner naive-bayes] [--budget 1000]

FOLDER holds problems as `streams.py` writes them. `metafs experiment FOLDER --no-learn --param
measure=cv-accuracy` is the same for the default learner, logistic regression, which we fit by a
method of our own; other learners cost what they cost.
"""

import argparse
import sys

from metafs.experiment.arms import arms_named
from metafs.experiment.design import Design
from metafs.experiment.outcome import Outcome
from metafs.experiment.result import Experiment
from metafs.experiment.running import run
from metafs.readers import ReadOptions, sources
from metafs.settings import Settings
from metafs_climb import CVAccuracy

ARMS = ("cold", "cold-ranked", "guided")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--learner", default="naive-bayes")
    parser.add_argument("--budget", type=int, default=1000)
    options = parser.parse_args()
    settings = Settings(
        params={"measure": CVAccuracy(learner=options.learner)}, budget=options.budget
    )
    design = Design(arms_named(ARMS), learning=False, settings=settings)
    stream = sources([options.folder], ReadOptions())
    outcomes = []
    for told in run(stream, design):
        assert isinstance(told, Outcome), told
        outcomes.append(told)
        print(f"\r{len(outcomes)} of {design.n_outcomes(len(stream))}", end="", file=sys.stderr)
    found = Experiment(design, len(stream), outcomes, [])
    print(f"{len(stream)} problems, cv-accuracy of {options.learner}, budget {options.budget}\n")
    print("| arm | speed-up | in seconds | over ranked | reached | evaluations | fitness |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, arm in found.as_json()["arms"].items():
        print(
            f"| {name} | {arm['geometric_mean_speedup']:.2f} "
            f"| {arm['geometric_mean_speedup_seconds']:.2f} "
            f"| {arm.get('geometric_mean_speedup_over_ranked') or 1:.2f} | {arm['reached']:.0%} "
            f"| {arm['mean_evaluations']:.0f} | {arm['mean_fitness']:.4f} |"
        )


if __name__ == "__main__":
    main()
