"""Tables of Arrow for the program: read by pyarrow, and handed on as an npz file without a name."""

from __future__ import annotations

import csv
import os
import tempfile

import numpy as np

import fwsr


class WrongUse(Exception):
    """Arguments that make no sense, with what to do."""


def handed_on(arguments: list[str], place: int) -> list[str]:
    """The arguments with a file in place of the table that the program can read.

    The file is open and has no name: it is gone when the program ends, however that happens.
    """
    path, rest = arguments[place], arguments[:place] + arguments[place + 1:]
    label, rest = _taken(rest, "--label-column")
    id_, rest = _taken(rest, "--id-column")
    columns, rest = _taken(rest, "--columns")
    excluded, rest = _taken(rest, "--exclude-columns")
    variable, rest = _taken(rest, "--variable")
    memory, _ = _taken(rest, "--memory")
    data = fwsr.read(path, label_column=label, id_column=id_, variable=variable,
                     columns=_list(columns), exclude_columns=_list(excluded), memory=memory)
    arrays = {"points": data.values}
    told = ["--variable", "points"]
    if data.labels is not None:
        arrays["labels"] = np.array(data.labels, dtype=str)
        told += ["--label-column", "labels"]
    if data.ids is not None:
        arrays["ids"] = np.array(data.ids, dtype=str)
        told += ["--id-column", "ids"]
    if not any(a == "--name" or a.startswith("--name=") for a in rest):
        told += ["--name", path]
    file = tempfile.TemporaryFile()
    np.savez(file, **arrays)
    file.flush()
    number = os.dup(file.fileno())  # the copy stays open
    os.set_inheritable(number, True)
    return [rest[0], f"/dev/fd/{number}", *told, *rest[1:]]


def _list(columns: str | None) -> list[str] | None:
    return None if columns is None else next(csv.reader([columns]))


def _taken(arguments: list[str], option: str) -> tuple[str | None, list[str]]:
    """The value of an option, and the arguments without it."""
    values, rest, left = [], [], iter(arguments)
    for argument in left:
        if argument.startswith(option + "="):
            values.append(argument[len(option) + 1:])
        elif argument == option:
            values.append(next(left, ""))
        else:
            rest.append(argument)
    if len(values) > 1:
        raise WrongUse(f"{option} is given more than once; give it once")
    if values == [""]:
        raise WrongUse(f"{option} needs a value after it; see fwsr {arguments[0]} --help")
    return (values[0] if values else None), rest
