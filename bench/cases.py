"""The cases: what is run, what it is held against, and the bar. Each function returns lines (tools.py)
and may add notes; `quick` makes everything small, to test the suite and not the library."""

import json
import os
import random
import statistics
import tempfile
import time

import tools
from tools import against_floor, against_peer, floors, inprocess, judged, told

CORES = os.cpu_count()

# EMNIST ByClass, training set, at most 5000 of a class: 253,523 images in 62 classes.
EMNIST_SIZES = [
    5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 3878, 5000, 4562, 4934, 5000, 2517, 3152, 5000,
    3762, 2468, 5000, 5000, 5000, 5000, 5000, 2605, 5000, 5000, 5000, 5000, 4637, 4695, 2771, 4743, 2701, 5000, 5000,
    2854, 5000, 5000, 2561, 3687, 5000, 2725, 1896, 2491, 5000, 2645, 5000, 2749, 2448, 2994, 5000, 2699, 5000, 2830,
    2910, 2697, 2822, 2365, 2725]


def same_picks(ours, theirs):
    """One sentence about two lists of picks."""
    if ours == theirs:
        return "the picks are the same"
    first = next((t for t, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"PICKS DIFFER from exemplar {first + 1} on: {ours[first:first + 3]} and {theirs[first:first + 3]}"


def whole(result, k):
    """The time of whole selections, beside the part that is judged."""
    return [told(f"whole selection, k = {k}", tools.times(result["repeats"])),
            told(f"whole selection, k = {k}, with certificate", tools.times(result["full"]))]


def step1m(quick, notes):
    """One step, 1,000,000 x 128"""
    n, d = (100_000, 128) if quick else (1_000_000, 128)
    result = inprocess("select", f"blobs:{n}x{d}", 20, rates="read,gemm64", repeats=3 if quick else 7)
    steps = [r["steps"] / r["step_count"] for r in result["repeats"]]
    floor = floors(result, lambda rate: n * d * 4 / rate["read"])
    arithmetic = floors(result, lambda rate: 6 * n * d / rate["gemm64"])
    return [against_floor(f"one step, {n} x {d}", steps, floor, 1.25, "one read of the points"),
            against_floor("the same", steps, arithmetic, None, "6 n d operations at the rate of a product in double"),
            *whole(result, 20)]


def setup250k(quick, notes):
    """Set-up, 250,000 x 784"""
    n, d = (20_000, 784) if quick else (250_000, 784)
    result = inprocess("select", f"blobs:{n}x{d}", 2, rates="syrk,gemm", repeats=3 if quick else 5)
    floor = floors(result, lambda rate: n * d * d * (1 / rate["syrk"] + 1 / rate["gemm"]))
    return [against_floor(f"set-up, {n} x {d}", tools.times(result["repeats"], "setup"), floor, 1.3,
                          "n d^2 flops of SYRK + n d^2 of the triangular product"), *whole(result, 2)]


def against_literal(path, k, limits, notes, repeats):
    """fwsr in process and the literal NumPy program, in both types; alternately, twice."""
    lines = []
    for kind, limit in limits.items():
        more = ["--float64"] if kind == "float64" else []
        ours, full, theirs = [], [], []
        for _ in range(2):
            mine = inprocess("select", path, k, *more, repeats=repeats)
            peer = tools.python_peer("literal.py", path, "-k", k, "--type", kind, "--repeats", 2)
            ours += tools.times(mine["repeats"])
            full += tools.times(mine["full"])
            theirs += peer["seconds"]
        what = f"{mine['points']} x {mine['features']}, k = {k}, {kind}"
        lines.append(against_peer(what, ours, "literal NumPy", theirs, limit))
        if mine["picks"] != peer["picks"]:
            lines[-1]["met"] = False if limit else None  # another answer is no faster answer
        lines.append(against_peer(what + ", with certificate", full, "literal NumPy", theirs, None))
        notes.append(f"{kind}: {same_picks(mine['picks'], peer['picks'])}; {peer['steps']} steps.")
    return lines


def literal10k(quick, notes):
    """10,000 x 784 against Algorithm 1 in NumPy"""
    n, k = (2_000, 20) if quick else (10_000, 50)
    path, kind = tools.images(n)
    notes.append(f"Data: {kind}.")
    return against_literal(path, k, {"float32": 300, "float64": 150}, notes, repeats=5)


def credit(quick, notes):
    """Credit card transactions, 5,000 x 29, against Algorithm 1 in NumPy"""
    path, kind = tools.credit()
    notes.append(f"Data: {kind}, features scaled to variance 1.")
    return against_literal(path, 10, {"float32": 2000, "float64": None}, notes, repeats=5 if quick else 25)


def timed(command):
    """Wall-clock seconds of a whole command, and its JSON."""
    start = time.perf_counter()
    answer = tools.run_json(command)
    return time.perf_counter() - start, answer


def mnist(quick, notes):
    """MNIST from its file, 10 a class: the whole command"""
    images, labels = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz") if quick else (
        "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    images, labels = tools.mnist_file(images), tools.mnist_file(labels)
    command = [tools.BIN / "fwsr", "select", images, "--labels", labels, "--per-class", "-k", "10", "--method", "fwsr",
               "--json"]
    size = 3 if quick else 19  # MB of one class: passes over a class read from the cache
    ways = {"defaults": command, "no certificate": [*command, "--certificate", "none"]}
    seconds, base = {way: [] for way in ways}, []
    timed(command)
    for _ in range(3 if quick else 7):
        rate = tools.rates("--only", "read,syrk32,gemm32", "--read", size, "--gzip", images)
        for way, arguments in ways.items():
            taken, answer = timed(arguments)
            seconds[way].append(taken)
        flops = sum(c["points"] * 784**2 for c in answer["classes"])
        passes = sum(c["points"] * 784 * 4 * len(c["trace"]) for c in answer["classes"])
        base.append(rate["inflate"]["bytes"] / rate["inflate"]["rate"] + flops / rate["syrk32"]["784"]["rate"] +
                    flops / rate["gemm32"]["784"]["rate"] + passes / rate["read"][str(size)]["rate"])
    parts = "inflate + SYRK + triangular product + one read of a class per step"
    return [against_floor("whole command, defaults", seconds["defaults"], base, 1.4, parts),
            against_floor("whole command, --certificate none", seconds["no certificate"], base, None, parts)]


def emnist(quick, notes):
    """62 unequal classes, 253,523 x 784 in all, 10 a class"""
    sizes = [size // 20 for size in EMNIST_SIZES] if quick else EMNIST_SIZES
    n, d = sum(sizes), 784
    result = inprocess("classes", f"blobs:{n}x{d}", 10, "--class-sizes", ",".join(map(str, sizes)),
                       rates="read,syrk,gemm", repeats=3)
    found = result["classes"]
    reads = sum(size * steps for size, steps in zip(found["sizes"], found["steps"])) * d * 4
    floor = floors(result, lambda rate: n * d * d * (1 / rate["syrk"] + 1 / rate["gemm"]) + reads / rate["read"])
    parts = "SYRK + triangular product + one read of a class per step"
    what = f"{n} x {d} in {len(sizes)} classes"
    return [against_floor(what, tools.times(result["repeats"]), floor, 1.5, parts),
            against_floor(what + ", with certificate", tools.times(result["full"]), floor, None, parts)]


def peers20k(quick, notes):
    """20,000 x 784, k = 50, beside other methods"""
    n, k = (2_000, 20) if quick else (20_000, 50)
    path, kind = tools.images(n)
    notes.append(f"Data: {kind}.")
    before = inprocess("select", path, k)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"fwsr": before["picks"]}, file)
        file.flush()
        peers = tools.python_peer("peers.py", path, "-k", k, "--repeats", 3, "--picks", file.name)
    after = inprocess("select", path, k)
    ours = tools.times(before["repeats"] + after["repeats"])
    full = tools.times(before["full"] + after["full"])
    limits = {"FasterPAM": 10, "facility location": 10, "k-means + nearest": 4}
    lines, greedy = [], {}
    for name, peer in peers.items():
        if "skipped" in peer:
            notes.append(f"{name}: skipped: {peer['skipped']}.")
            continue
        if "seconds" in peer and name != "random":
            lines.append(against_peer(f"fwsr beside {name}", ours, name, peer["seconds"], limits.get(name)))
        if name in ("farthest points (FPS)", "pivoted QR"):
            greedy[name] = peer["seconds"]
    if greedy:
        name = min(greedy, key=lambda peer: statistics.median(greedy[peer]))
        base = [statistics.median(greedy[name])] * len(ours)
        lines.append({**against_floor("fwsr over the cheapest greedy peer", ours, base, 4, ""), "against": name})
    lines.append(told("fwsr, with certificate", full))
    rows = [f"| quality at equal k = {k} | reconstruction error | mean distance to the nearest pick | distinct picks |",
            "|---|---|---|---|"]
    measured = {name: peer for name, peer in peers.items() if "reconstruction_error" in peer}
    for name, peer in sorted(measured.items(), key=lambda item: item[1]["reconstruction_error"]):
        rows.append(f"| {name} | {peer['reconstruction_error']:.4f} | {peer['mean_distance']:.0f} | {peer['distinct']} |")
    notes.append("\n".join(rows))
    return lines


def rbf20k(quick, notes):
    """RBF kernel, 20,000 x 784, k = 50"""
    n, k, d = (2_000, 20, 784) if quick else (20_000, 50, 784)
    path, kind = tools.images(n)
    notes.append(f"Data: {kind}.")
    result = inprocess("select", path, k, "--kernel", "rbf", rates="read:1000,gemm,exp", repeats=3)
    notes.append(f"Kernel matrix {result['plan']['kernel_by']}; {result['repeats'][0]['step_count']} steps.")
    # K is larger than any cache, so its reads go at the rate of a large array and not of the points.
    floor = floors(result, lambda rate: (n * n * d / rate["gemm"] + n * n / 2 / rate["exp"] +
                                         k * n * n * 4 / rate["read:1000"]))
    parts = f"half a matrix product + n^2 / 2 exponentials + {k} reads of K in float32"
    return [against_floor(f"RBF, {n} x {d}, k = {k}", tools.times(result["repeats"]), floor, 1.4, parts),
            against_floor("with certificate", tools.times(result["full"]), floor, None, parts)]


def lowrank(quick, notes):
    """RBF through a low-rank factor, 1,000,000 x 64, rank 512, k = 100"""
    n, d, rank, k = (50_000, 64, 128, 20) if quick else (1_000_000, 64, 512, 100)
    result = inprocess("select", f"blobs:{n}x{d}", k, "--kernel", "rbf", "--rank", rank,
                       rates=f"read:1000,gemm:{d},gemm:{rank},syrk:{rank},exp", repeats=3, full=False)
    steps = result["repeats"][0]["step_count"]

    def floor(rate):
        kernel = 2 * n * rank * d / rate[f"gemm:{d}"] + n * rank / rate["exp"]
        factor = n * rank**2 / rate[f"gemm:{rank}"]  # a triangular solve
        setup = n * rank**2 * (1 / rate[f"syrk:{rank}"] + 1 / rate[f"gemm:{rank}"])
        return kernel + factor + setup + steps * n * rank * 4 / rate["read:1000"]

    lines = [against_floor(f"{n} x {d}, rank {rank}, k = {k}", tools.times(result["repeats"]), floors(result, floor), 1.5,
                           "kernel columns + triangular solve + SYRK + triangular product + one read of the factor per step")]
    return lines + lowrank_quality(quick, notes)


def lowrank_quality(quick, notes):
    """The picks of the factor beside those of the whole kernel, on images."""
    if not tools.VENV.exists():
        notes.append("Quality of the picks: skipped: no virtual environment with NumPy (build/bench-venv).")
        return []
    n, rank, k = (2_000, 256, 20) if quick else (20_000, 512, 50)
    path, kind = tools.images(n)
    exact = inprocess("select", path, k, "--kernel", "rbf", repeats=1, full=False)
    near = inprocess("select", path, k, "--kernel", "rbf", "--gamma", exact["gamma"], "--rank", rank,
                     repeats=1, full=False)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"exact": exact["picks"], "rank": near["picks"]}, file)
        file.flush()
        errors = tools.python_peer("kernel_error.py", path, "--gamma", exact["gamma"], "--picks", file.name)
    notes.append(f"{kind}, {n} points, k = {k}: K is reconstructed with error {errors['exact']:.5f} by the picks of the whole kernel, "
                 f"{errors['rank']:.5f} by those of rank {rank}.")
    return [judged(f"error of the picks of rank {rank} over that of the whole kernel's", errors["rank"] / errors["exact"],
                   "at most", 1.01, f"{kind}, {n} points, k = {k}")]


def sweep(quick, notes):
    """A grid of 8 alphas x 4 etas, 100,000 x 128, k = 50"""
    n, k = (10_000, 20) if quick else (100_000, 50)
    result = inprocess("sweep", f"blobs:{n}x128", k, "--alphas", "0.5,1,2,5,10,20,35,50", "--etas", "0,0.1,0.3,1",
                       rates="gemm64", repeats=3, full=False)
    notes.append("Every setting of the grid has " + ("the picks of its own run." if result["same_picks"] else
                                                     "NOT always the picks of its own run."))
    floor = floors(result, lambda rate: 4 * n * 128 * result["step_count"] / rate["gemm64"])
    what = f"{result['settings']} settings at once, {n} x 128"
    return [against_peer(what, result["together"], "one run per setting", result["separate"], 2.5),
            against_floor("the same", result["together"], floor, None, "two products of a step that settings do not share, at the "
                          "rate of a product in double")]


def stream(quick, notes):
    """A file four times as large as the memory allowed"""
    n, d, k = (200_000, 128, 10) if quick else (2_000_000, 128, 20)
    path = tools.generated(n, d)
    size = path.stat().st_size
    limit = size // 4
    command = [tools.BIN / "fwsr", "select", path, "-k", k, "--method", "fwsr", "--certificate", "none", "--json"]
    path.read_bytes()  # into the page cache
    seconds, free, base, peak = [], [], [], 0
    for _ in range(3 if quick else 5):
        pread = tools.rates("--only", "none", "--file", path)["pread"]["rate"]
        try:
            taken, answer = timed([*command, "--memory", limit])
        except tools.Failed as refused:
            if "may be used" not in str(refused):
                raise
            raise tools.Skip("this build needs all points in memory") from None
        seconds.append(taken)
        base.append((2 + len(answer["trace"])) * size / pread)
        peak = max(peak, answer["peak_memory_bytes"])
        taken, whole = timed(command)
        free.append(taken)
    notes.append(f"Against the run with all memory: {same_picks(answer['exemplars'], whole['exemplars'])}.")
    parts = "two passes of the set-up and one per step, at the speed of pread"
    what = f"{n} x {d} ({size / 1e6:.0f} MB) in {limit / 1e6:.0f} MB, k = {k}"
    return [against_floor(what, seconds, base, None, parts),
            {**against_floor(what + ", over the same in memory", seconds, free, 1.35, ""), "against": "all memory"},
            judged("peak resident memory over the limit", peak / limit, "at most", 1, f"{peak / 1e6:.0f} MB"),
            judged("picks that differ", sum(a != b for a, b in zip(answer["exemplars"], whole["exemplars"])), "at most", 0,
                   "from those with all memory"),
            told("the same with all memory", free)]


def small(quick, notes):
    """1,000 problems of 50 x 1,000, k = 7"""
    problems, n, d, k = (200 if quick else 1000), 50, 1000, 7
    result = inprocess("classes", f"blobs:{problems * n}x{d}", k, "--class-sizes", n, rates="small", repeats=7)
    steps = result["repeats"][0]["step_count"]
    flops = problems * (n * n * d + 2 * n * n) + steps * (2 * n * n + 6 * n * k)
    floor = floors(result, lambda rate: flops / (rate["small"] * CORES))
    parts = "their flops at the rate of one core on such Gram matrices, all cores at work"
    return [against_floor(f"{problems} problems of {n} x {d}", tools.times(result["repeats"]), floor, 1.3, parts),
            against_floor("with certificate", tools.times(result["full"]), floor, None, parts)]


def byte_points(quick, notes):
    """Points of bytes beside the same in float32, 60,000 x 784"""
    n, k = (5_000, 10) if quick else (60_000, 20)
    as_bytes, as_floats, kind = tools.byte_images(n)
    notes.append(f"Data: {kind}.")
    ours, theirs = [], []
    for _ in range(2):  # alternately: the machine is not the same from minute to minute
        ours.append(inprocess("select", as_bytes, k, repeats=3))
        theirs.append(inprocess("select", as_floats, k, repeats=3))
    notes.append(f"{same_picks(ours[0]['picks'], theirs[0]['picks'])}.")

    def parts(results, part):
        return [r[part] / (r["step_count"] if part == "steps" else 1) for result in results for r in result["repeats"]]

    def memory(results):
        return max(result["peak_memory_bytes"] for result in results)

    return [against_peer(f"one step, {n} x 784 uint8", parts(ours, "steps"), "float32", parts(theirs, "steps"), 2.5),
            against_peer(f"set-up, {n} x 784 uint8", parts(ours, "setup"), "float32", parts(theirs, "setup"), 2),
            told("whole selection, uint8", parts(ours, "total"), f"peak memory {memory(ours) / 2**20:.0f} MiB"),
            told("whole selection, float32", parts(theirs, "total"), f"peak memory {memory(theirs) / 2**20:.0f} MiB")]


LINEAR = 1.2  # growth is called linear when time per unit grows by no more than this over a factor of eight


def growth(quick, notes):
    """Growth with n, k, d and threads"""
    scale = 10 if quick else 1
    lines, medians = [], {}

    def measured(what, data, k, *more, part="total", per=1):
        result = inprocess("select", data, k, *more, repeats=3, full=False)
        seconds = [s / per for s in tools.times(result["repeats"], part)]
        lines.append(told(what, seconds, f"peak memory {result['peak_memory_bytes'] / 2**20:.0f} MiB for "
                                         f"{result['bytes'] / 2**20:.0f} MiB of points"))
        return statistics.median(seconds), result["repeats"][0]["step_count"]

    for n in (100_000, 200_000, 400_000, 800_000):
        medians[n], _ = measured(f"{n // scale} x 128, k = 20", f"blobs:{n // scale}x128", 20)
    lines.append(judged("n: time per point, 8 n over n", medians[800_000] / 8 / medians[100_000], "at most", LINEAR,
                        "d = 128, k = 20"))
    for k in (25, 50, 100, 200):
        seconds, steps = measured(f"steps, {100_000 // scale} x 128, k = {k}", f"blobs:{100_000 // scale}x128", k, part="steps")
        medians[f"k{k}"] = seconds / steps
    lines.append(judged("k: time per step, 8 k over k", medians["k200"] / medians["k25"], "at most", LINEAR, "d = 128"))
    for d in (64, 128, 256):
        n = 200_000 * (128 * 128 + 20 * 128) // (d * d + 20 * d) // scale
        measured(f"equal work n d^2 + k n d: {n} x {d}, k = 20", f"blobs:{n}x{d}", 20)
    n, taken = 40_000 // scale, {1: [], CORES: []}
    for _ in range(3):  # alternately: the machine is not the same from minute to minute
        for threads, seconds in taken.items():
            result = inprocess("select", f"blobs:{n}x784", 2, "--threads", threads, repeats=3, full=False)
            seconds += tools.times(result["repeats"], "setup")
    for threads, seconds in taken.items():
        lines.append(told(f"set-up, {n} x 784, {threads} threads", seconds))
    if CORES >= 2:
        lines.append(judged(f"threads: {CORES} over 1, set-up", statistics.median(taken[1]) / statistics.median(taken[CORES]),
                            "at least", 1.7 * CORES / 2, "bound by arithmetic"))
    notes.append("100,000 x 128 float32 numbers are 51 MB, which a large last-level cache holds from step to step; 800,000 are "
                 "read from memory every time. That is what time per point grows by.")
    return lines


def sparse_points(n, d):
    """Rows of some forty numbers, few features common and most rare, as a libsvm file."""
    tools.SCRATCH.mkdir(parents=True, exist_ok=True)
    path = tools.SCRATCH / f"sparse-{n}x{d}.svm"
    if not path.exists():
        bits = random.Random(3)
        with open(path.with_suffix(".part"), "w", encoding="utf-8") as file:
            for _ in range(n):
                features = sorted({int(d * bits.random()**3) for _ in range(60)})
                file.write("0 " + " ".join(f"{l + 1}:{1 + bits.random():.4f}" for l in features) + "\n")
        path.with_suffix(".part").rename(path)
    return path


def weights(quick, notes):
    """Weights and certificate beside the run they belong to"""
    n, small = (100_000, 10_000) if quick else (1_000_000, 100_000)
    repeats = 3 if quick else 5
    long = inprocess("select", f"blobs:{n}x128", 50, repeats=repeats)
    wide = inprocess("select", f"blobs:{small}x32", 64, repeats=repeats)
    share = statistics.median(r["certificate"] / r["total"] for r in long["full"])
    beyond = statistics.median(r["certificate"] / r["steps"] for r in wide["full"])
    lines = [told(f"{n} x 128, k = 50, with certificate", tools.times(long["full"])),
             told("of this weights and certificate", tools.times(long["full"], "certificate")),
             told("without certificate: weights alone", tools.times(long["repeats"], "certificate")),
             judged("weights and certificate over the whole run", share, "at most", 0.25, f"{n} x 128, k = 50"),
             judged("k > d: weights and certificate over the steps", beyond, "at most", 1, f"{small} x 32, k = 64")]
    points = sparse_points(2_000 if quick else 20_000, 50_000)
    command = [tools.BIN / "fwsr", "select", points, "-k", 50, "--method", "coreset", "--scale", "unit", "--json", "--quiet"]
    runs = [tools.run_json(command)["seconds"] for _ in range(repeats)]
    ratio = statistics.median(r["certificate"] / (r["setup"] + r["steps"]) for r in runs)
    lines.append(judged("sparse points, coreset: certificate over the choosing", ratio, "at most", 10,
                        "20,000 x 50,000, forty numbers a row, k = 50"))
    return lines


def reading(quick, notes):
    """Reading separated text from the page cache"""
    rows, columns = (20_000, 30) if quick else (200_000, 30)
    path = tools.SCRATCH / f"numbers-{rows}x{columns}.csv"
    if not path.exists():
        tools.SCRATCH.mkdir(parents=True, exist_ok=True)
        bits = random.Random(5)
        with open(path.with_suffix(".part"), "w", encoding="utf-8") as file:
            for _ in range(rows):
                file.write(",".join(f"{bits.gauss(0, 1):.6f}" for _ in range(columns)) + "\n")
        path.with_suffix(".part").rename(path)
    size = path.stat().st_size
    path.read_bytes()  # into the page cache
    mine = inprocess("read", path, 1, repeats=9, full=False)["seconds"]
    lines = [told(f"{rows} x {columns}, {size / 1e6:.0f} MB, into float64", mine),
             judged("MB/s", size / statistics.median(mine) / 1e6, "at least", 400, f"{CORES} cores")]
    try:
        for name, seconds in tools.python_peer("csv_readers.py", path).items():
            lines.append(against_peer(f"fwsr beside {name}", mine, name, seconds, None))
    except tools.Skip as why:
        notes.append(f"Other readers: {why}.")
    return lines


def peers3(quick, notes):
    """Other methods at three sizes, k = 50"""
    sizes = [(2_000, 784), (4_000, 128), (10_000, 32)] if quick else [(20_000, 784), (200_000, 128), (1_000_000, 32)]
    rows = ["| points | what | seconds | peak memory, MB | reconstruction error | mean distance to the nearest pick |",
            "|---|---|---|---|---|---|"]
    for n, d in sizes:
        path = tools.images(n)[0] if d == 784 else tools.generated(n, d)
        found = tools.python_peer("peer_sizes.py", path, "-k", 20 if quick else 50, "--seconds", 10 if quick else 60,
                                  "--program", tools.BIN / "fwsr")
        notes += faster_than_ours(f"{n} x {d}", {name: peer["seconds"] for name, peer in found.items() if "seconds" in peer})
        for name, peer in sorted(found.items(), key=lambda item: item[1].get("reconstruction_error", 9)):
            if "seconds" not in peer:
                rows.append(f"| {n} x {d} | {name} | {peer['skipped']} | | | |")
                continue
            rows.append(f"| {n} x {d} | {name} | {peer['seconds']:.3g} | {peer['memory'] / 1e6:.0f} | "
                        f"{peer['reconstruction_error']:.4f} | {peer['mean_distance']:.4g} |")
    notes.append("\n".join(rows))
    notes.append("Each in a process of its own, once; seconds without reading the file; memory above what points and imports "
                 "take; quality is measured alike for all, on points centred each by its mean. Where k is more than d every "
                 "choice spans all points. Who took longer than a minute, or more memory than there is, was stopped.")
    return []


def faster_than_ours(size, seconds):
    """One sentence for every method of ours that somebody else's was faster than."""
    told_of = []
    for ours in [name for name in seconds if name.startswith("fwsr")]:
        faster = [f"{name} ({taken:.2g} s)" for name, taken in sorted(seconds.items(), key=lambda item: item[1])
                  if taken < seconds[ours] and not name.startswith("fwsr") and name != "random"]
        if faster:
            told_of.append(f"At {size} faster than {ours} ({seconds[ours]:.2g} s): {', '.join(faster)}.")
    return told_of


CASES = [step1m, setup250k, literal10k, credit, mnist, emnist, peers20k, rbf20k, lowrank, sweep, stream, small, growth,
         byte_points, weights, reading, peers3]
