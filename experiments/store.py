"""Measurements on disk: one JSON line each, so that nothing is measured twice."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

Key = dict[str, Any]
Result = dict[str, Any]


def name_of(key: Key) -> str:
    """One text for one key, whatever the order of its entries."""
    return json.dumps(key, sort_keys=True)


class Store:
    """The measurements of one study: a file with one line for each, found by their keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[str, dict[str, Any]] = {}
        if path.exists():
            for number, text in enumerate(path.read_text().splitlines(), 1):
                try:
                    line = json.loads(text)
                except json.JSONDecodeError:  # the run was cut off while it wrote this line
                    print(f"{path}: line {number} is not whole; it will be measured again")
                    continue
                self._lines[name_of(line["key"])] = line

    def __contains__(self, key: Key) -> bool:
        return name_of(key) in self._lines

    def __getitem__(self, key: Key) -> Result:
        return self._lines[name_of(key)]["result"]

    def __iter__(self) -> Any:
        """Pairs of key and result."""
        return ((line["key"], line["result"]) for line in self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)

    def find(self, **part: Any) -> list[tuple[Key, Result]]:
        """All whose keys have these entries."""
        return [
            (key, result)
            for key, result in self
            if all(key.get(name) == value for name, value in part.items())
        ]

    def add(self, key: Key, result: Result, seconds: float) -> None:
        line = {"key": key, "result": result, "seconds": round(seconds, 3)}
        self._lines[name_of(key)] = line
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def sort(self, keys: list[Key]) -> None:
        """Write the file anew: the lines of these keys in their order, then the others."""
        first = [name_of(key) for key in keys]
        names = dict.fromkeys([name for name in first if name in self._lines] + [*self._lines])
        if not names:
            return
        beside = self.path.with_suffix(".new")
        beside.write_text("".join(json.dumps(self._lines[name]) + "\n" for name in names))
        beside.replace(self.path)


def differences(ours: Any, theirs: Any, tolerance: float, where: str = "") -> list[str]:
    """Where two results differ, leaving out entries named after seconds or bytes.

    Of settings whose tuned scores are level, the rounding of a processor's products takes one: a
    score "x" is held against another only where both were had with the same setting "x_C".
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = [n for n in {**ours, **theirs} if "seconds" not in n and "bytes" not in n]
        both = [n for n in names if n.endswith("_C") and n in ours and n in theirs]
        otherwise = [n.removesuffix("_C") for n in both if ours[n] != theirs[n]]
        names = [n for n in names if n.removesuffix("_C") not in otherwise]
        missing = [n for n in names if (n in ours) != (n in theirs)]
        return [f"{where}{name} is only in one of them" for name in missing] + [
            text
            for name in names
            if name not in missing
            for text in differences(ours[name], theirs[name], tolerance, f"{where}{name}.")
        ]
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return [f"{where}: {len(ours)} entries against {len(theirs)}"]
        return [
            text
            for i, (a, b) in enumerate(zip(ours, theirs))
            for text in differences(a, b, tolerance, f"{where}{i}.")
        ]
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        if math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance):
            return []
    elif ours == theirs:
        return []
    return [f"{where.rstrip('.')}: {ours} against {theirs}"]
