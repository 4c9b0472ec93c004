"""Every number of a page, computed again from the raw data with NumPy."""

from __future__ import annotations

import base64
import collections
import gzip
import itertools
import json
import math
import os
import pathlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import norm

import fwsr


class Page(HTMLParser):
    """Cards and tables of a page, as people read them."""

    def __init__(self, path):
        super().__init__()
        text = path.read_text(encoding="utf-8")
        self.cards, self.tables, self.header = [], {}, {}
        self.tag = self.classes = self.caption = self.heading = self.name = ""
        self.row = []
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))
        self.feed(text[:text.index('id="data"')])

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tag, self.classes = tag, a.get("class", "") or ""
        if self.classes == "card":
            self.cards.append({"stands": "", "mixed": "", "Nearest": [], "Farthest": []})
        if tag == "rect" and self.classes == "fill" and self.cards and "fill" not in self.cards[-1]:
            self.cards[-1]["fill"] = float(a["width"])
        if tag == "li" and "data-row" in a:
            self.cards[-1][self.heading].append(int(a["data-row"]))
        if tag == "table":
            self.rows = []
        if tag == "caption":
            self.caption = ""
        if tag == "tbody":
            self.tables[self.caption] = self.rows
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.row.append("")

    def handle_endtag(self, tag):
        if tag == "tr" and self.row and self.caption in self.tables:
            self.rows.append(self.row)
        self.tag = self.classes = ""

    def handle_data(self, text):
        if self.tag == "caption":
            self.caption += text
        elif self.tag == "h4":
            self.heading = text
        elif self.classes in ("stands", "mixed"):
            self.cards[-1][self.classes] += text
        elif self.tag in ("td", "th", "a", "span") and self.row:
            self.row[-1] += text
        elif self.tag == "dt":
            self.name = text
        elif self.tag == "dd":
            self.header[self.name] = text


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def percent(text):
    return float(text.replace("\u00a0%", "")) / 100


def near(shown, true):
    """Within what the words round away."""
    share = percent(shown)
    return abs(share - true) <= max(6e-4, 0.06 * share if share < 1e-3 else 0)


def gram(X, *, center="point", scale="none", kernel="linear", gamma=None):
    """The kernel of a run among all points, in the plainest way."""
    if kernel == "precomputed":
        return np.asarray(X, dtype=np.float64)
    A = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64).copy()
    if center == "feature":
        A -= A.mean(axis=0)
    if center == "point":
        A -= A.mean(axis=1, keepdims=True)
    if scale == "standard":
        spread = A.std(axis=0)
        A /= np.where(spread > 0, spread, 1)
    if scale == "unit":
        length = np.linalg.norm(A, axis=1, keepdims=True)
        A /= np.where(length > 0, length, 1)
    if kernel == "linear":
        return A @ A.T
    squares = (A * A).sum(axis=1)
    return np.exp(-gamma * (squares[:, None] - 2 * A @ A.T + squares[None]).clip(0))


def left_over(K, T):
    """||a - P a||^2 of every point, for the span of some."""
    values, vectors = np.linalg.eigh(K[np.ix_(T, T)])
    good = values > 1e-10 * max(values.max(), 1e-300)
    codes = K[:, T] @ vectors[:, good] / np.sqrt(values[good])
    return (np.diag(K) - (codes * codes).sum(axis=1)).clip(0)


def squared_distances(K, T):
    return (np.diag(K)[:, None] - 2 * K[:, T] + np.diag(K)[T][None]).clip(0)


def groups_of(K, T):
    groups = squared_distances(K, T).argmin(axis=1)
    groups[T] = np.arange(len(T))
    return groups


def check(path, K, chosen, y=None, weights=None):
    """All that a page of one run says."""
    page = Page(path)
    data = page.data
    n, T = len(K), chosen.exemplars
    k = len(T)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    squares = np.diag(K).clip(0)
    mean = max(squares.mean(), 1e-300)
    far = np.sqrt(squared_distances(K, T) / mean)
    groups = groups_of(K, T)
    own = far[np.arange(n), groups]
    assert data["points"] == n and data["exemplars"]["index"] == T.tolist()

    # How many each stands for, on the card, its bar, and for every number of first exemplars.
    counts = np.bincount(groups, weights=w, minlength=k)
    assert np.allclose(data["exemplars"]["weight"], counts)
    for t, card in enumerate(page.cards):
        shown = re.fullmatch(r"stands for (?:([\d,]+) points?|a weight of (\S+)) \((.*)\)",
                             card["stands"])
        number = float((shown.group(1) or shown.group(2)).replace(",", ""))
        assert number == pytest.approx(counts[t], rel=1e-3)
        assert near(shown.group(3), counts[t] / w.sum())
        assert card["fill"] == pytest.approx(100 * counts[t] / counts.max(), abs=0.01)
    m = data["map"]
    kind = np.uint16 if m["wide"] else np.uint8
    turns, stories = unpacked(m["turns"], kind), unpacked(m["groups"], kind)
    rows, ends = unpacked(m["index"], np.uint32), np.cumsum(turns)
    for number in {1, 2, 3, k // 2, k - 1, k} if "moves" in data else ():
        if not 1 <= number <= k:
            continue
        first = T[:number]
        expected = groups_of(K, first)
        from_, to = np.array(data["moves"]["from"]), np.array(data["moves"]["to"])
        moved, stands = np.array(data["moves"]["weight"]), np.zeros(k)
        now = to < number
        np.add.at(stands, to[now], moved[now])
        np.add.at(stands, from_[now & (from_ >= 0)], -moved[now & (from_ >= 0)])
        assert np.allclose(stands[:number], np.bincount(expected, weights=w, minlength=number))
        for i, row in enumerate(rows):
            story = stories[ends[i] - turns[i]:ends[i]]
            assert story[story < number][-1] == expected[row]

    # What the first 1, 2, ... leave.
    rest = left_over(K, T)
    total = (w * squares).sum()
    for number in range(1, k + 1):
        error = (w * left_over(K, T[:number])).sum() / total if total > 0 else 0
        assert data["curve"]["error"][number - 1] == pytest.approx(error, abs=2e-6)
    assert np.all(np.diff(data["curve"]["random"]) <= 1e-12) and len(data["curve"]["random"]) == k
    share = np.where(squares > 0, rest / np.where(squares > 0, squares, 1), 0)
    if "how good" in page.header and weights is None:
        spanned = re.search(r"spans? ([\d.]+\u00a0%)", page.header["how good"]).group(1)
        assert near(spanned, 1 - rest.sum() / total if total > 0 else 1)
    left = unpacked(m["left"], np.uint16) / 65535
    assert np.allclose(left, share[rows], atol=2e-5)

    # Nearest and farthest members, and classes of the group.
    for t, card in enumerate(page.cards):
        members = np.flatnonzero(groups == t)
        others = np.sort(own[members[members != T[t]]])
        nearest, farthest = card["Nearest"], card["Farthest"]
        assert all(groups[i] == t for i in nearest + farthest) and T[t] not in nearest + farthest
        assert np.allclose(own[nearest], others[:len(nearest)], atol=1e-5)
        assert np.allclose(own[farthest], others[::-1][:len(farthest)], atol=1e-5)
        assert not set(nearest) & set(farthest)
        assert len(nearest) + len(farthest) == min(16, len(others))
        if y is not None:
            names, sizes = np.unique(np.asarray(y)[members], return_counts=True)
            order = sorted(zip(-sizes, names.tolist()))[:3]
            words = card["mixed"].removeprefix("classes of its points: ").split(" and ")[0]
            words = words.split(", ")
            assert len(words) == min(3, len(names))
            for word, (size, _) in zip(words, order):
                label, shown = word.split(":\u00a0")
                assert near(shown, -size / sizes.sum())
                assert (np.asarray(y)[members] == type(names[0])(label)).sum() == -size

    # The worst, by their own share and by their part of all that is missing.
    together = "The most left over"
    for caption, values in (("The largest part of itself left over", share), (together, share),
                            ("The most of all that is missing", rest)):
        if caption not in page.tables:
            continue
        lines = page.tables[caption]
        points = [int(re.match(r"#(\d+)", line[0]).group(1)) for line in lines]
        assert len(points) == min(15, n)
        assert np.allclose(values[points], np.sort(values)[::-1][:len(points)],
                           atol=2e-6 * max(values.max(), 1e-300) + 1e-6)
        for i, line in zip(points, lines):
            assert near(line[1], share[i]) and line[3] == str(groups[i])
            assert float(line[-1]) == pytest.approx(own[i], rel=2e-3, abs=2e-3)
            if rest.sum() > 1e-9 * mean:
                assert near(line[2], rest[i] / rest.sum())
    loose = page.tables["The loosest groups"]
    means = np.array([own[groups == t].mean() if (groups == t).any() else 0 for t in range(k)])
    several = [t for t in range(k) if (groups == t).sum() > 1]
    assert np.allclose([float(line[2]) for line in loose], np.sort(means[several])[::-1][:12],
                       rtol=2e-3, atol=2e-3)
    for line in loose:
        assert int(line[3].replace(",", "")) == (groups == int(line[1])).sum()

    # Shares of the classes.
    if y is not None:
        y = np.asarray(y)
        for line in page.tables["Shares of the classes"]:
            there = y == type(y[0])(line[0])
            assert int(line[1].replace(",", "")) == there.sum() and near(line[2], there.mean())
            assert int(line[3]) == there[T].sum() and near(line[4], there[T].mean())
    return page


@pytest.fixture
def points():
    centres = np.repeat(np.eye(3, 14) * 3, 50, axis=0)
    return np.random.default_rng(5).normal(size=(150, 14)) + centres


CASES = {
    "the paper's": ({"method": "fwsr"}, {}),
    "features centred": ({"method": "fwsr", "center": "feature"}, {"center": "feature"}),
    "not centred, unit norms": ({"method": "fwsr", "center": "none", "scale": "unit"},
                                {"center": "none", "scale": "unit"}),
    "features scaled": ({"method": "fwsr", "center": "feature", "scale": "standard"},
                        {"center": "feature", "scale": "standard"}),
    "rbf": ({"method": "k-fwsr", "kernel": "rbf"}, {"kernel": "rbf", "center": "none"}),
    "the default": ({}, {"kernel": "rbf", "center": "none"}),
    "one": ({"method": "fwsr", "k": 1}, {}),
    "random": ({"method": "random"}, {"center": "none"}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_number_of_a_page(points, tmp_path, case):
    asked, space = CASES[case]
    asked = dict(asked)
    y = np.random.default_rng(0).integers(0, 7, len(points))
    chosen = fwsr.select(points, asked.pop("k", 9), **asked)
    chosen.report(tmp_path / "page.html", points, y)
    if space.get("kernel") == "rbf":
        assert chosen.plan.kernel == "rbf"
        space = {**space, "gamma": chosen.gamma}
    check(tmp_path / "page.html", gram(points, **space), chosen, y)


DATA = pathlib.Path(os.environ.get("FWSR_DATA",
                                   pathlib.Path(__file__).resolve().parents[3] / "shared/data"))


def tf_idf(texts):
    """Rows of norm 1 over the words of three texts and more."""
    bags = [collections.Counter(re.findall(r"[a-z]{3,}", text.lower())) for text in texts]
    in_texts = collections.Counter(word for bag in bags for word in bag)
    words = {word: j for j, word in enumerate(sorted(w for w in in_texts if in_texts[w] >= 3))}
    rows = sp.lil_matrix((len(texts), len(words)))
    for i, bag in enumerate(bags):
        for word, count in bag.items():
            if word in words:
                rows[i, words[word]] = (1 + math.log(count)) * math.log(len(texts) / in_texts[word])
    X = sp.csr_matrix(rows)
    return sp.csr_matrix(sp.diags(1 / np.maximum(norm(X, axis=1), 1e-300)) @ X)


@pytest.mark.parametrize("method", ["fwsr", None])
@pytest.mark.parametrize("name", ["digits", "credit", "news20"])
def test_every_number_of_real_data(tmp_path, name, method):
    space = {}
    if name == "digits":
        data = fwsr.read("digits")
        X, y = np.asarray(data.values, dtype=np.float64), np.asarray(data.labels)
    elif name == "credit":
        if not (DATA / "credit").is_dir():
            pytest.skip(f"no data at {DATA / 'credit'}: name its folder in FWSR_DATA")
        X = np.load(DATA / "credit/credit_paper5492_X_f32.npy").astype(np.float64)[2500:]
        y = np.load(DATA / "credit/credit_paper5492_y_u8.npy")[2500:]
        space = {"scale": "standard", "center": "feature"}
    else:
        file = DATA / "news20/news20_train.jsonl.gz"
        if not file.exists():
            pytest.skip(f"no data at {file}: name its folder in FWSR_DATA")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            messages = [json.loads(line) for line in itertools.islice(lines, 0, 9000, 9)]
        X, y = tf_idf([m["text"] for m in messages]), np.array([m["label"] for m in messages])
        space = {"center": "none"}
    chosen = fwsr.select(X, 12, **space, **({"method": method} if method else {}))
    if chosen.plan.kernel == "rbf":
        space = {**space, "kernel": "rbf", "gamma": chosen.gamma}
        space.setdefault("center", "none")
    chosen.report(tmp_path / "page.html", X, y)
    page = check(tmp_path / "page.html", gram(X, **space), chosen, y)
    # The same as the answer in JSON.
    answer = json.loads(chosen.to_json())
    assert page.data["exemplars"]["index"] == answer["exemplars"]
    assert np.allclose(page.data["exemplars"]["weight"], answer["weights"])
    assert np.allclose(page.data["exemplars"]["strength"], answer["strength"], rtol=1e-8)
    error = answer["certificate"]["reconstruction_error"]
    assert page.data["curve"]["error"][-1] == pytest.approx(error, abs=2e-6)
    steps = page.tables["Steps of the run"]
    for column, values in ((1, "pick"), (2, "f"), (3, "gap"), (4, "rows")):
        shown = [float(line[column]) for line in steps]
        assert np.allclose(shown, answer["trace"][values], rtol=1e-3)


def test_sparse_points_and_float32(points, tmp_path):
    sparse = sp.csr_matrix(np.where(np.abs(points) > 1, points, 0).astype(np.float32))
    chosen = fwsr.select(sparse, 6, method="fwsr", center="none")
    chosen.report(tmp_path / "page.html", sparse)
    check(tmp_path / "page.html", gram(sparse, center="none"), chosen)


def test_a_given_kernel(points, tmp_path):
    K = gram(points, kernel="rbf", center="none", gamma=0.1)
    chosen = fwsr.select(K, 7, method="k-fwsr", kernel="precomputed")
    chosen.report(tmp_path / "page.html", K)
    check(tmp_path / "page.html", K, chosen)


def test_weights_count(points, tmp_path):
    weights = np.random.default_rng(2).uniform(0.1, 4, len(points))
    chosen = fwsr.select(points, 5, method="fwsr", sample_weight=weights)
    chosen.report(tmp_path / "page.html", points)
    check(tmp_path / "page.html", gram(points), chosen, weights=weights)


def test_points_that_are_all_there_is(points, tmp_path):
    for few, k in ((points[:1], 1), (points[:6], 6), (np.repeat(points[:1], 30, axis=0), 1),
                   (np.column_stack([points[:40], np.full((40, 2), 7.0)]), 5)):
        chosen = fwsr.select(few, k, method="fwsr", center="none")
        chosen.report(tmp_path / "page.html", few)
        check(tmp_path / "page.html", gram(few, center="none"), chosen)


def test_points_that_were_there_already(points, tmp_path):
    old = points[:3] + 0.5
    chosen = fwsr.select(points, 4, method="fwsr", include_points=old)
    every = np.vstack([points, old])
    chosen.report(tmp_path / "page.html", every)
    page = Page(tmp_path / "page.html")
    K, T, own = gram(every), chosen.exemplars, np.arange(len(points))
    assert page.data["exemplars"]["index"] == T.tolist()
    assert page.data["exemplars"]["included"] == [True] * 3 + [False] * 4
    assert page.data["exemplars"]["weight"] == chosen.weights.tolist()
    groups = groups_of(K, T)
    counts = np.bincount(groups[own], minlength=7)
    assert counts.tolist() == chosen.weights.tolist()
    # What is left, of the points that were to be represented alone.
    rest = left_over(K, T)[own].sum() / np.diag(K)[own].sum()
    assert page.data["curve"]["error"][-1] == pytest.approx(rest, abs=1e-6)
    assert rest == pytest.approx(chosen.certificate.reconstruction_error, abs=1e-6)


def test_classes_each_in_its_own_space(points, tmp_path):
    y = np.array(["a"] * 60 + ["b"] * 50 + ["c"] * 40)
    chosen = fwsr.select(points, 4, y=y, per_class=True, method="fwsr", center="feature")
    chosen.report(tmp_path / "page.html", points, y)
    page = Page(tmp_path / "page.html")
    data, first, rest, total = page.data, 0, np.zeros(4), 0.0
    for name, part in chosen.classes.items():
        members = np.flatnonzero(y == name)
        K = gram(points[members], center="feature")
        T = np.searchsorted(members, part.exemplars)
        for number in range(1, 5):
            expected = groups_of(K, T[:number])
            stands = np.zeros(4)
            for a, b, weight in zip(*(data["moves"][key] for key in ("from", "to", "weight"))):
                if first <= b < first + number:
                    stands[b - first] += weight
                    if a >= 0:
                        stands[a - first] -= weight
            assert stands[:number].tolist() == np.bincount(expected, minlength=number).tolist()
            rest[number - 1] += left_over(K, T[:number]).sum()
        total += np.trace(K)
        first += 4
    assert np.allclose(data["curve"]["error"], rest / total, atol=1e-6)


def test_what_a_page_shows_of_empty_names_and_many_classes(points, tmp_path):
    y = np.array(["", " ", "c"] * 50)
    chosen = fwsr.select(points, 5, method="fwsr")
    chosen.report(tmp_path / "page.html", points, y)
    assert "(no name)" in (tmp_path / "page.html").read_text()
    many = np.random.default_rng(1).normal(size=(2500, 3))
    chosen = fwsr.select(many, 2000, method="random")
    size = chosen.report(tmp_path / "page.html", many, np.arange(2500) % 1000)
    page = Page(tmp_path / "page.html")
    assert size <= 2_000_000 and "moves" not in page.data
    assert len(page.data["exemplars"]["index"]) == 2000
    assert sum(page.data["exemplars"]["weight"]) == 2500
