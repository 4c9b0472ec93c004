"""Points on the workers of a Dask cluster: the answers of one process, bit for bit."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="fwsr.dask is tested where Dask is: pip install "
                         "'fwsr[dask]'")
distributed = pytest.importorskip("distributed", reason="fwsr.dask is tested where Dask is: pip "
                                  "install 'fwsr[dask]'")

import fwsr.dask

import fwsr
from fwsr import _core

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N, D, K = 4200, 6, 5


def points(dtype=np.float32, seed: int = 0) -> np.ndarray:
    return (3 + np.random.default_rng(seed).normal(size=(N, D)) * np.arange(1, D + 1)).astype(dtype)


@contextlib.contextmanager
def cluster(workers: int, **how):
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True,
                                  dashboard_address=":0", **how) as there:
        with distributed.Client(there) as client:
            yield client


@pytest.fixture(scope="module")
def client():
    """Two workers, the second with nothing to do for most of what is asked below."""
    with cluster(2) as there:
        yield there


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """After every test the cluster is as it was."""
    yield
    if "client" in request.fixturenames:
        there = request.getfixturevalue("client")
        until = time.monotonic() + 60
        while (left := leftovers(there)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not left


def leftovers(client) -> list[str]:
    """Tasks of ours, and actors."""
    def ours(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks if str(key).startswith(("fwsr", "('fwsr"))]

    def actors(dask_worker):
        return len(dask_worker.state.actors)

    return client.run_on_scheduler(ours) + [f"{n} actors on {w}" for w, n
                                            in client.run(actors).items() if n]


def same(found, alone) -> None:
    """Everything that a run finds, bit for bit."""
    assert found.exemplars.tolist() == alone.exemplars.tolist()
    assert found.status == alone.status
    for name in ("weights", "strength"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    assert list(found.trace) == list(alone.trace)
    for name in found.trace:
        np.testing.assert_array_equal(found.trace[name], alone.trace[name])
    for name in ("f", "gap", "f_at_zero", "beta", "reconstruction_error"):
        assert getattr(found.certificate, name) == getattr(alone.certificate, name), name
    if alone.refinement is not None:
        assert found.refinement == alone.refinement


CHUNKS = {"even": (1050,) * 4, "uneven": (3000, 7, 1193), "tiny": (60,) * 70,
          "empty": (0, 2000, 0, 0, 2200, 0)}
SETTINGS = [
    {"center": "feature", "scale": "standard", "eta": 0.7, "eta_relative": True},
    {"kernel": "cosine", "center": "none"},
    {"scale": "unit", "eta": 0.3},
    {"refine": "exchange"},
    {"include": [5, 4000], "exclude": np.arange(100, 3000), "refine": "exchange",
     "sample_weight": 0.5 + np.arange(N) % 3, "cost": 1.0 + np.arange(N) % 2},
    {"fill": True, "max_iterations": 3},
    {"groups": np.arange(N) % 2, "at_least": 2, "max_iterations": 3},
]


# -------------------------------------------------------------------------------------- the bits


@pytest.mark.parametrize("cut", CHUNKS)
def test_any_chunks_give_the_bits_of_one_process(client, cut):
    X = points(np.float64 if cut == "uneven" else np.float32)
    lazy = da.concatenate([da.from_array(part, chunks=-1) for part in
                           np.split(X, np.cumsum(CHUNKS[cut])[:-1])])
    if cut == "empty":  # which concatenate leaves out
        lazy = da.map_blocks(lambda block_info=None: X[slice(*block_info[None][
            "array-location"][0])], chunks=(CHUNKS[cut], (D,)), dtype=X.dtype)
    assert lazy.chunks[0] == CHUNKS[cut]
    found = fwsr.dask.select(lazy, K, method="fwsr", client=client)
    alone = fwsr.select(X, K, method="fwsr")
    same(found, alone)
    np.testing.assert_array_equal(found.points, X[found.exemplars])
    assert found.assignment.chunks[0] == CHUNKS[cut]
    np.testing.assert_array_equal(found.assignment, alone.assignment)


@pytest.mark.parametrize("options", SETTINGS, ids=lambda o: "-".join(o))
def test_any_settings_give_the_bits_of_one_process(client, options):
    X = points()
    lazy = da.from_array(X, chunks=(900, -1))
    found = fwsr.dask.select(lazy, K, method="fwsr", client=client, codes=True, **options)
    alone = fwsr.select(X, K, method="fwsr", codes=True, **options)
    same(found, alone)
    if "include" not in options:
        np.testing.assert_allclose(found.codes, alone.codes, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(found.assignment, alone.assignment)


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_gives_the_bits_of_one_process(workers):
    X = points()
    with cluster(workers) as client:
        lazy = da.from_array(X, chunks=(500, -1))
        same(fwsr.dask.select(lazy, K, method="fwsr", refine="exchange", client=client),
             fwsr.select(X, K, method="fwsr", refine="exchange"))
        persisted = lazy.persist()  # scattered over the workers by Dask
        distributed.wait(persisted)
        same(fwsr.select(persisted, K, method="fwsr"), fwsr.select(X, K, method="fwsr"))
        found = fwsr.dask.sweep(lazy, K, alphas=[1, "auto"], etas=[0, 0.5], client=client)
        alone = fwsr.sweep(X, K, alphas=[1, "auto"], etas=[0, 0.5])
        for there, here in zip(found, alone, strict=True):
            assert (there.alpha, there.eta) == (here.alpha, here.eta)
            same(there.selection, here.selection)


def test_only_k_is_given(client):
    X = points()
    found = fwsr.dask.select(da.from_array(X, chunks=(900, -1)), K, client=client)
    alone = fwsr.select(X, K)
    assert alone.plan.kernel_by == "factor" and alone.refinement.moves > 0
    same(found, alone)
    assert (found.gamma, found.kernel_error) == (alone.gamma, alone.kernel_error)
    np.testing.assert_array_equal(found.assignment, alone.assignment)


@pytest.mark.parametrize("options", [{}, {"kernel": "polynomial", "gamma": 0.1},
                                     {"method": "kmedoids"}],
                         ids=lambda o: "-".join(o) or "k alone")
def test_few_points_are_chosen_from_here_where_they_cannot_be_shared(client, options):
    X = points()[:900]
    lazy = da.from_array(X, chunks=(300, -1))
    options = {"method": "fwsr", **options} if options else {}
    has_codes = options.get("method") != "kmedoids"
    found = fwsr.dask.select(lazy, K, client=client, codes=has_codes, **options)
    alone = fwsr.select(X, K, codes=has_codes, **options)
    assert found.exemplars.tolist() == alone.exemplars.tolist()
    np.testing.assert_array_equal(found.weights, alone.weights)
    np.testing.assert_array_equal(found.points, X[found.exemplars])
    assert any("brought to the client" in note for note in found.plan.notes)
    assert found.assignment.chunks[0] == lazy.chunks[0]
    np.testing.assert_array_equal(found.assignment, alone.assignment)
    if has_codes:
        np.testing.assert_allclose(found.codes, alone.codes, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["FWSR", "KFWSR", "Exchange"])
def test_estimators_have_the_defaults_of_those_of_one_process(name):
    here = getattr(fwsr, name)(K).get_params()
    there = getattr(fwsr.dask, name)(K).get_params()
    assert {**here, "client": None, "timeout": 60.0} == there | {
        one: value for one, value in here.items() if one not in there}


def test_an_estimator_of_few_points(client):
    X = points()[:900]
    model = fwsr.dask.Exchange(K, client=client).fit(da.from_array(X, chunks=(300, -1)))
    alone = fwsr.Exchange(K).fit(X)
    assert model.exemplar_indices_.tolist() == alone.exemplar_indices_.tolist()
    np.testing.assert_array_equal(model.predict(da.from_array(X, chunks=(300, -1))), alone.labels_)
    np.testing.assert_array_equal(model.to_local().predict(X), alone.predict(X))


# -------------------------------------------------------------------------------- what people see


def test_a_table_gives_its_index_and_keeps_it(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X = points(np.float64)
    table = pd.DataFrame(X, columns=list("abcdef"), index=[f"row {i}" for i in range(N)])
    lazy = dd.from_pandas(table, npartitions=3, sort=False)
    found = fwsr.dask.select(lazy, K, method="fwsr", client=client)
    alone = fwsr.select(table, K, method="fwsr")
    same(found, alone)
    assert found.ids == alone.ids
    assert any("were unknown and counted" in note for note in found.plan.notes)
    labels = found.assignment.compute()
    assert labels.index.equals(table.index)
    np.testing.assert_array_equal(labels, alone.assignment)
    with pytest.raises(ValueError, match="column 'word' holds"):
        fwsr.dask.select(lazy.assign(word="a"), K, client=client)


def test_chunks_of_unknown_sizes_are_counted(client):
    X = points(np.float64)
    lazy = da.from_array(X, chunks=(900, -1))
    some = lazy[lazy[:, 0] > 3]
    assert np.isnan(some.chunks[0]).all()
    found = fwsr.dask.select(some, K, method="fwsr", client=client)
    alone = fwsr.select(X[X[:, 0] > 3], K, method="fwsr")
    same(found, alone)
    assert any("were unknown and counted" in note for note in found.plan.notes)
    np.testing.assert_array_equal(found.assignment.compute(), alone.assignment)


def test_estimators_are_lazy_and_become_local(client):
    X = points()
    lazy = da.from_array(X, chunks=(1500, -1))
    options = {"center": "feature", "scale": "standard", "eta": 0.5}
    model = fwsr.dask.FWSR(K, client=client, **options).fit(lazy)
    alone = fwsr.FWSR(K, **options).fit(X)
    same(model.selection_, alone.selection_)
    np.testing.assert_array_equal(model.exemplars_, X[alone.exemplar_indices_])
    transformed = model.transform(lazy)
    assert transformed.chunks == (lazy.chunks[0], (K,))
    np.testing.assert_allclose(transformed, alone.transform(X), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict(lazy), alone.predict(X))
    local = model.to_local()
    assert type(local) is fwsr.FWSR
    np.testing.assert_array_equal(local.labels_, alone.labels_)
    np.testing.assert_allclose(local.transform(X), alone.transform(X), rtol=0, atol=1e-9)
    assert local.score(X) == pytest.approx(alone.score(X))


def test_what_cannot_be_is_said_with_what_to_do(client):
    X = points()
    lazy = da.from_array(X, chunks=(900, -1))
    with pytest.raises(ValueError, match=r"give X.rechunk\({1: -1}\)"):
        fwsr.dask.select(da.from_array(X, chunks=(900, 3)), K, client=client)
    with pytest.raises(ValueError, match="several places"):
        fwsr.dask.select(lazy, K, method="fwsr", q=1, client=client)
    with pytest.raises(ValueError, match="needs all points in one place"):
        fwsr.dask.select(lazy, K, method="kmedoids", client=client)
    with pytest.raises(ValueError, match="point 4100 has NaN in feature 2"):
        broken = X.copy()
        broken[4100, 2] = np.nan
        fwsr.dask.select(da.from_array(broken, chunks=(900, -1)), K, method="fwsr", client=client)
    with pytest.raises(ZeroDivisionError):  # of the user's own graph
        fwsr.dask.select(lazy.map_blocks(lambda b: b / (0 * len(b) or 1 // 0), dtype=X.dtype), K,
                         client=client)
    with pytest.raises(ValueError, match="all its chunks are empty"):
        fwsr.dask.select(da.from_array(X[:0], chunks=(1, -1)), K, client=client)
    with pytest.raises(TypeError, match="must be a dask array"):
        fwsr.dask.select(X, K, client=client)


# ------------------------------------------------------------------------------------------- faults


def kill(client, place: str) -> None:
    pid = client.run(os.getpid, workers=[place])[place]
    os.kill(pid, signal.SIGKILL)


class Killer:
    """Ends a worker when a given question is asked, before or after it is answered."""

    def __init__(self, client, monkeypatch, at: int, after: bool):
        from fwsr.dask import _leader

        self.asked, self.killed = 0, ""
        ask = _leader.Leader.ask

        def asked(leader, question, broken_off):
            self.asked += 1
            if self.asked == at and not after:
                self.end_one(client, leader)
            answers = ask(leader, question, broken_off)
            if self.asked == at and after:
                self.end_one(client, leader)
            return answers

        monkeypatch.setattr(_leader.Leader, "ask", asked)

    def end_one(self, client, leader) -> None:
        self.killed = leader.homes[-1].place
        kill(client, self.killed)


def test_all_workers_are_lost_before_anything_is_known_and_others_come(tmp_path):
    X, begun = points(), tmp_path / "begun"

    def slow(block):
        if not begun.exists():
            begun.touch()
            time.sleep(600)  # killed meanwhile
        return block

    def kill_in_the_midst(client, place):
        while not begun.exists():
            time.sleep(0.01)
        kill(client, place)

    with cluster(1) as client:
        lazy = da.from_array(X, chunks=(1400, -1)).map_blocks(slow, dtype=X.dtype, meta=X[:0])
        place, = client.nthreads()
        killer = threading.Thread(target=kill_in_the_midst, args=(client, place), daemon=True)
        killer.start()
        found = fwsr.dask.select(lazy, K, method="fwsr", client=client)
        killer.join()
        assert place not in client.nthreads() and found.wire["lost"] >= 1
        same(found, fwsr.select(X, K, method="fwsr"))


@pytest.mark.parametrize("share", [0.0, 0.15, 0.5, 0.97])
def test_a_worker_that_is_killed_changes_no_bit(client, monkeypatch, share):
    X = points()
    lazy = da.from_array(X, chunks=(900, -1))
    options = {"method": "fwsr", "refine": "exchange"}
    alone = fwsr.select(X, K, **options)
    questions = fwsr.dask.select(lazy, K, client=client, **options).wire["questions"]
    killer = Killer(client, monkeypatch, 1 + int(share * (questions - 1)), after=share > 0.4)
    found = fwsr.dask.select(lazy, K, client=client, **options)
    assert killer.killed and found.wire["lost"] >= 1
    same(found, alone)


def test_a_worker_that_is_silent_is_named():
    with cluster(2) as client:
        lazy = da.from_array(points(), chunks=(900, -1))
        fwsr.dask.select(lazy, K, method="fwsr", client=client)  # imports may take seconds
        stopped = []

        def stop(progress):
            if progress.exemplars == 2 and not stopped:
                place = list(client.nthreads())[0]
                stopped.append((place, client.run(os.getpid, workers=[place])[place]))
                os.kill(stopped[0][1], signal.SIGSTOP)

        try:
            with pytest.raises(TimeoutError) as e:
                fwsr.dask.select(lazy, K, method="fwsr", client=client, timeout=10, callback=stop)
            assert stopped[0][0] in str(e.value) and "points from point" in str(e.value)
        finally:
            for _, pid in stopped:
                os.kill(pid, signal.SIGCONT)


def test_a_worker_that_joins_late_is_not_waited_for_and_takes_the_place_of_a_lost_one():
    X = points()
    alone = fwsr.select(X, K, method="fwsr")
    with cluster(1) as client:
        lazy = da.from_array(X, chunks=(900, -1))
        first = list(client.nthreads())
        done = []

        def change(progress):
            if progress.exemplars == 2 and not done:
                client.cluster.scale(2)
                client.wait_for_workers(2)
                done.append("joined")
            if progress.exemplars == 3 and done == ["joined"]:
                kill(client, first[0])
                done.append("lost")

        found = fwsr.dask.select(lazy, K, method="fwsr", client=client, callback=change)
        assert done == ["joined", "lost"] and found.wire["lost"] >= 1
        same(found, alone)
        assert not leftovers(client)


def test_nothing_left_to_run_on_is_an_error():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                                  dashboard_address=":0") as there, \
            distributed.Client(there) as client:
        lazy = da.from_array(points(), chunks=(900, -1))

        def end(progress):
            if progress.exemplars == 2:
                client.retire_workers(list(client.nthreads()), close_workers=True, remove=True)
                there.scale(0)

        with pytest.raises((fwsr.dask.LostPoints, TimeoutError)):
            fwsr.dask.select(lazy, K, method="fwsr", client=client, timeout=3, callback=end)


def test_ctrl_c_leaves_nothing_behind(client, ctrl_c_is_heard):
    lazy = da.from_array(points(), chunks=(900, -1))
    timers = []

    def interrupt(progress):
        if progress.exemplars == 2 and not timers:
            timers.append(threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()
            for _ in range(30_000):
                time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        fwsr.dask.select(lazy, K, method="fwsr", client=client, callback=interrupt)
    timers[0].join()


def test_two_selections_at_once(client):
    X = [points(seed=seed) for seed in (1, 2)]
    lazy = [da.from_array(one, chunks=(900, -1)) for one in X]
    found: dict[int, object] = {}

    def choose(which: int) -> None:
        found[which] = fwsr.dask.select(lazy[which], K, method="fwsr", client=client)

    threads = [threading.Thread(target=choose, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for which in (0, 1):
        same(found[which], fwsr.select(X[which], K, method="fwsr"))


def test_a_callback_that_stops_keeps_what_was_chosen(client):
    lazy = da.from_array(points(), chunks=(900, -1))
    found = fwsr.dask.select(lazy, K, method="fwsr", client=client,
                             callback=lambda progress: progress.exemplars < 2)
    assert found.status == "interrupted" and 2 <= len(found) < K


# ---------------------------------------------------------------------------------------- the wire


def test_a_step_tells_every_worker_some_vectors_and_no_more(client):
    X = np.random.default_rng(0).normal(size=(20_000, 32))
    lazy = da.from_array(X, chunks=(5_000, -1))
    few, more = (fwsr.dask.select(lazy, k, method="fwsr", client=client, certificate="none",
                                  alpha=5).wire for k in (5, 15))
    workers, d = 2, 32
    step = (more["sent"] + more["received"] - few["sent"] - few["received"]) / 10 / workers
    assert step < 12 * 8 * d  # a, Av, Rv and the exemplar, twice, and names of questions
    assert _core.segment_size(20_000) == 1024


# ------------------------------------------------------------------------------- class after class


def labels(kinds: str = "abc") -> np.ndarray:
    return np.array([kinds[i % 3 if i % 7 else 0] for i in range(3 * N)])


@pytest.mark.parametrize("how", [{"k": 3, "per_class": True}, {"k": {"c": 2, "a": 4}},
                                 {"k": "proportional:9"}, {"k": 6000, "per_class": True}],
                         ids=["each", "named", "proportional", "more than there are"])
def test_classes_give_the_bits_of_one_process(client, how):
    X = np.concatenate([points(seed=seed) for seed in range(3)])
    y = labels()
    assert (y == "a").sum() > 4096 > (y == "b").sum()  # some chosen from there, some from here
    lazy = da.from_array(X, chunks=((3000, 7, 0, 5193, 4400), (D,)))
    rest = dict(how)
    k = rest.pop("k")
    if k == 6000:
        y, lazy, X = y[:2000], lazy[:2000], X[:2000]
    asked = {**rest, "y": y, "method": "fwsr", "refine": "exchange"}
    asked_there = {**asked, "y": da.from_array(y, chunks=999)}
    found = fwsr.dask.select(lazy, k, client=client, **asked_there)
    alone = fwsr.select(X, k, **asked)
    assert list(found.classes) == list(alone.classes)
    assert found.exemplars.tolist() == alone.exemplars.tolist()
    assert (found.status, found.warnings) == (alone.status, alone.warnings)
    for name in ("weights", "strength"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    for name, one in alone.classes.items():
        if one.certificate is not None:
            same(found.classes[name], one)
    if len(found):
        np.testing.assert_array_equal(found.points, X[found.exemplars])
    assert found.assignment.chunks[0] == lazy.chunks[0]
    np.testing.assert_array_equal(found.assignment, alone.assignment)


def test_classes_of_a_table_by_the_default_method(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X = np.concatenate([points(seed=seed) for seed in range(3)])
    table = pd.DataFrame(X, columns=list("abcdef"), index=[f"row {i}" for i in range(len(X))])
    y = pd.Series(labels("xyz"), index=table.index)
    lazy = dd.from_pandas(table, npartitions=4, sort=False)
    found = fwsr.select(lazy, 3, y=dd.from_pandas(y, npartitions=2, sort=False), per_class=True)
    alone = fwsr.select(table, 3, y=y, per_class=True)
    assert (found.exemplars.tolist(), found.ids) == (alone.exemplars.tolist(), alone.ids)
    np.testing.assert_array_equal(found.weights, alone.weights)
    told = found.assignment.compute()
    assert told.index.equals(table.index)
    np.testing.assert_array_equal(told, alone.assignment)


def test_classes_are_in_the_order_of_the_core():
    from fwsr.dask._classes import in_order

    names = ["10", "9", "-1", "b", "a", "1e1x", "2.5", "007", "7", "nan", "inf", ".5", "1_0"]
    X = np.random.default_rng(0).normal(size=(len(names), 2))
    alone = fwsr.select(X, 1, y=np.array(names), per_class=True)
    assert in_order(names) == list(alone.classes)


# -------------------------------------------------------------------------------------- checkpoints


def test_a_checkpoint_goes_on_there_and_here(client, tmp_path):
    X, file = points(), tmp_path / "run.json"
    lazy = da.from_array(X, chunks=(900, -1))
    options = {"method": "fwsr", "refine": "exchange", "eta": 0.3}
    alone = fwsr.select(X, K, **options)
    for first, second in ((True, True), (True, False), (False, True)):
        def choose(there, **more):
            if there:
                return fwsr.dask.select(lazy, K, client=client, checkpoint=file, **options, **more)
            return fwsr.select(X, K, checkpoint=file, **options, **more)

        stopped = choose(first, callback=lambda progress: progress.exemplars < 3)
        assert stopped.status == "interrupted" and file.exists()
        same(choose(second, resume=True), alone)
        file.unlink()
    with pytest.raises(ValueError, match="leave checkpoint or per_class out"):
        fwsr.dask.select(lazy, K, y=np.arange(N) % 2, per_class=True, client=client,
                         checkpoint=file)
