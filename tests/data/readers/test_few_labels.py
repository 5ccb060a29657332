"""The demonstration of few labels: which rows are labelled, unlabelled and held back."""

import numpy as np

from metafs.data.readers import sources
from metafs.data.readers.demo import few_label_sets, held_back


def test_the_last_five_have_two_labels_a_digit_and_rows_of_their_own():
    problems = [source.read() for source in sources(["demo:few-labels"])]
    assert len(problems) == 30 and len({problem.name for problem in problems}) == 30
    assert {problem.n_samples for problem in problems[:25]} == {240}
    seen = {tuple(row) for problem in problems[:25] for row in problem.X.tolist()}
    for number, problem in enumerate(problems[25:], start=25):
        assert np.bincount(problem.y).tolist() == [2] * 4
        assert problem.X_unlabelled.shape == (152, 64)
        X_test, y_test = held_back(number)
        own = [tuple(row) for row in [*problem.X.tolist(), *problem.X_unlabelled.tolist()]]
        test = [tuple(row) for row in X_test.tolist()]
        assert not seen.intersection(own) and not (seen | set(own)).intersection(test)
        assert set(y_test) == set(problem.classes) == set(map(str, few_label_sets()[number]))
