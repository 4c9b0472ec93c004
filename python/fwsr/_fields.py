"""Attributes in the docstrings of answers, from the core's own list of what a run says."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable
from typing import TypeVar

from . import _core

T = TypeVar("T", bound=type)

#: For every kind of answer, its fields with a sentence each.
FIELDS: dict[str, dict[str, str]] = {kind: dict(fields)
                                     for kind, fields in _core.result_fields().items()}
#: The measures of a comparison, with a sentence each.
MEASURES: dict[str, str] = {name: about for name, _, _, about in _core.measures()}


def marked(sentence: str) -> str:
    """With names as docstrings have them: Sphinx takes a bare lambda_ for a link."""
    return sentence.replace("`", "``").replace("lambda_ and rho", "``lambda_`` and ``rho``")


def whole(sentence: str) -> str:
    """With a capital, a full stop, and marked names."""
    sentence = marked(sentence)
    start = sentence if sentence.startswith("`") else sentence[:1].upper() + sentence[1:]
    return start + ("" if sentence.endswith(".") else ".")


def described(**more: str) -> Callable[[T], T]:
    """Puts the fields of a dataclass, each with its sentence, before the examples of its docstring.

    `more` goes behind the core's sentence, and is all that is said of fields which the core does
    not have.
    """
    def document(cls: T) -> T:
        text, marker, examples = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n")
        core, lines = FIELDS[cls.__name__], ["Attributes", "----------"]
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]
            lines.append(f"{f.name} : {str(f.type).replace('np.', '').replace(' | ', ' or ')}")
            said = [whole(core[f.name])] if f.name in core else []
            said += [more[f.name]] if f.name in more else []
            lines.append(textwrap.fill(" ".join(said), 90, initial_indent="    ",
                                       subsequent_indent="    ", break_on_hyphens=False))
        cls.__doc__ = text + "\n".join(lines) + ("\n\n" + marker + examples if marker else "\n")
        return cls
    return document
