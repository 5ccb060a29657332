"""Rank features nobody has measured: a quality map, mf-pfs, mufasa and gp-prior on two digits."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
from sklearn.datasets import load_digits

from metafs import Registry
from metafs.stats.quality_map import contributions, correlation, quality_map
from metafs_metafeatures import (
    MFPFS,
    AndOrGenerator,
    DuckDBMeasurer,
    GPPriorClassifier,
    search,
)

images, digit = load_digits(return_X_y=True)
chosen = np.isin(digit, [3, 8])
X, y = images[chosen], digit[chosen]
row, column = np.divmod(np.arange(64), 8)
places = np.column_stack([row, column, np.hypot(row - 3.5, column - 3.5)])
rng = np.random.default_rng(0)

# Measure half of the pixels, and predict the others from where they lie.
registry = Registry()
measure, regressor = registry.measures["infogain"], registry.regressors["gp"]
measured, unseen = np.split(rng.permutation(64), 2)
map = quality_map(X[:, measured], y, places[measured], measure, regressor)
predicted, unsure = map.predict(places[unseen], return_std=True)
agreement = correlation(predicted, measure(X[:, unseen], y))
print(f"predicted against measured quality of 32 unseen pixels: correlation {agreement:.2f}")
drops = contributions(
    places, measure(X, y), registry.regressors["ridge"], names=["row", "column", "from centre"]
)
print("without", ", without ".join(f"{name} {drop:.2f} less" for name, drop in drops.items()))

# Select from a table of which only the columns that are asked for are ever read.
with TemporaryDirectory() as folder:
    path = Path(folder, "pixels.duckdb")
    names = [f"pixel_{r}_{c}" for r, c in zip(row, column, strict=True)]
    with duckdb.connect(str(path)) as con:
        con.register("pixels", dict(zip(names, X.T, strict=True)))
        con.execute("create table image as select * from pixels")
    selector = MFPFS(6, quality=measure, random_state=0)
    selector.fit_measured(DuckDBMeasurer(path, "image"), y, places)
kept = ", ".join(selector.get_feature_names_out())
print(f"mf-pfs read {selector.n_measured_} of 64 columns and keeps {kept}")

# Search for the kind of feature that pays, among more features than could ever be listed.
generator = AndOrGenerator(shape=(8, 8))
found = search(generator, (X / 16).reshape(-1, 8, 8), y, budget=100, n_steps=20, random_state=0)
wanted = zip(generator.meta_feature_names, found.u, strict=True)
print(
    f"mufasa: {len(found.features)} features that cost {found.cost:g} reach {found.quality:.3f}:",
    ", ".join(f"{name} {value:g}" for name, value in wanted),
)

# Learn from one image of each digit, with weights that are smooth over the image.
right = {"gp-prior": [], "maximum margin": []}
for _ in range(50):
    pair = [rng.choice(np.flatnonzero(y == each)) for each in (3, 8)]
    for name, told in {"gp-prior": places[:, :2], "maximum margin": None}.items():
        machine = GPPriorClassifier(sigma=0.5).fit(X[pair], y[pair], meta_features=told)
        right[name].append(machine.score(X, y))
for name, scores in right.items():
    print(f"{name}: {np.mean(scores):.1%} right from two images")
