"""Which pixels of faces Simba, Relief and Infogain choose: figure 7 of the margin paper.

    python benchmarks/face_pixels.py DATA_FOLDER [--picture FILE]

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin Based Feature Selection - Theory and Algorithms",
ICML 2004, section 5.2: Relief chooses pixels "in a left-right symmetric fashion" that are "highly
correlated to each other", Simba "mostly on one side". Here the 130 images of warpAR10P, 60 x 40
pixels of the same collection, 10 persons; as large shares of the pixels as the paper's 100, 500 and
1,000 of 5,100. *Mirrored* is the share of the chosen pixels whose mirror image is chosen too, and
in brackets what as many pixels drawn at random have; *correlation* is the mean of the absolute
correlations between chosen pixels, *one side* the share on the side with more of them.
"""

import argparse
import os
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from protocol import Method, load

ROWS, COLUMNS = 60, 40
SHARES = (100 / 5100, 500 / 5100, 1000 / 5100)
METHODS = ("simba", "relief", "infogain")


def chosen_pixels(X, y, method, n):
    """Return which pixels a method ranks first, as images."""
    settings = {"n_restarts": 10, "n_steps": 20 * len(y)} if method == "simba" else {}
    (ranking,) = Method(method, scale="raw", tried=(settings,)).rankings(X, y, seed=0)
    pictures = []
    for k in n:
        mask = np.zeros(X.shape[1], dtype=bool)
        mask[ranking[:k]] = True
        pictures.append(as_image(mask))
    return pictures


def as_image(pixels):
    """Return pixels as rows and columns; the file has them column by column."""
    return pixels.reshape(COLUMNS, ROWS).T


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    X, y = load(options.folder, "warpAR10P")
    sizes = [round(share * X.shape[1]) for share in SHARES]
    correlation = np.abs(np.corrcoef(X.T))
    pictures = {method: chosen_pixels(X, y, method, sizes) for method in METHODS}
    print("| method | pixels | mirrored | one side | correlation |\n|---|--:|--:|--:|--:|")
    for method, images in pictures.items():
        for k, image in zip(sizes, images, strict=True):
            mirrored = (image & image[:, ::-1]).sum() / k
            left = image[:, : COLUMNS // 2].sum() / k
            at = np.flatnonzero(image.T.ravel())
            alike = correlation[np.ix_(at, at)][np.triu_indices(k, 1)].mean()
            print(
                f"| {method} | {k} | {mirrored:.0%} ({k / X.shape[1]:.0%}) "
                f"| {max(left, 1 - left):.0%} | {alike:.2f} |"
            )
    if options.picture:
        draw(X, pictures, options.picture)


def draw(X, pictures, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(len(pictures), 4, figsize=(7, 8), layout="constrained")
    for row, (method, images) in zip(axes, pictures.items(), strict=True):
        for axis, image in zip(row, [as_image(X[0]), *images], strict=True):
            axis.imshow(image, cmap="gray" if image.dtype != bool else "gray_r")
            axis.axis("off")
        row[0].set_title(method)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
