"""Tables and pictures of what `mf_pfs.py` measured: figures 3, 4 and 5, regressors and times.

What is reported comes as pairs of a setting and its rows, and each line is printed as soon as its
rows are there.
"""

import numpy as np

METHODS = ("MF-PFS", "RFEall", "RFEsmall", "Baseline")


def report_quality(by_setting):
    """Print how well quality is predicted at each sharpness and C."""
    print("| sharpness | C | correlation (paper 0.94) | of ranks |\n|--:|--:|--:|--:|")
    for (sharpness, C), rows in by_setting:
        found, ranks = ([row[key] for row in rows] for key in ("correlation", "of_ranks"))
        print(
            f"| {sharpness} | {C} | {np.mean(found):.3f} ± {np.std(found):.3f} "
            f"| {np.mean(ranks):.3f} |",
            flush=True,
        )


def report_drops(rows_of_all, by_left_out):
    """Print what each meta-feature contributes to the correlation."""
    full = [row["correlation"] for row in rows_of_all]
    print("\n| without | drop of the correlation |\n|---|--:|")
    for name, rows in by_left_out:
        drop = np.subtract(full, [row["correlation"] for row in rows])
        error = drop.std(ddof=1) / np.sqrt(len(drop)) if len(drop) > 1 else 0.0
        print(f"| {name} | {drop.mean():.3f} ± {error:.3f} |", flush=True)


def report_curves(by_size, pictures):
    """Print the accuracies of figure 5, and draw it."""
    print(
        "| n | MF-PFS | RFEall | RFEsmall | Baseline | measured (paper 2.1n) | MF-PFS - RFEall "
        "| MF-PFS - RFEsmall | F_0 drawn afresh | measured then |\n" + "|--:" * 10 + "|"
    )
    found = {}
    for n, rows in by_size:
        found[n] = rows
        accuracy = {name: np.array([row[name] for row in rows]) for name in METHODS}
        print(
            f"| {n} | "
            + " | ".join(formatted(accuracy[name]) for name in METHODS)
            + f" | {np.mean([row['measured'] for row in rows]):.2f}n"
            f" | {formatted(accuracy['MF-PFS'] - accuracy['RFEall'])}"
            f" | {formatted(accuracy['MF-PFS'] - accuracy['RFEsmall'])}"
            f" | {formatted([row['MF-PFS without reuse'] for row in rows])}"
            f" | {np.mean([row['without reuse'] for row in rows]):.2f}n |",
            flush=True,
        )
    if pictures:
        draw_curves(found, pictures)


def report_smallest(by_size):
    """Print the accuracy of random patches of the smallest size."""
    print("\n| n | random patches of the smallest size |\n|--:|--:|")
    for n, rows in by_size:
        print(f"| {n} | {formatted([row['accuracy'] for row in rows])} |", flush=True)


def report_regressors(sizes, by_regressor):
    """Print the accuracy of MF-PFS with each regressor, from its rows at each size."""
    print(f"\n| regressor | {' | '.join(f'n = {n}' for n in sizes)} |\n|---|{'--:|' * len(sizes)}")
    for regressor, rows_of_sizes in by_regressor:
        cells = []
        for rows in rows_of_sizes:
            measured = np.mean([row["measured"] for row in rows])
            cells.append(f"{formatted([row['accuracy'] for row in rows])} ({measured:.2f}n)")
        print(f"| {regressor} | {' | '.join(cells)} |", flush=True)


def report_overhead(by_setting):
    """Print the seconds of MF-PFS in addition to measuring."""
    print(
        "\n| images | regressor | measured | measuring | SVMs (quality) | MF-PFS itself "
        "| of measuring | goal |\n|---|---|--:|--:|--:|--:|--:|--:|"
    )
    for (n_images, side, regressor), (n_measured, measuring, svms, itself) in by_setting:
        print(
            f"| {n_images} of {side} by {side} | {regressor} | {n_measured} of 2000 "
            f"| {measuring:.2f} s | {svms:.2f} s | {itself:.2f} s | {itself / measuring:.1%} "
            "| 5 % |",
            flush=True,
        )


def report_speed(fast, slow):
    """Print how much faster many patches are measured at once than each by plain numpy."""
    print("\n| 200 patches on 100 images | plain numpy, from 20 patches | ratio |\n|--:|--:|--:|")
    print(f"| {fast:.2f} s | {10 * slow:.1f} s | {10 * slow / fast:.0f} |")


def formatted(values):
    """Return a mean and its standard error."""
    values = np.asarray(values)
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def draw_quality(row, U, folder):
    """Draw figures 3 and 4, of one split."""
    import matplotlib.pyplot as plt

    predicted, measured = np.array(row["predicted"]), np.array(row["measured"])
    figure, axes = plt.subplots(1, 4, sharey=True, figsize=(12, 3), layout="constrained")
    for size, axis in zip(np.unique(U[:, 0]), axes, strict=True):
        axis.plot(U[U[:, 0] == size, 2], measured[U[:, 0] == size], ".", markersize=3)
        axis.set(title=f"{size:.0f} by {size:.0f}", xlabel="standard deviation")
    axes[0].set(ylabel="measured quality")
    figure.savefig(folder / "figure_3.png", dpi=150)

    measured = measured[len(measured) - len(predicted) :]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot(measured, predicted, ".", markersize=3)
    left.axline((0, 0), slope=1, color="grey", linewidth=0.5)
    left.set(
        xlabel="measured quality",
        ylabel="predicted quality",
        title=f"correlation {row['correlation']:.2f} (paper 0.94)",
    )
    k = np.arange(1, len(measured) + 1)
    for label, by in (("measured", measured), ("predicted", predicted)):
        mean = np.cumsum(measured[np.argsort(-by)]) / k
        right.plot(k, mean, label=f"ranked by {label} quality")
    right.set(xlabel="k", ylabel="mean quality of the first k")
    right.legend()
    figure.savefig(folder / "figure_4.png", dpi=150)


def draw_curves(found, folder):
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
    figure.savefig(folder / "figure_5.png", dpi=150)
