"""Methods by name and comparisons, end to end."""

import csv
import io
import json
import os
import unittest

from helpers import FWSR, Case, npy_bytes, random_rows


class Methods(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(60, 5)))
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(60)))

    def json(self, *args):
        return json.loads(self.succeed(*args, "--json", "--quiet").out)

    def names(self):
        text = self.succeed("methods").out
        return [line.split(":")[0] for line in text.splitlines() if line and line[0] != " "]

    def test_every_listed_method_can_be_run(self):
        names = self.names()
        self.assertIn("random", names)
        for name in names:
            result = self.json("select", "set.npy", "-k", "4", "--method", name)
            self.assertEqual(len(set(result["exemplars"])), 4, name)
            self.assertEqual(result["options"]["method"], name)
            self.assertEqual(result["plan"]["method"], name)
            self.assertEqual(sum(result["weights"]), 60, name)
            self.assertIn(name, self.succeed("methods", name).out)

    def test_a_seed_gives_the_same_answer_and_another_one_another(self):
        draw = lambda seed: self.json("select", "set.npy", "-k", "4", "--method", "random",
                                      "--seed", seed)["exemplars"]
        self.assertEqual(draw("5"), draw("5"))
        self.assertNotEqual(draw("5"), draw("6"))

    def test_settings_of_fwsr_are_its_options(self):
        by_flag = self.json("select", "set.npy", "-k", "4", *FWSR, "--alpha", "3", "--eta-relative", "0.5")
        by_name = self.json("select", "set.npy", "-k", "4", "--method",
                            "fwsr:alpha=3:eta-relative=0.5")
        self.assertEqual(by_flag["trace"], by_name["trace"])

    def test_what_a_method_would_ignore_is_refused(self):
        for args, words in (
                (["--method", "randon"], ["did you mean random?"]),
                (["--method", "random", "--alpha", "3"], ["--alpha", "not of random"]),
                (["--method", "random:alpha=3"], ["no setting 'alpha'"]),
                (["--method", "random:alpha"], ["is no setting"]),
                (["--method", "fwsr:alpha=x"], ["not a number"]),
                (["--method", "fwsr:alhpa=1"], ["did you mean alpha?"]),
                (["--method", "k-fwsr", "--kernel", "linear"], ["other than linear"]),
                (["--method", "k-fwsr:kernel=linear"], ["other than linear"]),
                (["--method", "exchange:kernel=linear"], ["other than linear", "--method fwsr --refine exchange"]),
                (["--method", "exchange:refine=none"], ["exchange exchanges exemplars"]),
                (["--method", "exchange:eta=1"], ["eta is an option of fwsr, not of exchange; leave it out, or"]),
                (["--method", "exchange:ridge"], ["write exchange:ridge=0.5"]),
                (["--method", "exchange:gamma=1", "--gamma", "2"], ["given twice"]),
                (["--method", "random", "--codes", "c.npy"], ["no codes"]),
                (["--method", "fwsr:alpha=5", "--alpha", "6"], ["given twice"]),
                (["--seed", "-1"], ["--seed"])):
            outcome = self.run_program("select", "set.npy", "-k", "3", *args)
            self.assertEqual(outcome.code, 2, (args, outcome))
            for word in words:
                self.assertIn(word, outcome.err, args)

    def test_settings_that_the_points_do_not_allow_are_warned_of(self):
        self.write("few.npy", npy_bytes(random_rows(30, 5)))
        for method, said in (("ssc-omp:clusters=31", "clusters is 31, and there are 30 points"),
                             ("leverage:rank=100", "no more than 5 singular vectors"),
                             ("ssc-omp:clusters=30", ""), ("leverage:rank=5", "")):
            warnings = " ".join(self.json("select", "few.npy", "-k", "4", "--method", method)["warnings"])
            self.assertEqual(bool(said), "ask for fewer" in warnings, (method, warnings))
            self.assertIn(said, warnings)

    def test_what_is_done_to_points_cannot_be_done_to_dissimilarities(self):
        self.write("d.npy", npy_bytes([[0, 1, 2], [1, 0, 3], [2, 3, 0]]))
        method = ["select", "d.npy", "-k", "2", "--method", "kmedoids:metric=precomputed"]
        self.assertEqual(self.json(*method)["facts"]["cost"], 1)
        by_greed = self.json("select", "d.npy", "-k", "2", "--method", "facility:metric=precomputed")
        self.assertEqual(sum(by_greed["weights"]), 3)
        for extra in (["--fill"], ["--center", "feature"], ["--scale", "unit"], ["--kernel", "rbf"]):
            outcome = self.run_program(*method, *extra)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn("matrix of dissimilarities", outcome.err)
        outcome = self.succeed("compare", "d.npy", "-k", "2", "--methods",
                               "kmedoids:metric=precomputed,random")
        self.assertIn("refused", outcome.out)

    def test_dry_run_says_what_a_method_takes(self):
        out = self.succeed("select", "set.npy", "-k", "3", "--method", "random", "--dry-run").out
        self.assertIn("random", out)
        self.assertIn("memory", out)
        self.assertRegex(out, r"(?m)^time +about \S+ s with \d+ threads?$")

    def test_dry_runs_say_how_long_by_parts(self):
        ask = ["select", "set.npy", "-k", "3", "--dry-run"]
        for words, exchanges in ((ask, True), ([*ask, *FWSR], False), ([*ask, "--method", "k-fwsr"], False),
                                 (["inspect", "set.npy"], True)):
            self.assertRegex(self.succeed(*words).out, r"(?m)^time +about .*: .* to set up, .* for the steps, "
                             + r"\S+ s to exchange, " * exchanges + r"\S+ s for weights and certificate$")
            seconds = json.loads(self.succeed(*words, "--json").out)["plan"]["seconds"]
            self.assertAlmostEqual(seconds["all"], sum(s for part, s in seconds.items() if part != "all"))
            self.assertGreater(min(s for part, s in seconds.items() if part != "exchange"), 0)
            self.assertEqual(seconds["exchange"] > 0, exchanges)
        sweep = json.loads(self.succeed("sweep", "set.npy", "-k", "3", "--alphas", "2,10", "--dry-run", "--json").out)
        self.assertGreater(sweep["plan"]["seconds"], sweep["plan"]["each"]["seconds"]["all"])


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(60, 5)))
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(60)))

    def test_table_csv_and_json_say_the_same(self):
        args = ["compare", "set.npy", "--labels", "y.txt", "-k", "4", "--methods", "fwsr,random",
                "--repeats", "3"]
        table = self.succeed(*args).out.splitlines()
        self.assertEqual(table.pop(0), "60 points of 5 features, as they are; k = 4")
        self.assertEqual([line.split()[0] for line in table], ["method", "fwsr", "random"])
        for title in ("rec. error", "medoid cost", "radius", "MMD", "classes", "1-NN", "seconds"):
            self.assertIn(title, table[0])
        rows = list(csv.DictReader(io.StringIO(self.succeed(*args, "-o", "-").out)))
        self.assertEqual([r["runs"] for r in rows], ["1", "3"])
        self.succeed(*args, "-o", "table.json")
        result = json.loads(self.read("table.json"))
        for row, method in zip(rows, result["methods"]):
            mean = method["measures"]["reconstruction_error"]["mean"]
            self.assertEqual(float(row["reconstruction_error"]), mean)
            errors = [r["reconstruction_error"] for r in method["runs"]]
            self.assertAlmostEqual(sum(errors) / len(errors), mean, 12)
        self.assertEqual(rows[0]["picks"].split(), [str(e) for e in
                                                    result["methods"][0]["runs"][0]["exemplars"]])

    def test_memory_does_not_depend_on_the_order(self):
        def measured(names):
            out = self.succeed("compare", "set.npy", "-k", "4", "--methods", ",".join(names), "--repeats", "1",
                               "--threads", "1", "--json").out
            return {m["name"]: m["measures"]["peak_bytes"]["mean"] for m in json.loads(out)["methods"]}

        names = ["fwsr", "k-fwsr", "kmedoids", "rrqr", "random"]
        there, back = measured(names), measured(names[::-1])
        if os.environ.get("FWSR_SANITIZE"):
            self.skipTest("sanitizers have an operator new of their own")
        self.assertNotIn(None, there.values())
        for name in names:
            self.assertAlmostEqual(there[name], back[name], delta=0.01 * there[name] + 4096, msg=name)

    def test_picks_are_those_of_select(self):
        chosen = json.loads(self.succeed("select", "set.npy", "-k", "4", *FWSR, "--center", "none", "--json",
                                         "--quiet").out)
        row = list(csv.DictReader(io.StringIO(
            self.succeed("compare", "set.npy", "-k", "4", "--methods", "fwsr", "-o", "-").out)))[0]
        self.assertEqual(row["picks"].split(), [str(e) for e in chosen["exemplars"]])
        self.assertAlmostEqual(float(row["reconstruction_error"]),
                               chosen["certificate"]["reconstruction_error"], 12)

    def test_all_methods_run_per_class(self):
        rows = list(csv.DictReader(io.StringIO(
            self.succeed("compare", "set.npy", "--labels", "y.txt", "--per-class", "-k", "3",
                         "--methods", "all", "--repeats", "2", "-o", "-").out)))
        self.assertGreater(len(rows), 2)
        for row in rows:
            self.assertEqual((row["outcome"], row["exemplars"]), ("done", "6"), row)
            self.assertEqual(float(row["class_coverage"]), 1)

    def test_methods_that_do_not_fit_are_listed(self):
        outcome = self.succeed("compare", "set.npy", "-k", "4", "--methods", "fwsr,random",
                               "--time-limit", "0.00000001")
        self.assertIn("no time", outcome.out)
        self.assertIn("fwsr has no answer: not run: it would take about", outcome.err)
        outcome = self.succeed("compare", "set.npy", "-k", "4", "--methods", "fwsr,random",
                               "--memory", "20K")
        self.assertIn("no memory", outcome.out)

    def test_wrong_use_is_told(self):
        for args, word in ((["--methods", "fwsr,,random"], "a name is missing"),
                           (["--methods", "fwrs"], "did you mean fwsr?"),
                           (["--repeats", "0"], "--repeats"), (["--time-limit", "0"], "positive"),
                           (["--per-class"], "needs labels"),
                           (["--kernel", "linear"], "leave it out for rbf")):
            outcome = self.run_program("compare", "set.npy", "-k", "3", *args)
            self.assertEqual(outcome.code, 2, (args, outcome))
            self.assertIn(word, outcome.err)


if __name__ == "__main__":
    unittest.main()
