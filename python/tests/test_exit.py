"""Python exits while threads are at work."""

import subprocess
import sys

PROGRAM = """
import atexit, os, sys, threading, time
atexit.register(time.sleep, 0.5)  # called last: time to do what threads should not
import numpy as np
import fwsr

X = np.random.default_rng(0).normal(size=(3000, 40))
begun = threading.Event()

def work():
    while True:
        fwsr.select(X, 300, kernel="rbf", callback=lambda p: begun.set())

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait(300)
if sys.argv[1:] == ["fork"]:
    child = os.fork()
    if child == 0:
        fwsr.select(X[:200], 3)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("leaving", flush=True)
"""


def leave(*arguments):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
                          capture_output=True, text=True, timeout=600)


def test_daemon_threads_at_work_do_not_crash_the_exit():
    done = leave()
    assert done.returncode == 0, done.stderr
    # Nor do they write: Python aborts when a thread holds the stream that it flushes at its end.
    assert (done.stdout, done.stderr) == ("leaving\n", "")


def test_a_forked_child_does_not_wait_for_the_work_of_its_parent():
    done = leave("fork")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "leaving\n"
