"""Time as planned and as taken: what `--dry-run` and `compare` estimate beside what runs take.

    python3 bench/plan_seconds.py [--program build/release/bin/fwsr] [--repeats 3] [--threads N | --cpu] [NAME ...]

prints the page bench/results/plan_seconds.md. A time is the least of the repeats, each a process of its own: reading and
writing not counted, as they are not in the plan. Best on an idle machine; the page says how busy it was.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "safety"), str(ROOT / "tests" / "cli")]
os.environ.setdefault("FWSR_PROGRAM", str(ROOT / "build" / "release" / "bin" / "fwsr"))

from plan_test import Plans  # noqa: E402

#: What is run: its data (points, features, type, or stored numbers of a sparse row), and the options.
CASES = {
    "default": ((4000, 30, "<f4"), "select -k 20"),
    "default, many points": ((40000, 30, "<f4"), "select -k 20"),
    "default, sparse": ((10000, 20000, 30), "select -k 20"),
    "covariance": ((60000, 200, "<f4"), "select -k 20 --method fwsr"),
    "covariance, double": ((30000, 200, "<f8"), "select -k 20 --method fwsr"),
    "covariance, k 5, many features": ((6000, 1500, "<f4"), "select -k 5 --method fwsr"),
    "covariance, k 500": ((8000, 100, "<f4"), "select -k 500 --method fwsr"),
    "covariance, k beyond the features": ((10000, 40, "<f4"), "select -k 100 --method fwsr"),
    "cosine": ((40000, 100, "<f4"), "select -k 20 --kernel cosine --method fwsr"),
    "held, linear": ((1500, 6000, "<f4"), "select -k 20 --method fwsr"),
    "held, rbf": ((5000, 30, "<f4"), "select -k 20 --kernel rbf --method fwsr"),
    "held, rbf, double": ((4000, 30, "<f8"), "select -k 20 --kernel rbf --method fwsr"),
    "held, rbf, k 300": ((2500, 30, "<f4"), "select -k 300 --kernel rbf --method fwsr"),
    "held, rbf, k 500": ((1800, 64, "<f8"), "select -k 500 --kernel rbf --method fwsr"),
    "held, laplacian": ((2500, 30, "<f4"), "select -k 20 --kernel laplacian --method fwsr"),
    "held, polynomial": ((4000, 50, "<f4"), "select -k 20 --kernel polynomial --method fwsr"),
    "tiles, rbf": ((6000, 30, "<f4"), "select -k 5 --kernel rbf --memory 30M --method fwsr"),
    "products, dense": ((3000, 1400, "<f8"), "select -k 100 --method fwsr"),
    "given": ((3000, 3000, "given"), "select -k 20 --kernel precomputed --method fwsr"),
    "factor": ((40000, 20, "<f4"), "select -k 20 --kernel rbf --rank 256 --method fwsr"),
    "factor, double, k 100": ((10000, 20, "<f8"), "select -k 100 --kernel rbf --rank 256 --method fwsr"),
    "gradient, q inf": ((1500, 30, "<f8"), "select -k 10 --q inf --method fwsr"),
    "gradient, X >= 0": ((1500, 30, "<f8"), "select -k 20 --nonneg --method fwsr"),
    "streamed": ((200000, 100, "<f4"), "select -k 5 --memory 60M --method fwsr"),
    "sparse": ((20000, 30000, 30), "select -k 50 --method fwsr"),
    "sparse, few features": ((40000, 300, 20), "select -k 10 --method fwsr"),
    "sparse, rbf": ((4000, 20000, 30), "select -k 20 --kernel rbf --method fwsr"),
    "sweep": ((40000, 100, "<f4"), "sweep -k 20 --alphas 2,10,50 --etas 0,0.3"),
    "sweep, rbf": ((3000, 30, "<f4"), "sweep -k 20 --alphas 2,10 --kernel rbf"),
    "per class": ((40000, 200, "<f4"), "select -k 5 --per-class --labels labels.npy --method fwsr"),
    "kmeans": ((60000, 40, "<f4"), "select -k 20 --method kmeans:max_iterations=40"),
    "kmeans, sparse": ((20000, 20000, 30), "select -k 50 --method kmeans:max_iterations=20"),
    "facility": ((5000, 30, "<f4"), "select -k 20 --method facility"),
    "facility, sparse": ((4000, 20000, 30), "select -k 50 --method facility"),
    "kmedoids": ((4000, 30, "<f4"), "select -k 20 --method kmedoids"),
    "kmedoids, sparse": ((4000, 20000, 30), "select -k 20 --method kmedoids"),
    "kmedoids-batch": ((30000, 30, "<f4"), "select -k 20 --method kmedoids-batch"),
    "rrqr": ((60000, 100, "<f4"), "select -k 50 --method rrqr"),
    "omp": ((40000, 200, "<f4"), "select -k 20 --method omp"),
    "greedy-cssp": ((20000, 100, "<f4"), "select -k 20 --method greedy-cssp"),
    "ipm": ((40000, 100, "<f4"), "select -k 20 --method ipm"),
    "leverage": ((20000, 300, "<f4"), "select -k 20 --method leverage"),
    "kdpp": ((20000, 60, "<f4"), "select -k 30 --method kdpp"),
    "herding": ((6000, 30, "<f4"), "select -k 20 --method herding"),
    "k-center": ((200000, 30, "<f4"), "select -k 20 --method k-center"),
    "smrs": ((5000, 60, "<f4"), "select -k 10 --method smrs"),
    "random": ((200000, 60, "<f4"), "select -k 20 --method random"),
}


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program, folder, words):
    """What the program answers, and the seconds of processors that it took."""
    before = cpu()
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:300])
    return json.loads(done.stdout), cpu() - before


def planned_seconds(plan):
    """Of everything, and by its parts."""
    if "classes" in plan:
        own = [c["plan"] for c in plan["classes"] if c["plan"]]
        side = max(1, plan["threads"] // max(p["threads"] for p in own))
        return sum(p["seconds"]["all"] for p in own) / min(side, len(own)), {}
    if "each" in plan["plan"]:
        return plan["plan"]["seconds"], {}
    return plan["plan"]["seconds"]["all"], plan["plan"]["seconds"]


def taken_seconds(answer):
    s = answer["seconds"]
    return s["setup"] + s["steps"] + s["certificate"], s


def measure(program, name, repeats, extra, by_cpu):
    (n, d, kind), words = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        maker = Plans("test_plans_state_what_runs_take")
        maker.path = lambda file: os.path.join(folder, file)
        maker.write = lambda file, data: pathlib.Path(folder, file).write_bytes(data)
        points = maker.make_data((n, d, kind))
        command, *options = words.split()
        args = [command, points, *options, "--json", *extra]
        plans = [run(program, folder, [*args, "--dry-run"]) for _ in range(repeats)]
        answers = [run(program, folder, [*args, "--quiet"]) for _ in range(repeats)]
    planned, parts = min((planned_seconds(plan) for plan, _ in plans), key=lambda p: p[0])
    taken, took = min((taken_seconds(answer) for answer, _ in answers), key=lambda t: t[0])
    if by_cpu:  # less reading, which is all that a plan takes
        taken = min(used for _, used in answers) - min(used for _, used in plans)
    return planned, parts, taken, took


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), "unknown")
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True,
                            text=True, check=False).stdout.strip()
    return f"{model}, {len(os.sched_getaffinity(0))} cores; commit {commit or 'unknown'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default=os.environ["FWSR_PROGRAM"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", action="store_true",
                        help="one thread, and the time of its processor: for machines that do other work, too")
    parser.add_argument("--parts", action="store_true", help="set-up, steps and certificate, planned and taken")
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    if a.cpu:
        a.threads = 1
    extra = ["--threads", str(a.threads)] if a.threads else []
    load = os.getloadavg()[0]
    print("# Time as planned and as taken\n\n    python3 bench/plan_seconds.py [--cpu] > bench/results/plan_seconds.md\n")
    print(f"{machine()}. Threads: {a.threads or 'all'}. Load of the machine when this began: {load:.1f}. Planned: what\n"
          f"`--dry-run` states. Taken: set-up, steps and certificate, {'seconds of the processor, ' if a.cpu else ''}the "
          f"least of {a.repeats} runs.\n")
    print("| case | data | planned, s | taken, s | planned / taken |\n|---|---|---|---|---|")
    ratios = []
    for name in a.names or CASES:
        (n, d, kind), words = CASES[name]
        shape = f"{n:,} x {d:,}" + (f", {kind} a row" if isinstance(kind, int) else f", {kind}")
        try:
            planned, parts, taken, took = measure(a.program, name, a.repeats, extra, a.cpu)
        except RuntimeError as error:
            print(f"| {name} | {shape} | failed: {error} |", flush=True)
            continue
        ratios.append(planned / taken)
        print(f"| {name}: `{words}` | {shape} | {planned:.3g} | {taken:.3g} | {planned / taken:.2f} |", flush=True)
        if a.parts:
            print("  ", {k: (round(parts.get(k, 0), 4), round(took[k], 4)) for k in ("setup", "steps", "certificate")},
                  flush=True)
    good = sum(0.5 <= r <= 2 for r in ratios)
    print(f"\n{good} of {len(ratios)} within a factor of two. Load at the end: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
