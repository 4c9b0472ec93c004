"""Messages in the words of Python: options as they are written here, and the line that helps."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import fwsr

X = np.random.default_rng(0).normal(size=(50, 5))
D = np.abs(X[:, :1] - X[:, 0])


def said(function, *arguments, **options):
    """The error or the warnings, as one text."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            answer = function(*arguments, **options)
        except (ValueError, TypeError, MemoryError) as e:
            return str(e)
    reasons = [m.reason for m in answer] if isinstance(answer, fwsr.Comparison) else []
    return "\n".join([*(str(w.message) for w in told), *reasons])


#: Everything that names an option which Python writes otherwise than the core or the program.
SAID = [
    (lambda: said(fwsr.select, X, 3, lambda_=1), "lambda_ and rho go together"),
    (lambda: said(fwsr.select, X, 3, lambda_=-1, rho=1), "lambda_ must be 0 or a positive"),
    (lambda: said(fwsr.select, X, 3, lambda_="a", rho=1), "lambda_ must be a number, got 'a'"),
    (lambda: said(fwsr.KFWSR(3, lambda_=1).fit, X), "lambda_ and rho go together"),
    (lambda: said(fwsr.select, X, 3, lambda_=1, rho=1, certificate="none"),
     "lambda_ and rho ask for a number of the certificate; leave certificate='none' out"),
    (lambda: said(fwsr.select, D, 3, method="kmedoids", metric="precomputed", lambda_=1, rho=1),
     "lambda_ and rho are for points, and metric='precomputed' says"),
    (lambda: said(fwsr.select, X, 3, foo=1), "refine_rounds, lambda_, rho"),
    (lambda: said(fwsr.select, X, 3, method="fwsr", foo=1), "max_iterations, lambda_, rho"),
    (lambda: said(fwsr.compare, X, 3, ["rrqr"], foo=1), "lambda_, rho"),
    (lambda: said(fwsr.compare, X, 3, ["rrqr"], lambda_=1), "lambda_ and rho go together"),
    (lambda: said(fwsr.select, X, 3, method="fwsr", max_iterations=0),
     "max_iterations must be at least 1"),
    (lambda: said(fwsr.select, X, 20, method="fwsr", max_iterations=3),
     "max_iterations came first; raise it"),
    (lambda: said(fwsr.select, X, 20, method="fwsr", max_iterations=3), "try center='feature'"),
    (lambda: said(fwsr.select, X, 30, method="fwsr"), "fill=True would add the farthest"),
    (lambda: said(fwsr.select, X, 30, method="fwsr"), "such as kernel='rbf'"),
    (lambda: said(fwsr.select, X, 3, method="omp", normalize="maybe"), "is not True or False"),
    (lambda: said(fwsr.select, X, 3, method="kmedoids", metric="manhattan", kernel="rbf"),
     "metric='manhattan' is for the points"),
]


@pytest.mark.parametrize("number", range(len(SAID)))
def test_options_are_named_as_python_writes_them(number):
    function, expected = SAID[number]
    message = function()
    assert expected in message
    assert "--" not in message
    assert not re.search(r"\blambda\b", message)


def test_names_from_the_data_stay_as_they_are():
    labels = np.array(["lambda", "metric = none"])[np.arange(50) % 2]
    with pytest.raises(ValueError, match="'lambda'|lambda, metric"):
        fwsr.select(X, {"nobody": 1}, y=labels)
    chosen = fwsr.select(X, {"lambda": 1}, y=labels)
    assert list(chosen.classes)[0] == "lambda"


@pytest.mark.parametrize("model", [fwsr.FWSR, fwsr.KFWSR, fwsr.RRQR])
def test_the_polynomial_kernel_of_scikit_learn(model):
    with pytest.raises(ValueError, match="kernel='polynomial'"):
        model(3, kernel="poly").fit(X)
    with pytest.raises(ValueError, match="kernel='polynomial'"):
        fwsr.select(X, 3, method=model.method, kernel="poly")


@pytest.mark.parametrize("shape", [(10, 5, 5), (10, 5, 5, 1)])
def test_images_are_answered_with_the_line_that_makes_rows_of_them(shape):
    images = X.reshape(shape)
    for function in (lambda: fwsr.select(images, 3), lambda: fwsr.FWSR(3).fit(images),
                     lambda: fwsr.select(images.tolist(), 3)):
        with pytest.raises(ValueError, match=r"X\.reshape\(len\(X\), -1\)"):
            function()
    assert len(fwsr.select(images.reshape(len(images), -1), 3)) == 3


def test_a_parquet_file_with_another_name(tmp_path):
    path = tmp_path / "points.dat"
    path.write_bytes(b"PAR1\x15\x04\0PAR1")
    with pytest.raises(ValueError, match="name it .parquet, .arrow or .feather, and pyarrow"):
        fwsr.read(path)


@pytest.mark.parametrize("function", [fwsr.select, fwsr.plan, fwsr.sweep, fwsr.path, fwsr.compare])
def test_options_of_other_functions_are_answered_with_where_they_go(tmp_path, function):
    path = tmp_path / "x.csv"
    path.write_text("a,b,kind\n1,2,u\n3,5,v\n")
    for name in ("label_column", "id_column", "columns", "exclude_columns", "header", "variable"):
        with pytest.raises(TypeError, match=rf"fwsr\.read\('file\.csv', {name}=\.\.\.\)"):
            function(str(path), 1, **{name: "kind"})
    with pytest.raises(TypeError, match="give y="):
        function(X, 2, labels=np.arange(len(X)) % 2)
    with pytest.raises(TypeError, match="give seed="):
        function(X, 2, random_state=0)
    with pytest.raises(TypeError, match="no option 'kernal' .did you mean 'kernel'"):
        function(X, 2, kernal="rbf")
    with pytest.raises(TypeError, match="no option 'zzz'; it has"):
        function(X, 2, zzz=1)


def test_names_of_methods_that_are_nearly_right():
    for given, right in [("kmedoid", "kmedoids"), ("FWSR", "fwsr"), ("kfwsr", "k-fwsr")]:
        with pytest.raises(ValueError, match=f"no method '{given}' .did you mean '{right}'"):
            fwsr.select(X, 2, method=given)


def test_settings_in_a_name_are_answered_with_the_keywords_to_give():
    with pytest.raises(ValueError, match="here: method='ssc-omp', sparsity=2, clusters=3$"):
        fwsr.select(X, 2, method="ssc-omp:sparsity=2,clusters=3")
