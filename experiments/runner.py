"""Runs what is still to be measured, on all cores, with a line of progress."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from types import ModuleType

from .data import Missing
from .store import Key, Result, Store


def cores() -> int:
    return len(os.sched_getaffinity(0))


def run(study: ModuleType, store: Store, keys: list[Key]) -> list[str]:
    """Measure the keys that the store has not; answers with a line for each reason why not.

    A study with ALONE = True measures time: one after the other, each with all cores. Others run
    one to a core.
    """
    todo = [key for key in keys if key not in store]
    name = study.__name__.rpartition(".")[2]
    if not todo:
        print(f"{name}: all {len(keys)} measurements are on disk", flush=True)
        return []
    workers = 1 if getattr(study, "ALONE", False) else cores()
    failed: list[str] = []
    start = time.monotonic()
    with _threads(cores() // workers), _pool(workers) as pool:
        waiting = {pool.submit(_measure, study.__name__, key): key for key in todo}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                key = waiting[future]
                try:
                    result, seconds = future.result()
                except Missing as error:
                    failed.append(str(error))
                except Exception as error:  # the others are worth having all the same
                    failed.append(f"{name} {key} FAILED: {type(error).__name__}: {error}")
                else:
                    store.add(key, result, seconds)  # a disk that is full ends the run
                _tell(name, done, len(todo), time.monotonic() - start)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    store.sort(keys)
    if failed:
        print(f"{name}: {len(failed)} of {len(todo)} could not be measured", file=sys.stderr)
    return sorted(set(failed))


def _pool(workers: int) -> Executor:
    """As many processes; where processes cannot share semaphores, a thread of this one."""
    spawn = multiprocessing.get_context("spawn")
    try:
        spawn.Lock()
    except (ImportError, OSError) as error:
        print(f"no semaphores here, as where /dev/shm cannot be written to ({error}): measuring "
              "one after the other", file=sys.stderr)
        return ThreadPoolExecutor(1)
    return ProcessPoolExecutor(workers, spawn, _end_with_parent, (os.getpid(),))


def _end_with_parent(parent: int) -> None:
    """A worker whose parent was killed would go on unseen; Ctrl-C is the parent's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _measure(module: str, key: Key) -> tuple[Result, float]:
    warnings.simplefilter("ignore")  # of classifiers that stop early at large C
    start = time.monotonic()
    result = importlib.import_module(module).measure(**key)
    return result, time.monotonic() - start


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Workers started inside use so many threads each."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(count) for name in names})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_told = 0.0


def _tell(name: str, done: int, of: int, gone: float) -> None:
    """A line of progress: on a terminal in place, elsewhere one every ten seconds."""
    global _told
    live = sys.stderr.isatty()
    if done < of and time.monotonic() - _told < (0.2 if live else 10):
        return
    _told = time.monotonic()
    left = gone / done * (of - done)
    text = f"{name}: {done} of {of} done, {gone:.0f} s gone, about {left:.0f} s left"
    print(f"\r{text:<78}" if live else text, end="" if live and done < of else "\n",
          file=sys.stderr, flush=True)
