"""SQL, memory and an obvious reference name the same neighbours, ties included."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metafs_metadb import MemoryIndex, MetaDB, Neighbour, Signatures

from ..building import record, signature


def divergence(p, q):
    """JSD in bits, from its definition."""
    total = 0.0
    for key in p.keys() | q.keys():
        a, b = p.get(key, 0.0), q.get(key, 0.0)
        middle = (a + b) / 2
        total += sum(x * math.log2(x / middle) / 2 for x in (a, b) if x > 0)
    return total


def reference(stored, query, k):
    """Compare with everybody, sort, take k."""
    found = [
        (round(divergence(masses, query), 11), problem_id)
        for problem_id, masses in stored.items()
        if masses.keys() & query.keys()
    ]
    return [problem_id for _, problem_id in sorted(found)[:k]]


def index_of(stored):
    keys = [np.array(list(masses), np.uint64) for masses in stored.values()]
    p = [np.array(list(masses.values())) for masses in stored.values()]
    return MemoryIndex(
        Signatures(
            problem_id=np.array(list(stored), np.int64),
            names=tuple(f"p{problem_id}" for problem_id in stored),
            fingerprints=tuple(f"print {problem_id}" for problem_id in stored),
            starts=np.append(0, np.cumsum([len(each) for each in keys])).astype(np.int64),
            keys=np.concatenate([np.empty(0, np.uint64), *keys]),
            p=np.concatenate([np.empty(0), *p]),
        )
    )


# Few keys and few weights, so that ties, identical problems and disjoint ones are common.
distribution = st.dictionaries(
    st.sampled_from([0, 1, 2, 3, 4, 5, 2**63, 2**64 - 1]),
    st.sampled_from([1, 1, 2, 3, 7]),
    min_size=1,
    max_size=6,
).map(lambda weights: {key: w / sum(weights.values()) for key, w in weights.items()})


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(distribution, min_size=1, max_size=12), distribution, st.integers(1, 6))
def test_sql_memory_and_reference_agree(tmp_path_factory, stored, query, k):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    for number, masses in enumerate(stored, 1):
        record(db, f"p{number}", masses=masses)
    by_sql = db.search("jsd-rows", "default").nearest(*signature(query), k)
    by_memory = db.index("jsd-rows", "default").nearest(*signature(query), k)
    assert by_sql == by_memory
    numbered = dict(enumerate(stored, 1))
    assert [near.problem_id for near in by_sql] == reference(numbered, query, k)
    for near in by_sql:
        assert near.distance**2 == pytest.approx(
            divergence(numbered[near.problem_id], query), abs=1e-11
        )


@pytest.mark.parametrize("column_share", [0.0, 0.3, 2.0], ids=["columns", "both", "lists"])
@settings(max_examples=80, deadline=None)
@given(
    stored=st.lists(distribution, min_size=1, max_size=40),
    query=distribution,
    k=st.integers(1, 8),
    n_added=st.integers(0, 10),
)
def test_every_way_through_memory_agrees_with_the_reference(
    column_share, stored, query, k, n_added
):
    numbered = dict(enumerate(stored, 1))
    n_first = max(len(stored) - n_added, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metafs_metadb.search.hellinger.N_PROBES", 1)
        patch.setattr("metafs_metadb.search.hellinger.BLOCK", 4)
        patch.setattr("metafs_metadb.search.hellinger.COLUMN_SHARE", column_share)
        patch.setattr("metafs_metadb.search.memory_index.FEWEST_TO_MERGE", 4)
        index = index_of({n: masses for n, masses in numbered.items() if n <= n_first})
        for n, masses in numbered.items():
            index.add(n, f"p{n}", f"print {n}", *signature(masses))
        assert len(index) == len(stored)
        found = index.nearest(*signature(query), k)
    assert [near.problem_id for near in found] == reference(numbered, query, k)


@settings(max_examples=200, deadline=None)
@given(distribution, distribution, distribution)
def test_the_root_of_the_divergence_is_a_metric(p, q, r):
    def d(a, b):
        found = index_of({1: a}).nearest(*signature(b), 1)
        return found[0].distance if found else 1.0

    assert d(p, p) == 0.0
    assert 0.0 <= d(p, q) <= 1.0
    assert d(p, q) == d(q, p)
    assert d(p, r) <= d(p, q) + d(q, r) + 1e-6  # rounding to 12 digits, under the root


def random_problems(n, n_keys, length, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    problems = {}
    for problem_id in range(1, n + 1):
        keys = rng.choice(n_keys, min(length, n_keys), replace=False)
        p = rng.gamma(spread, size=len(keys)) + 1e-9
        problems[problem_id] = dict(zip(keys.tolist(), (p / p.sum()).tolist(), strict=True))
    return problems


@pytest.mark.parametrize(
    ("n_keys", "length"), [(12, 12), (200, 40), (800, 60), (5000, 20), (10**6, 8)]
)
def test_larger_memories_agree_with_everybody_compared(n_keys, length):
    stored = random_problems(2500, n_keys, length, seed=n_keys)
    for copy in range(20):  # ties: these are all the same problem
        stored[4000 + copy] = stored[1]
    index = index_of(stored)
    queries = [stored[1], stored[77], *random_problems(3, n_keys, length, seed=1).values()]
    for query in queries:
        expected = reference(stored, query, 40)
        for k in (1, 5, 40):
            found = index.nearest(*signature(query), k)
            assert [near.problem_id for near in found] == expected[:k]


def test_every_key_distinct_means_no_neighbours():
    stored = {n: {10 * n: 0.5, 10 * n + 1: 0.5} for n in range(1, 3000)}
    index = index_of(stored)
    assert index.nearest(*signature({5: 1.0}), 5) == []
    assert [near.problem_id for near in index.nearest(*signature(stored[7]), 5)] == [7]


def test_more_asked_than_there_are():
    stored = {1: {1: 1.0}, 2: {1: 0.5, 2: 0.5}, 3: {3: 1.0}}
    index = index_of(stored)
    assert [near.problem_id for near in index.nearest(*signature({1: 1.0}), 99)] == [1, 2]
    assert index.nearest(*signature({1: 1.0}), 0) == []
    assert index_of({}).nearest(*signature({1: 1.0}), 3) == []


def test_additions_are_found_across_merges():
    stored = random_problems(900, 300, 10, seed=0)
    index = index_of({n: stored[n] for n in range(1, 101)})
    for n in range(101, 901):
        index.add(n, f"p{n}", f"print {n}", *signature(stored[n]))
        if n % 131 == 0:
            so_far = {m: stored[m] for m in range(1, n + 1)}
            found = index.nearest(*signature(stored[n]), 5)
            assert [near.problem_id for near in found] == reference(so_far, stored[n], 5)


def test_who_is_excluded_and_who_is_not_recalled(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "same", fingerprint="f1")
    record(db, "same", fingerprint="f2")
    record(db, "other", fingerprint="f3")
    record(db, "failed", fingerprint="f4", status="failed")
    record(db, "elsewhere", space="another", fingerprint="f5")
    record(db, "excluded", fingerprint="f6")
    with db.writing() as con:
        con.execute("update problem set excluded = true where fingerprint = 'f6'")
    ask = signature({1: 0.5, 2: 0.5})
    searches = (db.search("jsd-rows", "default"), db.index("jsd-rows", "default"))
    for search in searches:
        found = search.nearest(*ask, 9)
        assert [near.fingerprint for near in found] == ["f1", "f2", "f3"]
        assert found[0] == Neighbour(1, "same", 0.0, "f1")
        assert [n.fingerprint for n in search.nearest(*ask, 2, exclude_fingerprint="f1")] == [
            "f2",
            "f3",
        ]
        assert [n.fingerprint for n in search.nearest(*ask, 2, exclude_name="same")] == ["f3"]
    assert db.search("jsd-features", "default").nearest(*ask, 3) == []
    assert len(db.signatures("jsd-rows", "default", exclude_problem_ids=[1])) == 2


def test_the_worked_example_of_the_paper(tmp_path):
    """Goertzel 2021, section 3.3.3: d(D1, D2) = 1 and d(D2, D3) = 0.3945."""
    target, word2_target, word1, all_three, word1_target, nothing = range(6)
    d1 = {target: 0.5, word2_target: 0.25, word1: 0.25}
    d2 = {all_three: 0.5, word1_target: 0.25, nothing: 0.25}
    d3 = {all_three: 0.25, word2_target: 0.25, word1_target: 0.25, nothing: 0.25}
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "D1", masses=d1)
    record(db, "D3", masses=d3)
    found = db.search("jsd-rows", "default").nearest(*signature(d2), 5)
    # D1 shares no row pattern with D2: at distance 1 it is no neighbour.
    assert [(near.name, round(near.distance, 4)) for near in found] == [("D3", 0.3945)]
    assert divergence(d1, d2) == 1.0


def test_exact_halves_are_rounded_alike_by_sql_and_by_the_index(tmp_path):
    """1 - n/16384 often lies halfway between two numbers of 12 decimals."""
    db = MetaDB(tmp_path / "halves.duckdb")
    for n in range(1, 65):
        share = n / 16384
        record(db, f"p{n}", masses={1: share, 2 + n: 1 - share})
        query = np.array([1, 2], np.uint64), np.array([share, 1 - share])
        by_sql = db.search("jsd-rows", "default").nearest(*query, 3)
        assert by_sql == db.index("jsd-rows", "default").nearest(*query, 3)
