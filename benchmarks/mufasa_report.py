"""Tables and pictures of what `mufasa.py` measured: figures 6, 7 and 8, and paired differences."""

from collections import defaultdict

import numpy as np

from metafs_metafeatures.generators.and_or import PAPER

METHODS = (
    "Mufasa",
    "Mufasa, one point",
    "Mufasa, one guess",
    "published walk",
    "Mufasa, annealing",
    "Mufasa, then singly",
    "Norm Infogain",
    "Rand Search",
)
POLYNOMIAL = ("polynomial SVM, pixels on or off", "polynomial SVM, grey pixels")
EIGHT = ("location", "number of inputs", "random")
CLAIM_6 = (
    "Paper, in words (its curves are pictures): Mufasa is below both other ways to spend a budget "
    "at every size of it, and below the polynomial SVM from 3000 (about 600 features) on."
)
CLAIM_8 = (
    "Paper, in words: with few features it is better to search over locations, with many over the "
    "number of inputs."
)


def report(rows, pictures):
    six, eight = ([each for each in rows if each["figure"] == n] for n in (6, 8))
    if six:
        report_six(six)
    if eight:
        report_eight(eight)
    if pictures:
        draw(six, eight, pictures)


def report_six(rows):
    selected = [each for each in rows if each["method"] in METHODS]
    budgets, draws = sizes_of(rows), len({each["number"] for each in rows})
    errors = by(rows, "error")
    print(
        f"\nFigure 6: test error in % over the budget (mean ± standard deviation, {draws} draws)\n"
    )
    print_table(
        budgets, {method: [spread(errors[method, size]) for size in budgets] for method in METHODS}
    )
    print("\nErrors above Mufasa's: paired difference ± its error (draws with Mufasa ahead)\n")
    others = [method for method in METHODS if method != "Mufasa"]
    print_table(
        budgets,
        {each: [paired(rows, each, "Mufasa", size) for size in budgets] for each in others},
    )
    print("\n| | error | degrees chosen |\n|---|--:|---|")
    for method in POLYNOMIAL:
        mine = [each for each in rows if each["method"] == method]
        degrees = ", ".join(map(str, sorted({each["degree"] for each in mine})))
        if mine:
            print(f"| {method} | {spread([each['error'] for each in mine])} | {degrees} |")
    print(f"\n{CLAIM_6}\n\nNumber of features selected\n")
    counts = by(selected, "n_features")
    print_table(
        budgets, {method: [spread(counts[method, size]) for size in budgets] for method in METHODS}
    )
    print("\nNats that say which sets were taken (lemma 2 has 34.0 for 50 steps)\n")
    nats = by([each for each in selected if "nats" in each], "nats")
    print_table(
        budgets, {method: [spread(nats[method, size]) for size in budgets] for method in METHODS}
    )
    print(
        "\nFigure 7: chosen meta-features, mean and the range of 80 % of the draws; of a blend the"
    )
    print("mean of its points, whose number is in the last line\n")
    chosen = by([each for each in selected if each["u"]], "u")
    lines = {}
    for k, name in enumerate(PAPER):
        columns = [chosen_values(chosen["Mufasa", size], k) for size in budgets]
        lines[name] = [f"{np.mean(v):.1f} ({low_high(v)})" if v else "" for v in columns]
    n_points = [[len(np.atleast_2d(u)) for u in chosen["Mufasa", size]] for size in budgets]
    lines["points"] = [f"{np.mean(n):.1f} ({low_high(n)})" if n else "" for n in n_points]
    print_table(budgets, lines)


def report_eight(rows):
    sizes, draws = sizes_of(rows), len({each["number"] for each in rows})
    errors = by(rows, "error")
    print("\nFigure 8: test error of 4 against 9 in % over the number of features")
    print(f"(mean ± standard deviation, {draws} draws)\n")
    lines = {method: [spread(errors[method, size]) for size in sizes] for method in EIGHT}
    lines["location above inputs, paired (draws)"] = [
        paired(rows, "location", "number of inputs", size) for size in sizes
    ]
    print_table(sizes, lines)
    print(f"\n{CLAIM_8}")


def print_table(sizes, lines):
    print("| | " + " | ".join(map(str, sizes)) + " |\n|---|" + "--:|" * len(sizes))
    for name, cells in lines.items():
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |")


def sizes_of(rows):
    return sorted({each["budget"] for each in rows} - {None})


def by(rows, value):
    found = defaultdict(list)
    for each in rows:
        found[each["method"], each["budget"]].append(each[value])
    return found


def spread(values):
    if not values:
        return ""
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.2f}"


def paired(rows, method, other, size):
    """Say how many more errors one method makes than another in the draws that have both."""
    mine, theirs = (
        {each["number"]: each["error"] for each in rows if (each["method"], each["budget"]) == key}
        for key in ((method, size), (other, size))
    )
    more = np.array([mine[number] - theirs[number] for number in mine if number in theirs])
    if len(more) < 2:
        return ""
    error = more.std(ddof=1) / np.sqrt(len(more))
    return f"{more.mean():.2f} ± {error:.2f} ({np.count_nonzero(more > 0)} of {len(more)})"


def chosen_values(points, k):
    return [float(np.atleast_2d(u)[:, k].mean()) for u in points]


def low_high(values):
    return " to ".join(f"{value:.3g}" for value in np.quantile(values, [0.1, 0.9]))


def draw(six, eight, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def curves(axes, rows, methods):
        found = by(rows, "error")
        for method in methods:
            sizes = [size for size in sizes_of(rows) if found[method, size]]
            if not sizes:
                continue
            values = [found[method, size] for size in sizes]
            # One standard deviation of the mean: what a difference of two curves is worth.
            bars = [np.std(each) / np.sqrt(max(len(each) - 1, 1)) for each in values]
            axes.errorbar(sizes, [np.mean(each) for each in values], bars, label=method, capsize=2)
        axes.set(xscale="log", ylabel="test error in %")

    folder.mkdir(parents=True, exist_ok=True)
    if six:
        figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
        curves(axes, six, METHODS)
        for method, style in zip(POLYNOMIAL, ("--", ":"), strict=True):
            errors = [each["error"] for each in six if each["method"] == method]
            if errors:
                axes.axhline(np.mean(errors), color="grey", ls=style, label=method)
        axes.set(xlabel="budget", yscale="log")
        axes.legend()
        figure.savefig(folder / "mufasa_figure_6.png", dpi=120)
        chosen = by([each for each in six if each["method"] == "Mufasa"], "u")
        budgets = [size for size in sizes_of(six) if chosen["Mufasa", size]]
        figure, grid = plt.subplots(2, 2, figsize=(7, 5), layout="constrained")
        for k, (name, axes) in enumerate(zip(PAPER, grid.flat, strict=True)):
            for budget in budgets:
                values = chosen_values(chosen["Mufasa", budget], k)
                mean, (low, high) = np.mean(values), np.quantile(values, [0.1, 0.9])
                bars = [[max(mean - low, 0)], [max(high - mean, 0)]]
                axes.errorbar([budget], [mean], bars, capsize=2, marker="o", color="C0")
            axes.set(title=name, xscale="log", xlabel="budget")
        figure.savefig(folder / "mufasa_figure_7.png", dpi=120)
    if eight:
        figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
        curves(axes, eight, EIGHT)
        axes.set(xlabel="number of features")
        axes.legend()
        figure.savefig(folder / "mufasa_figure_8.png", dpi=120)
