"""Checkpoints: what a run has decided so far, in a file that another run of the same request goes
on from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._run import Request, Run, is_solver

_SCHEMA = "python 1"  # apps/checkpoint.cpp has another
_BEGIN = b'{"checkpoint":'  # as all begin


class Checkpoint:
    """The file of a run of `points` points, which `request` tells from others."""

    def __init__(self, path: str | os.PathLike[str], request: dict[str, Any], points: int, *,
                 resume: bool, seconds: float):
        self.path = _file_for(path, resume)
        umask = os.umask(0)
        os.umask(umask)
        self.mode = self.path.stat().st_mode & 0o7777 if self.path.exists() else 0o666 & ~umask
        self.request = request
        self.trouble = ""
        known = self._read() if resume else None
        try:
            self.core = _core.Record(known, points, seconds, self._write)
        except (LookupError, TypeError, RuntimeError, ValueError, OverflowError) as e:
            raise self._useless(str(e) or "it is damaged") from None

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """However the run ends, the file says how far it came."""
        try:
            yield
        finally:
            record = self.core.as_python()
            if record is not None:
                self._write(record)
            if self.trouble:
                warnings.warn(f"no checkpoint could be written: {self.trouble}", RuntimeWarning,
                              stacklevel=4)

    def _useless(self, why: str) -> ValueError:
        return ValueError(f"{self.path}: cannot be gone on from: {why}; leave resume out to begin "
                          "anew, or name another file")

    def _read(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        try:
            there = json.loads(self.path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):  # no text, no JSON, nested without end
            raise self._useless("it is no checkpoint") from None
        if not isinstance(there, dict) or "checkpoint" not in there:
            raise self._useless("it is no checkpoint")
        if there["checkpoint"] != _SCHEMA:
            raise self._useless("it was written by the program fwsr, or by another version")
        if there.pop("sum", None) != _sum_of(there):
            raise self._useless("it was altered or damaged")
        if there["fwsr"] != _core.version:
            raise self._useless(f"it was written by fwsr {there['fwsr']}, and this is "
                                f"{_core.version}")
        other = _difference(there["request"], self.request)
        if other:
            raise self._useless(f"it is of another request: {other}")
        record = there["record"]
        assert isinstance(record, dict)
        return record

    def _write(self, record: Mapping[str, Any]) -> None:
        """Whole or not at all. What cannot be written is told at the end: the run goes on."""
        whole = {"checkpoint": _SCHEMA, "fwsr": _core.version, "request": self.request,
                 "record": record}
        whole["sum"] = _sum_of(whole)
        part = ""
        try:
            handle, part = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.",
                                            suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(whole, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            os.chmod(part, self.mode)
            os.replace(part, self.path)
            self.trouble = ""
        except OSError as e:
            self.trouble = str(e)
            with contextlib.suppress(OSError):
                os.remove(part)


def _file_for(path: Any, resume: bool) -> Path:
    """Where checkpoints go, links followed; refused where one cannot be written, or something else
    would be lost."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"checkpoint must be the name of a file, got {path!r}")
    file = Path(os.path.realpath(path))
    if file.is_dir():
        raise ValueError(f"{path}: is a folder; name a file in it")
    if not file.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {file.parent}; make it, or name another")
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", suffix=".part"):
            pass
        if not resume and file.is_file() and file.stat().st_size > 0:
            with file.open("rb") as there:
                begin = there.read(len(_BEGIN))
            if begin != _BEGIN:
                raise ValueError(f"{path}: is there already, and no checkpoint; name another file")
    except OSError as e:
        raise ValueError(f"{path}: no checkpoint can be written there: {e}") from None
    return file


def checkpoint_of(path: Any, resume: Any, seconds: Any, request: Request, of: Mapping[str, Any],
                  conditions: Mapping[str, Any], per_class: bool) -> Checkpoint | None:
    """What the arguments of a function ask for. `of`: what else the answer depends on."""
    if path is None:
        if resume:
            raise ValueError("resume goes on from a checkpoint; name its file, as in "
                             "checkpoint='run.json'")
        return None
    if per_class:
        raise ValueError("a checkpoint is of one run; leave checkpoint or per_class out")
    if not is_solver(request.method):
        raise ValueError("a checkpoint is of exchange, fwsr and k-fwsr; leave it out for "
                         f"{request.method}")
    if not isinstance(resume, (bool, np.bool_)):
        raise TypeError(f"resume must be True or False, got {resume!r}")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise ValueError(f"checkpoint_seconds must be 0 or more, got {seconds!r}")
    asked = {"method": request.method, "seed": request.seed,
             "options": {name: value for name, value in request.options.items()
                         if name not in ("time_limit", "device_memory")},
             "settings": request.settings, "conditions": conditions, **of}
    return Checkpoint(path, json.loads(json.dumps(_plain(asked))), int(of["points"]),
                      resume=bool(resume), seconds=float(seconds))


@contextlib.contextmanager
def written_down(run: Run, path: Any, resume: Any, seconds: Any) -> Iterator[None]:
    """While `run` works, and when it has ended; nothing, where no path is given."""
    data, options = run.data, run.options
    facts = {"k": run.k, "points": len(data), "features": data.shape[1],
             "single": data.points.single}
    checkpoint = checkpoint_of(path, resume, seconds, run.request, facts, options["conditions"],
                               run.classes.counts is not None)
    if checkpoint is None:
        yield
        return
    options["recorder"] = checkpoint.core
    try:
        with checkpoint.kept():
            yield
    finally:
        del options["recorder"]


def _plain(value: Any) -> Any:
    """As JSON has it; of long lists a digest."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} " + hashlib.blake2b(
            np.ascontiguousarray(value).tobytes(), digest_size=16).hexdigest()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _sum_of(whole: Mapping[str, Any]) -> str:
    text = json.dumps(whole, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _difference(there: Any, here: Any, name: str = "") -> str:
    """The first thing that two requests differ in."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*here, *there]):
            if found := _difference(there.get(key), here.get(key), key):
                return found
        return ""
    if there == here:
        return ""
    said = ["not given" if one is None else f"{one!r}" for one in (there, here)]
    return f"{name} is {said[0]} there and {said[1]} here"
