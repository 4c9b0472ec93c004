"""What tests of data ask of any points."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import fwsr


def picks(X, k=5, **options) -> list[int]:
    return fwsr.select(X, k, **options).exemplars.tolist()


def notes(X) -> str:
    return " | ".join(fwsr.plan(X, 5).notes)


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, check=False)
