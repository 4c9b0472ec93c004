"""Conditions on the command line: the commands of docs/conditions.md, what files may hold, and what is refused."""

import csv
import json
import os
import random
import re
import shlex
import subprocess
import unittest

from helpers import PROGRAM, Case, npy_bytes, random_rows

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "conditions.md")


def commands():
    """Those of the page, in their order."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```sh\n(.*?)```", file.read(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


class Conditions(Case):
    def setUp(self):
        super().setUp()
        bits = random.Random(1)
        rows = random_rows(80, 12, seed=1)
        self.sites = [bits.choice("abc") for _ in rows]
        self.prices = [1 + bits.random() * 9 for _ in rows]
        lines = [",".join(f"f{j}" for j in range(12)) + ",site,price"]
        lines += [f"{','.join(map(str, row))},{s},{p}"
                  for row, s, p in zip(rows, self.sites, self.prices)]
        self.put("points.csv", "\n".join(lines) + "\n")
        self.put("broken.txt", "3\n17\n")
        for name, seed in (("archive.npy", 2), ("new.npy", 3)):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(npy_bytes(random_rows(60, 12, seed=seed)))

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def do(self, line):
        words = shlex.split(line)
        self.assertEqual(words[0], "fwsr")
        return subprocess.run([PROGRAM, *words[1:]], cwd=self.folder, capture_output=True, text=True)

    def picks(self, line):
        ran = self.do(line)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return list(csv.DictReader(ran.stdout.splitlines()))

    def indices(self, line):
        return [int(p["index"]) for p in self.picks(line)]

    def test_the_commands_of_the_page_run(self):
        self.assertGreaterEqual(len(commands()), 9)
        for line in commands():
            ran = self.do(line)
            self.assertEqual(ran.returncode, 0, f"{line}\n{ran.stderr}")

    def test_lists_may_be_rows_ids_results_and_arrays(self):
        plain = "fwsr select points.csv --method fwsr -k 4 --exclude-columns site,price --quiet"
        first = self.indices(plain)
        self.do(plain + " -o picks.csv")
        self.do(plain + " -o picks.json")
        self.put("rows.txt", "\n".join(map(str, first)) + "\n")
        with open(os.path.join(self.folder, "rows.npy"), "wb") as file:
            file.write(npy_bytes(first, "<i8"))
        others = [self.indices(f"{plain} --exclude {name}")
                  for name in ("picks.csv", "picks.json", "rows.txt", "rows.npy")]
        self.assertFalse(set(others[0]) & set(first))
        for other in others[1:]:
            self.assertEqual(other, others[0])
        included = self.picks(plain + " --include picks.csv")
        self.assertEqual([int(p["index"]) for p in included[:4]], first)
        self.assertEqual([p["included"] for p in included], ["yes"] * 4 + ["no"] * 4)
        ids = "fwsr select named.csv --method fwsr -k 4 --id-column name --quiet"
        rows = random_rows(20, 8, seed=5)
        self.put("named.csv", "name," + ",".join(f"f{j}" for j in range(8)) + "\n" + "".join(
            f"p{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows)))
        self.put("ids.txt", "p4\np7\n")
        self.put("numbers.txt", "4\n7\n")
        self.assertEqual(self.indices(ids + " --include ids.txt"), self.indices(ids + " --include numbers.txt"))

    def test_the_default_keeps_conditions_and_says_that_it_exchanged(self):
        line = "fwsr select points.csv -k 6 --exclude-columns site,price --quiet --json"
        plain = json.loads(self.do(line).stdout)
        first = plain["exemplars"]
        self.put("first.txt", "\n".join(map(str, first)) + "\n")
        without = json.loads(self.do(line + " --exclude first.txt").stdout)
        self.assertFalse(set(first) & set(without["exemplars"]))
        self.assertTrue(without["refinement"]["local_optimum"])
        self.assertEqual(without["options"]["method"], "exchange")
        # Excluding nobody changes nothing.
        self.put("ones.txt", "1\n" * 80)
        self.assertEqual(json.loads(self.do(line + " --weights ones.txt").stdout)["exemplars"], first)
        more = json.loads(self.do(line + " --include first.txt").stdout)
        self.assertEqual(more["exemplars"][:6], first)
        self.assertEqual(more["included"], [True] * 6 + [False] * 6)
        self.put("groups.txt", "\n".join(self.sites) + "\n")
        self.put("prices.txt", "\n".join(map(str, self.prices)) + "\n")
        chosen = json.loads(self.do(line + " --groups groups.txt --at-least 1 --at-most 2").stdout)["exemplars"]
        self.assertEqual([sum(self.sites[i] == s for i in chosen) for s in "abc"], [2, 2, 2])
        paid = json.loads(self.do(line.replace("-k 6", "") + " --cost prices.txt --budget 15").stdout)
        self.assertLessEqual(sum(self.prices[i] for i in paid["exemplars"]), 15)
        enough = json.loads(self.do(line.replace("-k 6", "-k 60") + " --until-error 0.5").stdout)
        self.assertEqual(enough["status"], "error_reached")
        self.assertLessEqual(enough["certificate"]["reconstruction_error"], 0.5)

    def test_the_page_lists_what_methods_take(self):
        with open(PAGE, encoding="utf-8") as file:
            rows = re.findall(r"^\| (`[^|]*) \| ([a-z_, ]+) \|$", file.read(), re.MULTILINE)
        told = {name: conditions.strip() for names, conditions in rows for name in re.findall("`([^`]+)`", names)}
        text = subprocess.run([PROGRAM, "methods"], capture_output=True, text=True).stdout
        found = {}
        for part in text.split("\n\n"):
            words = re.search(r"under conditions: (.*)", " ".join(part.split()))
            if words:
                found[part.split(":")[0]] = re.match(r"([a-z_]+(, | and )?)+", words[1])[0]
        self.assertEqual(set(told), set(found))
        for name, conditions in told.items():
            self.assertTrue(all(c in found[name] for c in conditions.split(", ")), name)
            self.assertEqual(len(conditions.split(", ")), len(re.split(", | and ", found[name])), name)

    def test_other_methods_keep_what_they_take(self):
        line = "fwsr select points.csv -k 4 --exclude-columns site,price --quiet --method "
        self.put("groups.txt", "\n".join(self.sites) + "\n")
        for method in ("random", "k-center", "rrqr", "omp", "greedy-cssp:mu=0.1"):
            with self.subTest(method=method):
                first = self.indices(line + method)
                self.put("first.txt", "\n".join(map(str, first)) + "\n")
                self.assertFalse(set(first) & set(self.indices(f"{line}{method} --exclude first.txt")))
                more = self.indices(f"{line}{method} --include first.txt")
                self.assertEqual((more[:4], len(set(more))), (first, 8))
                chosen = self.indices(f"{line}{method} --groups groups.txt --at-least 1 --at-most 2")
                self.assertTrue(all(1 <= sum(self.sites[i] == s for i in chosen) <= 2 for s in "abc"))

    def test_floors_caps_and_budget_are_kept(self):
        line = "fwsr select points.csv --method fwsr --quiet --exclude-columns price --group-column site"
        chosen = self.indices(line + " -k 8 --at-most 3 --at-least 2")
        counts = [sum(self.sites[i] == s for i in chosen) for s in "abc"]
        self.assertTrue(all(2 <= c <= 3 for c in counts), counts)
        line = "fwsr select points.csv --method fwsr --exclude-columns site --cost-column price --budget 20 --json"
        result = json.loads(self.do(line).stdout)
        self.assertEqual(result["status"], "budget_spent")
        self.assertLessEqual(sum(self.prices[i] for i in result["exemplars"]), 20)
        self.assertIsNone(result["options"]["exemplars"])

    def test_weights_of_one_change_nothing(self):
        line = "fwsr select points.csv --method fwsr -k 5 --exclude-columns site,price --quiet"
        self.put("ones.txt", "1\n" * 80)
        self.put("some.txt", "".join(f"{i % 3}\n" for i in range(80)))
        self.assertEqual(self.do(line).stdout, self.do(line + " --weights ones.txt").stdout)
        self.assertNotEqual(self.do(line).stdout, self.do(line + " --weights some.txt").stdout)

    def test_representing_the_same_set_is_the_plain_run(self):
        line = "fwsr select archive.npy --method fwsr -k 5 --quiet"
        self.assertEqual(self.do(line).stdout, self.do(line + " --represent archive.npy").stdout)
        self.assertLess(max(self.indices(line + " --represent new.npy")), 60)

    def test_update_is_including_the_exemplars_of_the_old_data(self):
        self.do("fwsr select archive.npy --method fwsr -k 4 -o old.json --quiet")
        with open(os.path.join(self.folder, "old.json"), encoding="utf-8") as file:
            chosen = json.load(file)["exemplars"]
        rows = random_rows(60, 12, seed=2)
        with open(os.path.join(self.folder, "old.npy"), "wb") as file:
            file.write(npy_bytes([rows[i] for i in chosen]))
        update = self.do("fwsr update old.json new.npy --method fwsr -k 3 --quiet")
        self.assertEqual(update.returncode, 0, update.stderr)
        self.assertEqual(update.stdout, self.do(
            "fwsr select new.npy --method fwsr -k 3 --include-points old.npy --quiet").stdout)

    def test_an_update_keeps_the_ids_of_what_was_there(self):
        for name, first, seed in (("january.csv", "j", 5), ("february.csv", "f", 6)):
            self.put(name, "name," + ",".join(f"x{j}" for j in range(8)) + "\n" + "".join(
                f"{first}{i},{','.join(map(str, row))}\n" for i, row in enumerate(random_rows(40, 8, seed=seed))))
        self.do("fwsr select january.csv --id-column name --method fwsr -k 3 -o january.json --quiet")
        with open(os.path.join(self.folder, "january.json"), encoding="utf-8") as file:
            old = json.load(file)["ids"]
        both = json.loads(self.do("fwsr update january.json february.csv --id-column name -k 2 --json --quiet").stdout)
        there = [name for name, included in zip(both["ids"], both["included"]) if included]
        self.assertEqual(there, old)
        self.assertTrue(all(name[0] == "f" for name in both["ids"] if name not in old), both["ids"])

    def test_update_is_by_the_default_method_and_knows_when_the_old_data_changed(self):
        self.do("fwsr select archive.npy -k 4 -o old.json --quiet")
        update = self.do("fwsr update old.json new.npy -k 3 --json --quiet")
        self.assertEqual(update.returncode, 0, update.stderr)
        self.assertEqual(json.loads(update.stdout)["options"]["method"], "exchange")
        with open(os.path.join(self.folder, "archive.npy"), "wb") as file:
            file.write(npy_bytes(random_rows(50, 12)))
        update = self.do("fwsr update old.json new.npy -k 3")
        self.assertEqual(update.returncode, 1)
        self.assertIn("archive.npy with 60 points of 12 features, and there are 50 of 12 now", update.stderr)

    def test_an_update_knows_the_old_exemplars_again(self):
        self.do("fwsr select archive.npy -k 4 -o old.json --quiet")
        rows = random_rows(60, 12, seed=2)
        with open(os.path.join(self.folder, "archive.npy"), "wb") as file:
            file.write(npy_bytes(rows[::-1]))
        update = self.do("fwsr update old.json new.npy -k 3")
        self.assertEqual((update.returncode, update.stdout), (1, ""))
        self.assertIn("has other numbers in archive.npy now than when it was chosen", update.stderr)
        with open(os.path.join(self.folder, "old.json"), encoding="utf-8") as file:
            old = json.load(file)
        with open(os.path.join(self.folder, "archive.npy"), "wb") as file:
            file.write(npy_bytes(rows))
        self.assertEqual(self.do("fwsr update old.json new.npy -k 3 --quiet").returncode, 0)
        for part, words in (("reading", "does not say how its data was read"),
                            ("checksums", "does not say what its exemplars were")):
            short = {**old, "data": {k: v for k, v in old["data"].items() if k != part}}
            self.put("short.json", json.dumps(short))
            update = self.do("fwsr update short.json new.npy -k 3")
            self.assertEqual(update.returncode, 1)
            self.assertIn(words, update.stderr)

    def test_the_old_data_is_read_as_it_was(self):
        lines = ["name,junk,a,b,c"] + [f"p{i},{i * 7 % 5},{','.join(map(str, row))}"
                                       for i, row in enumerate(random_rows(40, 3, seed=5))]
        self.put("old.csv", "\n".join(lines) + "\n")
        with open(os.path.join(self.folder, "narrow.npy"), "wb") as file:
            file.write(npy_bytes(random_rows(40, 3, seed=6)))
        self.do("fwsr select old.csv --id-column name --exclude-columns junk -k 3 --method fwsr -o old.json --quiet")
        update = self.do("fwsr update old.json narrow.npy -k 2 --quiet --json")
        self.assertEqual(update.returncode, 0, update.stderr)
        # By their ids, wherever they stand.
        self.put("old.csv", "\n".join([lines[0]] + lines[:0:-1]) + "\n")
        self.assertEqual(self.do("fwsr update old.json narrow.npy -k 2 --quiet").stdout,
                         self.do("fwsr select narrow.npy --method fwsr -k 2 --include-points old.json --quiet").stdout)
        # New data in a table, old data without columns to name.
        self.put("new.csv", "\n".join(lines) + "\n")
        self.do("fwsr select narrow.npy -k 3 --method fwsr -o narrow.json --quiet")
        update = self.do("fwsr update narrow.json new.csv --id-column name --columns a-c -k 2 --quiet")
        self.assertEqual(update.returncode, 0, update.stderr)

    def test_an_update_keeps_method_kernel_and_options_unless_others_are_given(self):
        def options(line):
            ran = self.do(line + " --json --quiet")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            return json.loads(ran.stdout)["options"]
        for first, kept in (
                ("--method fwsr --alpha 3 --scale unit --eta-relative 0.5",
                 {"method": "fwsr", "alpha": 3, "scale": "unit", "eta": 0.5, "eta_relative": True}),
                ("--method k-fwsr --kernel laplacian --gamma 0.25", {"method": "k-fwsr", "kernel": "laplacian",
                                                                    "gamma": 0.25}),
                ("--method greedy-cssp:mu=0.25 --center feature", {"method": "greedy-cssp", "center": "feature",
                                                                   "settings": {"mu": 0.25}}),
                ("--method omp:normalize=yes --seed 9",
                 {"method": "omp", "seed": 9, "settings": {"normalize": True, "mu": 0.0}})):
            with self.subTest(first=first):
                self.do(f"fwsr select archive.npy -k 4 {first} -o old.json --quiet")
                now = options("fwsr update old.json new.npy -k 2")
                self.assertEqual({name: now[name] for name in kept}, kept)
        self.do("fwsr select archive.npy -k 4 -o old.json --quiet")
        with open(os.path.join(self.folder, "old.json"), encoding="utf-8") as file:
            width = json.load(file)["gamma"]
        now = options("fwsr update old.json new.npy -k 2")
        self.assertEqual((now["method"], now["kernel"], now["gamma"]), ("exchange", "rbf", width))
        now = options("fwsr update old.json new.npy -k 2 --gamma 0.5")
        self.assertEqual((now["kernel"], now["gamma"]), ("rbf", 0.5))
        now = options("fwsr update old.json new.npy -k 2 --method fwsr --kernel linear")
        self.assertEqual((now["method"], now["kernel"]), ("fwsr", "linear"))
        self.do("fwsr select archive.npy --method kmedoids -k 4 -o old.json --quiet")
        update = self.do("fwsr update old.json new.npy -k 2")
        self.assertEqual(update.returncode, 2)
        self.assertIn("kmedoids does not choose under the condition", update.stderr)

    def test_the_result_of_an_update_is_a_list_for_include(self):
        self.do("fwsr select archive.npy --method fwsr -k 4 -o first.json --quiet")
        self.do("fwsr update first.json new.npy -k 3 -o both.json --quiet")
        with open(os.path.join(self.folder, "both.json"), encoding="utf-8") as file:
            both = json.load(file)
        more = json.loads(self.do(
            "fwsr select new.npy --method fwsr -k 2 --include both.json --json --quiet").stdout)
        self.assertEqual(sorted(e for e, i in zip(more["exemplars"], more["included"]) if i),
                         sorted(both["exemplars"]))
        self.put("more.json", json.dumps(more))
        third = self.do("fwsr update more.json archive.npy -k 1 --quiet --json")
        self.assertEqual(third.returncode, 0, third.stderr)
        self.assertEqual(sum(json.loads(third.stdout)["included"]), 9)
        # Whom another file holds can be neither chosen nor left out.
        for name in ("--exclude", "--candidates"):
            found = self.indices(f"fwsr select new.npy --method fwsr -k 2 {name} both.json --quiet")
            own = [e for e in both["exemplars"] if e < 60]
            self.assertEqual(all(i in own for i in found), name == "--candidates")

    def test_messages_about_a_list_name_the_list(self):
        self.put("minus.txt", "1\n-1\n" + "1\n" * 58)
        self.put("empty.txt", "\n")
        self.put("twice.txt", "4\n5\n4\n")
        self.put("five.txt", "5\n")
        self.put("tiny.txt", "1\n1e-120\n" + "1\n" * 58)
        line = "fwsr select new.npy --method fwsr -k 2 "
        for given, words in (
                ("--weights minus.txt", "fwsr: minus.txt: the weight of point 1 is -1"),
                ("--weights empty.txt", "fwsr: empty.txt: is empty; it needs a weight for every point"),
                ("--cost empty.txt", "fwsr: empty.txt: is empty; it needs a cost for every point"),
                ("--groups empty.txt --at-most 1", "fwsr: empty.txt: is empty; it needs a group for every point"),
                ("--cost minus.txt", "fwsr: minus.txt: the cost of point 1 is -1"),
                ("--cost tiny.txt", "fwsr: tiny.txt: the cost of point 1 is 1e-120"),
                ("--include twice.txt", "fwsr: twice.txt: entry 3 is row 4, as entry 1 is; list it once"),
                ("--include five.txt --exclude twice.txt",
                 "fwsr: twice.txt: row 5 is to be excluded, and five.txt includes it")):
            with self.subTest(given=given):
                ran = self.do(line + given)
                self.assertEqual((ran.returncode, ran.stdout), (1, ""))
                self.assertTrue(ran.stderr.startswith(words), ran.stderr)

    def test_a_number_beside_an_error_to_reach_is_a_limit(self):
        few = self.indices("fwsr select new.npy --method fwsr -k 500 --until-error 0.3 --quiet")
        self.assertLess(len(few), 20)
        self.assertEqual(self.do("fwsr select new.npy --method fwsr -k 500 --quiet").returncode, 2)

    def test_an_update_of_an_update_includes_all_that_were_chosen(self):
        self.do("fwsr select archive.npy -k 4 -o first.json --quiet")
        self.do("fwsr update first.json new.npy -k 3 -o second.json --quiet")
        with open(os.path.join(self.folder, "third.npy"), "wb") as file:
            file.write(npy_bytes(random_rows(60, 12, seed=4)))
        third = self.do("fwsr update second.json third.npy -k 2 --quiet --json")
        self.assertEqual(third.returncode, 0, third.stderr)
        result = json.loads(third.stdout)
        self.assertEqual((result["exemplars"][:7], len(result["exemplars"])), (list(range(60, 67)), 9))
        # The same from a file with these points.
        chosen = []
        for name, seed in (("first.json", 2), ("second.json", 3)):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                rows = random_rows(60, 12, seed=seed)
                chosen += [rows[i] for i in json.load(file)["exemplars"] if i < 60]
        with open(os.path.join(self.folder, "chosen.npy"), "wb") as file:
            file.write(npy_bytes(chosen))
        same = self.do("fwsr select third.npy -k 2 --include-points chosen.npy --quiet --json")
        self.assertEqual(json.loads(same.stdout)["exemplars"], result["exemplars"])
        self.assertEqual(result["conditions"]["given"], {"include_points": "second.json"})

    def test_the_result_says_under_which_conditions_it_was_made(self):
        line = "fwsr select points.csv -k 5 --exclude-columns price --quiet --json"
        self.assertIsNone(json.loads(self.do(line + " --label-column site").stdout)["conditions"])
        told = json.loads(self.do(line + " --group-column site --at-most 3 --exclude broken.txt").stdout)["conditions"]
        self.assertEqual(told, {
            "given": {"exclude": "broken.txt", "group_column": "site", "at_most": "3"}, "points": 80, "represented": 0,
            "included": 0, "candidates": 78, "weight": 80, "groups": 3})
        told = json.loads(self.do("fwsr select archive.npy -k 5 --represent new.npy --quiet --json").stdout)["conditions"]
        self.assertEqual((told["points"], told["represented"], told["candidates"], told["weight"]), (60, 60, 60, 60))

    def test_ids_that_are_numbers_are_never_taken_for_rows(self):
        rows = random_rows(20, 8, seed=5)
        head = "name," + ",".join(f"f{j}" for j in range(8)) + "\n"
        self.put("numbered.csv", head + "".join(
            f"{100 + i},{','.join(map(str, row))}\n" for i, row in enumerate(rows)))
        line = "fwsr select numbered.csv -k 4 --id-column name --quiet --include "
        self.put("ids.txt", "104\n107\n")
        self.put("rows.csv", "index,what\n4,x\n7,x\n")
        self.assertEqual(self.indices(line + "ids.txt")[:2], [4, 7])
        self.assertEqual(self.indices(line + "rows.csv"), self.indices(line + "ids.txt"))
        for header, numbers in (("index", (4, 7)), ("index\r", (4, 7)), ("id", (104, 107))):
            self.put("one.txt", header + "\n" + "".join(f"{n}\n" for n in numbers))
            self.assertEqual(self.indices(line + "one.txt"), self.indices(line + "ids.txt"), header)
        self.put("row.txt", "4\n")
        refused = self.do(line + "row.txt")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("entry 1 is '4', which is no id of a point; the ids are numbers", refused.stderr)
        self.put("twice.csv", head + "".join(
            f"p{i // 2},{','.join(map(str, row))}\n" for i, row in enumerate(rows)))
        self.put("p3.txt", "p3\n")
        refused = self.do("fwsr select twice.csv -k 4 --id-column name --include p3.txt")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("entry 1 is 'p3', which is the id of rows 6 and 7", refused.stderr)

    def test_a_list_may_come_through_a_pipe(self):
        line = "fwsr select archive.npy --method fwsr -k 5 --quiet"
        first = self.indices(line)[0]
        piped = subprocess.run(["bash", "-c", f'"$0" {line[5:]} --exclude <(echo {first})', PROGRAM],
                               cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.put("first.txt", f"{first}\n")
        self.assertEqual(piped.stdout, self.do(line + " --exclude first.txt").stdout)

    def test_a_budget_is_held_against_the_costs_that_are_given(self):
        self.put("cheap.txt", "0.1\n" * 60)
        line = "fwsr select archive.npy --method fwsr --cost cheap.txt --quiet"
        self.assertEqual(len(self.indices(line + " --budget 0.3")), 3)
        poor = self.do(line + " --budget 0.05")
        self.assertEqual(poor.returncode, 2)
        self.assertIn("the cheapest candidate costs 0.1", poor.stderr)

    def test_who_is_included_already_may_be_enough(self):
        self.do("fwsr select archive.npy --method fwsr -k 11 -o eleven.csv --quiet")
        line = "fwsr select archive.npy --method fwsr -k 3 --include eleven.csv --json --quiet "
        enough = json.loads(self.do(line + "--until-error 0.9").stdout)
        self.assertEqual((enough["status"], len(enough["exemplars"])), ("error_reached", 11))

    def test_what_cannot_be_done_is_refused_with_the_reason(self):
        self.put("far.txt", "80\n")
        self.put("word.txt", "none\n")
        self.put("few.txt", "1\n2\n")
        with open(os.path.join(self.folder, "wide.npy"), "wb") as file:
            file.write(npy_bytes(random_rows(9, 13)))
        self.put("minus.txt", "1\n" * 79 + "-1\n")
        data = "fwsr select points.csv --exclude-columns site,price -k 3 "
        self.do("fwsr select archive.npy -k 2 -o archive.json")
        for line, code, words in (
                ("fwsr update archive.json new.npy -k 2 --per-class", 2, "leave --per-class out"),
                (data + "--method fwsr --exclude far.txt", 1, "entry 1 is row 80, but points.csv has rows 0 to 79"),
                (data + "--method fwsr --exclude word.txt", 1, "'none', which is no row"),
                (data + "--method fwsr --weights few.txt", 1, "holds 2 weights but points.csv holds 80 points"),
                (data + "--method fwsr --weights minus.txt", 1, "minus.txt: the weight of point 79 is -1"),
                (data + "--method fwsr --candidates few.txt", 2, "only 2 of 80 points may be chosen"),
                (data + "--method fwsr --at-most 1", 2, "give the groups, too"),
                ("fwsr select points.csv --method fwsr --exclude-columns price --group-column site -k 3", 2,
                 "groups are for at_least and at_most"),
                ("fwsr select points.csv --method fwsr --label-column site --exclude-columns price --per-class -k "
                 + f"{'b' if self.sites[3] != 'b' else 'c'}=2 --include broken.txt", 2, "is asked for none"),
                ("fwsr update nowhere.json new.npy -k 3", 1, "nowhere.json"),
                (data + "--method omp --cost few.txt", 1, "holds 2 costs but points.csv holds 80 points"),
                (data + "--method herding --exclude few.txt", 2,
                 "herding does not choose under the condition candidates (exclude, represent, update); methods that do: "
                 "exchange, fwsr, k-fwsr, random, rrqr, omp, greedy-cssp, k-center"),
                (data + "--method omp --budget 3", 2, "--budget is an option of"),
                ("fwsr select archive.npy -k 3 --method fwsr --represent wide.npy", 1, "both must have the same"),
                (data + "--method fwsr --represent archive.npy --weights few.txt", 2, "--represent"),
                ("fwsr update points.csv new.npy -k 3", 1, "is no result of fwsr select --json"),
        ):
            with self.subTest(line=line):
                ran = self.do(line)
                self.assertEqual(ran.returncode, code, ran.stderr)
                self.assertIn(words, ran.stderr)
                self.assertEqual(ran.stdout, "")


if __name__ == "__main__":
    unittest.main()
