"""A run that goes on from a checkpoint has the bits of one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import fwsr

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

REQUESTS = [{"method": "fwsr", "alpha": 1, "k": 25}, {"k": 12, "rank": 40},
            {"method": "fwsr", "refine": "exchange", "eta": 0.2, "k": 15},
            {"method": "k-fwsr", "kernel": "rbf", "k": 8}]


def points(n: int = 1500, d: int = 30) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, d)) * np.arange(1, d + 1)


def choose(X, request, **more):
    rest = dict(request)
    return fwsr.select(X, rest.pop("k"), **rest, **more)


def same(found, alone) -> None:
    assert found.exemplars.tolist() == alone.exemplars.tolist()
    assert found.status == alone.status
    np.testing.assert_array_equal(found.weights, alone.weights)
    np.testing.assert_array_equal(found.strength, alone.strength)
    for name in alone.trace:
        np.testing.assert_array_equal(found.trace[name], alone.trace[name])
    assert found.certificate == alone.certificate
    assert found.refinement == alone.refinement


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda r: "-".join(map(str, r.values())))
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(tmp_path, request_):
    X, file = points(), tmp_path / "run.json"
    alone = choose(X, request_)
    for stop in (1, request_["k"] // 2, request_["k"] - 1):
        stopped = choose(X, request_, checkpoint=file,
                         callback=lambda progress, stop=stop: progress.exemplars < stop)
        assert stopped.status == "interrupted"
        steps = json.loads(file.read_text())["record"]["steps"]
        assert 1 <= len(steps) < len(alone.trace["pick"])
        same(choose(X, request_, checkpoint=file, resume=True), alone)
        same(choose(X, request_, checkpoint=file, resume=True), alone)  # it had ended
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_process_that_was_killed_leaves_a_whole_file(tmp_path):
    code = """
        import sys, fwsr, numpy as np
        X = np.random.default_rng(3).normal(size=(4000, 12))
        found = fwsr.select(X, 40, rank=60, checkpoint=sys.argv[1], resume=True,
                            checkpoint_seconds=0)
        print(found.exemplars.tolist(), found.weights.tolist(), found.certificate)
    """
    bits = random.Random(1)

    def begin(name):
        return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), name], text=True,
                                stdout=subprocess.PIPE)

    alone = begin(str(tmp_path / "other.json")).communicate()[0]
    assert alone
    file = str(tmp_path / "run.json")
    for _ in range(3):
        process = begin(file)
        until = time.monotonic() + 300
        while not os.path.exists(file) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(bits.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert json.loads(open(file).read())["record"]["steps"]
    assert begin(file).communicate()[0] == alone


def test_ctrl_c_is_written_down(tmp_path, ctrl_c_is_heard):
    X, file = points(), tmp_path / "run.json"
    request = REQUESTS[0]

    def interrupt(progress):
        if progress.exemplars == 9:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(30_000):  # it may come to another thread first
                time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        choose(X, request, checkpoint=file, callback=interrupt)
    assert len(json.loads(file.read_text())["record"]["steps"]) >= 9
    same(choose(X, request, checkpoint=file, resume=True), choose(X, request))


def test_only_the_same_request_on_the_same_points_goes_on(tmp_path):
    X, file = points(), tmp_path / "run.json"
    ask = {"method": "fwsr", "alpha": 1, "checkpoint": file}
    fwsr.select(X, 9, **ask)
    text = file.read_text()

    def refused(sentence, X=X, k=9, **more):
        with pytest.raises(ValueError, match=sentence):
            fwsr.select(X, k, **{**ask, "resume": True, **more})
        assert file.read_text() == text  # as it was

    refused("alpha is 1 there and 3 here", alpha=3)
    refused("k is 9 there and 10 here", k=10)
    refused("points is 1500 there and 1400 here", X=X[:1400])
    refused("single is False there and True here", X=X.astype(np.float32))
    refused("sample_weight|weights is not given there", sample_weight=np.arange(1500) + 1.0)
    other = X.copy()
    other[1234, 3] += 1e-9
    refused("the checkpoint is of other points", X=other)
    same(fwsr.select(X, 9, **ask, resume=True, time_limit=1e6), fwsr.select(X, 9, **ask))


def test_a_file_that_was_altered_is_refused(tmp_path):
    X, file = points(300), tmp_path / "run.json"
    ask = {"k": 5, "method": "fwsr", "refine": "exchange"}
    alone = choose(X, ask, checkpoint=file)
    good, bits = file.read_bytes(), random.Random(2)
    for turn in range(40):
        text = bytearray(good)
        text[bits.randrange(len(text))] ^= 1 << bits.randrange(8)
        if turn % 5 == 0:
            del text[bits.randrange(len(text)):]
        file.write_bytes(bytes(text))
        try:
            same(choose(X, ask, checkpoint=file, resume=True), alone)
        except ValueError as e:
            assert str(file) in str(e) and "cannot be gone on from" in str(e)
    for wrong in ({}, [], 7, {"checkpoint": 2}):
        file.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match="cannot be gone on from"):
            choose(X, ask, checkpoint=file, resume=True)


def test_numbers_that_nobody_wrote_are_refused(tmp_path):
    from fwsr import _checkpoint

    X, file = points(300), tmp_path / "run.json"
    ask = {"k": 5, "method": "fwsr", "refine": "exchange"}
    choose(X, ask, checkpoint=file)
    good = json.loads(file.read_text())
    for change in (lambda r: r["steps"][2].__setitem__(0, 999),
                   lambda r: r["steps"][2].__setitem__(0, -1),
                   lambda r: r["steps"].__setitem__(1, [1, 2]),
                   lambda r: r.__setitem__("steps", None),
                   lambda r: r.pop("f_at_zero"),
                   lambda r: r["exchange"].pop("moves"),
                   lambda r: r["exchange"].__setitem__("exemplars", [1, 1, 2, 3, 4]),
                   lambda r: r["exchange"].__setitem__("exemplars", ["a"])):
        bad = json.loads(json.dumps(good))
        del bad["sum"]
        change(bad["record"])
        file.write_text(json.dumps({**bad, "sum": _checkpoint._sum_of(bad)}))
        with pytest.raises(ValueError, match="cannot be gone on from"):
            choose(X, ask, checkpoint=file, resume=True)


def test_what_goes_together(tmp_path):
    X, file = points(100), tmp_path / "run.json"
    for sentence, more in (("name its file", {"resume": True}),
                           ("is of one run", {"checkpoint": file, "per_class": True,
                                              "y": np.arange(100) % 2}),
                           ("leave it out for kmedoids", {"checkpoint": file,
                                                          "method": "kmedoids"}),
                           ("must be 0 or more", {"checkpoint": file, "checkpoint_seconds": -1})):
        with pytest.raises(ValueError, match=sentence):
            fwsr.select(X, 3, **more)
    for sentence, path in (("there is no folder", tmp_path / "no folder" / "run.json"),
                           ("is a folder", tmp_path)):
        with pytest.raises(ValueError, match=sentence):
            fwsr.select(X, 3, checkpoint=path)
    for arguments in ({"checkpoint": ""}, {"checkpoint": True},
                      {"checkpoint": file, "resume": "no"}):
        with pytest.raises(TypeError, match="must be"):
            fwsr.select(X, 3, **arguments)
    assert not list(tmp_path.iterdir())


def test_no_other_file_is_lost(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, points(100))
    before = path.read_bytes()
    for X in (path, fwsr.read(path), np.load(path, mmap_mode="r"), points(100)):
        with pytest.raises(ValueError, match="is there already, and no checkpoint"):
            fwsr.select(X, 3, method="fwsr", checkpoint=path)
        with pytest.raises(ValueError, match="it is no checkpoint"):
            fwsr.select(X, 3, method="fwsr", checkpoint=path, resume=True)
    nested = tmp_path / "nested.json"
    nested.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="it is no checkpoint"):
        fwsr.select(points(100), 3, method="fwsr", checkpoint=nested, resume=True)
    assert path.read_bytes() == before


def test_a_link_is_followed_and_the_mode_is_kept(tmp_path):
    file, link = tmp_path / "run.json", tmp_path / "link.json"
    link.symlink_to(file)
    fwsr.select(points(100), 3, method="fwsr", checkpoint=link)
    assert link.is_symlink() and file.is_file()
    umask = os.umask(0)
    os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask
    file.chmod(0o600)
    fwsr.select(points(100), 3, method="fwsr", checkpoint=link)
    assert file.stat().st_mode & 0o777 == 0o600
