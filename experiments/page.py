"""Tables and figures into docs/reproducing.md, between marks that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; None is a dash, numbers keep three decimals."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def beside(ours: float | None, paper: float | None) -> str:
    """Our number and the paper's, the difference marked when it exceeds 0.03."""
    if ours is None:
        return "–" if paper is None else f"– ({paper:.3f})"
    if paper is None:
        return f"{ours:.3f}"
    mark = "\\*" if abs(ours - paper) > 0.03 else ""
    return f"{ours:.3f}{mark} ({paper:.3f})"


def figure(name: str, words: str) -> str:
    return f"![{words}](images/reproducing/{name}.svg)"


def fill(page: Path, parts: dict[str, str]) -> list[str]:
    """Put each part between its marks, `<!-- begin NAME -->` and `<!-- end NAME -->`.

    Answers with the names that the page has no marks for.
    """
    text = page.read_text()
    missing = []
    for name, part in parts.items():
        marks = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        place = marks.search(text)
        if place is None:
            missing.append(name)
            continue
        text = f"{text[:place.end(1)]}{part.rstrip()}\n{text[place.start(2):]}"
    beside_it = page.with_suffix(".new")
    beside_it.write_text(text)
    beside_it.replace(page)
    return missing
