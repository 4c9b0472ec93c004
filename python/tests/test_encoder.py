"""Codes, nearest exemplars and errors of points, against the core and against NumPy."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl
from representing import assert_same_up_to_ties, closeness, tolerance
from scipy.spatial.distance import cdist

import fwsr
from fwsr import _encoder

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = ["linear", "rbf", "polynomial", "cosine", "laplacian"]


def sparse_points(n=50, d=7, seed=0):
    """Points of features with different means, a third of the entries 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2 * rng.normal(size=d)
    X[np.abs(X) < 0.8] = 0
    return X


def odd_sets():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6))
    constant, zeros, near = X.copy(), X.copy(), X.copy()
    constant[:, 2], constant[:, 3] = 0.1, 0  # the sum of 0.1 is no multiple of it
    zeros[[3, 10]], zeros[20] = 0, 1.7
    near[20:] = near[:20] + 1e-5 * rng.normal(size=(20, 6))
    return {
        "constant features": constant,
        "zero and constant points": zeros,
        "of rank 2": rng.normal(size=(40, 2)) @ rng.normal(size=(2, 6)),
        "one feature": X[:, :1],
        "copies": np.repeat(X[:8], 5, axis=0),
        "near copies": near,
        "all zero": np.zeros((20, 3)),
        "one point": X[:1],
        "features of all sizes": X * 10.0 ** np.arange(-6, 6, 2),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", ["none", "standard", "unit"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_codes_are_those_of_the_run(kernel, scale, dtype):
    dense = sparse_points().astype(dtype)
    ranks = (0, 20) if kernel in ("rbf", "polynomial", "laplacian") else (0,)
    for X in (dense, sp.csr_matrix(dense)):
        for center in (None, "none", "point", "feature"):
            for eta, relative in ((0, False), (0.5, False), (0.3, True)):
                for rank in ranks:
                    given = {"alpha": 3, "kernel": kernel, "scale": scale, "eta": eta, "rank": rank,
                             "eta_relative": relative, **({"center": center} if center else {})}
                    codes = fwsr.select(X, 5, method="fwsr", codes=True, **given).codes
                    model = fwsr.FWSR(5, **given).fit(X)
                    np.testing.assert_allclose(model.transform(X), codes, rtol=0,
                                               atol=tolerance(model, X), err_msg=str(given))
                    assert_same_up_to_ties(closeness(model, X), model.predict(X), model.labels_)
                    assert model.score(X) == pytest.approx(-model.reconstruction_error_, abs=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "laplacian"])
def test_labels_are_the_nearest_in_the_space_of_the_kernel(kernel):
    X = sparse_points(300, 6, seed=3)
    gamma = {} if kernel == "linear" else {"gamma": 0.3}
    for given in ({}, {"eta": 2.0}, {"rank": 40} if kernel != "linear" else {"q": 1}):
        model = fwsr.FWSR(7, kernel=kernel, center="none", **gamma, **given).fit(X)
        chosen = X[model.exemplar_indices_]
        far = (np.diagonal(by_hand(kernel, chosen, chosen)) - 2 * by_hand(kernel, X, chosen))
        assert (model.labels_ == far.argmin(axis=1)).all()
        assert (model.predict(X) == model.labels_).all()
        np.testing.assert_array_equal(model.weights_, np.bincount(model.labels_, minlength=7))


@pytest.mark.parametrize("name", odd_sets())
@pytest.mark.parametrize("kernel", ["linear", "cosine", "rbf"])
def test_odd_points(name, kernel):
    dense = odd_sets()[name]
    for X in (dense, sp.csr_matrix(dense)):
        for given in ({}, {"scale": "unit"}, {"scale": "standard"}, {"center": "point"},
                      {"center": "feature", "scale": "standard"}, {"fill": True}):
            for k in {1, min(5, len(dense))}:
                codes = fwsr.select(X, k, method="fwsr", codes=True, kernel=kernel, **given).codes
                model = fwsr.FWSR(k, kernel=kernel, **given).fit(X)
                if codes is None:
                    codes = np.zeros((len(dense), 0))
                found = model.transform(X)
                assert found.shape == codes.shape
                np.testing.assert_allclose(found, codes, rtol=0,
                                           atol=1e-9 * max(1.0, np.abs(codes).max(initial=0)))
                assert_same_up_to_ties(closeness(model, X), model.predict(X), model.labels_)
                assert model.score(X) == pytest.approx(-model.reconstruction_error_, abs=1e-9)


@pytest.mark.parametrize("cls", fwsr.ESTIMATORS)
def test_score_is_minus_the_error_of_the_certificate(cls):
    X = sparse_points(40, 6, seed=2)
    fields = cls.__dataclass_fields__
    kernels = [{"kernel": k} for k in KERNELS if not (cls.method in FLEXIBLE and k == "linear")]
    for given in ({}, {"scale": "standard", "center": "feature"}, {"scale": "unit"},
                  *(kernels if "kernel" in fields else [])):
        model = cls(4, **given, **({"random_state": 0} if "random_state" in fields else {})).fit(X)
        assert model.score(X) == pytest.approx(-model.reconstruction_error_, abs=1e-9), given


#: Methods that use the rbf kernel where none is named, so that the linear one cannot be asked for.
FLEXIBLE = [m["name"] for m in fwsr._core.methods() if m["uses_rbf"]]


@pytest.mark.parametrize("metric", ["euclidean", "squared", "manhattan", "cosine"])
@pytest.mark.parametrize("cls", [fwsr.KMedoids, fwsr.KMedoidsBatch, fwsr.FacilityLocation,
                                 fwsr.KCenter])
def test_predict_is_the_nearest_in_the_metric(cls, metric):
    X = sparse_points(60, 5, seed=3)
    X[7] = 0  # at distance 1 from all by cosine
    model = cls(4, metric=metric)
    if "random_state" in cls.__dataclass_fields__:
        model.random_state = 0
    model.fit(X)
    chosen = X[model.exemplar_indices_]
    distances = distances_by(metric, X, chosen)
    assert_same_up_to_ties(distances, model.predict(X), distances.argmin(axis=1))
    assert_same_up_to_ties(distances, model.labels_, distances.argmin(axis=1))
    fresh = sparse_points(30, 5, seed=4)
    distances = distances_by(metric, fresh, chosen)
    assert_same_up_to_ties(distances, model.predict(fresh), distances.argmin(axis=1))


def distances_by(metric, a, b):
    if metric == "cosine":
        unit = [m / np.where(norms > 0, norms, 1) for m, norms in
                ((m, np.linalg.norm(m, axis=1, keepdims=True)) for m in (a, b))]
        return 1 - unit[0] @ unit[1].T
    return cdist(a, b, {"euclidean": "euclidean", "squared": "sqeuclidean",
                        "manhattan": "cityblock"}[metric])


def test_nearest_of_points_far_from_the_origin():
    X = np.random.default_rng(5).normal(size=(200, 3)) + 1e9
    model = fwsr.RRQR(3, scale="none").fit(X)
    nearest = cdist(X, X[model.exemplar_indices_]).argmin(axis=1)
    assert (model.predict(X) == nearest).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_least_squares_codes(kernel):
    """Methods without codes of their own, in the space of the kernel: K_TT x = k_T."""
    X, fresh = sparse_points(40, 6, seed=6), sparse_points(10, 6, seed=7)
    gamma = None if kernel in ("linear", "cosine") else 0.3
    model = fwsr.RandomExemplars(4, kernel=kernel, gamma=gamma, random_state=0).fit(X)
    chosen = X[model.exemplar_indices_]
    among, products = by_hand(kernel, chosen, chosen), by_hand(kernel, fresh, chosen)
    expected = np.linalg.lstsq(among, products.T, rcond=None)[0].T
    np.testing.assert_allclose(model.transform(fresh), expected, rtol=1e-8, atol=1e-10)


def by_hand(kernel, a, b, gamma=0.3):
    if kernel == "cosine":
        a, b = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (a, b))
    product = a @ b.T
    if kernel == "rbf":
        return np.exp(-gamma * cdist(a, b) ** 2)
    if kernel == "laplacian":
        return np.exp(-gamma * cdist(a, b, "cityblock"))
    return (gamma * product + 1) ** 3 if kernel == "polynomial" else product


def test_least_squares_of_exemplars_within_each_others_span():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 6))
    model = fwsr.RandomExemplars(5, random_state=0).fit(X)
    expected = np.linalg.lstsq(X[model.exemplar_indices_].T, X.T, rcond=1e-10)[0].T
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-12)
    assert model.score(X) == pytest.approx(0, abs=1e-14)


def test_exemplars_that_are_nearly_copies_span_two_directions():
    X = np.array([[1.0, 0.0, 0.0], [1.0, 1e-7, 0.0], [0.0, 1.0, 0.0], [0.3, 0.7, 0.0]])
    data = fwsr._containers.as_data(X)
    selection = fwsr.select(X, 2, method="random", center="none")
    near = dataclasses.replace(selection, exemplars=np.array([0, 1]))
    encoder = _encoder.Encoder(data, near, _encoder.Kernel("linear"), center="none", scale="none")
    assert encoder.error(data) < 1e-15


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_path_against_a_projection_by_numpy(kernel, make):
    X = sparse_points(40, 6, seed=9)
    gamma = {} if kernel in ("linear", "cosine") else {"gamma": 0.3}
    path = fwsr.path(make(X), 5, method="fwsr", kernel=kernel, center="none", **gamma)
    K = by_hand(kernel, X, X)
    for j in range(len(path.selection)):
        T = path.selection.exemplars[:j + 1]
        rest = np.trace(K - K[:, T] @ np.linalg.pinv(K[np.ix_(T, T)], rcond=1e-13) @ K[T])
        assert path.error[j] == pytest.approx(rest / np.trace(K), abs=1e-10)
    certified = path.selection.certificate.reconstruction_error
    assert path.error[-1] == pytest.approx(certified, abs=1e-12)


def test_points_are_represented_one_by_one(monkeypatch):
    """What a point gets does not depend on those beside it, nor a sum on how it is cut."""
    X = sparse_points(50, 6, seed=10)
    monkeypatch.setattr(_encoder, "_BLOCK_NUMBERS", 40)  # a function gets 6 points at a time
    for make in (np.asarray, sp.csr_matrix):
        for model in (fwsr.FWSR(4, scale="standard", center="feature"), fwsr.KCenter(4),
                      fwsr.RRQR(4, kernel="rbf", center="feature", scale="unit"),
                      fwsr.FWSR(4, kernel=lambda a, b: by_hand("rbf", _dense(a), _dense(b)))):
            model.fit(make(X))
            some = [make(X[first:first + 7]) for first in range(0, 50, 7)]
            codes = np.concatenate([model.transform(points) for points in some])
            np.testing.assert_allclose(codes, model.transform(make(X)), rtol=1e-12, atol=1e-13)
            labels = np.concatenate([model.predict(points) for points in some])
            np.testing.assert_array_equal(labels, model.predict(make(X)))
            left, total = model._encoder.left_out(fwsr._containers.as_data(make(X)))
            parts = [model._encoder.left_out(fwsr._containers.as_data(points)) for points in some]
            np.testing.assert_allclose(left, sum(part[0] for part in parts), rtol=1e-10)
            assert total == pytest.approx(sum(part[1] for part in parts), rel=1e-12)


def _dense(rows):
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def test_points_that_were_filled_in_have_no_codes_and_stand_for_their_own():
    X = np.random.default_rng(11).normal(size=(40, 3))  # 2 exemplars span it after centring
    for model in (fwsr.FWSR(6, fill=True), fwsr.OMP(6, fill=True)):
        model.fit(X)
        filled = model.selection_.filled
        assert filled.any() and len(model.exemplar_indices_) == 6
        assert (model.predict(X) == model.labels_).all()
        space = X - X.mean(axis=1, keepdims=True) if isinstance(model, fwsr.FWSR) else X
        nearest = cdist(space, space[model.exemplar_indices_]).argmin(axis=1)
        assert (model.labels_ == nearest).all() and (model.weights_ > 0).all()
        codes = model.transform(X)
        assert (codes[:, filled] == 0).all()
    for kernel in ("linear", "rbf"):  # least squares over those that were chosen
        model = fwsr.OMP(6, fill=True, kernel=kernel, **({} if kernel == "linear" else
                                                         {"gamma": 1e-9})).fit(X)
        filled = model.selection_.filled
        chosen = X[model.exemplar_indices_[~filled]]
        assert filled.any()
        codes = model.transform(X)
        assert (codes[:, filled] == 0).all()
        among, products = by_hand(kernel, chosen, chosen, 1e-9), by_hand(kernel, X, chosen, 1e-9)
        np.testing.assert_allclose(codes[:, ~filled] @ among, products, rtol=1e-6)


def test_given_kernels_and_dissimilarities():
    rng = np.random.default_rng(12)
    X, fresh = rng.normal(size=(30, 4)), rng.normal(size=(7, 4))
    K, new = by_hand("rbf", X, X), by_hand("rbf", fresh, X)
    same = fwsr.FWSR(5, kernel="rbf", gamma=0.3).fit(X)
    as_function = fwsr.FWSR(5, kernel=lambda a, b: by_hand("rbf", a, b)).fit(X)
    given = fwsr.FWSR(5, kernel="precomputed").fit(K)
    for model, old, fresh_ in ((as_function, X, fresh), (given, K, new)):
        assert (model.exemplar_indices_ == same.exemplar_indices_).all()
        np.testing.assert_allclose(model.transform(fresh_), same.transform(fresh), atol=1e-10)
        assert (model.predict(fresh_) == same.predict(fresh)).all()
        assert model.score(old) == pytest.approx(same.score(X), abs=1e-12)
    assert as_function.score(fresh) == pytest.approx(same.score(fresh), abs=1e-12)
    with pytest.raises(ValueError, match="give their square matrix"):
        given.score(new)
    other = rng.normal(size=(30, 4))
    with pytest.raises(ValueError, match="give their square matrix"):  # square, of other points
        given.score(by_hand("rbf", other, other))

    D, far = cdist(X, X), cdist(fresh, X)
    for cls in (fwsr.KMedoids, fwsr.FacilityLocation, fwsr.DS3, fwsr.KCenter):
        model = cls(4, metric="precomputed")
        if "random_state" in cls.__dataclass_fields__:
            model.random_state = 0
        model.fit(D)
        chosen = model.exemplar_indices_
        assert (model.predict(far) == far[:, chosen].argmin(axis=1)).all()
        assert model.score(far) == pytest.approx(-far[:, chosen].min(axis=1).mean())
        np.testing.assert_array_equal(model.transform(far), far[:, chosen])


def test_a_kernel_that_is_a_function_takes_sparse_points():
    X = sp.csr_matrix(sparse_points(20, 5))
    model = fwsr.RRQR(3, kernel=lambda a, b: (a @ b.T).toarray()).fit(X)
    same = fwsr.RRQR(3).fit(X)
    assert (model.exemplar_indices_ == same.exemplar_indices_).all()
    assert model.score(X) == pytest.approx(same.score(X), abs=1e-12)


def test_numbers_whose_squares_are_none():
    X = np.random.default_rng(13).normal(size=(20, 3))
    for size in (1e200, 1e-200):
        with pytest.raises(ValueError, match="too large or too small"):
            fwsr.FWSR(2).fit(X * size)
    for size in (1e140, 1e-140):
        model = fwsr.FWSR(2).fit(X * size)
        assert (model.exemplar_indices_ == fwsr.FWSR(2).fit(X).exemplar_indices_).all()


def test_new_points_must_be_finite():
    X = np.random.default_rng(14).normal(size=(20, 3))
    model = fwsr.FWSR(2).fit(X)
    X[3, 1] = np.nan
    for ask in (model.transform, model.predict, model.score):
        with pytest.raises(ValueError, match="NaN"):
            ask(X)


def test_no_exemplars_at_all():
    X = np.zeros((10, 3))
    for cls in (fwsr.FWSR, fwsr.RRQR):
        model = cls(2).fit(X)
        assert model.transform(X).shape == (10, 0)
        assert (model.predict(X) == -1).all() and (model.labels_ == -1).all()
        assert model.score(X) == 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_constant_features_of_many_points(make):
    """Sums of 0.1 are off by many roundings, which must not pass for a deviation."""
    X = np.random.default_rng(15).normal(size=(5000, 4))
    X[:, 1] = 0.1
    model = fwsr.RRQR(2, scale="standard").fit(make(X))
    expected = np.where(np.arange(4) == 1, 1, X.std(axis=0))
    assert model._encoder.frame.deviation == pytest.approx(expected)
    assert model.score(make(X)) == pytest.approx(-model.reconstruction_error_, abs=1e-12)


def test_the_width_per_class():
    """As given; else the mean of those of the classes that have one."""
    X, y = np.random.default_rng(16).normal(size=(61, 4)), np.append(np.repeat([0, 1, 2], 20), 3)
    for model in (fwsr.KFWSR({0: 5, 1: 0}, gamma=0.2), fwsr.KFWSR(3, per_class=True, gamma=0.2),
                  fwsr.RRQR({0: 5}, kernel="rbf", gamma=0.2)):
        assert model.fit(X, y)._encoder.kernel.gamma == 0.2
    for cls in (fwsr.KFWSR, fwsr.RRQR):
        both = cls({0: 5, 1: 5}, kernel="rbf").fit(X, y)._encoder.kernel.gamma
        each = [cls(5, kernel="rbf").fit(X[y == c]).selection_.gamma for c in (0, 1)]
        assert both == pytest.approx(np.mean(each))
    alone = fwsr.KFWSR(1, per_class=True).fit(X[:3], [0, 1, 2])
    np.testing.assert_allclose(alone.transform(X[:3]), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("center", ["none", "point", "feature"])
def test_sparse_points_of_many_features_stay_sparse(kernel, center):
    X = sp.random(60, 400, density=0.03, format="lil", random_state=17)
    X[3], X[5] = 0, 1.7  # a point of zeros, a constant one
    X = X.tocsr()
    X.data[::9] = 0  # stored, but 0
    fresh = sp.random(20, 400, density=0.03, format="csr", random_state=18)
    for scale in ("none", "standard", "unit"):
        for cls in (fwsr.FWSR, fwsr.RRQR):
            model = cls(5, kernel=kernel, center=center, scale=scale).fit(X)
            for points in (X, fresh):
                dense = points.toarray()
                np.testing.assert_allclose(model.transform(points), model.transform(dense),
                                           atol=1e-12)
                assert model.score(points) == pytest.approx(model.score(dense), abs=1e-12)
                np.testing.assert_array_equal(model.predict(points), model.predict(dense))


def test_no_more_codes_than_a_block_are_held_to_predict():
    X = np.random.default_rng(19).normal(size=(60_000, 40)).astype(np.float32)
    model = fwsr.FWSR(300, kernel="rbf", rank=300).fit(X[:3000])
    tracemalloc.start()
    labels = model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * labels.size * len(model.exemplar_indices_)


def files_of(X, tmp_path):
    """The same points as they may be stored."""
    np.save(tmp_path / "X.npy", X)
    mapped = fwsr._containers.as_data(np.load(tmp_path / "X.npy", mmap_mode="r"))
    streamed = fwsr._mapped.streamed(mapped)
    assert streamed.points.streamed
    return {"float64": X, "float32": X.astype(np.float32), "by columns": np.asfortranarray(X),
            "every other row": np.repeat(X, 2, axis=0)[::2], "streamed": streamed}


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_bits_do_not_depend_on_where_points_are_stored_nor_on_threads(kernel, tmp_path):
    X = sparse_points(1500, 9, seed=20).astype(np.float32).astype(np.float64)
    for model in (fwsr.FWSR(6, kernel=kernel, scale="standard", center="feature", eta=0.2),
                  fwsr.RandomExemplars(6, kernel=kernel, scale="unit", random_state=0)):
        model.fit(X)
        codes, labels, error = model.transform(X), model.predict(X), model.score(X)
        for name, points in files_of(X, tmp_path).items():
            np.testing.assert_array_equal(model.transform(points), codes, err_msg=name)
            np.testing.assert_array_equal(model.predict(points), labels, err_msg=name)
            assert model.score(points) == error, name
        for threads in (1, 3):
            with threadpoolctl.threadpool_limits(threads):
                np.testing.assert_array_equal(model.transform(X), codes)
                assert model.score(X) == error


@pytest.mark.parametrize("kernel", KERNELS)
def test_codes_per_class_are_those_of_least_squares_over_all(kernel):
    X, y = sparse_points(60, 5, seed=21), np.arange(60) % 3
    gamma = {} if kernel in ("linear", "cosine") else {"gamma": 0.3}
    model = fwsr.FWSR(2, per_class=True, kernel=kernel, center="none", **gamma).fit(X, y)
    chosen = X[model.exemplar_indices_]
    among, products = by_hand(kernel, chosen, chosen), by_hand(kernel, X, chosen)
    expected = products @ np.linalg.pinv(among, rcond=1e-12, hermitian=True)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("given", [{"q": 1}, {"q": "inf"}, {"nonneg": True}])
def test_codes_without_a_formula_are_those_of_least_squares(given):
    X = sparse_points(40, 6, seed=22)
    model = fwsr.FWSR(4, center="none", **given).fit(X)
    expected = np.linalg.lstsq(X[model.exemplar_indices_].T, X.T, rcond=None)[0].T
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-9, atol=1e-12)


def test_the_table_of_kernels_is_that_of_the_core():
    assert list(_encoder.KERNELS) == [*KERNELS[:1], "rbf", "polynomial", "cosine", "laplacian",
                                      "precomputed"]
    assert all(f'``"{name}"``' in fwsr.KFWSR.__doc__ for name in KERNELS)
