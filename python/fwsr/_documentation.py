"""Parameters and attributes in docstrings, from the sentences of the core's own tables."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, TypeVar

from ._run import method_table, option_table

T = TypeVar("T", bound=type)

_COMMON = {
    "n_exemplars": "How many: a number, or a part of the points in (0, 1]. Per class: a number for "
                   "each, a dictionary from class to number, or ``\"proportional\"`` and "
                   "``\"proportional:50\"`` for 50 in all (by itself 10 times the number of classes).",
    "per_class": "Choose for each class by itself, with labels from ``fit(X, y)``; "
                 "``\"proportional\"`` shares ``n_exemplars`` out by the sizes of the classes.",
    "n_jobs": "Threads: None as OpenMP is set (threadpoolctl, ``OMP_NUM_THREADS``), -1 for all cores. "
              "The answer does not depend on it.",
    "memory": "What may be taken, the data included, in bytes or as ``\"4G\"``. Mapped files that do "
              "not fit are read in blocks.",
    "verbose": "1 shows a progress bar.",
    "callback": "Called with a :class:`fwsr.Progress` after each step. Returning False stops the run, "
                "and ``fit`` raises :class:`fwsr.Interrupted`.",
    "random_state": "The seed of what is drawn at random; a whole number gives the picks of the command "
                    "line with that ``--seed``.",
}
_KERNEL = ("linear, rbf, polynomial, cosine or laplacian; ``\"precomputed\"``: ``X`` is the square "
           "kernel matrix; a function ``k(A, B)`` is called once for the n x n matrix.")

_ATTRIBUTES = """
Attributes
----------
exemplar_indices_ : ndarray of int64
    Rows of the exemplars, in the order of choosing (per class: class after class). Also as
    ``sample_indices_``.
exemplars_ : same container as X
    These rows.
weights_, strength_ : ndarray of float64
    How many points each exemplar stands for, and the norm of its row of codes or the method's own
    measure.
labels_ : ndarray of int64
    For each point the place of its exemplar.
objective_path_, gap_path_ : ndarray of float64
    Objective and gap after each step; empty for methods that solve another problem.
reconstruction_error_ : float
    Share of the points outside the span of the exemplars (not per class).
n_iter_ : int
    Steps or iterations.
status_ : str
    How the run ended; anything but ``exemplars_reached`` comes with a warning.
plan_ : Plan
    What was run, with its memory; per class a dictionary.
selection_ : Selection
    Everything, with the certificate.
n_features_in_, feature_names_in_
    Of ``X``; names where it has them.
"""


def documented(cls: T) -> T:
    """Puts the parameters, each with its sentence, before the examples of the class's docstring."""
    text, marker, examples = (cls.__doc__ or "").partition("    Examples\n")
    lines = ["Parameters", "----------"]
    for f in dataclasses.fields(cls):  # type: ignore[arg-type]
        lines.append(f"{f.name} : {_type(f)}, default={_shown(f.default)}")
        lines.append(textwrap.fill(_sentence(cls, f.name), 90, initial_indent="    ",
                                   subsequent_indent="    "))
    body = "\n".join(lines) + "\n" + _ATTRIBUTES
    cls.__doc__ = text + textwrap.indent(body, "    ", lambda line: bool(line.strip())) + (
        "\n" + marker + examples if marker else "")
    return cls


def _sentence(cls: Any, name: str) -> str:
    own = {n: about for n, _, about in method_table()[cls.method]["settings"]}
    if name in own:
        return _capital(own[name])
    if name in _COMMON:
        return _COMMON[name]
    if name == "kernel":
        return _KERNEL
    if name == "center":
        solver = cls.method in ("fwsr", "k-fwsr")
        return ("Subtract means: point (each point its own), feature, or none. None is "
                + ("point for the linear kernel, else none." if solver else "none."))
    return _capital(option_table()[name.rstrip("_")][1])


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else ".")


def _type(f: Any) -> str:
    return str(f.type).replace("Callable[..., Any]", "callable").replace(
        "Callable[[Progress], Any]", "callable").replace("Mapping[Any, int]", "dict").replace(
        " | ", " or ")


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
