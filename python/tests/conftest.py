"""FWSR_TEST_WITHOUT=pandas,polars runs the tests as if these packages were not installed."""

import importlib.abc
import multiprocessing
import os
import signal
import sys

import numpy as np
import pytest
import scipy.sparse as sp

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


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(120, 7))


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 200, size=(120, 7))


@pytest.fixture(scope="module")
def sparse() -> sp.csr_matrix:
    return sp.random(150, 40, density=0.2, format="csr", random_state=0, dtype=np.float64)
