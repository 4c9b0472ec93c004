"""FWSR_TEST_WITHOUT=pandas,polars runs the tests as if these packages were not installed."""

import importlib.abc
import os
import sys

ABSENT = frozenset(filter(None, os.environ.get("FWSR_TEST_WITHOUT", "").split(",")))


class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named '{name}' (left out here)", name=name)
        return None


sys.meta_path.insert(0, Absent())
