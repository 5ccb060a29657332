"""The experiments of Goertzel, Geisweiller and Poulin (2021), again, on pairs of newsgroups.

    python benchmarks/paper_settings.py run 20newsgroups.jsonl.gz FOLDER [--settings 1 5]
                 [--pairs 190] [--documents 150] [--min-df 3] [--seed 0] [--seconds 800]
    python benchmarks/paper_settings.py show FOLDER [--plots PLOTS]

`run` solves every pair by `--preset paper`, first without memory, then with memory until it finds a
set as good, and learns with moses from both sets. Each outcome is written to FOLDER at once; run
again, it goes on where it stopped, which it also does after `--seconds`. `show` prints the means
beside the paper's, and each of its figures as a table: means over quarters of the stream. With
`--plots` the figures are drawn as well.

The tables are prefiltered as a whole, as in the paper. *Speed-up* counts both searches up to their
first set as good as the best of the search without memory; *all of cold* counts every evaluation of
that one. Learning scores are minus the errors of the best program on the rows it was learnt from.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from text_stream import text_pairs

from metafs import Problem, Registry
from metafs.data.typing import Array
from metafs.errors import MetafsError
from metafs.experiment.arms import Arm
from metafs.experiment.outcome import Failed
from metafs.experiment.running import Task, outcomes
from metafs.pipeline.loop import InMemorySource
from metafs.pipeline.presets import preset_named
from metafs.pipeline.settings import Settings
from metafs.stats.quality_map import correlation
from metafs_moses import MosesClassifier

REPEATED = 40
"""The paper divides its seconds for neighbours by this: 10 for Python, 4 for the cores."""


@dataclass(frozen=True)
class Setting:
    """One experiment of the paper, and what it reports."""

    section: str
    mi: float
    budget: int
    threshold: float
    arithmetic: float | None
    geometric: float | None
    fitness: float | None = None
    learning: float | None = None
    correlations: tuple[float, float] | None = None


SETTINGS = {
    1: Setting("4.4.1", 0.001, 1_000, 0.09, 3.44, 1.05, 0.6, -23.3),
    2: Setting("4.4.2", 0.001, 10_000, 0.09, 10.24, 1.04),
    3: Setting("4.4.3", 0.001, 10_000, 0.01, 4.4, None),
    4: Setting("4.4.4", 0.001, 10_000, 0.2, None, None, 0.7, -16.4),
    5: Setting("4.6", 0.05, 1_000, 0.1, 27.17, 1.99, correlations=(0.14, 0.02)),
    6: Setting("4.7", 0.05, 10_000, 0.2, None, 1.22),
    7: Setting("ours", 0.05, 1_000, 0.01, None, None),
    8: Setting("ours", 0.05, 10_000, 0.01, None, None),
}
"""The paper says "below 1" for 4.4.3; the last two are 4.6 and 4.7 with another threshold."""

FIGURES = {
    1: (1, "speed-up"), 2: (1, "fitness"), 3: (1, "learning score"), 4: (2, "speed-up"),
    5: (2, "features"), 6: (3, "speed-up"), 7: (4, "speed-up"), 8: (4, "fitness"),
    9: (4, "learning score"), 10: (5, "speed-up"), 11: (5, "distance"), 12: (5, "fitness"),
    13: (5, "learning score"), 14: (5, "transferred against speed-up"),
    15: (5, "inverse distance against speed-up"), 16: (6, "speed-up"), 17: (6, "fitness"),
    18: (6, "learning score"), 19: (6, "seconds"), 20: (6, "seconds / 40"),
}  # fmt: skip
"""Figure: (setting, what it shows)."""


def settings_of(setting: Setting) -> Settings:
    """Return the preset with the values of an experiment; tables come prefiltered."""
    return Settings(
        **{
            **preset_named("paper"),
            "prefilter": None,
            "budget": setting.budget,
            "threshold": setting.threshold,
        }
    )


def shuffled(problems: Sequence[Problem], seed: int) -> list[Problem]:
    """Return the problems in an order in which neighbours share no label more than others."""
    order = np.random.default_rng(seed).permutation(len(problems))
    return [problems[place] for place in order]


def run_setting(
    number: int, problems: Sequence[Problem], folder: Path, deadline: float = np.inf
) -> bool:
    """Run what is missing of an experiment; return whether it is complete."""
    path, done = folder / f"{number}.jsonl", read(folder, number)
    plan = settings_of(SETTINGS[number]).resolve(Registry())
    with path.open("a", encoding="utf8") as lines:
        for arm in (Arm("none"), Arm("paper")):
            settings = replace(plan.settings, transfer=arm.transfer)
            targets = {index: row["target"] for index, row in done.get("cold", {}).items()}
            left = [i for i in range(len(problems)) if i not in done.get(arm.name, {})]
            task = Task(
                arm,
                0,
                0 if arm.remembers else None,
                settings.resolve(Registry()),
                False,
                [(i, InMemorySource(problems[i])) for i in left],
                targets,
                folder / f"{number}.duckdb" if arm.remembers else None,
            )
            for found in outcomes(task):
                if isinstance(found, Failed):
                    raise MetafsError(f"{found.problem}: {found.error}")
                problem = problems[found.index].columns(list(found.solution.features))
                learner = MosesClassifier().fit(problem.X, problem.y)
                row = found.as_json() | {"learning_score": learner.scores_[0]}
                lines.write(json.dumps(row) + "\n")
                lines.flush()
                done.setdefault(arm.name, {})[found.index] = row
                if monotonic() > deadline:
                    return False
    return True


def read(folder: Path, number: int) -> dict[str, dict[int, dict[str, Any]]]:
    """Return the outcomes of an experiment so far, by arm and problem."""
    path, found = folder / f"{number}.jsonl", dict[str, dict[int, dict[str, Any]]]()
    if path.exists():
        for line in path.read_text(encoding="utf8").splitlines():
            row = json.loads(line)
            found.setdefault(row["arm"], {})[row["index"]] = row
    return found


@dataclass(frozen=True)
class Result:
    """An experiment: one value of each column for each problem, in the order of the stream."""

    cold: dict[str, Array]
    warm: dict[str, Array]

    @classmethod
    def of(cls, rows: dict[str, dict[int, dict[str, Any]]]) -> "Result":
        """Return the problems that both arms have solved."""
        both = sorted(rows.get("cold", {}).keys() & rows.get("paper", {}).keys())
        return cls(*(columns([rows[arm][i] for i in both]) for arm in ("cold", "paper")))

    def __len__(self) -> int:
        return len(self.cold["fitness"])

    @property
    def speedup(self) -> Array:
        return np.asarray(self.cold["evaluations"] / self.warm["evaluations"])

    def shown(self, what: str) -> dict[str, Array]:
        """Return the lines of a figure."""
        arms = {"without": self.cold, "with": self.warm}
        near, speedup = self.warm["nearest_distance"], self.speedup
        if what == "speed-up":
            return {"speed-up": speedup}
        if what in ("fitness", "learning score"):
            return {arm: of[what.replace(" ", "_")] for arm, of in arms.items()}
        if what == "features":
            return {
                "selected without": self.cold["n_selected"],
                "selected with": self.warm["n_selected"],
                "transferred": self.warm["n_transferred"],
                "in common": self.warm["n_common"],
            }
        if what == "distance":
            return {"nearest": near}
        if what == "transferred against speed-up":
            return {"transferred": self.warm["n_transferred"], "speed-up": speedup}
        if what == "inverse distance against speed-up":
            return {"1 / distance": 1 / near, "speed-up": speedup}
        query = self.warm["describe"] + self.warm["recall"]
        return {
            "neighbours": query / (REPEATED if "/" in what else 1),
            "search without": self.cold["select"],
            "search with": self.warm["select"],
            "recording": self.warm["record"],
        }


def columns(rows: Sequence[dict[str, Any]]) -> dict[str, Array]:
    """Return one array for each value of the rows; NaN where there is none."""
    flat = [row | row["seconds"] for row in rows]
    names = (
        *("evaluations", "n_evaluations", "reached", "fitness", "learning_score", "n_selected"),
        *("n_transferred", "n_common", "nearest_distance"),
        *("describe", "recall", "select", "record"),
    )
    return {
        name: np.array([np.nan if (v := row.get(name)) is None else float(v) for row in flat])
        for name in names
    }


def geometric(values: Array) -> float:
    return float(np.exp(np.log(values).mean()))


def means(results: dict[int, Result]) -> Iterator[str]:
    """Yield the table of means, the paper's in brackets."""
    yield (
        "| section | MI, FE, t | problems | arithmetic | geometric | all of cold | reached | "
        "slower | transferred | common | selected without, with | fitness without, with | "
        "learning without, with |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for number, found in results.items():
        setting, cold, warm = SETTINGS[number], found.cold, found.warm
        every = np.maximum(cold["n_evaluations"], 1) / warm["evaluations"]
        below = " (below 1)" if number == 3 else ""
        yield (
            f"| {setting.section} | {setting.mi:g}, {setting.budget:,}, {setting.threshold:g} | "
            f"{len(found)} | {found.speedup.mean():.2f}{beside(setting.arithmetic)} | "
            f"{geometric(found.speedup):.2f}{beside(setting.geometric) or below} | "
            f"{geometric(every):.2f} | {warm['reached'].mean():.0%} | "
            f"{(found.speedup < 1).mean():.0%} | {warm['n_transferred'].mean():.1f} | "
            f"{warm['n_common'].mean():.1f} | {cold['n_selected'].mean():.1f}, "
            f"{warm['n_selected'].mean():.1f} | {cold['fitness'].mean():.3f}, "
            f"{warm['fitness'].mean():.3f}{beside(setting.fitness)} | "
            f"{cold['learning_score'].mean():.1f}, {warm['learning_score'].mean():.1f}"
            f"{beside(setting.learning)} |"
        )


def beside(value: float | None) -> str:
    return "" if value is None else f" ({value:g})"


def figures(results: dict[int, Result]) -> Iterator[str]:
    """Yield the table of figures: means over the quarters of the stream."""
    yield "| figure | section | what | line | 1st quarter | 2nd | 3rd | 4th | all |"
    yield "|--:|---|---|---|--:|--:|--:|--:|--:|"
    for figure, (number, what) in FIGURES.items():
        if number not in results:
            continue
        found, setting = results[number], SETTINGS[number]
        lines = found.shown(what)
        if "against" in what:
            x, y = lines.values()
            known = ~np.isnan(x)
            place = int(what.startswith("inverse"))
            paper = beside(setting.correlations[place] if setting.correlations else None)
            r = correlation(x[known], y[known]) if np.ptp(x[known]) > 0 else np.nan
            yield f"| {figure} | {setting.section} | {what} | Pearson | | | | | {r:.2f}{paper} |"
            continue
        for name, values in lines.items():
            mean = geometric if what == "speed-up" else np.nanmean
            digits = ".2f" if what in ("speed-up", "features") else ".4g"
            quarters = [format(float(mean(part)), digits) for part in np.array_split(values, 4)]
            yield (
                f"| {figure} | {setting.section} | {what} | {name} | {' | '.join(quarters)} | "
                f"{float(mean(values)):{digits}} |"
            )


def draw(results: dict[int, Result], folder: Path) -> None:
    """Draw each figure into a file of its own."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for figure, (number, what) in FIGURES.items():
        if number in results:
            drawn, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
            lines = results[number].shown(what)
            if "against" in what:
                (x_name, x), (y_name, y) = lines.items()
                axes.plot(x, y, "o", markersize=3)
                axes.set(xlabel=x_name, ylabel=y_name, yscale="log")
            else:
                for name, values in lines.items():
                    axes.plot(values, ".-", linewidth=0.6, markersize=4, label=name)
                axes.set(xlabel="problem", ylabel=what)
                axes.set_yscale("log" if what in ("speed-up", "seconds") else "linear")
                axes.legend()
            axes.set_title(f"figure {figure}: section {SETTINGS[number].section}, {what}")
            drawn.savefig(folder / f"figure_{figure:02}.svg")
            plt.close(drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run, show = commands.add_parser("run"), commands.add_parser("show")
    run.add_argument("path", metavar="FILE")
    for command in (run, show):
        command.add_argument("folder", metavar="FOLDER", type=Path)
        command.add_argument("--settings", type=int, nargs="+", choices=SETTINGS, default=SETTINGS)
    run.add_argument("--pairs", type=int, help="how many pairs to draw (all)")
    run.add_argument("--documents", type=int, default=150, help="drawn from each group")
    run.add_argument("--min-df", type=int, default=3, help="documents of a pair with a word")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--seconds", type=float, default=np.inf, help="after which no problem begins")
    show.add_argument("--plots", type=Path, help="folder for the figures")
    given = parser.parse_args()
    if given.command == "show":
        found = {number: Result.of(read(given.folder, number)) for number in given.settings}
        found = {number: each for number, each in found.items() if len(each)}
        print("\n".join([*means(found), "", *figures(found)]))
        if given.plots is not None:
            draw(found, given.plots)
        return
    deadline = monotonic() + given.seconds
    given.folder.mkdir(parents=True, exist_ok=True)
    try:
        for number in given.settings:
            problems = text_pairs(
                given.path,
                documents=given.documents,
                min_df=given.min_df,
                mi=SETTINGS[number].mi,
                seed=given.seed,
                pairs=given.pairs,
            )
            if not run_setting(number, shuffled(problems, given.seed), given.folder, deadline):
                sys.exit("stopped at the time limit; run again to go on")
            print(f"setting {number} is complete", flush=True)
    except MetafsError as error:
        sys.exit(f"paper_settings: {error}")


if __name__ == "__main__":
    main()
