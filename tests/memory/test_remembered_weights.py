"""Weights of past models on a new problem's columns."""

from dataclasses import replace

import numpy as np

from metafs.memory.past_columns import Places, scales_on, weights_on
from metafs_metadb import Reference


def model(n_samples, shares, weights, preparation="words", ids=(1, 2, 3)):
    n = len(ids)
    return Reference(
        problem_id=n_samples,
        run_id=1,
        source="a.csv",
        n_samples=n_samples,
        preparation=preparation,
        n_labels=n_samples,
        outputs=("yes",),
        weight_ids=(np.array(ids),),
        weights=(np.array(weights),),
        feature_ids=np.array(ids),
        relevance=np.zeros(n),
        document_frequency=np.array(shares),
        mean=np.array(shares),
        spread=np.ones(n),
        transfers=(),
    )


def test_weights_of_words_are_as_if_the_model_had_known_how_rare_they_are_in_memory():
    one = model(100, [0.5, 0.1, 0.0], [1.0, -2.0, 3.0])
    two = model(300, [0.01, 0.1, 0.2], [1.0, 1.0, 1.0])
    places = Places(np.array([3, 0, 1, 2]))  # the second column is new
    ours, weights = weights_on(one, 0, places, scales_on([one, two], places))
    found = dict(zip(ours.tolist(), weights, strict=True))
    for ours, theirs in ((2, 0), (3, 1), (0, 2)):
        n_one, n_two = (each.n_samples * each.document_frequency[theirs] for each in (one, two))
        in_memory = np.log(401 / (1 + n_one + n_two)) + 1
        own = np.log(101 / (1 + n_one)) + 1
        np.testing.assert_allclose(found[ours], one.weights[0][theirs] * in_memory / own)
    assert found[2] > 1.0 and found[0] < 3.0


def test_weights_of_numbers_and_unknown_words_are_as_they_were_learned():
    places = Places(np.array([1, 2, 3]))
    two = model(300, [0.3, 0.1, 0.2], [1.0, 1.0, 1.0])
    number = model(100, [0.5, 0.1, 0.2], [1.0, -2.0, 3.0], preparation="standard")
    assert weights_on(number, 0, places, scales_on([two], places))[1].tolist() == [1.0, -2.0, 3.0]
    old = replace(number, preparation="words", document_frequency=np.full(3, np.nan))
    assert weights_on(old, 0, places, scales_on([two], places))[1].tolist() == [1.0, -2.0, 3.0]
    assert weights_on(old, 0, places, None)[1].tolist() == [1.0, -2.0, 3.0]
