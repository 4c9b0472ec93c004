"""What people get who give only k: exchange, with a kernel, a width and a factor that suit the points."""

import json
import random
import unittest

from helpers import FWSR, Case, npy_bytes, random_rows, read_npy

EXCHANGE, MIDDLE = ("--refine", "exchange"), ("--refine", "middle")
# All that is an answer: what was asked for and what the machine took is another matter.
ANSWER = ("exemplars", "weights", "strength", "status", "warnings", "assignment", "trace", "refinement", "certificate",
          "gamma", "beta", "kernel_rank", "kernel_error")


def sentence(kernel):
    middle = ", then to the middle" if kernel == "rbf" else ""
    return (f"by exchange, the default: fwsr with the {kernel} kernel, then exchange{middle}; "
            "--method fwsr and --method k-fwsr are the paper's")


def sparse_text(points, features, seed=1):
    """Three of the features for each point, as libsvm writes them."""
    bits = random.Random(seed)
    rows = (sorted(bits.sample(range(1, features + 1), 3)) for _ in range(points))
    return "".join("0 " + " ".join(f"{j}:{bits.randint(1, 9)}" for j in row) + "\n" for row in rows)


class Default(Case):
    def setUp(self):
        super().setUp()
        self.rows = random_rows(90, 8)
        self.write("set.npy", npy_bytes(self.rows))
        self.write("words.svm", sparse_text(80, 40))
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(90)))

    def json(self, name, k, *args, command="select"):
        return json.loads(self.succeed(command, name, "-k", str(k), *args, "--json", "--quiet").out)

    def planned(self, name, k, *args):
        """Kernel, where its values come from, and rank."""
        plan = self.json(name, k, "--dry-run", *args)["plan"]
        return plan["kernel"], plan["kernel_by"], plan["rank"]

    def assert_same(self, one, other):
        for key in ANSWER:
            self.assertEqual(one.get(key), other.get(key), key)

    def test_the_first_screen_says_which_method_it_was(self):
        for name, kernel, more in (("set.npy", "rbf", ()), ("words.svm", "linear", ()),
                                   ("words.svm", "rbf", ("--kernel", "rbf")), ("set.npy", "rbf", ("--rank", "30")),
                                   ("set.npy", "rbf", ("--labels", "y.txt", "--per-class"))):
            said = self.succeed("select", name, "-k", "4", *more).err
            self.assertIn(f"\n      {sentence(kernel)}\n", said)
        for method in ("exchange", "fwsr", "k-fwsr", "random"):
            self.assertNotIn("default", self.succeed("select", "set.npy", "-k", "4", "--method", method).err, method)
        self.assertEqual(self.succeed("select", "set.npy", "-k", "4", "--quiet").err, "")
        all_of_each = ("--labels", "y.txt", "--per-class", "-k", "80")  # no method was at work
        self.assertNotIn("default", self.succeed("select", "set.npy", *all_of_each).err)

    def test_the_kernel_suits_the_points(self):
        dense, sparse = self.json("set.npy", 5), self.json("words.svm", 5)
        self.assertEqual((dense["plan"]["method"], dense["plan"]["kernel"]), ("exchange", "rbf"))
        self.assertEqual((sparse["plan"]["method"], sparse["plan"]["kernel"]), ("exchange", "linear"))
        self.assertEqual((dense["plan"]["rank"], sparse["plan"]["rank"]), (0, 0))
        self.assertIsNone(sparse["gamma"])
        self.assertEqual((dense["plan"]["refine"], sparse["plan"]["refine"]), ("middle", "exchange"))
        for refine in ("exchange", "middle"):
            for name in ("set.npy", "words.svm"):
                named = self.json(name, 3, "--refine", refine)
                self.assertEqual((named["plan"]["refine"], named["options"]["refine"]), (refine, refine))
                self.assertEqual(named["refinement"]["middle_rounds"] > 0, refine == "middle")
        for result in (dense, sparse):
            self.assertEqual((result["options"]["kernel"], result["options"]["refine"]), ("auto", "auto"))
            self.assertNotIn("alpha", result["options"])
            self.assertTrue(result["refinement"]["local_optimum"])
        for kernel in ("rbf", "laplacian", "polynomial", "cosine"):
            for name in ("set.npy", "words.svm"):
                named = self.json(name, 3, "--kernel", kernel)
                self.assertEqual((named["plan"]["kernel"], named["options"]["kernel"]), (kernel, kernel))

    def test_the_width_is_that_of_far_pairs(self):
        squares = sorted(sum((a - b) ** 2 for a, b in zip(x, y))
                         for i, x in enumerate(self.rows) for y in self.rows[:i])
        gamma = self.json("set.npy", 3)["gamma"]
        self.assertAlmostEqual(gamma * squares[len(squares) * 9 // 10] / 2, 1, 9)
        self.assertEqual(self.json("set.npy", 3, "--method", "exchange")["gamma"], gamma)
        absolute = sorted(sum(abs(a - b) for a, b in zip(x, y)) for i, x in enumerate(self.rows) for y in self.rows[:i])
        gamma = self.json("set.npy", 3, "--kernel", "laplacian")["gamma"]
        self.assertAlmostEqual(gamma * absolute[len(absolute) * 9 // 10] / 2, 1, 9)
        # The paper's keeps the median.
        gamma = self.json("set.npy", 3, "--method", "k-fwsr")["gamma"]
        self.assertAlmostEqual(gamma * squares[len(squares) // 2], 1, 9)

    def test_a_width_or_a_rank_alone_means_rbf(self):
        for name in ("set.npy", "words.svm"):
            given = self.json(name, 4, "--gamma", "0.125")
            self.assertEqual((given["plan"]["kernel"], given["gamma"], given["options"]["kernel"]),
                             ("rbf", 0.125, "rbf"))
            given = self.json(name, 4, "--rank", "30")
            self.assertEqual((given["plan"]["kernel"], given["plan"]["kernel_by"], given["plan"]["rank"]),
                             ("rbf", "factor", 30))
            self.assertEqual((given["options"]["rank"], given["kernel_rank"]), (30, 30))

    def test_many_points_get_a_factor(self):
        rows = random_rows(4097, 3)
        self.write("many.npy", npy_bytes(rows))
        self.write("fewer.npy", npy_bytes(rows[:4096]))
        self.assertEqual(self.planned("fewer.npy", 5), ("rbf", "held", 0))
        for k, rank in ((5, 256), (64, 256), (65, 260), (256, 1024)):
            self.assertEqual(self.planned("many.npy", k), ("rbf", "factor", rank))
        for k in (257, 2000):  # a factor of more than a quarter of the points is more work than the kernel
            self.assertEqual(self.planned("many.npy", k), ("rbf", "held", 0))
        self.assertEqual(self.planned("many.npy", 5, "--rank", "90"), ("rbf", "factor", 90))
        self.assertEqual(self.planned("many.npy", 5, "--kernel", "laplacian"), ("laplacian", "factor", 256))
        self.assertEqual(self.planned("many.npy", 5, "--kernel", "cosine")[::2], ("cosine", 0))
        self.write("many.svm", sparse_text(4200, 40))
        self.assertEqual(self.planned("many.svm", 5)[::2], ("linear", 0))
        self.assertEqual(self.planned("many.svm", 5, "--kernel", "rbf"), ("rbf", "factor", 256))
        result = self.json("many.npy", 5)
        self.assertEqual((result["plan"]["rank"], result["options"]["rank"]), (256, 0))
        self.assertLessEqual(result["kernel_rank"], 256)
        said = self.succeed("select", "many.npy", "-k", "5").err
        self.assertIn(sentence("rbf"), said)
        self.assertRegex(said, r"kernel error .* rank \d+\n")

    def test_it_is_k_fwsr_with_that_width_exchange_and_the_middle(self):
        outputs = ("--assignment", "a.npy", "--codes", "c.npy")
        for more in ((), ("--ridge", "1"), ("--refine-rounds", "1"), ("--center", "feature", "--scale", "standard"),
                     ("--rank", "30"), ("--fill",), ("--lambda", "1", "--rho", "1")):
            one = self.json("set.npy", 6, *more, *outputs)
            codes = read_npy(self.path("c.npy"))
            other = self.json("set.npy", 6, "--method", "k-fwsr", *MIDDLE, "--gamma", repr(one["gamma"]), *more,
                              *outputs)
            self.assert_same(one, other)
            self.assertEqual(codes, read_npy(self.path("c.npy")))
        named = self.json("set.npy", 6, "--method", "exchange", *outputs)
        self.assert_same(named, self.json("set.npy", 6, *outputs))
        polynomial = ("--kernel", "polynomial")
        self.assert_same(self.json("set.npy", 6, *polynomial), self.json("set.npy", 6, *FWSR, *EXCHANGE, *polynomial))

    def test_of_sparse_points_it_is_fwsr_and_exchange(self):
        for more in ((), ("--center", "feature"), ("--ridge", "1")):
            self.assert_same(self.json("words.svm", 6, *more), self.json("words.svm", 6, *FWSR, *EXCHANGE, *more))

    def test_of_many_points_it_is_k_fwsr_through_that_factor(self):
        self.write("many.npy", npy_bytes(random_rows(4200, 4), "<f4"))
        one = self.json("many.npy", 70)
        self.assertEqual(one["plan"]["rank"], 280)
        self.assert_same(one, self.json("many.npy", 70, "--method", "k-fwsr", *MIDDLE, "--rank", "280", "--gamma",
                                        repr(one["gamma"])))

    def test_what_does_not_fit_is_told_the_method_that_takes_least(self):
        self.write("many.npy", npy_bytes(random_rows(5000, 100)))
        little = ("--memory", "20M", "--threads", "1", "-k", "5", "--quiet")
        refused = self.run_program("select", "many.npy", *little)
        self.assertEqual(refused.code, 1)
        self.assertIn("only 20.0 MiB may be used", refused.err)
        self.assertIn("or choose by method fwsr, which takes least", refused.err)
        self.succeed("select", "many.npy", *little, "--method", "fwsr")

    def test_a_kernel_given_is_taken_as_it_is(self):
        self.write("gram.npy", npy_bytes([[sum(a * b for a, b in zip(x, y)) for y in self.rows] for x in self.rows]))
        given = ("--kernel", "precomputed")
        one = self.json("gram.npy", 5, *given)
        self.assertEqual((one["plan"]["kernel"], one["plan"]["kernel_by"]), ("precomputed", "given"))
        self.assert_same(one, self.json("gram.npy", 5, *FWSR, *EXCHANGE, *given))

    def test_each_class_is_decided_by_itself(self):
        rows = random_rows(4250, 3, seed=4)
        kinds = ["b" if i % 28 == 0 else "a" for i in range(len(rows))]
        self.write("classes.npy", npy_bytes(rows))
        self.write("classes.txt", "".join(kind + "\n" for kind in kinds))
        ask = ("--labels", "classes.txt", "--per-class")
        found = self.json("classes.npy", "a=70,b=5", *ask)["classes"]
        self.assertEqual([(c["class"], c["plan"]["kernel_by"], c["plan"]["rank"]) for c in found],
                         [("a", "factor", 280), ("b", "held", 0)])
        planned = self.json("classes.npy", "a=70,b=5", *ask, "--dry-run")["classes"]
        self.assertEqual([c["plan"]["rank"] for c in planned], [280, 0])
        for one in found:
            members = [i for i, kind in enumerate(kinds) if kind == one["class"]]
            self.write("alone.npy", npy_bytes([rows[i] for i in members]))
            alone = self.json("alone.npy", one["wanted"])
            self.assertEqual(one["exemplars"], [members[e] for e in alone["exemplars"]])
            self.assertEqual(one["gamma"], alone["gamma"])
        self.write("sparse.txt", "".join("ab"[i % 2] + "\n" for i in range(80)))
        sparse = self.json("words.svm", 3, "--labels", "sparse.txt", "--per-class")["classes"]
        self.assertEqual([c["plan"]["kernel"] for c in sparse], ["linear", "linear"])

    def test_inspect_tells_what_select_would_do(self):
        self.write("many.npy", npy_bytes(random_rows(4200, 4)))
        for name, kernel, rank in (("set.npy", "rbf", 0), ("words.svm", "linear", 0), ("many.npy", "rbf", 256)):
            inspected = json.loads(self.succeed("inspect", name, "-k", "7", "--json").out)["plan"]
            self.assertEqual((inspected["method"], inspected["kernel"], inspected["rank"]), ("exchange", kernel, rank))
            planned = self.json(name, 7, "--dry-run")["plan"]
            planned.pop("seconds"), inspected.pop("seconds")
            self.assertEqual(inspected, planned)
            text = self.succeed("inspect", name, "-k", "7").out
            self.assertIn("What fwsr select would do by default with -k 7:\n", text)
            self.assertRegex(text, r"(?m)^time .* to exchange, ")

    def test_help_and_lists_name_it(self):
        text = " ".join(self.succeed("select", "--help").out.split())
        self.assertIn("exchange, fwsr or k-fwsr (the paper's)", text)
        self.assertIn("(default exchange)", text)
        self.assertRegex(self.succeed("methods").out, r"\Aexchange: ")
        self.assertIn("(the default)", self.succeed("methods", "exchange").out)


if __name__ == "__main__":
    unittest.main()
