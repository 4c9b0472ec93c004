"""Exchange against choosing: seconds of a visit to all points, of all visits, and what they gain.

The answer is chosen without exchange, with one visit, and with all of them, in turn; medians of the
seconds that the library tells. With kmedoids of PyPI installed, FasterPAM on the same points, its
distances included. The default method, `fwsr.select(X, k)`, is timed as a whole call, certificate
included, beside FasterPAM and for n, 2 n and 4 n points.

usage: python bench/exchange.py [--repeats R] [--quick] [--only WORDS] [-o FILE]
Run it in an environment that has the package, on a machine that does nothing else; `load` says how
many processes there were to run before it began. `--only "the default"` measures the cases with
these words in their names; the others that FILE has stay.
"""

import argparse
import functools
import json
import os
import platform
import statistics
import time
import warnings

import numpy as np

import fwsr

CASES = {
    "100,000 x 128, linear": ((100_000, 128), 50, {"method": "fwsr", "center": "none"}),
    "100,000 x 128, factor of rank 512": ((100_000, 128), 50, {"method": "k-fwsr", "rank": 512}),
    "20,000 x 784, rbf": ((20_000, 784), 50, {"method": "k-fwsr"}),
    "20,000 x 784, factor of rank 512": ((20_000, 784), 50, {"method": "k-fwsr", "rank": 512}),
}


def blobs(n, d, seed=0):
    draw = np.random.default_rng(seed)
    centres = 3 * draw.standard_normal((200, d), dtype=np.float32)
    return centres[draw.integers(200, size=n)] + draw.standard_normal((n, d), dtype=np.float32)


def seconds_of(X, k, options, **more):
    chosen = fwsr.select(X, k, certificate="none", **options, **more)
    return chosen, chosen.seconds


def faster_pam(X, k):
    """Seconds of the distances, and of all; None: it is not here."""
    try:
        import kmedoids
        from sklearn.metrics import pairwise_distances
    except ImportError:
        return None
    start = time.perf_counter()
    distances = pairwise_distances(X)
    known = time.perf_counter() - start
    kmedoids.fasterpam(distances, k, random_state=0)
    return known, time.perf_counter() - start


def measure(shape, k, options, repeats, peer):
    X = blobs(*shape)
    plain, one, whole, pam, after = [], [], [], [], None
    for _ in range(repeats):
        plain.append(seconds_of(X, k, options)[1])
        one.append(seconds_of(X, k, options, refine="exchange", refine_rounds=1)[1])
        after, told = seconds_of(X, k, options, refine="exchange")
        whole.append(told)
        if peer:
            pam.append(faster_pam(X, k))
    median = statistics.median
    found = {
        "setup": median(s["setup"] for s in plain),
        "steps": median(s["steps"] for s in plain),
        "one_visit": median(s["exchange"] for s in one),
        "all_visits": median(s["exchange"] for s in whole),
        "visits": after.refinement.rounds,
        "exchanges": after.refinement.exchanges,
        "before": after.refinement.before,
        "after": after.refinement.after,
    }
    choosing = found["setup"] + found["steps"]
    found["visit_by_choosing"] = found["one_visit"] / choosing
    found["all_by_choosing"] = found["all_visits"] / choosing
    if peer and pam[0] is not None:
        found["faster_pam"] = median(whole for _, whole in pam)
        found["faster_pam_by_all"] = found["faster_pam"] / (choosing + found["all_visits"])
    return found


def seconds_by_default(X, k):
    start = time.perf_counter()
    chosen = fwsr.select(X, k)
    return time.perf_counter() - start, chosen


def measure_default(n, d, k, repeats):
    """Against FasterPAM, and how it grows."""
    X = blobs(4 * n, d)
    ours, pam = {1: [], 2: [], 4: []}, []
    for _ in range(repeats):
        for times, taken in ours.items():
            seconds, chosen = seconds_by_default(X[: times * n], k)
            taken.append(seconds)
        pam.append(faster_pam(X[:n], k))
    median = statistics.median
    found = {"rank": chosen.plan.rank, "seconds": median(ours[1]),
             "2_n_by_n": median(ours[2]) / median(ours[1]),
             "4_n_by_n": median(ours[4]) / median(ours[1])}
    if pam[0] is not None:
        found["faster_pam_distances"] = median(known for known, _ in pam)
        found["faster_pam"] = median(whole for _, whole in pam)
        found["faster_pam_by_default"] = found["faster_pam"] / found["seconds"]
        found["least_and_most_by_default"] = [
            min(w for _, w in pam) / max(ours[1]), max(w for _, w in pam) / min(ours[1])]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("-o", "--output")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of factors that leave much out
    found = {}
    if given.only and given.output and os.path.exists(given.output):
        with open(given.output, encoding="utf-8") as file:
            found = json.load(file)
    found["machine"] = platform.processor() or platform.machine()
    n_default = 1_000 if given.quick else 20_000
    cases = {name: functools.partial(measure, (n // 20, d) if given.quick else (n, d), k, options,
                                     given.repeats, n <= 20_000)
             for name, ((n, d), k, options) in CASES.items()}
    cases[f"{n_default:,} x 784, the default method"] = functools.partial(
        measure_default, n_default, 784, 50, given.repeats)
    for name, case in cases.items():
        if given.only not in name:
            continue
        load = round(os.getloadavg()[0], 1)
        found[name] = {**case(), "repeats": given.repeats, "load": load,
                       "command": f"bench/exchange.py --repeats {given.repeats} --only '{name}'"}
        print(name, json.dumps(found[name]), flush=True)
    if given.output:
        with open(given.output, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
