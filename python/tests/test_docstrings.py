"""Docstrings: each has an example that runs, and names the parameters there are."""

import contextlib
import doctest
import inspect
import re

import numpy as np
import pytest

import fwsr

PUBLIC = {name: getattr(fwsr, name) for name in fwsr.__all__ if callable(getattr(fwsr, name))}
with contextlib.suppress(ImportError):
    from fwsr.imbalanced import ExemplarSampler

    PUBLIC["imbalanced.ExemplarSampler"] = ExemplarSampler
with contextlib.suppress(ImportError):
    import fwsr.dask

    PUBLIC |= {f"dask.{name}": getattr(fwsr.dask, name) for name in fwsr.dask.__all__}

#: All functions and methods of the package's own, and the classes that have parameters.
CALLABLES = {}
for name, thing in PUBLIC.items():
    if inspect.isfunction(thing) or hasattr(thing, "get_params"):
        CALLABLES[name] = thing
    if inspect.isclass(thing):
        CALLABLES |= {f"{name}.{n}": m for n, m in vars(thing).items()
                      if inspect.isfunction(m) and not n.startswith("_")}


def section(thing, title):
    """Names in a section of a numpydoc docstring."""
    text = inspect.getdoc(thing) or ""
    body = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^(\S[^\n:]*)(?: :|$)", body[1], re.MULTILINE) if body else []
    return [name.strip() for head in heads for name in head.split(",")]


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_examples_run(name):
    thing = PUBLIC.get(name, fwsr)
    finder = doctest.DocTestFinder(recurse=inspect.isclass(thing), exclude_empty=True)
    tests = [t for t in finder.find(thing, name or "fwsr", module=False, globs={}) if t.examples]
    assert any(t.name == (name or "fwsr") for t in tests), "no example"
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        said = []
        runner.run(test, out=said.append)
        assert not said, "".join(said)


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_are_those_of_the_signature(name):
    thing = CALLABLES[name]
    assert inspect.getdoc(thing), "no docstring"
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    expected = [stars.get(p.kind, "") + p.name for p in inspect.signature(thing).parameters.values()
                if p.name != "self"]
    documented = section(thing, "Parameters")
    assert len(set(documented)) == len(documented)
    if documented or "." not in name or "ExemplarSelector" in name:  # other methods: in a sentence
        assert sorted(documented) == sorted(expected)


@pytest.mark.parametrize("cls", fwsr.ESTIMATORS)
def test_attributes_are_there_after_fit(cls):
    X = np.random.default_rng(0).normal(size=(40, 4))
    model = cls(3).fit(X)
    documented = set(section(cls, "Attributes"))
    of_tables, of_classes = {"feature_names_in_"}, {"classes_"}
    assert all(hasattr(model, name) for name in documented - of_tables - of_classes)
    own = {name for name in vars(model) if name.endswith("_")} - set(cls.__dataclass_fields__)
    assert own <= documented
    per_class = cls(2, per_class=True).fit(X, np.arange(40) % 2)
    assert hasattr(per_class, "classes_")


@pytest.mark.parametrize("cls", fwsr.ESTIMATORS)
def test_sentences_are_whole(cls):
    for line in inspect.getdoc(cls).splitlines():
        assert len(line) <= 100
    body = inspect.getdoc(cls).split("Attributes\n")[0].split("Parameters\n")[1]
    for sentence in re.findall(r"^    (.+(?:\n    .+)*)", body, re.MULTILINE):
        assert sentence.endswith(".") and not sentence[0].islower(), sentence


def test_codes_of_least_squares_are_said_to_be():
    for name in ("q", "nonneg"):
        about = re.search(rf"^{name} : .*\n((?:    .*\n)+)", inspect.getdoc(fwsr.FWSR), re.M)
        assert about and "least" in about[1] and "``transform``" in about[1]
