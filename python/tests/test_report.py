"""Selection.report: the page says what the selection says, whatever the points came in."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr

HOSTILE = ["</script><script>x</script>", "<img src=x onerror=x>", "\"><b>", "&lt;", "\u2028",
           "\ud800", "a\0b"]


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(120, 9)) + np.repeat(np.eye(3, 9) * 4, 40, axis=0)


def page_of(path):
    return path.read_text(encoding="utf-8")


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


def test_the_page_has_the_exemplars_and_the_error_of_the_certificate(points, tmp_path):
    chosen = fwsr.select(points, 6)
    size = chosen.report(tmp_path / "page.html", points, y=np.repeat([0, 1, 2], 40))
    assert size == (tmp_path / "page.html").stat().st_size < 2_000_000
    data = data_of(page_of(tmp_path / "page.html"))
    assert data["exemplars"]["index"] == chosen.exemplars.tolist()
    assert data["exemplars"]["weight"] == chosen.weights.tolist()
    assert data["classes"] == ["0", "1", "2"]
    error = chosen.certificate.reconstruction_error
    assert data["curve"]["error"][-1] == pytest.approx(error, abs=1e-4)
    assert data["again"]["words"][:3] == ["X", "6", "method='exchange'"]


@pytest.mark.parametrize("method", ["fwsr", "k-fwsr", "kmedoids", "random", "greedy-cssp"])
def test_every_kind_of_method_has_a_page(points, tmp_path, method):
    chosen = fwsr.select(points, 4, method=method)
    chosen.report(tmp_path / "page.html", points)
    data = data_of(page_of(tmp_path / "page.html"))
    error = chosen.certificate.reconstruction_error
    assert data["curve"]["error"][-1] == pytest.approx(error, abs=1e-4)


def test_sparse_points_and_settings_of_a_sweep(points, tmp_path):
    sparse = sp.csr_matrix(np.where(np.abs(points) > 1, points, 0))
    setting = fwsr.sweep(sparse, 4, alphas=[2])[0].selection
    setting.report(tmp_path / "page.html", sparse)
    assert data_of(page_of(tmp_path / "page.html"))["exemplars"]["index"] == list(setting)


def test_classes_have_one_page_together(points, tmp_path):
    y = np.repeat(["a", "b", "c"], 40)
    chosen = fwsr.select(points, {"a": 2, "b": 0, "c": 3}, y=y, per_class=True, method="fwsr")
    chosen.report(tmp_path / "page.html", points, y)
    data = data_of(page_of(tmp_path / "page.html"))
    assert data["exemplars"]["index"] == chosen.exemplars.tolist()
    assert len(data["curve"]["error"]) == 3
    assert sum(data["exemplars"]["weight"]) == 80


def test_given_kernels_and_dissimilarities(points, tmp_path):
    kernel = points @ points.T
    chosen = fwsr.select(kernel, 4, method="k-fwsr", kernel="precomputed")
    chosen.report(tmp_path / "page.html", kernel)
    assert "curve" in data_of(page_of(tmp_path / "page.html"))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    chosen = fwsr.select(apart, 4, method="kmedoids", metric="precomputed")
    chosen.report(tmp_path / "page.html", apart)
    assert "curve" not in data_of(page_of(tmp_path / "page.html"))


def test_hostile_texts_columns_and_labels_stay_text(points, tmp_path):
    n = len(points)
    texts = [HOSTILE[i % 7] * 3 for i in range(n)]
    labels = [f"{HOSTILE[i % 5]}{i % 10}" for i in range(n)]
    chosen = fwsr.select(points, 5)
    for given in ({"text": texts}, {"columns": [f"{HOSTILE[j % 7]}{j}" for j in range(9)]}):
        chosen.report(tmp_path / "page.html", points, labels, name=HOSTILE[0], **given)
        page = page_of(tmp_path / "page.html")
        assert page.count("<script") == page.count("</script") == 2
        assert "onerror=x>" not in page and "<b>" not in page and "\0" not in page


def test_images_in_every_form(points, tmp_path):
    digits = fwsr.read("digits")
    chosen = fwsr.select(digits, 5)
    chosen.report(tmp_path / "page.html", digits)
    assert page_of(tmp_path / "page.html").count("<img ") == 5
    chosen.report(tmp_path / "page.html", digits, images=False)
    assert page_of(tmp_path / "page.html").count("<img ") == 0
    cube = digits.values.reshape(-1, 8, 8)
    chosen.report(tmp_path / "page.html", cube, digits.labels)
    assert page_of(tmp_path / "page.html").count("<img ") == 5
    square = fwsr.select(points, 3)
    square.report(tmp_path / "page.html", points, images=(3, 3))
    square.report(tmp_path / "page.html", points, images=True)
    assert data_of(page_of(tmp_path / "page.html"))["images"]["height"] == 3


def test_tables_bring_their_columns_and_ids(points, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(points, columns=[f"c{j}" for j in range(9)],
                         index=[f"row {i}" for i in range(120)])
    chosen = fwsr.select(table, 4)
    chosen.report(tmp_path / "page.html", table, axes=("c2", 0))
    data = data_of(page_of(tmp_path / "page.html"))
    assert data["exemplars"]["id"] == chosen.ids
    assert (data["map"]["across"], data["map"]["up"]) == ("c2", "c0")


def test_what_does_not_suit_is_refused(points, tmp_path):
    chosen = fwsr.select(points, 4)
    path = tmp_path / "page.html"
    for given, words in (({"text": ["a"]}, "120 points, but text has 1"),
                         ({"columns": ["a"]}, "9 features"), ({"images": (2, 3)}, "has 6 values"),
                         ({"axes": ("c", 0)}, "is no feature"),
                         ({"axes": (1, 2, 3)}, "two features"), ({"y": [1, 2]}, "labels")):
        with pytest.raises((ValueError, TypeError), match=words):
            chosen.report(path, points, **given)
    with pytest.raises(ValueError, match="beyond the 10 points"):
        chosen.report(path, points[:10])
    with pytest.raises(ValueError, match="kernel of this selection is a function"):
        fwsr.select(points, 3, method="k-fwsr", kernel=lambda a, b: a @ b.T).report(path, points)
    classes = fwsr.select(points, 2, y=np.repeat([0, 1, 2], 40), per_class=True)
    with pytest.raises(ValueError, match="make the page of the whole"):
        classes.classes["0"].report(path, points)
    with pytest.raises((ValueError, OSError)):
        chosen.report(tmp_path / "no" / "page.html", points)
    assert not path.exists()


def test_a_selection_that_was_kept_still_has_a_page(points, tmp_path):
    chosen = pickle.loads(pickle.dumps(fwsr.select(points, 4)))
    chosen.report(tmp_path / "page.html", points)
    assert len(data_of(page_of(tmp_path / "page.html"))["exemplars"]["index"]) == 4
