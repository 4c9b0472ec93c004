"""FWSR_TEST_WITHOUT=pandas,polars runs the tests as if these packages were not installed."""

import importlib.abc
import multiprocessing
import os
import signal
import sys

import pytest

ABSENT = frozenset(filter(None, os.environ.get("FWSR_TEST_WITHOUT", "").split(",")))


class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named '{name}' (left out here)", name=name)
        return None


sys.meta_path.insert(0, Absent())


@pytest.fixture
def semaphores():
    """Skips where processes cannot share semaphores: /dev/shm is missing, or not ours to write."""
    try:
        multiprocessing.get_context("spawn").Lock()
    except (ImportError, OSError) as e:
        pytest.skip(f"multiprocessing needs semaphores, and there are none here: {e}")


@pytest.fixture
def ctrl_c_is_heard():
    """Ctrl-C raises KeyboardInterrupt, also where whoever started the tests ignores it (nohup)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
