"""Files of models: whole, or refused in a sentence; of any name, and of this version."""

import io
import json
import os
import subprocess
import sys
import zipfile
from hashlib import sha256

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.preprocessing import FunctionTransformer

from metafs import Problem, Registry, solve
from metafs.errors import MetafsError
from metafs.pipeline.models import archive as model_archive
from metafs.pipeline.models.archive import ModelFileError
from metafs.pipeline.models.folder import contents, file_name, find
from metafs.pipeline.models.model_file import about, load, save
from metafs.stats.balanced import BalancedDecisions


def solved(related, learner="logistic", number=0, **settings):
    chosen = {"selector": "infogain", "folds": 2, **settings}
    (found,) = solve(related(number), db=None, learner=learner, **chosen)
    assert found.status == "solved", found.error
    return found.model


def sentence(raised):
    message = str(raised.value)
    assert "\n" not in message and "Traceback" not in message and message.endswith(".")
    return message


def of_number(problem):
    y = problem.X[:, 0] + np.arange(problem.n_samples)
    return Problem.of(problem.X, y, feature_names=problem.feature_names, name="number")


@pytest.mark.parametrize("name", sorted(Registry().learners))
def test_every_learner_survives(name, related, tmp_path):
    problem = related(0)
    solutions = list(
        solve([problem, of_number(problem)], db=None, selector="infogain", learner=name, folds=2)
    )
    models = [each.model for each in solutions if each.status == "solved"]
    assert models
    for model in models:
        assert save(model, tmp_path / "m.metafs") == ()
        again = load(tmp_path / "m.metafs")
        np.testing.assert_array_equal(again.predict(problem.X), model.predict(problem.X))
        if model.classes is not None:
            found = again.predict_proba(problem.X)
            np.testing.assert_array_equal(found, model.predict_proba(problem.X))
            np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("number", range(2))
def test_what_is_chosen_survives(number, related, tmp_path):
    model = solved(related, "auto", number, selector="auto")
    assert save(model, tmp_path / "m.metafs") == ()
    X = related(number).X
    np.testing.assert_array_equal(load(tmp_path / "m.metafs").predict(X), model.predict(X))


@pytest.mark.parametrize("name", sorted(Registry().learners))
def test_balanced_decisions_survive(name, tmp_path):
    if is_regressor(Registry().learners[name]):
        pytest.skip("it predicts numbers")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    problem = Problem.of(X, (X[:, 0] + rng.normal(size=90) > 1).astype(int), name="rare")
    (found,) = solve(problem, db=None, selector="auto", learner=name, size=2, folds=2)
    model = found.model
    assert save(model, tmp_path / "m.metafs") == ()
    again = load(tmp_path / "m.metafs")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    probable = model.predict_proba(X)[:, 1]
    if isinstance(model.estimator, BalancedDecisions):
        share = problem.y.mean()
        ratio = (probable / share, (1 - probable) / (1 - share))
        decided = np.isclose(*ratio) | ((ratio[0] > ratio[1]) == (model.predict(X) == "1"))
        assert decided.all()
    else:
        assert name in ("linear-svm", "kernel-svm", "gp-prior"), "these tell decision values only"


def test_another_process_predicts_the_same(related, tmp_path):
    model = solved(related, "forest")
    save(model, tmp_path / "m.metafs", score=0.9, scoring="balanced_accuracy")
    np.save(tmp_path / "X.npy", related(1).X)
    script = (
        "import numpy as np, pathlib, sys; from metafs.pipeline.models.model_file import load;"
        "model = load(pathlib.Path(sys.argv[1])); X = np.load(sys.argv[2]);"
        "np.save(sys.argv[3], model.predict_proba(X))"
    )
    paths = [tmp_path / name for name in ("m.metafs", "X.npy", "P.npy")]
    subprocess.run([sys.executable, "-c", script, *map(str, paths)], check=True)
    np.testing.assert_array_equal(np.load(paths[2]), model.predict_proba(related(1).X))
    told = about(paths[0])
    assert (told.problem, told.scikit_learn) == ("problem 0", sklearn.__version__)
    assert (told.score, told.features) == (0.9, model.features)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    problem = Problem.of(X, (X[:, 0] > 0).astype(int), name="p")
    (found,) = solve(problem, db=None, selector="infogain", learner="forest", folds=2)
    path = tmp_path_factory.mktemp("saved") / "m.metafs"
    save(found.model, path)
    return path


@given(st.data())
def test_any_changed_byte_is_noticed(saved, data):
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    damaged = saved.with_suffix(".damaged")
    damaged.write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load(damaged)
    assert "damaged" in sentence(raised) or "newer" in str(raised.value)


@given(st.integers(0, 400) | st.floats(0, 0.999))
def test_any_cut_is_noticed(saved, length):
    content = saved.read_bytes()
    cut = saved.with_suffix(".cut")
    cut.write_bytes(content[: length if isinstance(length, int) else int(length * len(content))])
    with pytest.raises(ModelFileError) as raised:
        load(cut)
    assert "damaged" in sentence(raised)
    with pytest.raises(ModelFileError):
        about(cut)


@given(st.binary(max_size=200))
def test_other_files_are_refused(saved, content):
    other = saved.with_suffix(".other")
    for before in (
        b"",
        b"metafs model 1\n",
        b"metafs model 1\n" + sha256(content).hexdigest().encode() + b"\n",
    ):
        other.write_bytes(before + content)
        with pytest.raises(ModelFileError) as raised:
            load(other)
        sentence(raised)


def forged(path, *, change=None, without=(), estimator=None):
    """Write a file whose hash is right, of another header or other content."""
    packed = path.read_bytes().split(b"\n", 2)[2]
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        header = json.loads(archive.read("model.json")) | (change or {})
        content = archive.read("estimator.skops") if estimator is None else estimator
    for name in without:
        header.pop(name)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.json", json.dumps(header))
        archive.writestr("estimator.skops", content)
    digest = sha256(buffer.getvalue()).hexdigest().encode()
    found = path.with_suffix(".forged")
    found.write_bytes(b"metafs model 1\n" + digest + b"\n" + buffer.getvalue())
    return found


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scikit_learn": "0.24.1"}, "saved with scikit-learn 0.24.1, and this is"),
        ({"metafs": "7.0"}, "saved with metafs 7.0, and this is"),
        ({"columns": 3}, "is not a model that metafs can load"),
        ({"positions": ["x"]}, "is not a model that metafs can load"),
    ],
)
def test_other_versions_and_strange_headers_are_refused(saved, change, why):
    with pytest.raises(ModelFileError) as raised:
        load(forged(saved, change=change))
    assert why in sentence(raised)


def test_missing_parts_and_strange_estimators_are_refused(saved):
    for strange in (
        forged(saved, without=["classes"]),
        forged(saved, estimator=b"no archive"),
        forged(saved, without=["metafs"]),
    ):
        with pytest.raises(ModelFileError) as raised:
            load(strange)
        sentence(raised)


def test_a_newer_format_is_refused(saved):
    newer = saved.with_suffix(".newer")
    newer.write_bytes(saved.read_bytes().replace(b"metafs model 1\n", b"metafs model 2\n", 1))
    with pytest.raises(ModelFileError, match="was saved by a newer metafs"):
        load(newer)


class Own(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.eye(len(self.classes_))[np.zeros(len(X), dtype=int)]


def test_types_of_others_are_loaded_only_where_they_are_trusted(related, tmp_path):
    model = solved(related, Own())
    (name,) = save(model, tmp_path / "m.metafs")
    assert name.endswith("Own")
    with pytest.raises(ModelFileError, match="does not know to be harmless") as raised:
        load(tmp_path / "m.metafs")
    assert f"--trust {name}" in sentence(raised)
    assert len(load(tmp_path / "m.metafs", trusted=[name]).predict(related(0).X)) == 60


def test_code_is_never_run(saved):
    import skops.io

    harm = FunctionTransformer(os.system, kw_args={"command": "touch harmed"})
    with pytest.raises(ModelFileError, match="does not know to be harmless"):
        load(forged(saved, estimator=skops.io.dumps(harm)))


def test_any_object_of_scikit_learn(related, tmp_path):
    model = solved(related, GradientBoostingClassifier(n_estimators=3, random_state=0))
    assert save(model, tmp_path / "m.metafs") == ()
    X = related(0).X
    np.testing.assert_array_equal(load(tmp_path / "m.metafs").predict(X), model.predict(X))


def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(related, tmp_path, monkeypatch):
    path = tmp_path / "m.metafs"
    save(solved(related), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_archive.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        save(solved(related, number=1), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m.metafs"]


HOSTILE = [
    "a/b", "a_b", "../../etc/passwd", "/", ".", "..", "", "süß", "süss", "\u200b", "CON",
    "x" * 5000, "x" * 4999, "new\nline", "tab\t", "nul\0",
    "A", "a", "\ud800", "emoji 🙂", "-o", "*", "a:b",
]  # fmt: skip


def test_names_of_problems_may_be_anything(saved, tmp_path):
    names = {file_name(name, space) for name in HOSTILE for space in (None, "s", "t")}
    assert len({name.lower() for name in names}) == 3 * len(HOSTILE)
    for name in HOSTILE:
        path = tmp_path / file_name(name, "s")
        assert path.parent == tmp_path and len(path.name) < 128
        path.write_bytes(saved.read_bytes())
        assert find(tmp_path, name, None) == find(tmp_path, name, "s") == path


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_never_share_a_file(one, other):
    assert (file_name(one, "s") == file_name(other, "s")) == (one == other)


def test_the_folder_says_which_names_come_close(saved, tmp_path):
    (tmp_path / file_name("p", None)).write_bytes(saved.read_bytes())
    (tmp_path / "junk.metafs").write_bytes(b"junk")
    assert [each.problem for each in contents(tmp_path)] == ["p"]
    with pytest.raises(MetafsError, match="has no model of 'pp': did you mean 'p'"):
        find(tmp_path, "pp", None)
    with pytest.raises(MetafsError, match="there is no folder"):
        find(tmp_path / "none", "p", None)
    (tmp_path / file_name("p", "s")).write_bytes(saved.read_bytes())
    with pytest.raises(MetafsError, match="in several spaces"):
        find(tmp_path, "p", None)
