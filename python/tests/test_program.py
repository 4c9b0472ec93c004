"""The program in the package: the command `fwsr`, `python -m fwsr`, tables of Arrow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import fwsr

fwsr_cli = pytest.importorskip("fwsr_cli")
pytestmark = pytest.mark.skipif(
    not os.path.exists(fwsr_cli.program()),
    reason="the package was not built with its program, as pip install does")

PACKAGES = str(Path(fwsr.__file__).parents[1])
X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
NAMES = [f"p{i}" for i in range(60)]
KINDS = ["a", "b, \"c\"", "ü"] * 20


def environment(first=""):
    paths = [str(first), PACKAGES, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}


COMMAND = ("-c", "from fwsr_cli import main; main()")


def run(*arguments, folder=None, code=0, first="", start=COMMAND):
    """As the command does it, which starts sooner than `python -m fwsr`."""
    done = subprocess.run([sys.executable, *start, *map(str, arguments)], timeout=300, cwd=folder,
                          env=environment(first), capture_output=True, text=True, check=False)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the same points as parquet, feather, and csv."""
    pa = pytest.importorskip("pyarrow")
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip(
        "pyarrow.parquet")
    folder = tmp_path_factory.mktemp("tables")
    table = pa.table({"name": NAMES, "kind": KINDS, **{f"f{j}": X[:, j] for j in range(4)}})
    parquet.write_table(table, folder / "points.parquet")
    feather.write_feather(table, str(folder / "points.feather"))
    lists = pa.table({"embedding": list(X)})
    parquet.write_table(lists, folder / "Embeddings.PARQUET")
    np.save(folder / "points.npy", X)
    return folder


def test_the_program_is_that_of_the_package():
    for start in (("-m", "fwsr"), COMMAND):
        assert run("--version", start=start).stdout.startswith(f"fwsr {fwsr.__version__}")
    ours = json.loads(run("select", "digits", "-k", "5", "--json", "--quiet").stdout)
    assert ours["exemplars"] == list(fwsr.select("digits", 5))


def test_pip_installs_the_command():
    command = Path(sysconfig.get_path("scripts")) / "fwsr"
    if not command.exists():
        pytest.skip("the package was not installed by pip")
    done = subprocess.run([str(command), "select", "digits", "-k", "2", "--quiet"], timeout=300,
                          capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 3


def test_exit_codes_and_messages_are_the_programs():
    assert run("select", "nothing.npy", "-k", "2", code=1).stderr.startswith("fwsr: nothing.npy")
    assert "did you mean" in run("selct", code=2).stderr
    assert "no command" in run(code=2).stderr


def test_the_command_starts_without_numpy():
    script = "import sys, fwsr_cli; sys.exit('numpy' in sys.modules or 'fwsr' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], env=environment(), timeout=300, check=True)


def test_the_program_finds_its_libraries_wherever_it_is_started(tmp_path):
    bare = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([fwsr_cli.program(), "select", "digits", "-k", "2", "--quiet"],
                          cwd=tmp_path, env=bare, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("file", ["points.parquet", "points.feather"])
def test_tables_of_arrow(tables, file):
    with_npy = json.loads(run("select", tables / "points.npy", "-k", 5, "--json", "--quiet").stdout)
    result = json.loads(run("select", file, "-k", 5, "--label-column", "kind", "--id-column=name",
                            "--json", "--quiet", folder=tables).stdout)
    assert result["exemplars"] == with_npy["exemplars"]
    assert result["certificate"] == with_npy["certificate"]  # float32 stays float32
    assert result["ids"] == [NAMES[i] for i in result["exemplars"]]
    assert result["labels"] == [KINDS[i] for i in result["exemplars"]]
    assert result["data"]["name"] == file and result["data"]["type"] == "float32"


def test_columns_of_a_table(tables):
    result = json.loads(run("select", "--columns", "f2,f0", tables / "points.parquet", "-k", "3",
                            "--json", "--quiet", "--center", "none").stdout)
    assert result["exemplars"] == list(fwsr.select(X[:, [2, 0]], 3, center="none"))
    assert result["data"]["features"] == 2


def test_the_index_of_a_table_is_ids(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X.astype(float), columns=["p0", "p1", "p2", "p3"], index=NAMES)
    frame.to_parquet(tmp_path / "x.parquet")
    for f, used in [([], X), (["--columns", "p1-p3"], X[:, 1:])]:
        result = json.loads(run("select", tmp_path / "x.parquet", "-k", 3, *f, "--json",
                                "--quiet").stdout)
        assert result["data"]["features"] == used.shape[1]
        assert result["exemplars"] == list(fwsr.select(used.astype(float), 3))
        assert result["ids"] == [NAMES[i] for i in result["exemplars"]]


def test_a_column_of_lists(tables):
    done = run("inspect", tables / "Embeddings.PARQUET", "--json", "--name", "mine")
    assert json.loads(done.stdout)["data"]["features"] == 4
    assert json.loads(done.stdout)["data"]["name"] == "mine"


def test_every_command_that_reads_takes_tables(tables):
    f = ["--columns", "f0,f1,f2,f3"]
    assert "rec. error" in run("compare", tables / "points.parquet", "-k", 3, "--methods",
                               "rrqr,fwsr", *f).stdout
    assert run("sweep", tables / "points.parquet", "-k", 3, "--alphas", "1,5", *f).stdout
    assert "60" in run("inspect", tables / "points.parquet", *f).stdout


def test_messages_about_tables(tables, tmp_path):
    small = run("select", tables / "points.parquet", "-k", 3, "--memory=1K", code=1).stderr
    assert "points.parquet: takes at least" in small
    said = run("select", tables / "points.parquet", "-k", 3, code=1).stderr
    assert said.startswith("fwsr: ") and "column 'name' holds string" in said
    assert "has no column 'x'" in run("select", tables / "points.parquet", "-k", 3, "--columns",
                                      "x", code=1).stderr
    assert "there is no such file" in run("select", "none.parquet", "-k", 3, code=1).stderr
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    assert str(broken) in run("select", broken, "-k", 3, code=1).stderr
    said = run("select", "points.parquet", "-k", 600, "--columns", "f0,f1", folder=tables,
               code=2).stderr
    assert said.startswith("fwsr: points.parquet: ") and "/dev/fd" not in said


def test_wrong_use_of_options_about_tables(tables):
    table = tables / "points.parquet"
    said = run("select", table, "--columns", "f0", "-k", 3, "--columns=f1", code=2).stderr
    assert said == "fwsr: --columns is given more than once; give it once\n"
    said = run("select", table, "-k", 3, "--id-column", code=2).stderr
    assert said == "fwsr: --id-column needs a value after it; see fwsr select --help\n"
    assert "usage: fwsr select" in run("select", table, "--help").stdout


def test_without_pyarrow_the_message_says_what_to_install(tables, tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')\n")
    said = run("select", tables / "points.parquet", "-k", 3, code=1, first=tmp_path).stderr
    assert "pip install pyarrow" in said


def test_the_plain_program_says_who_reads_tables(tables):
    done = subprocess.run([fwsr_cli.program(), "select", tables / "points.parquet", "-k", "3"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1 and "python -m fwsr" in done.stderr


def test_outputs_named_like_tables_are_outputs():
    place = fwsr_cli.place_of_table
    assert place(["select", "x.npy", "-o", "picks.parquet"]) is None
    assert place(["select", "x.npy", "--labels", "y.parquet", "-k", "2"]) is None
    assert place(["select", "--quiet", "a.b/x.Feather"]) == 2
    assert place(["x.parquet"]) is None  # no command


def test_nothing_is_left_of_a_table_when_the_program_is_killed(tables, tmp_path):
    """The points are handed on in a file that has no name."""
    pytest.importorskip("pyarrow")
    away = {**environment(), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "fwsr", "select", str(tables / "points.parquet"), "-k", "3",
               "--columns", "f0,f1", "-o", "/dev/stdout"]
    for wait in (0.4, 0.8, 1.2, 1.6):
        child = subprocess.Popen(command, env=away, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=300)
        assert os.listdir(tmp_path) == []
