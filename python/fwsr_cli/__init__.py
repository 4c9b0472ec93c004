"""The program `fwsr` where pip has installed it, for the command `fwsr` and for `python -m fwsr`.

A package of its own, so that the command starts without NumPy and scikit-learn. Only tables of
Arrow, which the program cannot read, are read by Python and handed on.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

#: The files that pyarrow reads.
ARROW_FILES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
#: Options whose value may be the name of a file that is not the data.
_OTHER_FILES = ("-o", "--output", "--labels", "--codes", "--assignment", "--name")


def with_cards() -> str | None:
    """The program of the package fwsr-cuda13, where that is installed, of this version."""
    import importlib.util

    package = importlib.util.find_spec("fwsr_cuda13")
    if package is None:
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        if version("fwsr-cuda13") != version("fwsr"):
            return None
    except PackageNotFoundError:  # a folder of sources, not what was installed
        return None
    for folder in package.submodule_search_locations or []:
        if os.path.exists(found := os.path.join(folder, "fwsr")):
            return found
    return None


def libraries() -> list[str]:
    """Where the packages nvidia-* keep their libraries."""
    import importlib.util

    found = importlib.util.find_spec("nvidia")
    places = list(found.submodule_search_locations or []) if found else []
    return [folder for place in places for inside in ("cu13", "cublas")
            if os.path.isdir(folder := os.path.join(place, inside, "lib"))]


def program() -> str:
    """The path of the program: beside this file, or where an editable installation puts it."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fwsr")
    if os.path.exists(beside):
        return beside
    import sysconfig

    return os.path.join(sysconfig.get_path("platlib"), "fwsr_cli", "fwsr")


def place_of_table(arguments: list[str]) -> int | None:
    """Where the data stands among the arguments, if it is a table of Arrow."""
    for i, argument in enumerate(arguments[1:], start=1):
        if (argument.lower().endswith(ARROW_FILES) and not argument.startswith("-")
                and arguments[i - 1] not in _OTHER_FILES):
            return i
    return None


def main() -> NoReturn:
    arguments = sys.argv[1:]
    place = place_of_table(arguments)
    if place is not None and not {"-h", "--help"} & set(arguments):
        # joblib, which comes with scikit-learn, is not used here; where processes cannot share
        # semaphores it would say so.
        os.environ.setdefault("JOBLIB_MULTIPROCESSING", "0")
        from ._tables import WrongUse, handed_on

        try:
            arguments = handed_on(arguments, place)
        except WrongUse as e:
            print(f"fwsr: {e}", file=sys.stderr)
            sys.exit(2)
        except (ImportError, MemoryError, OSError, TypeError, ValueError) as e:
            sys.exit(f"fwsr: {e}")
        except KeyboardInterrupt:
            sys.exit(130)
    path = program()
    if cards := with_cards():
        path = cards
        there = [os.environ["LD_LIBRARY_PATH"]] if os.environ.get("LD_LIBRARY_PATH") else []
        os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(there + libraries())
    try:
        os.execv(path, ["fwsr", *arguments])
    except OSError as e:
        sys.exit(f"fwsr: the program cannot be started ({e}); install the package again")
