"""What the cases share: running programs, medians, ratios, and the data sets. Standard library only."""

import array
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
SCRATCH = ROOT / "build/bench-data"
VENV = ROOT / "build/bench-venv/bin/python"


class Skip(Exception):
    """A case that cannot be run here; says why."""


class Failed(Exception):
    """A program that should have worked and did not."""


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def run_json(command, **options):
    """The JSON a program prints. What it says on standard error is shown only when it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        if "No module named" in last:
            raise Skip(f"{last.partition('No module named')[2].strip(' ')} is not installed")
        raise Failed(f"{pathlib.Path(str(command[0])).name} ended with {done.returncode}: {last}")
    answer = json.loads(done.stdout)
    if "unavailable" in answer:
        raise Skip(answer["unavailable"])
    return answer


def inprocess(task, data, k, *more, rates="", repeats=5, full=True):
    """bench_inprocess: seconds of every repeat, and the rates measured around them."""
    command = [BIN / "bench_inprocess", task, data, "-k", k, "--repeats", repeats, *more]
    command += ["--rates", rates] if rates else []
    command += ["--full"] if full else []
    return run_json(command)


def python_peer(script, *arguments):
    """A script of ours that needs the packages of the virtual environment."""
    if not VENV.exists():
        raise Skip("no virtual environment with the peers (build/bench-venv)")
    return run_json([VENV, ROOT / "bench" / script, *arguments])


def rates(*arguments):
    return run_json([BIN / "bench_rates", *arguments])


def times(repeats, part="total"):
    return [repeat[part] for repeat in repeats]


def floors(result, floor):
    """floor(rates) for every repeat, with the mean of the rates of just before and just after it."""
    slots = result["rates"]
    near = [{name: (before[name] + after[name]) / 2 for name in before if name != "way"}
            for before, after in zip(slots, slots[1:])]
    return [floor(rate) for rate in near]


# Lines of a result. `seconds` are all repeats; `base` are those of the floor or of the peer.


def against_floor(what, seconds, base, limit, parts):
    """Time over floor, repeat by repeat; at most `limit` (None: only told)."""
    ratio = statistics.median(s / b for s, b in zip(seconds, base))
    return {"what": what, "seconds": seconds, "base": base, "against": f"floor: {parts}", "ratio": ratio,
            "sense": "at most", "limit": limit, "met": None if limit is None else ratio <= limit}


def against_peer(what, seconds, peer, peer_seconds, limit):
    """How many times faster than the peer; at least `limit` (None: only told)."""
    ratio = statistics.median(peer_seconds) / statistics.median(seconds)
    return {"what": what, "seconds": seconds, "base": peer_seconds, "against": peer, "ratio": ratio,
            "sense": "at least", "limit": limit, "met": None if limit is None else ratio >= limit}


def told(what, seconds, note=""):
    """A time that is held against nothing."""
    return {"what": what, "seconds": seconds, "base": [], "against": note, "ratio": None, "sense": "",
            "limit": None, "met": None}


def judged(what, value, sense, limit, note):
    """A number that is no time."""
    met = value <= limit if sense == "at most" else value >= limit
    return {"what": what, "seconds": [], "base": [], "against": note, "ratio": value, "sense": sense,
            "limit": limit, "met": met}


# Data sets. Files are made once and kept in build/bench-data.


def data_folder():
    """Real data: FWSR_DATA, or ../shared/data beside the project."""
    return pathlib.Path(os.environ.get("FWSR_DATA", ROOT.parent / "shared/data"))


def write_npy(path, rows, columns, values):
    """An array of C floats or bytes as a .npy file of float32 or uint8."""
    descr = {"f": "<f4", "B": "|u1"}[values.typecode]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    partial = path.with_suffix(".part")
    with open(partial, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        values.tofile(file)
    partial.rename(path)


def read_npy(path):
    """Shape and numbers of a .npy file of float32 or uint8."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[8:10], "little")
    header = raw[10 : 10 + length].decode()
    shape = [int(v) for v in header.split("(")[1].split(")")[0].split(",") if v.strip()]
    return shape, array.array("B" if "|u1" in header else "f", raw[10 + length :])


def generated(n, d):
    """Clusters in float32, as a file."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    path = SCRATCH / f"blobs-{n}x{d}.npy"
    if not path.exists():
        partial = path.with_suffix(".part")
        subprocess.run([BIN / "bench_inprocess", "points", f"blobs:{n}x{d}", "-o", partial], check=True)
        partial.rename(path)
    return path


def mnist_file(name):
    path = data_folder() / "mnist" / name
    if not path.exists():
        raise Skip(f"{name} is not in {data_folder()}/mnist; set FWSR_DATA")
    return path


def images(n):
    """The first n training images of MNIST as n x 784 float32, or as many generated points."""
    try:
        source = mnist_file("train-images-idx3-ubyte.gz")
    except Skip as missing:
        say(f"{missing}; using generated points")
        return generated(n, 784), "generated points"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    path = SCRATCH / f"mnist-{n}.npy"
    if not path.exists():
        with gzip.open(source) as file:
            write_npy(path, n, 784, array.array("f", iter(file.read(16 + n * 784)[16:])))
    return path, "MNIST"


def byte_images(n):
    """The first n training images of MNIST, or random bytes, as n x 784 uint8 and as the same in float32."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    paths = [SCRATCH / f"bytes-{n}-{kind}.npy" for kind in ("uint8", "float32")]
    try:
        source, kind = mnist_file("train-images-idx3-ubyte.gz"), "MNIST"
    except Skip as missing:
        say(f"{missing}; using random bytes")
        source, kind = None, "random bytes"
    if not all(path.exists() for path in paths):
        if source:
            with gzip.open(source) as file:
                numbers = file.read(16 + n * 784)[16:]
        else:
            numbers = random.Random(1).randbytes(n * 784)
        for path, typecode in zip(paths, "Bf"):
            write_npy(path, n, 784, array.array(typecode, iter(numbers)))
    return *paths, kind


def credit():
    """The 5000 normal transactions, every feature scaled to mean 0 and variance 1: unscaled, the amount
    alone is most of the data and ten exemplars are not found within the limit on steps."""
    folder = data_folder() / "credit"
    if not folder.exists():
        say(f"no credit data in {folder}; using generated points")
        return generated(5000, 29), "generated points"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    path = SCRATCH / "credit-5000.npy"
    if not path.exists():
        (_, d), values = read_npy(folder / "credit_paper5492_X_f32.npy")
        _, frauds = read_npy(folder / "credit_paper5492_y_u8.npy")
        normal = [i for i, fraud in enumerate(frauds) if not fraud][:5000]
        columns = [[values[i * d + l] for i in normal] for l in range(d)]
        means = [statistics.fmean(column) for column in columns]
        spreads = [statistics.pstdev(column) or 1.0 for column in columns]
        write_npy(path, len(normal), d, array.array(
            "f", ((columns[l][i] - means[l]) / spreads[l] for i in range(len(normal)) for l in range(d))))
    return path, "credit card transactions"
