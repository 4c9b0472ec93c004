"""Good manners: other threads run on, Ctrl-C works, nothing leaks, nobody is written over."""

from __future__ import annotations

import builtins
import contextlib
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import fwsr


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 20))


def serial(X) -> list[list[int]]:
    return [fwsr.select(X, 6, n_jobs=1, **options).exemplars.tolist()
            for options in ({"method": "fwsr"}, {}, {"kernel": "cosine"})]


def child(code: str, *arguments: object, **how) -> subprocess.Popen:
    def hear_ctrl_c():  # who started the tests may ignore it (nohup), and so would the child
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=hear_ctrl_c, **how)


def python(code: str, timeout: float = 300) -> str:
    """What a process of its own prints; it must end well."""
    process = child(code)
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err
    return out


# --------------------------------------------------------------------------- the interpreter's lock


def test_other_threads_run_on_meanwhile():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        for n in (3000, 6000, 12_000, 24_000):  # nobody can tell how fast a machine is
            points = np.random.default_rng(0).normal(size=(n, 300)).astype(np.float32)
            begin = counted[0]
            fwsr.select(points, n // 10, kernel="rbf", n_jobs=1)
            steps = counted[0] - begin
            if steps > 10:  # before and after the work there is time for one or two
                break
    finally:
        stop.set()
        counter.join()
    assert steps > 10


# ------------------------------------------------------------------------------------------- Ctrl-C


@pytest.fixture(scope="module")
def stopped() -> dict[str, float | None]:
    """For each long work the seconds from Ctrl-C to KeyboardInterrupt, of the clock or of all
    processors, whichever are fewer; None: it was not raised."""
    script = pathlib.Path(__file__).parents[2] / "bench" / "ctrl_c.py"
    process = child(script.read_text(), "--json")
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.parametrize("name", ["gradient", "covariance", "representer", "kernel", "factor",
                                  "kmedoids", "smrs", "sweep", "compare", "per class", "path",
                                  "estimator", "reading"])
def test_ctrl_c_stops_the_work(stopped, name):
    assert stopped[name] is not None, "the work was done before it could be interrupted"
    assert stopped[name] < 5  # of work without end


def is_interrupted(work) -> bool:
    """By Ctrl-C a quarter of a second after its beginning; else it had ended by then."""
    ended = False
    threading.Timer(0.25, os.kill, (os.getpid(), signal.SIGINT)).start()
    with contextlib.suppress(KeyboardInterrupt):
        work()
        ended = True
        for _ in range(30_000):
            time.sleep(0.01)
    return not ended


def test_ctrl_c_leaves_an_estimator_unfitted(ctrl_c_is_heard):
    points = np.random.default_rng(0).standard_normal((12_000, 50), dtype=np.float32)
    model = fwsr.FWSR(3).fit(points[:50]).set_params(
        n_exemplars=4000, kernel="rbf", alpha=50, delta=0, when_converged="stop",
        max_iterations=10**12)
    assert is_interrupted(lambda: model.fit(points))
    with pytest.raises(NotFittedError):
        model.transform(points[:5])
    assert fwsr.select(points[:200], 3).status == "exemplars_reached"


def test_ctrl_c_stops_the_codes_of_new_points(ctrl_c_is_heard):
    points = np.random.default_rng(0).standard_normal((200_000, 100), dtype=np.float32)
    for k in (1000, 2000, 4000, 8000, 16_000):  # nobody can tell how fast a machine is
        model = fwsr.RandomExemplars(k, kernel="laplacian", gamma=0.01, random_state=0)
        model.fit(points[:k + 500])
        if interrupted := is_interrupted(lambda model=model: model.predict(points)):
            break
    assert interrupted
    assert model.predict(points[:5]).shape == (5,)


# ---------------------------------------------------------------------------------------- callbacks


def test_a_callback_hears_of_every_step_on_the_calling_thread(X):
    heard, threads = [], set()

    def callback(p):
        heard.append(p)
        threads.add(threading.get_ident())

    chosen = fwsr.select(X, 8, callback=callback)
    steps = [p for p in heard if p.stage == "steps"]
    assert threads == {threading.get_ident()}
    assert [p.step for p in steps] == list(range(1, len(chosen.trace["f"]) + 1))
    assert all(isinstance(p, fwsr.Progress) and p.wanted == 8 for p in steps)
    assert [p.exemplars for p in steps] == chosen.trace["rows"].tolist()
    assert np.allclose([p.f for p in steps], chosen.trace["f"])
    later = [p for p in heard if p.step == steps[-1].step and p.stage != "steps"]
    assert "exchange" in [p.stage for p in later] and {p.exemplars for p in later} == {8}


def test_no_step_is_missed_while_the_callback_is_slow():
    points, steps = np.random.default_rng(0).normal(size=(3000, 200)).astype(np.float32), []

    def callback(p):
        if p.step == 0:
            time.sleep(0.15)  # the work goes on, and its first steps wait
        elif p.step not in steps[-1:]:
            steps.append(p.step)

    chosen = fwsr.select(points, 40, kernel="rbf", n_jobs=1, callback=callback)
    assert steps == list(range(1, len(chosen.trace["f"]) + 1))


@pytest.mark.parametrize("call", [
    lambda X, cb: fwsr.select(X, 6, callback=cb),
    lambda X, cb: fwsr.select(X, 2, y=np.arange(len(X)) % 4, per_class=True, callback=cb, n_jobs=2),
    lambda X, cb: fwsr.sweep(X, 6, [1, 5], callback=cb),
    lambda X, cb: fwsr.path(X, 6, callback=cb),
    lambda X, cb: fwsr.compare(X, 6, ["fwsr", "rrqr"], callback=cb),
    lambda X, cb: fwsr.FWSR(6, callback=cb).fit(X),
    lambda X, cb: fwsr.select(X, 6, method="k-center", callback=cb),
], ids=["select", "per class", "sweep", "path", "compare", "fit", "k-center"])
def test_what_a_callback_raises_comes_out(X, call):
    def callback(p):
        raise KeyError("mine")

    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            call(X, callback)
    heard = []
    call(X, heard.append)
    assert heard and fwsr.select(X, 3).status == "exemplars_reached"


def test_false_stops_the_run_and_what_there_is_comes_back(X):
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        chosen = fwsr.select(X, 8, callback=lambda p: p.step < 3)
    assert chosen.status == "interrupted"
    whole = fwsr.select(X, 8, method="k-fwsr", gamma=chosen.gamma)
    assert chosen.exemplars.tolist() == whole.exemplars[:3].tolist()  # exchanges come later
    assert np.isnan(chosen.weights).all() and len(chosen.weights) == len(chosen.strength) == 3
    assert chosen.plan.points == len(X) and chosen.certificate is None
    assert "interrupted" in repr(chosen) and '"interrupted"' in chosen.to_json()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        per_class = fwsr.select(X, 3, y=np.arange(len(X)) % 4, per_class=True, n_jobs=1,
                                callback=lambda p: p.step < 5)  # others may end before it is heard
    assert per_class.status == "interrupted" and len(per_class) < 12
    assert len(per_class.to_json()) > 0
    with pytest.warns(ConvergenceWarning, match="alpha 1, eta 0: .*interrupted"):
        stopped = fwsr.sweep(X, 6, [1, 5], callback=lambda p: p.step < 1)  # not in the set-up
    assert {s.selection.status for s in stopped} == {"interrupted"}
    with pytest.warns(ConvergenceWarning):
        path = fwsr.path(X, 6, callback=lambda p: p.step < 2)
    assert len(path.error) == 2
    with pytest.warns(ConvergenceWarning, match="interrupted"):  # a comparison of NumPy's
        stopped_by_numpy = fwsr.select(X, 8, callback=lambda p: np.bool_(p.step < 3))
    assert stopped_by_numpy.exemplars.tolist() == chosen.exemplars.tolist()
    for answer in (None, 0, True, np.True_, "no"):  # only False is False
        assert fwsr.select(X, 4, callback=lambda p, a=answer: a).status == "exemplars_reached"


def test_false_leaves_an_estimator_unfitted_and_no_comparison(X):
    model = fwsr.FWSR(8).fit(X)
    with pytest.raises(fwsr.Interrupted):
        model.set_params(callback=lambda p: False).fit(X)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(fwsr.Interrupted, match="callback"):
        fwsr.compare(X, 4, ["fwsr", "rrqr"], callback=lambda p: False)
    assert issubclass(fwsr.Interrupted, RuntimeError)


def test_a_run_that_takes_long_says_so_before(monkeypatch):
    class Long(fwsr._core.Planned):
        long_run = "this takes some days"

    monkeypatch.setattr(fwsr._core, "Planned", Long)
    with pytest.warns(UserWarning, match="some days") as told:
        fwsr.select(np.eye(4), 2)
    assert not any(issubclass(w.category, ConvergenceWarning) and "days" in str(w.message)
                   for w in told)


def test_a_callback_can_stop_a_long_run_that_has_no_steps():
    points = np.random.default_rng(0).normal(size=(8000, 50)).astype(np.float32)
    heard = []

    def callback(p):
        heard.append(time.process_time())  # of this process, whatever others do
        return len(heard) < 3

    chosen = fwsr.select(points, 400, method="kmedoids", restarts=500, callback=callback)
    assert chosen.status == "interrupted" and len(heard) == 3
    assert time.process_time() - heard[-1] < 10  # the whole takes much longer


def test_a_callback_may_select_itself(X):
    inner = []
    chosen = fwsr.select(X, 5, callback=lambda p: inner.append(
        fwsr.select(X, 3, callback=lambda q: None).exemplars.tolist()))
    assert chosen.exemplars.tolist() == fwsr.select(X, 5).exemplars.tolist()
    assert len(inner) >= 4 and all(one == fwsr.select(X, 3).exemplars.tolist() for one in inner)


# ------------------------------------------------------------------------------------- progress bar


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_is_written_to_standard_error_only(X, has_tqdm, capsys, monkeypatch):
    if has_tqdm:
        pytest.importorskip("tqdm")
    else:
        real = builtins.__import__

        def importing(name, *rest):
            if name.startswith("tqdm"):
                raise ImportError(name)
            return real(name, *rest)

        monkeypatch.setattr(builtins, "__import__", importing)
    long = np.random.default_rng(0).normal(size=(3000, 300)).astype(np.float32)
    fwsr.select(long, 150, method="k-fwsr", verbose=1, n_jobs=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("150/150" if has_tqdm else "k-fwsr: 150 of 150 exemplars") in err
    fwsr.FWSR(5, verbose=1, callback=lambda p: None).fit(X)
    out, err = capsys.readouterr()
    assert out == "" and ("5/5" if has_tqdm else "5 of 5") in err
    fwsr.select(X, 5)
    assert capsys.readouterr() == ("", "")
    fwsr.sweep(X, 5, [1, 5], verbose=1), fwsr.compare(X, 3, ["fwsr", "rrqr"], verbose=1)
    assert capsys.readouterr().out == ""


# ------------------------------------------------------------------------------------------ threads


def test_the_answer_does_not_depend_on_threads(X):
    wide = np.random.default_rng(1).normal(size=(1200, 60)).astype(np.float32)
    for options in ({}, {"method": "fwsr"}, {"method": "k-fwsr"}, {"method": "kmedoids"},
                    {"method": "smrs"}, {"rank": 100},
                    {"y": np.arange(1200) % 5, "per_class": True}):
        one, *others = [fwsr.select(wide, 8, n_jobs=jobs, **options) for jobs in (1, 2, 3)]
        for other in others:
            assert other.exemplars.tolist() == one.exemplars.tolist()
            assert np.array_equal(other.weights, one.weights)
            assert np.array_equal(other.strength, one.strength)


def test_the_number_of_threads_is_as_asked_for(X):
    assert fwsr.plan(X, 3, n_jobs=3).threads == 3
    assert fwsr.plan(X, 3, n_jobs=-1).threads >= 1
    assert fwsr.plan(X, 3, n_jobs=-1000).threads == 1
    threadpoolctl = pytest.importorskip("threadpoolctl")
    for limit in (1, 2):
        with threadpoolctl.threadpool_limits(limit):
            assert fwsr.plan(X, 3).threads == min(limit, len(os.sched_getaffinity(0)))
            assert fwsr.select(X, 3).plan.threads == fwsr.plan(X, 3).threads


def test_omp_num_threads_is_heard():
    process = child("import fwsr; print(fwsr.plan('digits', 2).threads)",
                    env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert process.communicate(timeout=300)[0].strip() == "1"


def test_many_threads_at_once_get_the_right_answers(X):
    points = [X + i for i in range(8)]
    expected = [serial(p) for p in points]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            assert list(pool.map(serial, points)) == expected


def test_one_estimator_each_in_many_threads(X):
    expected = fwsr.KMedoids(5, random_state=0).fit(X).labels_.tolist()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(lambda: fwsr.KMedoids(5, random_state=0).fit_predict(X).tolist())
                for _ in range(16)]
        assert all(job.result() == expected for job in jobs)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes(X, way, tmp_path, semaphores):
    np.save(tmp_path / "x.npy", X)
    fwsr.select(X, 5, kernel="rbf", n_jobs=2)  # the parent has had threads of its own
    fwsr.read(tmp_path / "x.npy")
    context = multiprocessing.get_context(way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads of pytest's
        with context.Pool(2 if way == "fork" else 1) as pool:
            answers = pool.map_async(serial, [X, X + 1]).get(timeout=300)
    assert answers == [serial(X), serial(X + 1)]


def test_fork_after_reading_with_threads():
    assert python("""
        import os, tempfile, numpy as np, fwsr
        path = os.path.join(tempfile.mkdtemp(), "x.csv")
        np.savetxt(path, np.random.default_rng(0).normal(size=(60_000, 10)), delimiter=",")
        expected = fwsr.select(fwsr.read(path), 3, n_jobs=2).exemplars.tolist()
        child = os.fork()
        if child == 0:
            same = fwsr.select(fwsr.read(path), 3, n_jobs=2).exemplars.tolist() == expected
            os._exit(0 if same else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """, timeout=300).strip() == "0"


def test_joblib(X):
    joblib = pytest.importorskip("joblib")
    for backend in ("loky", "threading"):
        answers = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(fwsr.select)(X + i, 5) for i in range(4))
        for i, answer in enumerate(answers):
            assert answer.exemplars.tolist() == fwsr.select(X + i, 5).exemplars.tolist()


# ----------------------------------------------------------------------------------------- no leaks


def test_nothing_leaks():
    out = python("""
        import os, threading, time, warnings, numpy as np, fwsr
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(5000, 20))
        y = np.arange(len(X)) % 5
        def status(name):
            return next(int(line.split()[1]) for line in open("/proc/self/status")
                        if line.startswith(name))
        def work(i):
            fwsr.select(X, 5, n_jobs=2, codes=True)
            fwsr.select(X[:200], 5, kernel="rbf", callback=lambda p: None)
            fwsr.select(X, 5, callback=lambda p: False)
            fwsr.select(X, 2, y=y, per_class=True)
            fwsr.FWSR(5).fit(X)
            try:
                fwsr.select(X, 5, callback=lambda p: 1 / 0)
            except ZeroDivisionError:
                pass
            try:
                fwsr.select(np.full((50, 5), np.nan), 5)
            except ValueError:
                pass
        def seen():
            return np.array([status("VmRSS"), status("Threads"), threading.active_count(),
                             len(os.listdir("/proc/self/fd"))])
        def settled():  # threads that nobody needs any more end when they get their turn
            last, since = seen(), time.monotonic()
            while time.monotonic() < since + 0.5:
                time.sleep(0.02)
                now = seen()
                if now[1] != last[1]:
                    last, since = now, time.monotonic()
            return now
        for i in range(10):
            work(i)
        before = settled()
        for i in range(40):
            work(i)
        print(*(settled() - before))
    """)
    grown, threads, pythons, files = map(int, out.split())
    assert grown < 5000  # kB; 40 copies of the codes alone would take 8000
    assert threads == pythons == files == 0


def test_points_are_let_go():
    import gc
    import weakref

    class Mine(np.ndarray):
        pass

    array = np.random.default_rng(0).normal(size=(50, 4)).view(Mine)
    gone = weakref.ref(array)
    chosen, model = fwsr.select(array, 3), fwsr.FWSR(3).fit(array)
    del array
    gc.collect()
    assert gone() is None and len(chosen) == len(model.exemplar_indices_) == 3


def test_answers_outlive_the_points():
    chosen = fwsr.select(np.random.default_rng(0).normal(size=(500, 8)), 5, codes=True)
    rows = fwsr.read("digits").values  # the Data is gone
    junk = [np.full(4000, 7.0) for _ in range(200)]
    assert chosen.weights.sum() == 500 and np.isfinite(chosen.codes).all() and len(junk) == 200
    assert rows.shape == (1797, 64) and rows.max() <= 16


# ------------------------------------------------------------------------------ memory and warnings


@pytest.mark.parametrize("call", [
    lambda X: fwsr.select(X, 5, memory="1M"), lambda X: fwsr.plan(X, 5, memory="1M"),
    lambda X: fwsr.sweep(X, 5, [1, 5], memory="1M"), lambda X: fwsr.path(X, 5, memory="1M"),
    lambda X: fwsr.FWSR(5, memory="1M").fit(X), lambda X: fwsr.KMedoids(5, memory="1M").fit(X),
    lambda X: fwsr.select(X, 5, y=np.arange(len(X)) % 2, per_class=True, memory="1M"),
])
def test_what_does_not_fit_is_refused_beforehand(call):
    with pytest.raises(MemoryError, match=r"1\.0 MiB"):
        call(np.zeros((20_000, 50)))


@pytest.mark.parametrize("call", [
    lambda X: fwsr.select(X, 10),
    lambda X: fwsr.path(X, 10),
    lambda X: fwsr.FWSR(10).fit(X),
    lambda X: fwsr.FWSR(10).fit_predict(X),
    lambda X: fwsr.FWSR(10).fit_transform(X),
    lambda X: fwsr.FWSR(10).fit_resample(X),
    lambda X: fwsr.select(X, 9, y=np.arange(len(X)) % 2, per_class=True),
])
def test_warnings_point_at_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(np.repeat(np.eye(4), 4, axis=0))
    told = [w for w in told if issubclass(w.category, ConvergenceWarning)]
    assert told and {w.filename for w in told} == {__file__}
