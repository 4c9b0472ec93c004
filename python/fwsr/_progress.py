"""How far the work has come, for people who watch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each step, and ten times a second between steps.

    Attributes
    ----------
    step, exemplars, wanted : int
        Steps so far, exemplars so far, and how many there are to be.
    f, gap, f_at_zero : float
        Objective, gap and the objective at X = 0.
    method, trial : int
        In a comparison: which method, and which of its repeats.
    stage : str
        ``setup``, ``steps``, ``exchange``, or ``certificate``: weights and certificate, after the
        last step.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> def show(p):
    ...     if p.stage == "steps":
    ...         print(p.exemplars, "of", p.wanted)
    >>> chosen = fwsr.select(X, 3, callback=show)
    1 of 3
    2 of 3
    3 of 3
    """

    step: int
    exemplars: int
    wanted: int
    f: float
    gap: float
    f_at_zero: float
    method: int = 0
    trial: int = 0
    stage: str = "steps"


class Watcher:
    """The core's callback: a progress bar, the user's function, or both."""

    def __init__(self, verbose: int, callback: Callable[[Progress], Any] | None, what: str):
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function or None, got {callback!r}")
        self._callback = callback
        self._bar = _make_bar(what) if verbose else None
        self._last: Progress | None = None
        #: The run waits for the callback at every step.
        self.every_step = callback is not None

    @property
    def function(self) -> Callable[..., Any] | None:
        return self if self._bar or self._callback else None

    def __call__(self, *numbers: Any) -> Any:
        progress = self._last = Progress(*numbers)
        if self._bar:
            self._bar.show(progress)
        return self._callback(progress) if self._callback else None

    def finish(self, exemplars: int | None = None) -> None:
        """The work has come to its end, with this many exemplars; None: as many as were wanted."""
        if self._bar and self._last:
            here = self._last.wanted if exemplars is None else exemplars
            self._bar.show(replace(self._last, exemplars=here, stage="steps"))

    def close(self) -> None:
        if self._bar:
            self._bar.close()


def _make_bar(what: str) -> _TqdmBar | _PlainBar:
    try:
        return _TqdmBar(what)
    except ImportError:
        return _PlainBar(what)


class _TqdmBar:
    def __init__(self, what: str):
        from tqdm.auto import tqdm

        self._tqdm = tqdm(desc=what, unit="exemplar", leave=True)

    def show(self, p: Progress) -> None:
        if self._tqdm.total != p.wanted:
            self._tqdm.reset(total=p.wanted)
        self._tqdm.update(p.exemplars - self._tqdm.n)
        self._tqdm.set_postfix_str(p.stage if p.stage != "steps" else "", refresh=False)

    def close(self) -> None:
        self._tqdm.close()


class _PlainBar:
    """One line on standard error, written over and over on a terminal and once elsewhere."""

    def __init__(self, what: str):
        self._what = what
        self._start = time.perf_counter()
        self._terminal = sys.stderr.isatty()
        self._last = ""

    def show(self, p: Progress) -> None:
        seconds = time.perf_counter() - self._start
        stage = f", {p.stage}" if p.stage != "steps" else ""
        self._last = f"{self._what}: {p.exemplars} of {p.wanted} exemplars{stage}, {seconds:.1f} s"
        if self._terminal:
            print(f"\r{self._last}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._last:
            print("" if self._terminal else self._last, file=sys.stderr)
