"""The same picks on every processor: BLAS adds in an order of its own for each kind of them, and rounding must not
choose between points that are equally good. OPENBLAS_CORETYPE makes the program use the products of another
processor, FWSR_CPU our own loops of one; what this processor lacks is left out."""

import json
import math
import os
import random
import subprocess
import unittest

import campaign
from helpers import PROGRAM, Case, npy_bytes, random_rows

METHODS = """exchange fwsr k-fwsr random rrqr strong-rrqr omp omp:normalize=yes leverage leverage:sampling=random
    two-stage greedy-cssp kdpp ipm kmedoids kmedoids:init=kmeans++ kmedoids:init=lab kmedoids:init=build
    kmedoids:algorithm=alternating kmedoids:metric=manhattan kmedoids:metric=cosine kmedoids-batch:batch=50 kmeans
    facility herding herding:rule=greedy k-center k-center:first=random smrs kernel-smrs ds3 dsmrs coreset
    coreset:variant=lightweight fw-coreset fw-coreset:problem=ball ssc ssc:affine=yes ssc-omp
    ssc-omp:clusters=3 ksvd""".split()
ALSO_RBF = "rrqr strong-rrqr omp leverage leverage:sampling=random two-stage greedy-cssp kmedoids facility".split()
# Points of low rank without noise have many codes of the same least sum: which come out is a matter of rounding.
UNDECIDED = {("ssc", "lowrank"), ("ssc:affine=yes", "lowrank")}
CORES = """Haswell SkylakeX Sandybridge Nehalem Prescott Zen Barcelona
    cortexa57 thunderx2t99 tsv110 neoversen1 neoversev1""".split()
LEVELS = "baseline avx2 avx512 amx".split()


def data_sets():
    """Those where nothing is equal, and those where much is."""
    bits = random.Random(campaign.seed())
    gauss = lambda n, d: random_rows(n, d, bits.random())
    forty, thirty = gauss(40, 10), gauss(30, 10)
    left, right = gauss(100, 5), gauss(5, 30)
    turn = 2 * math.pi / 60
    return {
        "random": gauss(150, 12),
        "copies": forty * 3,
        "grid": [[float(a), float(b), float(c)] for a in range(5) for b in range(5) for c in range(5)],
        "circle": [[math.cos(t * turn), math.sin(t * turn)] for t in range(60)],
        "cross": [[sign * float(i == j) for j in range(20)] for i in range(20) for sign in (1, -1)],
        "lowrank": [[sum(x * right[r][j] for r, x in enumerate(row)) for j in range(30)] for row in left],
        "offset": [[x + 1000 for x in row] for row in gauss(120, 8)],
        "wide": gauss(40, 300),
        "words": [[float(bits.random() < 0.1) for _ in range(40)] for _ in range(150)],
        "images": [[float(min(16, max(0, round(8 + 6 * bits.gauss(0, 1))))) for _ in range(16)] for _ in range(150)],
        "turned": [row[s:] + row[:s] for row in thirty for s in range(4)],
        "single": gauss(150, 12),
    }


def version(**changes):
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, env={**os.environ, **changes})
    return done.stdout if done.returncode == 0 else ""


def processors():
    """Environments that this processor can run, each as another one would; the first is its own."""
    usual = version()
    found = [{"OPENBLAS_CORETYPE": core} for core in CORES if f" {core} " in version(OPENBLAS_CORETYPE=core)]
    levels = [{"FWSR_CPU": level} for level in LEVELS if version(FWSR_CPU=level) not in ("", usual)]
    return [{}] + found + levels


class Processors(Case):
    def picks(self, environment, name, method, kernel):
        exemplars = "6" if name == "circle" else "12"
        options = ["--method", method, "-k", exemplars, "--seed", "1", "--json", "--quiet", *kernel]
        outcome = self.succeed("select", name + ".npy", *options, OMP_NUM_THREADS="1", **environment)
        answer = json.loads(outcome.out)
        return answer["exemplars"], answer["status"]

    def test_every_method_picks_the_same_points_everywhere(self):
        machines = processors()
        if len(machines) < 3:
            self.skipTest("this BLAS has no products of other processors")
        if campaign.SANITIZED:
            machines = machines[:3]
        names = []
        for name, rows in data_sets().items():
            self.write(name + ".npy", npy_bytes(rows, "<f4" if name == "single" else "<f8"))
            names.append(name)
        cases = [(m, ()) for m in METHODS] + [(m, ("--kernel", "rbf")) for m in ALSO_RBF]
        # In the tests every method on two kinds of data, and on each some of the other processors.
        whole = campaign.rounds(0)
        for number, (method, kernel) in enumerate(cases):
            for turn in range(whole or 2):
                name = names[(5 * number + 7 * turn) % len(names)]
                others = machines[1:] if whole else machines[1 + (number + turn) % 2 :: 2]
                if (method, name) in UNDECIDED:
                    continue
                expected = self.picks({}, name, method, kernel)
                for machine in others:
                    with self.subTest(data=name, method=method, kernel=kernel, machine=machine):
                        self.assertEqual(self.picks(machine, name, method, kernel), expected)


if __name__ == "__main__":
    campaign.main()
