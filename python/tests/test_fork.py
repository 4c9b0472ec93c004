"""Children of a process that has used threads: joblib and multiprocessing start them so."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import fwsr


def points():
    return np.random.default_rng(0).normal(size=(3000, 20)).astype(np.float32)


def choose(seed):
    return list(fwsr.select(points(), 5, n_jobs=4).exemplars)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_give_the_same_answer(semaphores):
    mine = choose(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        theirs = pool.map_async(choose, range(4)).get(timeout=300)
    assert theirs == [mine] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_on_the_address_space_is_a_sentence(kind):
    # Too little for one buffer of OpenBLAS, beside what the interpreter has already.
    program = f"""
import resource
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[{0 if kind == "RLIMIT_AS" else 5}])
limit = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.{kind}, (limit, resource.RLIM_INFINITY))
try:
    import fwsr
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=300)
    assert "raise the limit" in done.stdout, done
