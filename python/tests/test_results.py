"""Answers as people handle them: iterated, as tables, in notebooks, with the ids of their data."""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import fwsr
from fwsr import _core

X = np.random.default_rng(0).normal(size=(60, 5))
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]


class Words(HTMLParser):
    """What a reader of a page sees: cells, row by row, and the tags that made them."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self.inside = [], set(), False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        self.inside = tag in ("td", "th")
        if self.inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def test_a_selection_is_iterated_over_its_indices():
    chosen = fwsr.select(X, 4)
    assert list(chosen) == chosen.exemplars.tolist() and len(chosen) == 4
    assert all(type(i) is int for i in chosen)
    assert next(iter(chosen)) in chosen and -1 not in chosen
    assert [X[i].sum() for i in chosen] == pytest.approx(X[chosen.exemplars].sum(axis=1))


def test_a_selection_stands_for_its_indices():
    chosen = fwsr.select(X, 4)
    assert np.array_equal(X[chosen], X[chosen.exemplars])
    assert np.asarray(chosen).dtype == np.int64 and np.array_equal(chosen, chosen.exemplars)
    assert np.asarray(chosen, dtype=np.int32).tolist() == list(chosen)
    assert not np.shares_memory(np.array(chosen), chosen.exemplars)
    assert chosen[0] == chosen.exemplars[0] and chosen[-1] == chosen.exemplars[-1]
    assert isinstance(chosen[1:], np.ndarray) and chosen[1:].tolist() == list(chosen)[1:]
    with pytest.raises(IndexError):
        chosen[4]
    pd = pytest.importorskip("pandas")
    assert pd.DataFrame(X).iloc[chosen].index.tolist() == list(chosen)


def test_results_are_equal_to_themselves_alone():
    y = np.arange(60) % 2
    for once, again in [(fwsr.select(X, 3), fwsr.select(X, 3)),
                        (fwsr.path(X, 3, y=y, per_class=True), fwsr.path(X, 3)),
                        (fwsr.sweep(X, 3, [5])[0], fwsr.sweep(X, 3, [5])[0]),
                        (fwsr.compare(X, 3, ["rrqr"])[0], fwsr.compare(X, 3, ["rrqr"])[0])]:
        assert once == once and once != again and len({once, again}) == 2
    assert fwsr.compare(X, 3, ["rrqr"]) != fwsr.compare(X, 3, ["rrqr"])
    data = fwsr.read("digits")
    assert data == data and data != fwsr.read("digits") and len({data}) == 1


def test_a_class_is_found_by_its_number():
    y = np.arange(60) % 3
    chosen = fwsr.select(X, 2, y=y, per_class=True)
    assert list(chosen.classes) == ["0", "1", "2"]
    for key in ("2", 2, np.int64(2), 2.0):
        assert chosen.classes[key] is chosen.classes["2"]
    path = fwsr.path(X, 2, y=y, per_class=True)
    assert path.classes[1] is path.classes["1"]
    assert fwsr.plan(X, 2, y=y, per_class=True)[1].points == 20
    again = pickle.loads(pickle.dumps(chosen))
    assert list(again.classes[2]) == list(chosen.classes["2"])
    assert json.loads(chosen.to_json())["classes"]["2"]["exemplars"] == list(chosen.classes[2])
    with pytest.raises(KeyError, match="no class 3; the classes are '0', '1', '2'"):
        chosen.classes[3]
    with pytest.raises(KeyError, match="nothing was chosen per class"):
        fwsr.select(X, 2).classes["a"]


def test_selection_as_a_table():
    pytest.importorskip("pandas")
    chosen = fwsr.select(X, 4)
    frame = chosen.to_frame()
    assert list(frame.columns) == ["rank", "index", "weight", "strength"]
    assert frame["index"].tolist() == list(chosen)
    assert frame["rank"].tolist() == [0, 1, 2, 3]
    assert frame["weight"].tolist() == chosen.weights.tolist()


def test_selection_per_class_as_a_table():
    pytest.importorskip("pandas")
    chosen = fwsr.select(X, {"a": 2, "c": 1}, y=LABELS)
    frame = chosen.to_frame()
    assert frame["class"].tolist() == ["a", "a", "c"] and frame["rank"].tolist() == [0, 1, 0]
    assert frame["index"].tolist() == list(chosen)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_table_says_what_was_filled_in():
    pytest.importorskip("pandas")
    frame = fwsr.select(np.eye(3)[np.arange(9) % 3], 5, fill=True, center="none").to_frame()
    assert frame["filled"].tolist() == [False] * 3 + [True] * 2


def test_without_pandas_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        fwsr.select(X, 2).to_frame()


def test_a_notebook_shows_the_first_exemplars():
    page = fwsr.select(X, 14)._repr_html_()
    shown = Words(page)
    assert shown.rows[0] == ["rank", "index", "weight", "strength"]
    assert len(shown.rows) == 12 and shown.rows[-1][-1].startswith("and 4 more")
    assert "14 exemplars by exchange: exemplars_reached, reconstruction error" in page
    assert shown.tags == {"table", "tr", "th", "td", "p"}
    assert "<p>1 exemplar by rrqr: " in fwsr.select(X, 1, method="rrqr")._repr_html_()


def test_a_notebook_shows_text_from_the_data_as_text():
    evil = "<script>alert('&')</script>"
    labels = np.where(np.arange(60) < 30, evil, "x" * 500)
    page = fwsr.select(X, 2, y=labels, per_class=True)._repr_html_()
    shown = Words(page)
    assert "script" not in shown.tags
    assert evil in [row[2] for row in shown.rows]
    assert max(len(cell) for row in shown.rows for cell in row) <= 41
    table = fwsr.compare(X, 2, ["rrqr", "random"], repeats=2)
    table[0].__dict__["name"] = evil
    assert "script" not in Words(table._repr_html_()).tags


def test_a_notebook_shows_a_comparison():
    table = fwsr.compare(X, 3, ["rrqr", "kmedoids", "omp"], memory="70M", repeats=2)
    shown = Words(table._repr_html_())
    assert shown.rows[0][0] == "method" and [row[0] for row in shown.rows[1:4]] == [
        m.name for m in table]
    assert len(shown.rows[0]) == 1 + len(table.measures)


def test_a_notebook_shows_nothing_of_rounding():
    flat = np.random.default_rng(1).normal(size=(40, 2)) @ np.ones((2, 6))
    table = fwsr.compare(flat, 3, ["rrqr", "greedy-cssp"], repeats=1)
    column = table.measures.index("reconstruction_error") + 1
    assert [row[column] for row in Words(table._repr_html_()).rows[1:]] == ["0", "0"]


def test_a_notebook_shows_why_a_method_has_no_answer():
    many = np.zeros((40_000, 2))
    many[:, 0] = np.arange(40_000)
    table = fwsr.compare(many, 2, ["random", "kmedoids"], memory="64M", repeats=1)
    assert table[1].outcome == "too_large"
    row = Words(table._repr_html_()).rows[2]
    assert row[0] == "kmedoids" and table[1].reason in row[1]


# ---------------------------------------------------------------------------------------------- ids


def indices(pd):
    return {
        "text": pd.Index([f"p{i}" for i in range(60)]),
        "numbers": pd.RangeIndex(100, 160),
        "dates": pd.date_range("2024-01-01", periods=60),
        "pairs": pd.MultiIndex.from_product([["u", "v"], range(30)]),
    }


@pytest.mark.parametrize("kind", ["text", "numbers", "dates", "pairs"])
def test_the_index_of_a_table_names_the_exemplars(kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=indices(pd)[kind])
    chosen = fwsr.select(frame, 4)
    assert frame.loc[chosen.ids].equals(frame.iloc[list(chosen)])
    assert chosen.to_frame()["id"].tolist() == chosen.ids
    parts = fwsr.select(frame, 2, y=LABELS, per_class=True)
    assert frame.loc[parts.ids].equals(frame.iloc[list(parts)])
    assert parts.classes["a"].ids == parts.ids[:2]
    model = fwsr.KFWSR(3).fit(frame)
    assert frame.loc[model.selection_.ids].equals(model.exemplars_)
    assert len(json.loads(chosen.to_json())["ids"]) == 4


def test_an_index_that_only_counts_is_no_id():
    pd = pytest.importorskip("pandas")
    assert fwsr.select(pd.DataFrame(X), 2).ids is None
    assert fwsr.select(pd.DataFrame(X)[10:], 2).ids is not None
    assert fwsr.select(X, 2).ids is None


def test_ids_stay_with_a_kernel_that_is_a_function():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=[f"p{i}" for i in range(60)])
    chosen = fwsr.select(frame, 3, kernel=lambda A, B: np.asarray(A) @ np.asarray(B).T)
    assert chosen.ids == [f"p{i}" for i in chosen]


def test_dates_become_text_in_json():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=pd.date_range("2024-01-01", periods=60))
    ids = json.loads(fwsr.select(frame, 1).to_json())["ids"]
    assert datetime.datetime.fromisoformat(ids[0]).year == 2024


# --------------------------------------------------------------------------------- paths per class


@pytest.mark.parametrize("options", [
    {}, {"method": "fwsr"}, {"method": "k-fwsr"}, {"method": "rrqr"},
    {"method": "fwsr", "center": "feature", "scale": "standard"}])
def test_the_path_of_a_class_is_that_of_its_points_alone(options):
    path = fwsr.path(X, 3, y=LABELS, per_class=True, **options)
    assert list(path.classes) == ["a", "b", "c"] and len(path.error) == 3
    for name, one in path.classes.items():
        alone = fwsr.path(X[LABELS == name], 3, **options)
        assert np.flatnonzero(LABELS == name)[alone.selection.exemplars].tolist() == list(
            one.selection)
        assert one.error == pytest.approx(alone.error, rel=1e-9)
        certificate = path.selection.classes[name].certificate
        assert one.error[-1] == pytest.approx(certificate.reconstruction_error, rel=1e-6)
    errors = [one.error for one in path.classes.values()]
    assert (np.min(errors, axis=0) <= path.error).all()
    assert (path.error <= np.max(errors, axis=0)).all()
    assert path.smallest(path.error[1]) == 2


def test_the_path_of_all_classes_is_what_is_left_of_all_points():
    path = fwsr.path(X, 2, y=LABELS, per_class=True, method="fwsr", center="none")
    squares = {name: float(np.square(X[LABELS == name]).sum()) for name in "abc"}
    left = sum(path.classes[name].error * squares[name] for name in "abc")
    assert path.error == pytest.approx(left / sum(squares.values()))


def test_the_path_of_a_kernel_matrix_per_class():
    K = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))
    path = fwsr.path(K, 2, y=LABELS, per_class=True, kernel="precomputed")
    same = fwsr.path(X, 2, y=LABELS, per_class=True, kernel="rbf", gamma=1.0)
    assert list(path.selection) == list(same.selection)
    assert path.error == pytest.approx(same.error)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_of_different_lengths():
    labels = np.array(["few"] * 2 + ["many"] * 58)
    path = fwsr.path(X, 4, y=labels, per_class=True, kernel="rbf")
    assert [len(one.error) for one in path.classes.values()] == [2, 4]
    assert len(path.error) == 4 and (np.diff(path.error) <= 1e-12).all()
    named = fwsr.path(X, {"many": 3}, y=labels)
    assert list(named.classes) == ["many"] and len(named.error) == 3


# ------------------------------------------------------------------------- the list of the core


@pytest.mark.parametrize(("cls", "own"), [
    (fwsr.Selection, {"classes", "ids", "conditions"}), (fwsr.Certificate, set()),
    (fwsr.Refinement, set()), (fwsr.Plan, {"seconds"}),
    (fwsr.ComparedMethod, {"trials"})])
def test_attributes_are_those_that_the_core_lists_and_each_has_a_sentence(cls, own):
    listed = dict(_core.result_fields()[cls.__name__])
    names = [f.name for f in dataclasses.fields(cls)]
    assert set(names) == set(listed) | own
    said = re.findall(r"^(\w+) : .+\n    (\S.*)", inspect.getdoc(cls), re.MULTILINE)
    assert [name for name, _ in said] == names
    for name, sentence in said:
        start = listed.get(name, sentence).replace("`", "").lower()[:30]
        assert sentence.replace("`", "").lower().startswith(start), name


def test_a_dictionary_says_which_list_of_names_it_has():
    assert fwsr.select(X, 2).to_dict()["schema"] == _core.result_schema == 1


def test_gamma_is_the_width_of_the_kernel_and_that_of_a_step_is_deprecated():
    chosen = fwsr.select(X, 3, kernel="rbf", gamma=0.5)
    assert chosen.gamma == 0.5 and fwsr.select(X, 3, method="fwsr").gamma is None
    sizes = chosen.trace["step_size"]
    assert (0 <= sizes).all() and (sizes <= 1).all()
    with pytest.warns(DeprecationWarning, match="step_size"):
        assert chosen.trace["gamma"] is sizes
    with pytest.raises(KeyError, match="it has pick, f, gap, step_size"):
        chosen.trace["length"]
    assert "gamma" not in chosen.to_dict()["trace"]


def test_eta_is_told_in_both_units():
    absolute = fwsr.select(X, 3, method="fwsr", eta=0.5)
    again = fwsr.select(X, 3, method="fwsr", eta=absolute.eta_in_rms, eta_relative=True)
    assert absolute.eta == 0.5 and again.eta == pytest.approx(0.5, rel=1e-12)
