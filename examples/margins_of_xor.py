"""Figures 1 to 3 of the margin paper: Simba and Relief on the xor of three features among ten.

Give a path for the picture, or it goes into a temporary folder and is gone with it. Needs
matplotlib: pip install ".[report]".
"""

import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

from metafs_margin import Margin, Relief, Simba

matplotlib.use("Agg")
from matplotlib import pyplot as plt

rng = np.random.default_rng(0)
X = rng.uniform(size=(1000, 10))
y = (X[:, :3] > 0.5).sum(axis=1) % 2
truth = np.repeat([1.0, 0.0], [3, 7])


def weights(method, n_steps):
    """The weights after so many steps, the largest of them 1; Relief's negative ones count 0."""
    options = {"n_restarts": 1} if method is Simba else {}
    scores = method(n_steps=n_steps, random_state=0, **options).fit(X, y).scores_
    return np.maximum(scores, 0) / scores.max()


def angle(w):
    return np.arccos(min(1.0, w @ truth / (np.linalg.norm(w) * np.linalg.norm(truth))))


def e(w):
    return Margin().of_weights(X, y, np.sqrt(w))


steps = np.arange(40, 1001, 40)
figure, axes = plt.subplots(2, 4, figsize=(16, 7), layout="constrained")
for method, style in ((Simba, "-"), (Relief, ":")):
    name = method.__name__.lower()
    found = [weights(method, n) for n in steps]
    margins, angles = np.array([e(w) for w in found]), np.array([angle(w) for w in found])
    axes[0, 0].plot(steps, margins, style, label=name)
    axes[1, 0].plot(steps, angles, style, label=name)
    if method is Simba:
        axes[0, 3].scatter(margins[steps >= 150], angles[steps >= 150])
    print(f"{name}: after 1000 steps e(w) = {margins[-1]:.2f}, angle {angles[-1]:.3f}")
print(f"the true vector: e(w) = {e(truth):.2f}")
axes[0, 0].axhline(e(truth), linestyle="--")
axes[0, 0].set(title="margin", xlabel="steps", ylabel="e(w)")
axes[1, 0].set(title="angle to the true vector", xlabel="steps", ylabel="radians")
axes[1, 0].legend()
for row, method in enumerate((Simba, Relief)):
    for column, n_steps in enumerate((100, 500), start=1):
        axes[row, column].bar(np.arange(1, 11), weights(method, n_steps))
        axes[row, column].set(title=f"{method.__name__.lower()}, {n_steps} steps", ylim=(0, 1))
axes[0, 3].set(title="simba from step 150", xlabel="e(w)", ylabel="angle")
axes[1, 3].axis("off")

with tempfile.TemporaryDirectory() as folder:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(folder) / "margins_of_xor.png")
    figure.savefig(path)
    print(f"{path.name}: {path.stat().st_size} bytes")
