"""AND/OR features over 60,000 images: 64 images to a word against one byte for each pixel.

    python benchmarks/and_or.py MNIST.npz

The peer is the feature's formula written with numpy on the (n, 28, 28) boolean array: for each
shift the AND of the pixels of all images, and the OR of these. Both give the same values. Packing
is done once for any number of features and timed by itself. At least 100 times was asked for.
"""

import os
import sys

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from timing import best_of

from metafs_metafeatures import AndOrGenerator

CASES = [(n, length) for n in (1, 4, 8) for length in (1, 2, 4, 8)]
N_FAST, N_PEER = 200, 3


def pixel_by_pixel(feature, on):
    """Return the feature's value on each image; beyond the edge lies background."""
    n_images, rows, columns = on.shape
    outside = np.zeros(n_images, dtype=bool)
    value = np.zeros(n_images, dtype=bool)
    for d in range(feature.shift_inv_len):
        for e in range(feature.shift_inv_len):
            conjunction = np.ones(n_images, dtype=bool)
            for r, c, positive in feature.inputs:
                inside = r + d < rows and c + e < columns
                pixel = on[:, r + d, c + e] if inside else outside
                conjunction &= pixel if positive else ~pixel
            value |= conjunction
    return value


def main():
    with np.load(sys.argv[1]) as file:
        images = file["X"][file["split"] == 0].reshape(-1, 28, 28)
    generator, rng = AndOrGenerator(), np.random.default_rng(0)
    on = images > 127
    seconds, packed = best_of(3, lambda: generator.prepare(images))
    print(
        f"{len(images)} images packed in {seconds:.2f} s, {packed.planes.nbytes / 2**20:.0f} MB\n"
    )
    print("| inputs | shifts | pixel by pixel | 64 to a word | as 0 and 1 | ratio | with 0 and 1 |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for n, length in CASES:
        u = generator.nearest(np.array([n, 50, length, 2.0]))
        features = generator.sample_all(np.tile(u, (N_FAST, 1)), rng)
        fast, _ = best_of(5, lambda f=features: generator.words(f, packed))
        whole, table = best_of(3, lambda f=features: generator.measure_all(f, packed))
        peer, expected = best_of(
            3, lambda f=features: [pixel_by_pixel(each, on) for each in f[:N_PEER]]
        )
        np.testing.assert_array_equal(table[:, :N_PEER].T, expected)
        fast, whole, peer = fast / N_FAST, whole / N_FAST, peer / N_PEER
        print(
            f"| {n} | {length} x {length} | {1e3 * peer:.2f} ms | {1e6 * fast:.1f} µs "
            f"| {1e6 * whole:.1f} µs | {peer / fast:.0f} | {peer / whole:.0f} |"
        )


if __name__ == "__main__":
    main()
