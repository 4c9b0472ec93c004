"""Selection.report: the page says what the selection says, whatever the points came in."""

from __future__ import annotations

import base64
import html
import io
import json
import pickle
import re
import sys

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


def made_again(page, X, y=None):
    """By the command that stands on it."""
    command = re.search(r'<pre id="command"[^>]*>(.*?)</pre>', page, re.DOTALL).group(1)
    return eval(html.unescape(command), {"fwsr": fwsr, "X": X, "y": y})


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
    labels = [f"{HOSTILE[i % 7]}{i % 10}" for i in range(n)]
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


def test_a_table_in_another_order_is_refused(points, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(points, index=[f"p{i}" for i in range(120)])
    chosen = fwsr.select(table, 5)
    assert chosen.report(tmp_path / "page.html", table) > 0
    with pytest.raises(ValueError, match="was 'p.*in the order in which they were chosen from"):
        chosen.report(tmp_path / "page.html", table.iloc[::-1])


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


def test_comparisons_and_sweeps_have_pages(points, tmp_path):
    y = np.repeat(["a", "<b>", "c"], 40)
    table = fwsr.compare(points, 4, ["fwsr", "random", "kmedoids:metric=cosine"], y=y, repeats=2)
    size = table.report(tmp_path / "page.html", points, y, name="</title><b>")
    page = page_of(tmp_path / "page.html")
    assert size == len(page.encode()) and "&lt;b&gt;" in page and "<b>" not in page
    for method in table:
        assert f'<th scope="row">{method.name}</th>' in page
        # The means as they are, to all digits, in the order of measures.
        for measure in table.measures:
            assert f'data-value="{method.mean(measure):.17g}"' in page
        assert all(f"#{i}" in page for i in method.trials[0]["exemplars"])
    again = made_again(page, points, y)
    assert [m.name for m in again] == [m.name for m in table]
    for one, other in zip(again, table):
        assert [t["exemplars"].tolist() for t in one.trials] == [t["exemplars"].tolist()
                                                                 for t in other.trials]
    settings = fwsr.sweep(points, 4, alphas=["auto", 2], etas=np.arange(2))
    settings.report(tmp_path / "page.html", points)
    page = page_of(tmp_path / "page.html")
    assert [(s.alpha, s.eta, list(s.selection)) for s in made_again(page, points)] == [
        (s.alpha, s.eta, list(s.selection)) for s in settings]
    assert page.count('<td class="h') == 4 and page.count(" *</a>") == 1
    best = settings.best()
    assert best.selection.certificate.reconstruction_error == min(
        s.selection.certificate.reconstruction_error for s in settings)
    assert all(f"#{i}" in page for s in settings for i in s.selection)
    classes = fwsr.sweep(points, 2, alphas=["auto", 2], y=y, per_class=True)
    classes.report(tmp_path / "page.html", points, y)
    assert 'scope="col">eta' in page_of(tmp_path / "page.html")
    for answer in (table, settings):
        with pytest.raises(ValueError, match="beyond the 10 points"):
            answer.report(tmp_path / "page.html", points[:10])


def test_pictures_become_thumbnails(points, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    noise = np.random.default_rng(0).integers(0, 255, (900, 1200, 4), dtype=np.uint8)
    Image.fromarray(noise[:, :, :3]).save(tmp_path / "large.jpg", quality=95)
    Image.fromarray(noise).save(tmp_path / "clear.png")
    Image.fromarray(noise[:8, :8, 0]).save(tmp_path / "small.png")
    (tmp_path / "none.png").write_bytes(b"\x89PNG\r\n\x1a\n and nothing else")
    (tmp_path / "script.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n")
    assert (tmp_path / "large.jpg").stat().st_size > 200_000
    names = ["large.jpg", "clear.png", "small.png", "none.png", "script.png", "</p><b>.png"]
    files = [tmp_path / names[i % 6] for i in range(120)]
    chosen = fwsr.select(points, 30, method="random")
    size = chosen.report(tmp_path / "page.html", points, images=files)
    page = page_of(tmp_path / "page.html")
    assert size < 5_000_000 and "<b>" not in page
    sources = re.findall(r'<img src="data:image/(\w+);base64,([^"]*)"', page)
    assert {kind for kind, _ in sources} == {"jpeg", "png"}
    for _, source in sources:
        image = Image.open(io.BytesIO(base64.b64decode(source)))
        assert max(image.size) <= 192
    shown = [names[i % 6] for i in chosen]
    assert len(sources) == sum(name in names[:3] for name in shown)
    assert page.count('<p class="text">') == sum(name in names[3:] for name in shown)


def test_without_pillow_large_pictures_say_what_to_do(points, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    (tmp_path / "large.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300_000))
    (tmp_path / "small.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300))
    files = [tmp_path / ("large.png" if i % 2 else "small.png") for i in range(120)]
    chosen = fwsr.select(points, 30, method="random")
    chosen.report(tmp_path / "page.html", points, images=files)
    page = page_of(tmp_path / "page.html")
    assert page.count('<img src="data:image/png') == sum(i % 2 == 0 for i in chosen)
    assert "in Python with Pillow" in page
