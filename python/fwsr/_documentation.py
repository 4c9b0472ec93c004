"""Parameters and attributes in docstrings, from the sentences of the core's own tables."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import Any, TypeVar

from ._encoder import KERNELS
from ._run import is_solver, method_table, option_table

T = TypeVar("T", bound=type)

_MATRIX = ("``\"precomputed\"``: ``X`` is the square kernel matrix; a function ``k(A, B)`` is "
           "called once for the n x n matrix.")
_NAMES = [f'``"{name}"``' for name in KERNELS if name != "precomputed"]

_COMMON = {
    "n_exemplars": "How many: a number, or a fraction of the points in (0, 1]. Per class: a number "
                   "for each, a dictionary from class to number, ``\"proportional:50\"`` for 50 in "
                   "all, or ``\"proportional\"`` for 10 times the number of classes.",
    "per_class": "Choose for each class by itself, with labels from ``fit(X, y)``; "
                 "``\"proportional\"`` shares ``n_exemplars`` out by the sizes of the classes.",
    "scale": "Before centring: ``\"standard\"`` divides each feature by its standard deviation, "
             "``\"unit\"`` each point by its norm.",
    "fill": "Where fewer than ``n_exemplars`` are found, add the farthest of the other points. "
            "They are marked in ``selection_.filled``.",
    "refine": "``\"exchange\"``: exchange exemplars for other points, one at a time, as long as "
              "that represents all points better (the ridge form of the paper's Eq. (1)); "
              "``\"middle\"``: the same, then move each to the middle of the points that it stands "
              "for; ``\"none\"``: as they were chosen. What it did is in "
              "``selection_.refinement``.",
    "ridge": "Of ``refine``: the ridge weight, in units of the mean squared norm of the points in "
             "the kernel's space.",
    "refine_rounds": "Of ``refine``: visits to all points at most, and rounds of moving to the "
                     "middle; 0: until no exchange helps, and none moves.",
    "n_jobs": "Threads: None as OpenMP is set (threadpoolctl, ``OMP_NUM_THREADS``), -1 for all "
              "cores. The answer does not depend on it.",
    "memory": "What may be taken, the data included, in bytes or as ``\"4G\"``. Mapped files that "
              "do not fit are read in blocks.",
    "verbose": "1 shows a progress bar.",
    "client": "The client of the Dask cluster; None: the one that is there.",
    "timeout": "Seconds: a worker of which nothing is heard for so long is named in an error; and "
               "how long to wait for a worker where none is left.",
    "callback": "Called with a :class:`fwsr.Progress` after each step. Returning False stops the "
                "run, and ``fit`` raises :class:`fwsr.Interrupted`.",
    "random_state": "The seed of what is drawn at random; a whole number gives the picks of the "
                    "command line with that ``--seed``.",
    "kernel": f"{', '.join(_NAMES)}; {_MATRIX}",
    "gamma": "Width of the kernel. None: 1 / median squared distance; for the laplacian kernel 1 / "
             "median L1 distance, for the polynomial 1 / mean squared norm.",
    "metric": "``\"euclidean\"``, ``\"squared\"`` (its square), ``\"manhattan\"`` or "
              "``\"cosine\"``; ``\"precomputed\"``: ``X`` is the square matrix of dissimilarities.",
}
#: Of the Frank-Wolfe solver, where the core's sentence begins with a word of its own.
_SOLVER = {
    "eta_relative": "Whether ``eta`` is in units of the root-mean-square norm of the centred "
                    "points.",
    "q": "Norm of the rows of the codes: 1, 2 or ``\"inf\"``. With 1 and ``\"inf\"`` ``transform`` "
         "gives codes of least squares, not those of the run.",
    "nonneg": "Codes without negative numbers during the run. ``transform`` then gives codes of "
              "least squares, which may be negative.",
    "rank": "For the rbf, polynomial and laplacian kernels: a factor with this many columns in "
            "place of the kernel, O(n rank) a step and no n x n matrix; 0: the kernel itself.",
    "when_converged": "When the gap closes before ``n_exemplars`` are found: ``\"grow\"`` enlarges "
                      "``beta`` and goes on, ``\"stop\"`` ends, as the paper does.",
    "delta_absolute": "Whether ``delta`` is absolute, as in the paper.",
    "lambda_": "With ``rho``: report the boolean objective of the paper's Eq. (1), in "
               "``selection_.certificate``.",
    "rho": "With ``lambda_``: ridge weight of the boolean objective.",
    "at_least": "So many exemplars of each group, or a dictionary; ``groups`` are given to "
                "``fit``.",
    "at_most": "No more than so many exemplars of a group, or a dictionary.",
    "device": "``\"cuda\"`` or ``\"cuda:1\"``: the work is done on a graphics card, "
              "``\"auto\"``: where that is worth it, ``\"cpu\"``: on the processor; None: where "
              "``X`` is.",
    "certificate": "``\"full\"`` recomputes objective, gap and error from the raw data, "
                   "``\"none\"`` does not.",
    "precise": "Of float32 points: matrix products of the set-up in double precision.",
}
#: Of the method that leaves kernel and rank to the points.
_SUITED = {
    "kernel": "``\"auto\"``: ``\"rbf\"`` for dense points and where ``gamma`` or ``rank`` is "
              f"given, ``\"linear\"`` for sparse ones; {', '.join(_NAMES[1:])}; {_MATRIX}",
    "gamma": "Width of the kernel. None: 2 / the squared distance that 90 % of the pairs of points "
             "keep within; for the laplacian kernel the same of L1 distances, for the polynomial 1 "
             "/ mean squared norm.",
    "refine": "``\"auto\"``: ``\"middle\"`` with the rbf kernel, that is for dense points, "
              "``\"exchange\"`` with the others. ``\"exchange\"``: exchange exemplars for "
              "other points, one at a time, until none represents the points better; "
              "``\"middle\"``: then move each to the middle of the points that it stands for. "
              ":class:`fwsr.FWSR` and :class:`fwsr.KFWSR` have ``\"none\"``. What it did is in "
              "``selection_.refinement``.",
    "rank": "Columns of a factor in place of the kernel. 0: up to 4096 points the kernel itself, "
            "for more of them a factor with 4 columns for each exemplar and at least 256.",
}
_CENTER = ("``\"point\"`` subtracts from each point its own mean, ``\"feature\"`` from each "
           "feature its mean, ``\"none\"`` nothing. ")

_ATTRIBUTES = """
Attributes
----------
exemplar_indices_ : ndarray of int64
    Indices of the exemplars, in the order of choosing (per class: class after class). Also as
    ``sample_indices_``.
exemplars_ : same container as X
    These rows.
weights_, strength_ : ndarray of float64
    How many points each exemplar stands for (those it is nearest to), and the norm of its row of
    codes or the method's own measure.
labels_ : ndarray of int64
    For each point the position of its exemplar; -1 for points of a class that gives none.
objective_path_, gap_path_ : ndarray of float64
    Objective and gap after each step; empty for methods that solve another problem.
reconstruction_error_ : float
    Fraction of the points outside the span of the exemplars (not per class).
classes_ : ndarray
    The classes, in order (only per class).
n_iter_ : int
    Iterations, where the method counts them (``selection_.facts["iterations"]``); else steps of the
    solver; else exemplars, one a step. Per class their sum.
status_ : str
    How the run ended; anything but ``exemplars_reached`` comes with a warning.
plan_ : Plan
    What was run, with its memory; per class a dictionary, from the name of the class as text:
    ``plan_["0"]`` where ``classes_`` holds the number 0.
selection_ : Selection
    Everything, with the certificate; ``selection_.classes`` has the names of ``plan_``.
n_features_in_, feature_names_in_
    Of ``X``; names where it has them.
"""


def documented(cls: T) -> T:
    """Puts the parameters, each with its sentence, before the examples of the class's docstring."""
    text, marker, examples = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n")
    lines = ["Parameters", "----------"]
    for f in dataclasses.fields(cls):  # type: ignore[arg-type]
        lines.append(f"{f.name} : {_type(f)}, default={_shown(f.default)}")
        lines.append(textwrap.fill(_sentence(cls, f.name), 90, initial_indent="    ",
                                   subsequent_indent="    "))
    body = "\n".join(lines) + "\n" + _ATTRIBUTES
    cls.__doc__ = text + body + ("\n" + marker + examples if marker else "")
    return cls


def _sentence(cls: Any, name: str) -> str:
    method = method_table()[cls.method]
    own = {n: about for n, _, about in method["settings"]}
    if name in _SUITED and method["suits"]:
        return _SUITED[name]
    if name in _COMMON:
        return _COMMON[name]
    if name in own:
        return _whole(own[name])
    if name in _SOLVER:
        return _SOLVER[name]
    if name == "center":
        return _CENTER + ("None: ``\"point\"`` for the linear kernel, else ``\"none\"``."
                          if is_solver(cls.method) else "None: ``\"none\"``.")
    return _whole(option_table()[name.rstrip("_")][1])


def _whole(sentence: str) -> str:
    """With a capital and a full stop; "of the ADMM" is about iterations."""
    if sentence.startswith("of "):
        sentence = "iterations " + sentence
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else ".")


def _type(f: Any) -> str:
    return str(f.type).replace("Callable[..., Any]", "callable").replace(
        "Callable[[Progress], Any]", "callable").replace("Mapping[Any, int]", "dict").replace(
        "RandomState", "int | RandomState | Generator | None").replace(" | ", " or ")


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
