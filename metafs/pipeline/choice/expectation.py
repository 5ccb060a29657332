r"""What past problems and the folds at hand together say of each candidate.

Success is the score between no skill (0) and the best there is (1). What matters is by how much a
candidate's success differs from that of the default pipeline, d. Before a fold is scored, d is
normal with the mean and the covariance that it had on past problems,

.. math:: \mu = \frac{\kappa \mu_0 + \sum_p w_p d_p}{\kappa + W}, \qquad
          \Sigma = \frac{\kappa \Sigma_0 + \sum_p w_p \big((d_p - \mu)(d_p - \mu)^\top + V_p\big)}
          {\kappa + W}, \qquad W = \sum_p w_p,

where w tells how related a past problem is. :math:`\Sigma_0` says only that candidates which share
a learner, a selector or nearly a size succeed together; it also fills in what a past problem did
not try, which stays uncertain by :math:`V_p`, and so does what it says of as many rows as there are
here, the more the farther its number of rows is from that: :math:`V_p` also has
:math:`\lambda (\log n_p - \log n)^2 \Sigma_0`. A candidate scored on k folds adds its mean
difference with the variance

.. math:: v = s^2 \Big(\frac{1}{k} + \frac{n_{test}}{n_{train}}\Big)

of C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003. The
part of it that is the default's own noise is common to all candidates, so that two good ones are
compared exactly where the default is bad. So
memory decides as long as labels are few, and the folds decide when they are many. Learning which
pipelines do well together from what others tried: N. Fusi, R. Sheth, M. Elibol, "Probabilistic
matrix factorization for automated machine learning", NeurIPS 2018.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import ALL, Candidate

KAPPA = 0.5
"""How many past problems the assumption before all experience is worth."""
SPREAD = 0.12
"""The standard deviation of success between unlike candidates, before all experience."""
DISCOUNT = 0.02
"""How much less is expected of a candidate that nobody has tried than of the default."""
NOISE = 0.01
"""The standard deviation of a past problem's success around what it would be on average."""
DRIFT = 0.1
"""How much a factor e between numbers of rows adds to the variance, in units of the assumption."""
FOLDS_ASSUMED = 2


@dataclass(frozen=True)
class Past:
    """What a solved problem says of candidates, and how related it is."""

    success: Mapping[Candidate, float]
    weight: float = 1.0
    shipped: bool = False
    """Whether it came with the package instead of from memory."""
    more_rows: float = 0.0
    """The logarithm of how many times more rows it has than the problem at hand."""


@dataclass(frozen=True)
class Thresholds:
    """How sure it has to be before the default is left for another pipeline or fewer columns."""

    advantage: float
    """Standard deviations that an advantage over the default has to exceed."""
    loss: float
    """The success that a smaller set may be expected to lose."""


WITHOUT_MEMORY = Thresholds(advantage=0.5, loss=0.02)
WITH_MEMORY = Thresholds(advantage=1.0, loss=0.005)
"""Where the default has a prior for the weights of all columns, of which shipped results know
nothing."""
MANY_ROWS = 100
"""From so many rows on a smaller set may lose as much as it ever may without memory."""


def thresholds_for(n_rows: float, *, memory: bool) -> Thresholds:
    """Return the thresholds for a problem: few rows choose columns badly, and do not show it.

    Examples
    --------
    >>> [round(thresholds_for(n, memory=False).loss, 3) for n in (0, 40, 70, 100, 5000)]
    [0.005, 0.011, 0.015, 0.02, 0.02]
    """
    if memory:
        return WITH_MEMORY
    least, most = WITH_MEMORY.loss, WITHOUT_MEMORY.loss
    loss = least + (most - least) * min(n_rows / MANY_ROWS, 1.0)
    return replace(WITHOUT_MEMORY, loss=loss)


@dataclass(frozen=True, eq=False)
class Expectation:
    """By how much each candidate is expected to beat the default, and how sure that is."""

    candidates: tuple[Candidate, ...]
    """The default is the first."""
    mean: Array
    covariance: Array
    thresholds: Thresholds = WITHOUT_MEMORY

    @property
    def default(self) -> Candidate:
        """The candidate that all others are compared with."""
        return self.candidates[0]

    @property
    def deviation(self) -> Array:
        """The standard deviation of each candidate's advantage."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def assured(self) -> Array:
        """What each candidate's advantage is worth: its mean less a part of its deviation.

        Of many candidates the one that seems best is one that was lucky, the more so the fewer
        rows there are; the default is only left for an advantage that is larger than its error.
        """
        return np.asarray(self.mean - self.thresholds.advantage * self.deviation)

    def best(self, scored: Collection[Candidate]) -> int:
        """Return the position of the best of those that were scored."""
        known = [place for place, each in enumerate(self.candidates) if each in scored]
        return known[int(np.argmax(self.assured[known]))]

    def variance_from(self, place: int) -> Array:
        """Return the variance of each candidate's difference to one of them."""
        cov = self.covariance
        return np.asarray(np.maximum(np.diag(cov) + cov[place, place] - 2 * cov[place], 0.0))

    def given(self, places: Sequence[int], observed: Array, noise: Array) -> "Expectation":
        """Return the expectation after advantages were observed, with this covariance of noise."""
        seen = np.asarray(places)
        gain = np.linalg.solve(self.covariance[np.ix_(seen, seen)] + noise, self.covariance[seen]).T
        return replace(
            self,
            mean=self.mean + gain @ (observed - self.mean[seen]),
            covariance=self.covariance - gain @ self.covariance[seen],
        )


def expected(
    candidates: Sequence[Candidate],
    past: Sequence[Past],
    thresholds: Thresholds = WITHOUT_MEMORY,
) -> Expectation:
    """Return what past problems let expect of each candidate; the first is the default.

    Past problems that did not try the default cannot be compared, so they have no say.

    Examples
    --------
    >>> linear, forest = Candidate("remembered"), Candidate("forest")
    >>> past = [Past({linear: 0.8, forest: 0.9})] * 10
    >>> expected([linear, forest], past).mean.round(2)
    array([0.  , 0.09])
    """
    blank = replace(_without_experience(candidates), thresholds=thresholds)
    past = [each for each in past if blank.default in each.success]
    if not past:
        return blank
    filled, uncertain = np.empty((len(past), len(blank.mean))), np.zeros_like(blank.covariance)
    weights = np.array([each.weight for each in past])
    for tried, which in _by_what_was_tried(blank, past).items():
        some = [past[each] for each in which]
        filled[which], covariance = _filled(blank, tried, some)
        uncertain += weights[which].sum() * covariance
    uncertain += DRIFT * blank.covariance * sum(p.weight * p.more_rows**2 for p in past)
    total = KAPPA + weights.sum()
    mean = (KAPPA * blank.mean + weights @ filled) / total
    apart = filled - mean
    spread = apart.T @ (apart * weights[:, None]) + uncertain
    return replace(blank, mean=mean, covariance=(KAPPA * blank.covariance + spread) / total)


def updated(
    before: Expectation,
    success: Mapping[Candidate, Mapping[int, float]],
    *,
    n_test: float,
    n_train: float,
) -> Expectation:
    """Return the expectation after folds were scored: success by candidate and fold."""
    base = success.get(before.default, {})
    of_default = _assumed(base, n_test)
    places, means, variances, shares = [], [], [], []
    for place, candidate in enumerate(before.candidates):
        scores = success.get(candidate, {})
        both = [fold for fold in scores if fold in base]
        if candidate == before.default or not both:
            continue
        apart = np.array([scores[fold] - base[fold] for fold in both])
        assumed = of_default + _assumed(scores, n_test)
        squares = ((apart - apart.mean()) ** 2).sum() + FOLDS_ASSUMED * assumed
        variance = squares / (len(apart) - 1 + FOLDS_ASSUMED)
        places.append(place)
        means.append(apart.mean())
        variances.append(variance * (1 / len(apart) + n_test / n_train))
        shares.append(of_default / assumed)
    if not places:
        return before
    v, r = np.array(variances), np.array(shares)
    of_both = np.sqrt(v * r)
    noise = np.diag(v * (1 - r)) + np.outer(of_both, of_both)
    return before.given(places, np.array(means), noise)


def remaining_variance(
    success: Mapping[int, float], n_folds: int, *, n_test: float, n_train: float
) -> float:
    """Return the variance of an advantage over the default that all folds together leave."""
    return 2 * _assumed(success, n_test) * (1 / n_folds + n_test / n_train)


def _assumed(scores: Mapping[int, float], n_test: float) -> float:
    """Return the variance of a candidate's success on one fold, as if each row were won or lost.

    A row won and one lost are added, because few rows that were all won do not prove that much.
    """
    n_rows = max(len(scores), 1) * n_test
    lacking = 1.0 - float(np.mean(list(scores.values()))) if scores else 1.0
    lacking = (max(lacking, 0.0) * n_rows + 2.0) / (n_rows + 2.0)
    return lacking / (2 * n_test)


def expected_excess(mean: Array, deviation: Array) -> Array:
    """Return the mean of what normal variables have above 0.

    Examples
    --------
    >>> expected_excess(np.array([0.1, 0.0, -1.0]), np.array([0.0, 1.0, 0.1])).round(3)
    array([0.1  , 0.399, 0.   ])
    """
    deviation = np.maximum(deviation, 1e-9)
    z = mean / deviation
    return np.asarray(deviation * norm.pdf(z) + mean * norm.cdf(z))


def _without_experience(candidates: Sequence[Candidate]) -> Expectation:
    kernel = SPREAD**2 * likeness(candidates)
    apart = kernel - kernel[0][None] - kernel[:, [0]] + kernel[0, 0]
    mean = np.full(len(candidates), -DISCOUNT)
    mean[0] = 0.0
    return Expectation(tuple(candidates), mean, apart)


def likeness(candidates: Sequence[Candidate]) -> Array:
    """Return how alike candidates are: 1 for the same, less for other learners, columns, sizes.

    Examples
    --------
    >>> few, more = (Candidate("forest", "infogain", size) for size in (8, 16))
    >>> likeness([few, more, Candidate("forest")]).round(2)
    array([[1.  , 0.79, 0.5 ],
           [0.79, 1.  , 0.5 ],
           [0.5 , 0.5 , 1.  ]])
    """
    learners, selectors = (
        np.unique([getattr(each, what) for each in candidates], return_inverse=True)[1]
        for what in ("learner", "selector")
    )
    everything = np.array([each.selector == ALL for each in candidates])
    sizes = np.log([np.nan if each.size is None else each.size for each in candidates])
    alike = np.where(np.equal.outer(learners, learners), 1.0, 0.5)
    other = np.where(np.not_equal.outer(selectors, selectors), 0.8, 1.0)
    other *= np.exp(-np.nan_to_num(np.abs(np.subtract.outer(sizes, sizes))) / 3)
    return np.asarray(alike * np.where(np.not_equal.outer(everything, everything), 0.5, other))


def _by_what_was_tried(
    blank: Expectation, past: Sequence[Past]
) -> dict[tuple[int, ...], list[int]]:
    """Return which past problems tried the same candidates, by the places of these."""
    found: dict[tuple[int, ...], list[int]] = {}
    for number, each in enumerate(past):
        tried = tuple(i for i, one in enumerate(blank.candidates) if one in each.success)
        found.setdefault(tried, []).append(number)
    return found


def _filled(
    blank: Expectation, tried: tuple[int, ...], past: Sequence[Past]
) -> tuple[Array, Array]:
    """Return the advantages in each past problem, those it did not try from those it did.

    The covariance says how uncertain these remain, which is the same for problems that tried the
    same.
    """
    success = np.array([[each.success[blank.candidates[i]] for i in tried] for each in past])
    base = np.array([[each.success[blank.default]] for each in past])
    noise = NOISE**2 * np.eye(len(tried))
    known = [blank.given(tried, np.clip(each, -1.0, 1.0), noise) for each in success - base]
    return np.array([each.mean for each in known]), known[0].covariance
