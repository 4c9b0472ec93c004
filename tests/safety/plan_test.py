"""Memory as planned and as taken: what a plan states is at least what the run takes, but for a small constant, and at
most twice that. `--rounds 100` runs all cases; `python3 plan_test.py --table` prints them as bench/results/plans.md has
them."""

import array
import json
import os
import random
import struct
import sys

import campaign
from helpers import Case, npy_bytes

MIB = 1 << 20
SLACK = 24 * MIB  # buffers of BLAS, pieces of the heap: what no plan counts
THREADS = str(min(4, os.cpu_count()))  # each has such buffers


def write_points(path, n, d, code="<f4", seed=1):
    """Many random numbers in little time: pieces of the same few."""
    bits = random.Random(seed)
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({n}, {d}), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    some = array.array("f" if code == "<f4" else "d", (bits.gauss(0, 1) for _ in range(1 << 15)))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        left = n * d
        while left > 0:
            first = bits.randrange(1 << 14)
            piece = some[first : first + left]
            file.write(piece.tobytes())
            left -= len(piece)


def write_sparse(path, n, d, per_row, seed=1):
    bits = random.Random(seed)
    with open(path, "w") as file:
        for _ in range(n):
            columns = sorted(bits.sample(range(1, d + 1), per_row))
            file.write("0 " + " ".join(f"{c}:{bits.random():.3f}" for c in columns) + "\n")


#: What is run: its data (points, features, type, or entries of a sparse row), and the options.
CASES = {
    "default": ((4000, 30, "<f4"), "select -k 10"),
    "default, many points": ((60000, 20, "<f4"), "select -k 10"),
    "default, many points, double": ((20000, 200, "<f8"), "select -k 100"),
    "default, sparse": ((20000, 30000, 20), "select -k 10"),
    "default, streamed": ((20000, 2000, "<f4"), "select -k 3 --memory 120M"),
    "default, per class": ((60000, 50, "<f4"), "select -k 5 --per-class --labels labels.npy"),
    "covariance": ((60000, 200, "<f4"), "select --method fwsr -k 10"),
    "covariance, double": ((30000, 300, "<f8"), "select --method fwsr -k 10"),
    "covariance, many exemplars": ((30000, 120, "<f4"), "select --method fwsr -k 100"),
    "covariance, many features": ((6000, 1500, "<f4"), "select --method fwsr -k 10"),
    "included": ((60000, 200, "<f4"), "select --method fwsr -k 10 --include some.npy"),
    "included, codes": ((60000, 50, "<f4"), "select --method fwsr -k 10 --include some.npy --codes codes.npy"),
    "included, rbf": ((5000, 30, "<f4"), "select --method fwsr -k 10 --include some.npy --kernel rbf"),
    "included, through a factor": (
        (60000, 20, "<f4"), "select --method fwsr -k 10 --include some.npy --kernel rbf --rank 700"),
    "few points, a million features": ((20, 1000000, "<f4"), "select --method fwsr -k 5"),
    "few points, many features, double": ((60, 200000, "<f8"), "select --method fwsr -k 5"),
    "few points, many features, rbf": ((60, 200000, "<f4"), "select --method fwsr -k 5 --kernel rbf"),
    "sparse": ((20000, 30000, 20), "select --method fwsr -k 10"),
    "sparse, few features": ((40000, 400, 20), "select --method fwsr -k 10"),
    "sparse, rbf": ((4000, 30000, 20), "select --method fwsr -k 10 --kernel rbf"),
    "kernel held": ((6000, 30, "<f4"), "select --method fwsr -k 10 --kernel rbf"),
    "kernel held, double": ((5000, 30, "<f8"), "select --method fwsr -k 10 --kernel rbf"),
    "kernel in tiles": ((12000, 30, "<f4"), "select --method fwsr -k 2 --kernel rbf --memory 130M"),
    "kernel through a factor": ((60000, 20, "<f4"), "select --method fwsr -k 10 --kernel rbf --rank 256"),
    "kernel given": ((4000, 4000, "given"), "select --method fwsr -k 10 --kernel precomputed"),
    "gradient": ((2500, 30, "<f8"), "select --method fwsr -k 10 --q inf"),
    "streamed": ((300000, 200, "<f4"), "select --method fwsr -k 3 --memory 120M"),
    "codes": ((60000, 50, "<f4"), "select --method fwsr -k 60 --codes codes.npy"),
    "per class": ((60000, 200, "<f4"), "select --method fwsr -k 5 --per-class --labels labels.npy"),
    "per class, rbf": ((16000, 30, "<f4"), "select --method fwsr -k 5 --per-class --labels labels.npy --kernel rbf"),
    "sweep": ((60000, 100, "<f4"), "sweep -k 10 --alphas 2,10,50 --etas 0,0.3"),
    "sweep, rbf": ((6000, 30, "<f4"), "sweep -k 10 --alphas 2,10 --kernel rbf"),
    "rrqr": ((200000, 60, "<f4"), "select -k 20 --method rrqr"),
    "rrqr, million features": ((20, 1000000, "<f4"), "select -k 5 --method rrqr"),
    "omp": ((60000, 300, "<f4"), "select -k 10 --method omp"),
    "greedy-cssp, rbf": ((6000, 30, "<f4"), "select -k 10 --method greedy-cssp --kernel rbf"),
    "greedy-cssp, a ridge": ((60000, 200, "<f4"), "select -k 300 --method greedy-cssp:mu=0.1"),
    "greedy-cssp through a factor": ((60000, 20, "<f4"),
                                     "select -k 10 --method greedy-cssp:mu=0.1 --kernel rbf --rank 256"),
    "greedy-cssp through a factor, exchange": (
        (30000, 20, "<f8"), "select -k 20 --method greedy-cssp:mu=0.1 --kernel rbf --rank 200 --refine exchange"),
    "kdpp": ((100000, 30, "<f4"), "select -k 60 --method kdpp"),
    "leverage": ((20000, 800, "<f4"), "select -k 10 --method leverage"),
    "two-stage": ((20000, 800, "<f4"), "select -k 10 --method two-stage:restarts=1"),
    "kmedoids": ((6000, 30, "<f4"), "select -k 10 --method kmedoids"),
    "kmedoids-batch": ((60000, 30, "<f4"), "select -k 10 --method kmedoids-batch"),
    "kmeans": ((300000, 40, "<f4"), "select -k 10 --method kmeans"),
    "facility": ((6000, 30, "<f4"), "select -k 10 --method facility"),
    "herding": ((20000, 30, "<f4"), "select -k 10 --method herding"),
    "k-center": ((600000, 20, "<f4"), "select -k 10 --method k-center"),
    "smrs": ((30000, 100, "<f4"), "select -k 10 --method smrs:max_iterations=5"),
    "smrs, many features": ((1500, 1400, "<f4"), "select -k 10 --method smrs:max_iterations=2"),
    "kernel-smrs": ((1500, 30, "<f4"), "select -k 10 --method kernel-smrs:max_iterations=2"),
    "ds3": ((2500, 30, "<f4"), "select -k 10 --method ds3:alpha=20:max_iterations=20"),
    "dsmrs": ((30000, 100, "<f4"), "select -k 10 --method dsmrs:max_iterations=5"),
    "coreset": ((300000, 40, "<f4"), "select -k 50 --method coreset"),
    "fw-coreset": ((200000, 30, "<f4"), "select -k 20 --method fw-coreset:problem=ball"),
    "fw-coreset, hull": ((60000, 20, "<f4"), "select -k 20 --method fw-coreset:problem=hull"),
    "ssc": ((6000, 50, "<f4"), "select -k 10 --method ssc:alpha=5"),
    "ssc-omp": ((8000, 300, "<f4"), "select -k 10 --method ssc-omp"),
    "ssc-omp, clusters": ((20000, 20, "<f4"), "select -k 10 --method ssc-omp:clusters=10"),
    "ksvd": ((60000, 100, "<f4"), "select -k 20 --method ksvd:max_iterations=2"),
    "random": ((300000, 60, "<f4"), "select -k 10 --method random"),
    "random, sparse": ((20000, 30000, 20), "select -k 10 --method random"),
    "random, sparse, many exemplars": ((20000, 30000, 20), "select -k 60 --method random"),
    "kmeans, sparse": ((20000, 30000, 20), "select -k 10 --method kmeans"),
    "facility, sparse": ((5000, 30000, 20), "select -k 10 --method facility"),
    "ipm": ((60000, 300, "<f4"), "select -k 10 --method ipm"),
    "strong-rrqr": ((60000, 300, "<f4"), "select -k 10 --method strong-rrqr"),
}

#: Short ones, of every kind; the tests run these.
IN_TESTS = ["default", "default, many points", "covariance", "included", "few points, a million features", "sparse",
            "kernel held", "kernel through a factor", "streamed", "random, sparse", "per class", "smrs", "kmedoids",
            "leverage"]


class Plans(Case):
    def make_data(self, data):
        n, d, kind = data
        if isinstance(kind, int):
            write_sparse(self.path("points.svm"), n, d, kind)
            return "points.svm"
        if kind == "given":
            return self.make_kernel(n)
        write_points(self.path("points.npy"), n, d, kind)
        self.write("labels.npy", npy_bytes([i % 7 for i in range(n)], "<i8"))
        self.write("some.npy", npy_bytes([7 * i for i in range(min(600, n // 7))], "<i8"))
        return "points.npy"

    def make_kernel(self, n):
        """A diagonal of 1 and small numbers beside it: positive definite, and quick to write."""
        bits = random.Random(2)
        row = array.array("d", (bits.random() / 4 / n for _ in range(2 * n)))
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {n}), }}"
        text += " " * (-(10 + len(text) + 1) % 64) + "\n"
        with open(self.path("points.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
            for i in range(n):  # entry (i, j) depends on i + j: symmetric
                own = array.array("d", (row[(i + j) % n] for j in range(n)))
                own[i] = 1.0
                file.write(own.tobytes())
        return "points.npy"

    def idle(self):
        """The program itself, with next to no data."""
        self.write("small.npy", npy_bytes([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]))
        return json.loads(self.succeed("select", "small.npy", "-k", "1", "--json", "--quiet").out)["peak_memory_bytes"]

    def planned(self, arguments):
        done = self.succeed(*arguments, "--dry-run", "--json")
        answer = json.loads(done.out)
        if "classes" in answer:
            plans = sorted((c["plan"]["memory_bytes"] for c in answer["classes"] if c["plan"]), reverse=True)
            data = max(c["plan"]["data_bytes"] for c in answer["classes"] if c["plan"])
            own_threads = max(c["plan"]["threads"] for c in answer["classes"] if c["plan"])
            return data + sum(plans[: max(1, answer["threads"] // own_threads)])
        plan = answer["plan"]
        each = plan.get("each", plan)  # a sweep tells what one setting takes, and all of them together
        return each["data_bytes"] + plan["memory_bytes"]

    def measure(self, name):
        """Planned and measured bytes of a case."""
        data, words = CASES[name]
        points = self.make_data(data)
        command, *options = words.split()
        options += ["--threads", THREADS]
        planned = self.planned([command, points, *options])
        done = self.succeed(command, points, *options, "--json", "--quiet")
        peak = json.loads(done.out)["peak_memory_bytes"]
        return planned, peak - (0 if "streamed" in name else self.idle())  # streamed plans count the program

    def test_plans_state_what_runs_take(self):
        if campaign.SANITIZED:
            self.skipTest("sanitizers take memory of their own")
        for name in list(CASES)[: campaign.rounds(0)] or IN_TESTS:
            with self.subTest(name):
                planned, taken = self.measure(name)
                self.assertLessEqual(taken, planned + SLACK)
                self.assertLessEqual(planned, 2 * taken + SLACK)


def table(names):
    case = Plans("test_plans_state_what_runs_take")
    print("| case | data | planned, MiB | taken, MiB | planned / taken |\n|---|---|---|---|---|")
    for name in names or CASES:
        case.setUp()
        try:
            planned, taken = case.measure(name)
            n, d, kind = CASES[name][0]
            shape = f"{n:,} x {d:,}" + (f", {kind} a row" if isinstance(kind, int) else f", {kind}")
            print(f"| {name} | {shape} | {planned / MIB:.0f} | {taken / MIB:.0f} | {planned / taken:.2f} |", flush=True)
        except AssertionError as error:
            print(f"| {name} | failed: {str(error)[:300]!r} |", flush=True)
        case.doCleanups()


if __name__ == "__main__":
    if "--table" in sys.argv:
        table(sys.argv[sys.argv.index("--table") + 1 :])
    else:
        campaign.main()
