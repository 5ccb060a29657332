"""What the research on learned recall rests on: relations of problems, and models of the past."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import learned_recall
        import stream_memory

        yield SimpleNamespace(recall=learned_recall, memory=stream_memory)


@given(seed=st.integers(0, 2**16))
@settings(max_examples=20, deadline=None)
def test_problems_are_alike_as_computed_pair_by_pair(modules, seed):
    rng = np.random.default_rng(seed)
    has = (rng.random((4, 30)) < 0.6).astype(float)
    has[:, 0] = 1.0
    relative = has * rng.random(has.shape)
    cosine, correlation, common = modules.memory.alikeness(relative, has)
    for i in range(4):
        for j in range(4):
            both = (has[i] > 0) & (has[j] > 0)
            a, b = relative[i], relative[j]
            assert np.isclose(cosine[i, j], a @ b / np.sqrt(a @ a * (b @ b)))
            assert np.isclose(common[i, j], both.sum() / np.sqrt(has[i].sum() * has[j].sum()))
            expected = np.corrcoef(a[both], b[both])[0, 1] if both.sum() >= 5 else 0.0
            assert np.isclose(correlation[i, j], expected, atol=1e-6)


def two_families(n_problems=40, n_features=24):
    """Problems that select among the first or the last features, which differ in their scores."""
    rng = np.random.default_rng(0)
    names = tuple(f"f{number}" for number in range(n_features))
    first = np.arange(n_features) < n_features // 2
    relative = np.array(
        [
            np.where(first == i % 2, 0.5, 0.2) + 0.3 * rng.random(n_features)
            for i in range(n_problems)
        ]
    )
    return SimpleNamespace(
        problems=[SimpleNamespace(name=str(i), feature_names=names) for i in range(n_problems)],
        ids=[np.arange(n_features)] * n_problems,
        has=np.ones((n_problems, n_features)),
        relative=relative,
        distance=0.5 + 0.4 * rng.random((n_problems, n_problems)),
        first=first,
    )


def remembered(modules, stream, n_solved):
    stream.cosine, stream.correlation, stream.common = modules.memory.alikeness(
        stream.relative, stream.has
    )
    stream.unlikeness = np.sqrt(1.0 - stream.cosine)
    memory = modules.memory.Memory(stream)
    for i in range(n_solved):
        memory.add(i, stream.relative[i] >= np.sort(stream.relative[i])[-5])
    return memory


def test_learned_neighbours_are_those_that_share_selected_features(modules):
    """The distance is noise here, so guided cannot distinguish the families; scores can."""
    stream = two_families()
    memory, arm = remembered(modules, stream, 30), modules.recall.LearnedNeighbours()
    for i in range(30, 40):
        prior, mine = arm(memory, i), stream.first == i % 2
        assert all(mine[start].all() for start in prior.starts)
        plain = modules.recall.guided(memory, i)
        assert prior.expected[mine].sum() / prior.expected.sum() > (
            plain.expected[mine].sum() / plain.expected.sum()
        )


@pytest.mark.parametrize("name", ["boosting", "moses", "factors"])
def test_what_is_selected_is_learnt_from_descriptions_of_features_and_problems(modules, name):
    """Features of the other family have lower scores here, and are never selected."""
    stream = two_families()
    memory, arm = remembered(modules, stream, 0), modules.recall.ARMS[name]()
    for i in range(40):
        prior, mine = arm(memory, i), stream.first == i % 2
        if i >= 35:
            assert prior.expected.max() == pytest.approx(1.0)
            assert prior.expected[mine].mean() > 1.5 * prior.expected[~mine].mean()
        memory.add(i, stream.relative[i] >= np.sort(stream.relative[i])[-5])


def test_neighbours_and_doubt_are_changed_one_at_a_time(modules):
    stream = two_families()
    stream.distance[:] = 0.99
    memory = remembered(modules, stream, 30)
    plain, agreement, trusting, both = (
        modules.recall.ARMS[arm]()(memory, 30)
        for arm in ("guided", "agreement", "trusting", "both")
    )
    assert [p.doubtful for p in (plain, agreement, trusting, both)] == [True, True, False, False]
    np.testing.assert_array_equal(plain.expected, trusting.expected)
    np.testing.assert_array_equal(agreement.expected, both.expected)
    assert not np.array_equal(plain.expected, both.expected)


def test_with_little_behind_them_models_leave_it_to_guided(modules):
    stream = two_families()
    memory = remembered(modules, stream, modules.recall.FIRST - 1)
    plain = modules.recall.guided(memory, 30)
    for arm in (
        modules.recall.LearnedNeighbours(),
        modules.recall.LearnedFeatures(),
        modules.recall.LearnedFactors(),
    ):
        np.testing.assert_array_equal(arm(memory, 30).expected, plain.expected)


def test_an_interval_holds_the_mean_ratio_and_narrows_with_problems(modules):
    logs = np.log(2.0) + np.tile([-0.5, 0.5], 8)
    assert modules.recall.interval(logs).startswith("2.00 (")
    assert modules.recall.interval(np.full(9, np.log(1.5))) == "1.50 (1.50 to 1.50)"
