"""The frame of the experiments: measurements on disk, the page, data sets and classifiers."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from experiments import data, learn, page, selection
from experiments.store import Store, differences
from experiments.studies import labelled


def test_measurements_are_found_again_and_a_cut_line_is_measured_anew(tmp_path):
    path = tmp_path / "a.jsonl"
    store = Store(path)
    store.add({"n": 1, "method": "x"}, {"value": 0.5}, 1.0)
    store.add({"n": 2, "method": "x"}, {"value": 0.25}, 1.0)
    with path.open("a") as file:
        file.write('{"key": {"n": 3}, "resu')
    again = Store(path)
    assert len(again) == 2
    assert again[{"method": "x", "n": 2}] == {"value": 0.25}
    assert {"n": 3} not in again
    again.sort([{"n": 2, "method": "x"}, {"n": 1, "method": "x"}])
    assert [json.loads(line)["key"]["n"] for line in path.read_text().splitlines()] == [2, 1]


def test_differences_leave_out_seconds_and_find_the_rest():
    ours = {"accuracy": [0.5, 0.25], "seconds": 3, "picks": 4}
    assert differences(ours, {**ours, "seconds": 9}, 0.01) == []
    assert differences(ours, {**ours, "accuracy": [0.5, 0.3]}, 0.01) == [
        "accuracy.1: 0.25 against 0.3"
    ]
    assert len(differences(ours, {"accuracy": [0.5], "seconds": 3}, 0.01)) == 2
    tuned = {"svm": 0.5, "svm_C": 1.0, "plain": 0.25}
    assert differences(tuned, {"svm": 0.7, "svm_C": 0.1, "plain": 0.25}, 0.01) == []
    assert len(differences(tuned, {"svm": 0.7, "svm_C": 1.0, "plain": 0.5}, 0.01)) == 2


def test_the_page_is_filled_between_its_marks_only(tmp_path):
    written = tmp_path / "page.md"
    written.write_text("before\n<!-- begin a -->\nold\n<!-- end a -->\nafter\n")
    assert page.fill(written, {"a": "new \\1", "b": "lost"}) == ["b"]
    assert written.read_text() == "before\n<!-- begin a -->\nnew \\1\n<!-- end a -->\nafter\n"
    assert page.beside(0.5, 0.54) == "0.500\\* (0.540)"
    assert page.beside(0.5, 0.52) == "0.500 (0.520)"


def test_votes_of_neighbours_are_those_of_scikit_learn():
    split = data.digits()
    rows = np.random.default_rng(0).choice(len(split.y), 60, replace=False)
    grid = [1, 2, 3, 5, 9, 15]
    one_by_one = [
        np.mean(
            KNeighborsClassifier(n).fit(split.X[rows], split.y[rows]).predict(split.X_test)
            == split.y_test
        )
        for n in grid
    ]
    assert list(learn.scores(split, rows, "knn", grid).values()) == one_by_one


def test_a_linear_machine_is_the_same_in_the_basis_of_its_points():
    split = data.digits()
    rows = np.random.default_rng(0).choice(len(split.y), 40, replace=False)
    found = learn.scores(split, rows, "svm", [0.01])["0.01"]
    plain = LinearSVC(C=0.01, class_weight="balanced", random_state=0)
    plain.fit(split.X[rows], split.y[rows])
    assert abs(found - np.mean(plain.predict(split.X_test) == split.y_test)) < 0.005


def test_exemplars_come_from_their_class_and_the_others_are_kept():
    split = data.cancer()
    only = data.replace(split, only=(1,), k=4)
    for setting, rows in selection.chosen(only, selection.METHODS["rrqr"]):
        assert set(setting) == {"center", "scale"}
        labels = split.y[rows]
        assert (labels == 1).sum() == 4
        assert (labels == 0).sum() == (split.y == 0).sum()


def test_every_tuned_method_tries_the_same_number_of_settings():
    X = np.random.default_rng(0).normal(size=(40, 6))
    counts = {}
    for method in ("fwsr", "k-fwsr", "smrs"):
        settings = [setting for setting, _ in selection.METHODS[method](X, 3)]
        endings = {setting.pop("when", "") for setting in settings}
        counts[method] = len(settings) / len(endings)
        assert len({json.dumps(s) for s in settings}) == counts[method]
    assert len(set(counts.values())) == 1, counts


def test_tuning_on_the_training_points_never_sees_the_test_points():
    split = data.wine()
    inner = data.inner(split)
    assert len(inner.y) + len(inner.y_test) == len(split.y)
    rows = {row.tobytes() for row in split.X}
    assert all(row.tobytes() in rows for row in inner.X_test)


def test_honest_values_are_looked_up_at_the_setting_that_tuning_chose(tmp_path):
    store = Store(tmp_path / "labelled.jsonl")
    measured = {"tune": [[0.1, 0.9], [0.5, 0.2]], "paper": [[0.7, 0.3], [0.8, 0.4]]}
    for protocol, values in measured.items():
        settings = [
            {"alpha": a, "exemplars": 2, "svm": v, "knn": v} for a, v in zip((1.0, 2.0), values)
        ]
        key = {"data": "digits", "standardised": False, "method": "smrs", "protocol": protocol}
        store.add({**key, "draw": 0}, {"settings": settings}, 0.0)
    assert labelled.honest(store, "digits", "svm", "smrs") == [0.3]
    assert labelled.best_of(store, "digits", "svm", "smrs") == [0.8]


def _labels(part):
    path = data.FOLDER / f"emnist/emnist-byclass-{part}-labels-idx1-ubyte.gz"
    if not path.exists():
        pytest.skip(f"no data at {path}: name its folder in FWSR_DATA")
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=8)


def test_emnist_capped_has_the_size_that_the_paper_gives():
    sizes = labelled.PAPER["sizes"]["emnist"]
    assert len(data.capped(_labels("train"), 5000)) == sizes["train"]
    assert len(_labels("test")) == sizes["valid"]


def test_the_loader_of_emnist_reads_its_official_files(tmp_path, monkeypatch):
    """Genuine images of another part of EMNIST under the names of ByClass."""
    images = data.FOLDER / "emnist/emnist-mnist-test-images-idx3-ubyte.gz"
    if not images.exists():
        pytest.skip(f"no data at {images}: name its folder in FWSR_DATA")
    (tmp_path / "emnist").mkdir()
    for part in ("train", "test"):
        for kind in ("images-idx3", "labels-idx1"):
            source = data.FOLDER / f"emnist/emnist-mnist-test-{kind}-ubyte.gz"
            target = tmp_path / f"emnist/emnist-byclass-{part}-{kind}-ubyte.gz"
            target.symlink_to(source)
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    data.emnist.cache_clear()
    split = data.emnist(cap=100)
    data.emnist.cache_clear()
    assert split.X.shape == (1000, 784) and split.X_test.shape == (10000, 784)
    assert split.X.min() == 0 and split.X.max() == 1
    assert (np.bincount(split.y) == 100).all()


def test_absent_data_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    data.mnist.cache_clear()
    with pytest.raises(data.Missing, match="FWSR_DATA"):
        data.mnist()
    data.mnist.cache_clear()
