"""The same answers whatever instructions of the processor are used: FWSR_CPU takes each level there is."""

import json
import unittest

from helpers import FWSR, Case, npy_bytes, random_rows

LEVELS = ("baseline", "avx2", "avx512", "amx")
# What rounding may move of f and of the reconstruction error: float32 products are promised to 1e-6 f(0),
# products in double lose ten digits at the worst (docs/forms.md).
NEAR = {"<f4": 1e-5, "<f8": 1e-9}
CASES = {
    "covariance": [*FWSR],
    "covariance, centred and scaled": [*FWSR, "--center", "feature", "--scale", "standard"],
    "representer": [*FWSR, "--kernel", "rbf"],
    "laplacian": [*FWSR, "--kernel", "laplacian"],
    "factor": [*FWSR, "--kernel", "rbf", "--rank", "60"],
    "large alpha": [*FWSR, "--alpha", "50", "--eta-relative", "0.3"],
    "default": [],
    "default, factor": ["--rank", "60"],
    "greedy-cssp": ["--method", "greedy-cssp"],
}
SLOW_CASES = {
    "gradient": [*FWSR, "--q", "1"],
    "ds3": ["--method", "ds3"],
    "kmedoids": ["--method", "kmedoids"],
}


class Levels(Case):
    def environment(self, **changes):
        env = super().environment(**changes)
        if "OPENBLAS_CORETYPE" not in changes:  # who sets it chooses the kernels of BLAS himself
            env.pop("OPENBLAS_CORETYPE", None)
        return env

    def run_at(self, level, *args, **changes):
        return self.run_program(*args, FWSR_CPU=level, **changes)

    def there(self):
        return [level for level in LEVELS if self.run_at(level, "--version").code == 0]

    def answer(self, level, *args, **changes):
        outcome = self.run_at(level, "select", *args, "--json", "--quiet", **changes)
        self.assertEqual(outcome.code, 0, outcome)
        return json.loads(outcome.out)

    def test_every_level_chooses_the_same_points(self):
        levels = self.there()
        for type_code, near in NEAR.items():
            # Enough features for the matrix unit, enough points for several blocks.
            self.write("many.npy", npy_bytes(random_rows(700, 100, seed=5), type_code))
            self.write("few.npy", npy_bytes(random_rows(80, 12, seed=5), type_code))
            for name, extra in {**CASES, **SLOW_CASES}.items():
                points = "many.npy" if name in CASES else "few.npy"
                with self.subTest(type=type_code, case=name):
                    runs = [self.answer(level, points, "-k", "9", *extra) for level in levels]
                    for level, run in zip(levels[1:], runs[1:]):
                        self.assert_same(run, runs[0], near, level)

    def assert_same(self, run, first, near, level):
        self.assertEqual(run["exemplars"], first["exemplars"], level)
        for key in ("reconstruction_error", "f"):
            one, other = run["certificate"][key], first["certificate"][key]
            if key == "f" and run["plan"]["method"] not in ("exchange", "fwsr", "k-fwsr"):
                continue  # f is that of the paper's problem
            self.assertAlmostEqual(one / other, 1, delta=near, msg=f"{level} {key}")

    def test_the_number_of_threads_changes_no_bit_at_any_level(self):
        self.write("points.npy", npy_bytes(random_rows(1500, 30, seed=6), "<f4"))
        for level in self.there():
            for extra in (FWSR, (*FWSR, "--kernel", "rbf"), ()):
                runs = [self.answer(level, "points.npy", "-k", "9", "--memory", "1G", *extra,
                                    "--threads", threads) for threads in ("1", "2", "8")]
                self.assertEqual([r["threads"] for r in runs], [1, 2, 8])
                for run in runs[1:]:
                    for key in ("exemplars", "weights", "strength", "trace", "certificate"):
                        self.assertEqual(run[key], runs[0][key], (level, key))

    def test_the_version_names_the_level_and_the_kernels_of_blas(self):
        levels = self.there()
        self.assertEqual(levels, list(LEVELS[: len(levels)]))  # each has those before it
        most = levels[-1]
        for level in levels:
            said = self.run_at(level, "--version").out
            self.assertIn(f"\nprocessor {level}" + ("\n" if level == most else " (by FWSR_CPU; "
                                                    f"{most} is there)\n"), said)
            self.assertEqual("matrix unit" in said, level == "amx")
        if "DYNAMIC_ARCH" in said and len(levels) > 1:
            self.assertIn("Prescott", self.run_at("baseline", "--version").out)
            self.assertIn("Nehalem", self.run_at("baseline", "--version",
                                                 OPENBLAS_CORETYPE="Nehalem").out)
        self.assertIn(f"\nprocessor {most}\n", self.run_at("", "--version").out)

    def test_what_is_no_level_or_not_there_is_said_before_any_work(self):
        for args in (["--version"], ["select", "absent.npy", "-k", "3"], ["methods"]):
            outcome = self.run_at("fast", *args)
            self.assertEqual((outcome.code, outcome.out), (2, ""), outcome)
            self.assertEqual(outcome.err, "fwsr: FWSR_CPU is 'fast'; choose from baseline, avx2, avx512 "
                                          "and amx, or unset it\n")
        self.assertEqual(self.run_at("fast", "--help").code, 0)
        for level in set(LEVELS) - set(self.there()):
            outcome = self.run_at(level, "select", "digits", "-k", "3")
            self.assertEqual((outcome.code, outcome.out), (2, ""), outcome)
            self.assertIn(f"FWSR_CPU is {level}, but this processor has {self.there()[-1]} at most",
                          outcome.err)


if __name__ == "__main__":
    unittest.main()
