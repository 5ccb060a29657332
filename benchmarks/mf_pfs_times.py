"""Times of MF-PFS in addition to measuring, and of measuring many patches, for `mf_pfs.py`.

"MF-PFS itself" leaves out the SVMs, and the Gabor responses of the images count as measuring.
"""

from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import zoom
from timing import best_of

from metafs import Registry
from metafs.plugin.generators import describe_all
from metafs_metafeatures import MFPFS, GeneratorMeasurer, PatchPrototypes
from metafs_svm import SVMWeights

N_PATCHES = 2000
N_SELECTED = 200
AS_THEY_ARE = {}
ENLARGED = {"n_bands": 8, "pool": 8, "stride": 4}


def overhead_times(apart, images, y, C, sharpness):
    """Time MF-PFS on images as they are and enlarged, with the two regressors of neighbours."""
    for factor, settings in ((1, AS_THEY_ARE), (4, ENLARGED)):
        source, measured = (zoom(each, (1, factor, factor), order=1) for each in (apart, images))
        generator = PatchPrototypes(source, **settings)
        generator = replace(generator, beta=generator.sharpness * sharpness)
        drawn = generator.draw(N_PATCHES, np.random.default_rng(2))
        for regressor in ("knn", "weighted-knn"):
            times = timed_selection(generator, drawn, measured, y, C, regressor)
            yield (len(images), measured.shape[1], regressor), times


def timed_selection(generator, drawn, images, y, C, regressor):
    """Select patches; return how many were measured, and seconds by what they went for."""
    svm_seconds = 0.0

    def timed_quality(columns, y):
        nonlocal svm_seconds
        begin = perf_counter()
        found = SVMWeights(C)(columns, y)
        svm_seconds += perf_counter() - begin
        return found

    described = describe_all(generator, drawn)
    regressor = Registry().regressors[regressor]
    begin = perf_counter()
    measurer = GeneratorMeasurer(generator, drawn, images)
    mf_pfs = MFPFS(N_SELECTED, quality=timed_quality, regressor=regressor, random_state=0)
    mf_pfs.fit_measured(measurer, y, described)
    seconds = perf_counter() - begin
    itself = seconds - measurer.seconds - svm_seconds
    return mf_pfs.n_measured_, measurer.seconds, svm_seconds, itself


def speed_times(apart, images):
    """Return seconds of 200 patches measured at once, and of 20 by plain numpy, one by one."""
    generator = PatchPrototypes(apart)
    drawn = generator.draw(200, np.random.default_rng(3))
    prepared = generator.prepare(images)
    fast, values = best_of(3, lambda: generator.measure_all(drawn, prepared))
    few = drawn[:20]
    slow, expected = best_of(
        1, lambda: np.column_stack([slow_values(generator, p, prepared.bands) for p in few])
    )
    np.testing.assert_allclose(values[:, :20], expected, rtol=1e-6)
    return fast, slow


def slow_values(generator, patch, bands):
    """The value of a patch by the plain numpy expression over all its places."""
    prototype = generator.prototypes([patch])[0].astype(float)
    pieces = sliding_window_view(bands, prototype.shape, axis=(2, 3, 4))[:, :, :, :, 0]
    squared = ((pieces - prototype) ** 2).sum(axis=(4, 5, 6))
    return np.exp(-generator.sharpness * squared.min(axis=(1, 2, 3)))
