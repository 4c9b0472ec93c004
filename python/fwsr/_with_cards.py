"""The core with work on cards built in, in the place of our own: that of the package fwsr-cuda13,
where that is installed."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings

PACKAGE = "fwsr-cuda13"


def take_core() -> None:
    """Called once, before the core is loaded."""
    package = importlib.util.find_spec("fwsr_cuda13")
    if package is None:
        return
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        version, own = version_of(PACKAGE), version_of("fwsr")
    except PackageNotFoundError:  # a folder of sources, not what was installed
        return
    if version != own:
        warnings.warn(f"{PACKAGE} {version} is installed beside fwsr {own}, and is left alone: pip "
                      f"install '{PACKAGE}=={own}' for work on cards", stacklevel=3)
        return
    for folder in package.submodule_search_locations or []:
        for name in sorted(os.listdir(folder)):
            if name.startswith("_core.") and name.endswith(".so"):
                _load(os.path.join(folder, name))
                return


def _load(path: str) -> None:
    """As the module fwsr._core, so that what is pickled is found with either core."""
    spec = importlib.util.spec_from_file_location("fwsr._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fwsr._core"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["fwsr._core"]
        raise
    sys.modules["fwsr"]._core = module  # type: ignore[attr-defined]
