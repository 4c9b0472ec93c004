"""Pictures: what is drawn is what the answer says, and nothing else in matplotlib changes."""

import builtins
import importlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fwsr import _pictures, plot


@pytest.fixture(scope="module")
def digits():
    return fwsr.read("digits")


@pytest.fixture(scope="module")
def chosen(digits):
    return fwsr.select(digits, 12)


@pytest.fixture(scope="module")
def per_class(digits):
    return fwsr.select(digits, 2, y=digits.labels, per_class=True)


@pytest.fixture(scope="module")
def table(digits):
    return fwsr.compare(digits.values, 10, ["fwsr", "kernel-smrs", "random"], y=digits.labels,
                        repeats=4, memory="60M")


@pytest.fixture(autouse=True)
def nothing_else_changes():
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    plt.close("all")


def drawn(figure):
    """The renderer of a picture that has been drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def texts(figure):
    """All text of a picture, after it was drawn."""
    drawn(figure)
    return [t.get_text() for t in figure.findobj(matplotlib.text.Text) if t.get_text()]


def whole(figure):
    """Nothing reaches beyond the picture."""
    box = figure.get_tightbbox(drawn(figure))  # inches
    width, height = figure.get_size_inches()
    assert -0.01 <= box.x0 and box.x1 <= width + 0.01
    assert -0.01 <= box.y0 and box.y1 <= height + 0.01


def images(figure):
    return [np.asarray(i.get_array()) for i in figure.axes[0].get_images()]


# ---------------------------------------------------------------------------------------- gallery


def test_gallery_shows_the_exemplars_in_order(digits, chosen):
    figure = plot.gallery(digits, chosen, labels=digits.labels)
    for image, i in zip(images(figure), chosen.exemplars, strict=True):
        assert np.array_equal(image, digits.values[i].reshape(8, 8))
    captions = [t.splitlines() for t in texts(figure) if "\n" in t]
    for caption, i, w in zip(captions, chosen.exemplars, chosen.weights, strict=True):
        label, number = caption
        assert label == digits.labels[i]
        assert number.split()[1] in ("point", "points")
        assert float(number.split()[0]) == pytest.approx(w, rel=0.01, abs=0.5)
    assert any("its label, and how many points" in t for t in texts(figure))
    whole(figure)


def test_captions_of_narrow_images_stay_apart():
    X = np.random.default_rng(0).uniform(size=(40, 24))
    figure = plot.gallery(X, fwsr.select(X, 8, kernel="rbf"), shape=(12, 2),
                          labels=["a long name"] * 40)
    renderer = drawn(figure)
    boxes = [t.get_window_extent(renderer) for t in figure.axes[0].texts]
    assert len(boxes) == 8
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    whole(figure)


def test_gallery_of_an_estimator_a_table_and_images(digits, chosen):
    pd = pytest.importorskip("pandas")
    model = fwsr.Exchange(12).fit(digits.values)
    table = pd.DataFrame(digits.values)
    first = images(plot.gallery(table, model))
    second = images(plot.gallery(digits.values.reshape(-1, 8, 8), chosen))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_gallery_per_class_has_a_line_for_each(digits, per_class):
    figure = plot.gallery(digits, per_class)
    shown = texts(figure)
    assert all(name in shown for name in per_class.classes)
    tops = [i.get_extent()[3] for i in figure.axes[0].get_images()]
    assert len(set(tops)) == 10
    whole(figure)


def test_gallery_wraps_lines(digits, chosen):
    whole(plot.gallery(digits, chosen, columns=1))
    tops = [i.get_extent()[3] for i in plot.gallery(digits, chosen, columns=5).axes[0].get_images()]
    assert sorted(tops.count(t) for t in set(tops)) == [2, 5, 5]


@pytest.mark.parametrize("top", [1.0, 255.0, 1000.0])
def test_gallery_of_colours(top):
    X = np.random.default_rng(0).uniform(0, top, size=(30, 5 * 5 * 3))
    picked = fwsr.select(X, 3)
    shown = images(plot.gallery(X, picked))
    assert shown[0].shape == (5, 5, 3)
    assert min(i.min() for i in shown) >= 0 and 0.5 < max(i.max() for i in shown) <= 1


def test_gallery_shape():
    X = np.random.default_rng(0).normal(size=(20, 6))
    picked = fwsr.select(X, 2)
    assert images(plot.gallery(X, picked, shape=(2, 3)))[0].shape == (2, 3)
    with pytest.raises(ValueError, match="give shape="):
        plot.gallery(X, picked)
    with pytest.raises(ValueError, match="has 4 values, the points have 6"):
        plot.gallery(X, picked, shape=(2, 2))
    with pytest.raises(ValueError, match="one label for each of 20"):
        plot.gallery(X, picked, shape=(2, 3), labels=["a", "b"])


def test_text_from_data_is_literal():
    X = np.random.default_rng(0).uniform(size=(20, 4))
    names = np.array(["$x^2$", r"a_1 \frac{$", "$", "\\$5 & 6%"] * 5)
    picked = fwsr.select(X, 1, y=names, per_class=True)
    for figure in (plot.gallery(X, picked, labels=names), plot.map2d(X, picked, y=names)):
        shown = texts(figure)  # broken mathematics would raise here
        assert any("$x^2$" in t for t in shown)
        for t in figure.findobj(matplotlib.text.Text):
            if "$" in t.get_text():
                assert not t.get_parse_math() and not t.get_usetex()


# ------------------------------------------------------------------------------------- convergence


def test_convergence_draws_the_trace(digits):
    chosen = fwsr.select(digits, 15, method="fwsr", alpha=20)
    figure = plot.convergence(chosen)
    f, gap = (line.get_ydata() for line in figure.axes[0].get_lines())
    assert np.allclose(f, chosen.trace["f"] / chosen.f_at_zero)
    assert np.allclose(gap, chosen.trace["gap"] / chosen.f_at_zero)
    assert figure.axes[0].get_yscale() == "log"
    assert {"objective", "gap"} <= set(texts(figure))
    whole(figure)


def test_convergence_says_where_the_radius_grew(digits):
    chosen = fwsr.select(digits, 60, method="fwsr", alpha=50)
    grown = np.flatnonzero(np.diff(chosen.trace["beta"]) > 0)
    assert len(grown) == 1
    figure = plot.convergence(chosen)
    marks = [line.get_xdata()[0] for line in figure.axes[0].get_lines()[2:]]
    assert marks == [grown[0] + 1.5] and "radius doubled" in texts(figure)
    short = fwsr.select(digits, 10, method="fwsr", alpha=20)
    assert "radius doubled" not in texts(plot.convergence(short))


def test_convergence_per_class(per_class):
    figure = plot.convergence(per_class)
    assert len(figure.axes[0].get_lines()) == 2 * len(per_class.classes)
    whole(figure)


def test_convergence_of_other_methods(digits):
    with pytest.raises(ValueError, match="only FWSR, K-FWSR and exchange"):
        plot.convergence(fwsr.select(digits, 3, method="random"))


@pytest.mark.filterwarnings("error")
def test_convergence_to_the_end():
    """A gap of 0 has no place on a logarithmic axis; the rest is shown."""
    X = np.eye(3)
    figure = plot.convergence(fwsr.select(X, 3, method="fwsr", center="none", alpha=0))
    texts(figure)


# -------------------------------------------------------------------------------------- error_path


def test_error_path(digits):
    X = digits.values
    paths = {"fwsr": fwsr.path(X, 8), "a $ name": fwsr.path(X, 6, method="rrqr")}
    baselines = [fwsr.path(X, 8, method="random", seed=s) for s in range(3)]
    figure = plot.error_path(paths, random=baselines)
    baseline, *lines = figure.axes[0].get_lines()
    assert np.allclose(baseline.get_ydata(), np.mean([p.error for p in baselines], axis=0))
    for line, path in zip(lines, paths.values(), strict=True):
        assert np.array_equal(line.get_ydata(), path.error)
        assert np.array_equal(line.get_xdata(), np.arange(1, len(path.error) + 1))
    assert {"fwsr", "a $ name", "random, 3 draws"} <= set(texts(figure))
    whole(figure)


def test_error_path_labels_do_not_overlap(digits):
    one = fwsr.path(digits, 5)
    figure = plot.error_path({name: one for name in "abcd"})
    renderer = drawn(figure)
    boxes = [t.get_window_extent(renderer) for t in figure.axes[0].texts]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_error_path_per_class(digits):
    path = fwsr.path(digits, 3, per_class=True)
    figure = plot.error_path(path)
    for line, one in zip(figure.axes[0].get_lines(), path.classes.values(), strict=True):
        assert np.array_equal(line.get_ydata(), one.error)
    assert set(path.classes) <= set(texts(figure))


def test_error_path_refuses_what_is_none(chosen):
    with pytest.raises(TypeError, match="what fwsr.path returns"):
        plot.error_path(chosen)
    with pytest.raises(ValueError, match="empty"):
        plot.error_path({})


# ------------------------------------------------------------------------------------------- map2d


def offsets(figure):
    return [np.asarray(c.get_offsets()) for c in figure.axes[0].collections]


def test_map_is_that_of_pca(digits, chosen):
    from sklearn.decomposition import PCA

    pca = PCA(2).fit(digits.values)
    points, marks = offsets(plot.map2d(digits, chosen))
    expected = pca.transform(digits.values)
    scale = np.abs(expected).max()
    assert np.abs(np.abs(points) - np.abs(expected)).max() < 1e-3 * scale  # signs are free
    assert len(marks) == len(chosen)
    assert all(np.linalg.norm(points - m, axis=1).min() < 1e-3 * scale for m in marks)
    x = texts(plot.map2d(digits, chosen))
    assert f"component 1, {pca.explained_variance_ratio_[0]:.0%} of the variance" in x


def test_map_of_sparse_points_is_that_of_dense_ones():
    X = sp.random(60, 30, density=0.2, random_state=0) @ sp.diags(2.0 ** -np.arange(30))
    X = X.tocsr()
    picked = fwsr.select(X, 5)
    sparse, dense = offsets(plot.map2d(X, picked))[0], offsets(plot.map2d(X.toarray(), picked))[0]
    assert np.allclose(np.abs(sparse), np.abs(dense), atol=1e-6 * np.abs(dense).max())


def test_map_area_grows_with_weight(digits, chosen):
    marks = plot.map2d(digits, chosen).axes[0].collections[-1]
    assert np.allclose(np.sort(chosen.weights)[::-1].argsort(), marks.get_sizes().argsort())
    heaviest = marks.get_offsets()[marks.get_sizes().argmax()]
    alone = plot.map2d(digits, fwsr.select(digits, 12)).axes[0].collections[-1].get_offsets()
    assert np.allclose(heaviest, alone[0])


def test_map_with_labels(digits, chosen):
    figure = plot.map2d(digits, chosen, y=digits.labels)
    assert set(digits.labels) <= set(texts(figure))
    assert sum(len(o) for o in offsets(figure)) == len(digits) + len(chosen)
    whole(figure)


@pytest.mark.parametrize("classes", [2, 8, 20, 21, 90])
@pytest.mark.parametrize("spread", [0.1, 30.0])
def test_names_on_a_map_never_cover_each_other(classes, spread):
    """However many there are, and whether the classes lie on each other or apart."""
    rng = np.random.default_rng(classes)
    places = np.arange(12 * classes) % classes
    X = spread * rng.normal(size=(classes, 6))[places] + rng.normal(size=(len(places), 6))
    y = [f"name of class {c}" for c in places]
    figure = plot.map2d(X, fwsr.select(X, 5, kernel="rbf"), y=y)
    renderer = drawn(figure)
    shown = [t for t in figure.findobj(matplotlib.text.Text) if "name of class" in t.get_text()]
    assert len({t.get_text() for t in shown}) == len(shown) == min(classes, 72)
    boxes = [t.get_window_extent(renderer) for t in shown]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    key = figure.axes[0].get_legend()
    assert key is not None or classes <= 12
    assert any("and 18 more" in t for t in texts(figure)) == (classes == 90)
    whole(figure)


def test_key_of_a_map_has_the_colours_of_the_points(digits):
    y = np.arange(len(digits)) % 20  # classes on top of each other
    figure = plot.map2d(digits, fwsr.select(digits, 20), y=y)
    key = figure.axes[0].get_legend()
    assert [t.get_text() for t in key.get_texts()] == [str(c) for c in range(20)]  # 2 before 10
    to_hex = matplotlib.colors.to_hex
    listed = [to_hex(handle.get_color()) for handle in key.legend_handles]
    points = [to_hex(c.get_facecolor()[0]) for c in figure.axes[0].collections[::2]]
    assert len(set(listed)) == 20
    assert listed == points
    places = figure.axes[0].collections[2 * 7].get_offsets()  # points of class 7
    assert np.allclose(places, offsets(plot.map2d(digits, fwsr.select(digits, 20)))[0][y == 7])


def test_map_of_some_points_says_so(digits, chosen):
    figure = plot.map2d(digits, chosen, max_points=100)
    assert len(offsets(figure)[0]) == 100
    assert any("100 of these shown" in t for t in texts(figure))


@pytest.mark.parametrize("X", [np.arange(5.0)[:, None], np.ones((4, 3)),
                               sp.csr_matrix(np.eye(3)), np.eye(2, dtype=np.float32)])
def test_map_of_hardly_anything(X):
    texts(plot.map2d(X, fwsr.select(X, 1, method="random")))


def test_map_refuses_other_points(digits, chosen):
    with pytest.raises(ValueError, match="chosen from other points"):
        plot.map2d(digits.values[:500], chosen)
    broken = digits.values.copy()
    broken[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        plot.map2d(broken, chosen)


# -------------------------------------------------------------------------------------- comparison


def test_comparison_draws_the_table(table):
    names = ["reconstruction_error", "nearest_accuracy", "peak_bytes"]
    figure = plot.comparison(table, names)
    assert len(figure.axes) == 3
    for panel, name in zip(figure.axes, names):
        bars = panel.patches[:len(table)]
        for bar, method in zip(bars, table, strict=True):
            mean = method.mean(name)
            assert bar.get_width() == (0 if np.isnan(mean) else mean)
        accented = [m.name for bar, m in zip(bars, table)
                    if matplotlib.colors.to_hex(bar.get_facecolor()) == _pictures.ACCENT]
        assert accented == [table.best(name)]
    shown = texts(figure)
    without = [m for m in table if not m.trials]
    assert [m.name for m in without] == ["kernel-smrs"] and without[0].reason
    assert "kernel-smrs" in shown and any(without[0].reason[:20] in t for t in shown)
    whole(figure)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_comparison_keeps_reasons_within_the_picture(table, count):
    figure = plot.comparison(table, table.measures[:count])
    renderer = drawn(figure)
    notes = [t for a in figure.axes for t in a.texts if "needs" in t.get_text()]
    assert notes
    assert all(t.get_window_extent(renderer).x1 <= figure.bbox.width for t in notes)


def test_comparison_of_all_measures(table):
    figure = plot.comparison(table)
    assert len([a for a in figure.axes if a.axison]) == len(table.measures)
    whole(figure)


def test_comparison_refuses(table):
    with pytest.raises(ValueError, match="no measure 'speed'"):
        plot.comparison(table, ["speed"])
    with pytest.raises(ValueError, match="'boolean_objective' was not measured"):
        plot.comparison(table, ["boolean_objective"])
    with pytest.raises(TypeError, match="what fwsr.compare returns"):
        plot.comparison([])
    with pytest.raises(ValueError, match="2 measures and 1 axes"):
        plot.comparison(table, ["mmd", "seconds"], ax=plt.subplots()[1])


# -------------------------------------------------------------------------------------- all of them


PICTURES = {
    "gallery": lambda digits, chosen, table, **ax: plot.gallery(digits, chosen, **ax),
    "convergence": lambda digits, chosen, table, **ax: plot.convergence(chosen, **ax),
    "error_path": lambda digits, chosen, table, **ax: plot.error_path(fwsr.path(digits, 3), **ax),
    "map2d": lambda digits, chosen, table, **ax: plot.map2d(digits, chosen, **ax),
    "comparison": lambda digits, chosen, table, **ax: plot.comparison(table, ["mmd"], **ax),
}


def test_every_function_is_tried():
    assert sorted(PICTURES) == sorted(plot.__all__)


@pytest.mark.parametrize("name", PICTURES)
def test_pyplot_is_left_alone(name, digits, chosen, table):
    figure = PICTURES[name](digits, chosen, table)
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", PICTURES)
def test_drawing_where_told(name, digits, chosen, table):
    figure, ax = plt.subplots()
    assert PICTURES[name](digits, chosen, table, ax=ax) is figure
    assert figure.axes == [ax] and ax.has_data()


@pytest.mark.parametrize("wrong, error", [(fwsr.FWSR(3), "not fitted"), ([1, 2], "got list")])
def test_chosen_must_be_an_answer(digits, wrong, error):
    for draw in (plot.convergence, lambda c: plot.map2d(digits, c),
                 lambda c: plot.gallery(digits, c)):
        with pytest.raises((ValueError, TypeError), match=error):
            draw(wrong)


def test_without_matplotlib(monkeypatch):
    original = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(f"no {name}")
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for name in [m for m in sys.modules if m.split(".")[:2] == ["fwsr", "plot"]]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'fwsr\[plot\]'"):
        importlib.import_module("fwsr.plot")
    monkeypatch.undo()


def test_fwsr_itself_does_not_import_matplotlib():
    script = "import sys, fwsr; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], timeout=300, check=True)


def test_examples_of_the_docstrings():
    import doctest

    tried = 0
    for name in plot.__all__:
        module = sys.modules[getattr(plot, name).__module__]
        failed, here = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        assert here > 0 and failed == 0
        tried += here
    assert tried >= 10
