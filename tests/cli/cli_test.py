"""The command line end to end: streams, files, exit codes, equal answers."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import unittest

from helpers import FWSR, PROGRAM, Case, npy_bytes, random_rows, read_npy

# A plan counts the threads that a problem keeps busy.
MACHINE_KEYS = ("seconds", "threads", "peak_memory_bytes", "memory_bytes", "memory_per_thread")


def without_machine(value):
    """A result without what depends on the machine and not on the question."""
    if isinstance(value, dict):
        return {k: without_machine(v) for k, v in value.items() if k not in MACHINE_KEYS}
    return [without_machine(v) for v in value] if isinstance(value, list) else value


def distances(rows, i, others):
    """Squared, from point i, of points that are centred each."""
    centred = [[v - sum(row) / len(row) for v in row] for row in rows]
    return [sum((a - b) ** 2 for a, b in zip(centred[i], centred[j])) for j in others]


class Select(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(60, 8)))
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(60)))

    def json(self, *args, **keywords):
        return json.loads(self.succeed(*args, "--json", "--quiet", **keywords).out)

    def test_prints_csv_to_stdout_and_a_summary_to_stderr(self):
        outcome = self.succeed("select", "set.npy", "-k", "5")
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        self.assertEqual(list(rows[0]), ["rank", "index", "weight", "strength"])
        self.assertEqual([r["rank"] for r in rows], list("01234"))
        self.assertEqual(len({r["index"] for r in rows}), 5)
        self.assertEqual(sum(float(r["weight"]) for r in rows), 60)
        self.assertRegex(outcome.err, r"^fwsr: chose 5 of 60 points")
        self.assertIn("reconstruction error", outcome.err)
        self.assertNotIn("\033", outcome.err)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.succeed("select", "set.npy", "-k", "5", "--quiet").err, "")

    def test_writes_a_file_and_then_nothing_to_stdout(self):
        printed = self.succeed("select", "set.npy", "-k", "5").out
        outcome = self.succeed("select", "set.npy", "-k", "5", "-o", "picks.csv")
        self.assertEqual(outcome.out, "")
        self.assertEqual(self.read("picks.csv"), printed)
        self.assertEqual(self.succeed("select", "set.npy", "-k", "5", "-o", "-").out, printed)
        self.assertEqual(self.leftovers(), [])
        self.succeed("select", "set.npy", "-k", "5", "-o", "picks.json")
        self.assertEqual(len(json.loads(self.read("picks.json"))["exemplars"]), 5)

    def test_the_end_of_a_name_chooses_the_format_and_messages_list_those_there_are(self):
        self.succeed("select", "set.npy", "-k", "3", "-o", "A.JSON", "--codes", "c.NPY", "--assignment", "a.Csv")
        self.assertEqual(len(json.loads(self.read("A.JSON"))["exemplars"]), 3)
        self.assertEqual(self.read("a.Csv").splitlines()[0], "index,position,exemplar")
        self.succeed("select", "set.npy", "-k", "3", "-o", "x.txt")
        self.assertEqual(self.read("x.txt").splitlines()[0], "rank,index,weight,strength")
        for command, ends in ((("select", "-o", "x.npy"), ".csv or .json"), (("sweep", "-o", "x.mat"), ".csv or .json"),
                              (("compare", "-o", "x.xlsx"), ".csv or .json"), (("select", "--codes", "x.csv"), ".npy"),
                              (("select", "--assignment", "x.json"), ".npy or .csv"),
                              (("select", "--assignment", ".npy"), ".npy or .csv")):
            done = self.run_program(command[0], "set.npy", "-k", "3", *command[1:])
            self.assertEqual(done.code, 2)
            self.assertIn(f"{command[1]} {command[2]}: ", done.err)
            self.assertIn(f"name a file that ends in {ends}\n", done.err)
        self.assertIn("ends in .npy or .csv\n", self.run_program("generate", "blobs", "-o", "x.txt").err)

    def test_json_holds_everything(self):
        r = self.json("select", "set.npy", "-k", "5", "--lambda", "1", "--rho", "0.5")
        for key in ("options", "data", "plan", "exemplars", "weights", "strength", "status", "trace",
                    "certificate", "seconds", "threads", "peak_memory_bytes", "warnings", "version",
                    "schema", "picks"):
            self.assertIn(key, r)
        self.assertNotIn("filled", r)
        self.assertEqual(r["status"], "exemplars_reached")
        self.assertEqual(r["data"]["points"], 60)
        self.assertEqual(r["data"]["features"], 8)
        self.assertEqual(r["options"]["exemplars"], 5)
        self.assertEqual(r["exemplars"], [p["index"] for p in r["picks"]])
        self.assertEqual(set(r["trace"][0]), {"pick", "f", "gap", "step_size", "beta", "score", "rows"})
        self.assertGreater(r["trace"][0]["gap"], 0)
        self.assertIsNotNone(r["certificate"]["boolean_objective"])
        self.assertIsNone(self.json("select", "set.npy", "-k", "5", "--certificate", "none")
                          ["certificate"])
        self.assertIsNone(self.json("select", "set.npy", "-k", "3", *FWSR, "--alpha", "0")["trace"][0]["gap"])

    def test_auto_is_ten_times_the_number_of_exemplars_and_says_so(self):
        default = self.json("select", "set.npy", "-k", "5", *FWSR)
        self.assertEqual(default["options"]["alpha"], "auto")
        self.assertEqual((default["trace"][0]["beta"], default["eta"]), (50, 0))
        for given in ([*FWSR, "--alpha", "auto"], ["--method", "fwsr:alpha=auto"], [*FWSR, "--beta", "50"]):
            again = self.json("select", "set.npy", "-k", "5", *given)
            self.assertEqual(again["options"]["alpha"], "auto")
            self.assertEqual(again["trace"], default["trace"])
        two = ("select", "set.npy", "-k", "5", *FWSR, "--alpha", "2")
        self.assertEqual(self.json(*two)["options"]["alpha"], 2)
        summary = self.succeed("select", "set.npy", "-k", "5", *FWSR).err
        self.assertIn(f"alpha auto: beta {default['beta']:g}, eta 0", summary)
        self.assertNotIn("alpha auto", self.succeed(*two).err)
        self.assertIn("(default auto)", " ".join(self.succeed("select", "--help").out.split()))

    def test_units_of_eta_and_delta(self):
        ask = ("select", "set.npy", "-k", "5", *FWSR)
        absolute = self.json(*ask, "--eta", "0.5")
        self.assertEqual(absolute["eta"], 0.5)
        again = self.json(*ask, "--eta-relative", repr(absolute["eta_in_rms"]))
        self.assertTrue(again["options"]["eta_relative"])
        self.assertAlmostEqual(again["eta"], 0.5, 12)
        self.assertEqual(again["exemplars"], absolute["exemplars"])
        delta = self.json(*ask, "--delta-absolute", "0.25")["options"]
        self.assertEqual((delta["delta"], delta["delta_absolute"]), (0.25, True))

    def test_answers_are_equal_for_any_number_of_threads(self):
        self.write("big.npy", npy_bytes(random_rows(3000, 20)))
        classes = ("--labels", "y.txt", "--per-class")
        for name, extra in (("big.npy", FWSR), ("set.npy", ("--method", "k-fwsr")), ("set.npy", (*FWSR, "--q", "1")),
                            ("set.npy", (*FWSR, *classes, "--eta-relative", "0.3")), ("big.npy", ()),
                            ("big.npy", ("--rank", "200")), ("set.npy", classes)):
            runs = [without_machine(self.json("select", name, "-k", "9", "--memory", "1G", "--threads", threads,
                                              "--assignment", "a.npy", *extra))
                    for threads in ("1", "2", "3", "8")]
            for run in runs[1:]:
                self.assertEqual(runs[0], run)

    def test_codes_and_assignment(self):
        for extra in ((), ("--q", "inf"), ("--nonneg",)):
            r = self.json("select", "set.npy", "-k", "5", *FWSR, "--codes", "c.npy", "--assignment",
                          "a.npy", *extra)
            shape, codes = read_npy(self.path("c.npy"))
            self.assertEqual(shape, (60, 5))
            shape, owners = read_npy(self.path("a.npy"))
            self.assertEqual(shape, (60,))
            self.assertEqual(owners, r["assignment"])
            self.assertEqual([float(owners.count(t)) for t in range(5)], r["weights"])
            for i, owner in enumerate(owners):
                far = distances(random_rows(60, 8), i, r["exemplars"])
                self.assertEqual(far[owner], min(far))
        self.succeed("select", "set.npy", "-k", "5", *FWSR, "--assignment", "a.csv", "--nonneg")
        rows = list(csv.DictReader(io.StringIO(self.read("a.csv"))))
        self.assertEqual([int(r["position"]) for r in rows], owners)

    def test_rank_puts_a_factor_in_place_of_the_kernel(self):
        args = ("select", "set.npy", "-k", "5", "--method", "k-fwsr")
        exact = self.json(*args)
        self.assertIsNone(exact["kernel_rank"])
        self.assertIsNone(exact["kernel_error"])
        self.assertEqual(exact["options"]["rank"], 0)
        whole = self.json(*args, "--rank", "60")
        self.assertEqual((whole["plan"]["form"], whole["plan"]["kernel_by"]), ("covariance", "factor"))
        self.assertEqual((whole["kernel_rank"], whole["plan"]["notes"]), (60, []))
        self.assertLess(whole["kernel_error"], 1e-9)
        self.assertEqual(whole["exemplars"], exact["exemplars"])
        self.assertAlmostEqual(whole["certificate"]["gap"], exact["certificate"]["gap"], 6)
        part = self.json(*args, "--rank", "20")
        self.assertEqual(part["kernel_rank"], 20)
        self.assertGreater(part["kernel_error"], 0.01)
        self.assertRegex(self.succeed(*args, "--rank", "20").err, r"kernel error 0\.\d+.* rank 20")
        more = self.json(*args, "--rank", "5000")
        self.assertEqual(more["exemplars"], exact["exemplars"])
        self.assertRegex(more["plan"]["notes"][0], "5000.*60")
        classes = self.json(*args, "--rank", "30", "--labels", "y.txt", "--per-class")["classes"]
        self.assertEqual([c["kernel_rank"] for c in classes], [30, 20])
        self.assertRegex(self.succeed(*args, "--rank", "20", "--dry-run").out, r"form .*factor")

    def test_fill_marks_what_it_added(self):
        self.write("few.csv", "1,2\n3,1\n1,2\n3,1\n4,4\n1,2\n")
        short = self.succeed("select", "few.csv", "-k", "5")
        self.assertRegex(short.err, r"warning: .*5")
        r = self.json("select", "few.csv", "-k", "5", "--fill")
        self.assertEqual(len(r["exemplars"]), 5)
        self.assertIn(True, r["filled"])
        self.assertEqual(r["filled"], [p["filled"] for p in r["picks"]])
        header = self.succeed("select", "few.csv", "-k", "5", "--fill").out.splitlines()[0]
        self.assertTrue(header.endswith(",filled"))

    def test_reads_standard_input(self):
        text = "".join(",".join(map(str, row)) + "\n" for row in random_rows(20, 6)).encode()
        self.assertEqual(len(self.json("select", "-", "-k", "4", stdin=text)["exemplars"]), 4)

    def test_dry_run_says_what_would_be_done_and_writes_nothing(self):
        with self.unchanged("out.csv"):
            text = self.succeed("select", "set.npy", "-k", "5", "--dry-run", "-o", "out.csv").out
        for word in ("form", "passes", "memory"):
            self.assertRegex(text, rf"(?m)^{word} ")
        plan = self.json("select", "set.npy", "-k", "5", "--dry-run")["plan"]
        self.assertEqual((plan["points"], plan["features"]), (60, 8))
        classes = self.json("select", "set.npy", "--labels", "y.txt", "--per-class", "-k", "2",
                            "--dry-run")["classes"]
        self.assertEqual([(c["class"], c["points"], c["wanted"]) for c in classes],
                         [("a", 40, 2), ("b", 20, 2)])


class PerClass(Case):
    CSV = "name,x,y,z,u,v,kind\n" + "".join(
        f'p{i},{i * 37 % 11},{i * 53 % 13},{i * i % 17},{i**3 % 19},{i * 29 % 7},'
        f'"{["a,b", "it=1", "10", "9"][i % 4]}"\n' for i in range(40))

    def setUp(self):
        super().setUp()
        self.write("d.csv", self.CSV)

    def run_json(self, k, *extra):
        out = self.succeed("select", "d.csv", "--label-column", "kind", "--id-column", "name",
                           "--per-class", "-k", k, "--json", "--quiet", *extra).out
        return json.loads(out)

    def test_each_class_by_itself(self):
        r = self.run_json("3", *FWSR, "--assignment", "a.npy", "--codes", "c.npy")
        self.assertEqual([c["class"] for c in r["classes"]], ["9", "10", "a,b", "it=1"])
        self.assertEqual(r["exemplars"], [i for c in r["classes"] for i in c["exemplars"]])
        kinds = ["a,b", "it=1", "10", "9"]
        for pick in r["picks"]:
            self.assertEqual(pick["class"], kinds[pick["index"] % 4])
            self.assertEqual(pick["id"], f"p{pick['index']}")
        for i, position in enumerate(r["assignment"]):
            self.assertEqual(r["labels"][position], kinds[i % 4])
        shape, codes = read_npy(self.path("c.npy"))
        self.assertEqual(shape, (40, 12))
        rows = [[float(v) for v in line.split(",")[1:6]] for line in self.CSV.splitlines()[1:]]
        for i, position in enumerate(r["assignment"]):
            own = [t for t in range(12) if r["labels"][t] == kinds[i % 4]]
            far = distances(rows, i, [r["exemplars"][t] for t in own])
            self.assertEqual(far[own.index(position)], min(far))
            row = codes[12 * i : 12 * i + 12]
            self.assertEqual([v for t, v in enumerate(row) if t not in own], [0.0] * 9)

    def test_named_and_proportional(self):
        self.assertEqual(self.run_json("a,b=2,it=1=4")["labels"], ["a,b"] * 2 + ["it=1"] * 4)
        r = self.run_json("proportional:6")
        self.assertEqual(len(r["exemplars"]), 6)
        self.assertEqual([c["wanted"] for c in r["classes"]], [2, 2, 1, 1])

    def test_csv_carries_ids_and_quoted_classes(self):
        out = self.succeed("select", "d.csv", "--label-column", "kind", "--id-column", "name",
                           "--per-class", "-k", "2").out
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(list(rows[0]), ["rank", "index", "id", "class", "weight", "strength"])
        self.assertEqual([r["class"] for r in rows],
                         ["9", "9", "10", "10", "a,b", "a,b", "it=1", "it=1"])

    def test_labels_that_come_with_the_data(self):
        self.write("d.svm", "".join(f"{i % 2} 1:{i} {2 + i % 3}:{1 + i * i % 7}\n" for i in range(20)))
        self.assertEqual(len(json.loads(self.succeed(
            "select", "d.svm", "--per-class", "-k", "3", "--json").out)["exemplars"]), 6)
        self.assertEqual(len(json.loads(self.succeed(
            "select", "digits", "--per-class", "-k", "1", "--json").out)["exemplars"]), 10)

    def test_labels_cannot_drive_the_terminal(self):
        self.write("y.txt", "".join(f"\x9b3{i % 2}mred\u202e\n" for i in range(40)))
        args = ("d.csv", "--columns", "x,y", "--labels", "y.txt")
        for text in (self.succeed("inspect", *args).out,
                     self.succeed("select", *args, *FWSR, "--per-class", "-k", "20").err,
                     self.run_program("select", *args, "--per-class", "-k", "no=1").err):
            self.assertIn("31mred", text)
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(60, 8)))

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "select", "set.npy", "-k", "3", "--quiet"], stdout=full,
                                  stderr=subprocess.PIPE, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Afwsr: standard output: .*\n\Z")
        outcome = self.run_program("select", "set.npy", "-k", "3", "-o", "/dev/full")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, r"\Afwsr: /dev/full: .*\n\Z")

    def test_folder_without_permission(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("locked"), 0o555)
        somebody = {"user": 65534} if os.geteuid() == 0 else {}  # root may write anywhere
        try:
            done = subprocess.run([PROGRAM, "select", "set.npy", "-k", "3", "-o", "locked/x.csv"],
                                  cwd=self.folder, capture_output=True, timeout=300, **somebody)
        except PermissionError:
            self.skipTest("the program cannot be run by an ordinary user")
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr.decode(), r"\Afwsr: locked/x\.csv: .*permission.*; .*\n\Z")
        self.assertEqual(os.listdir(self.path("locked")), [])

    def test_closed_pipe_is_no_crash(self):
        for args in (["select", "set.npy", "-k", "50", "--json"], ["--help"], ["inspect", "set.npy"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([PROGRAM, *args], stdout=writer, stderr=subprocess.PIPE,
                                  cwd=self.folder, timeout=300)
            os.close(writer)
            self.assertEqual(done.returncode, 0, done)
            self.assertNotIn(b"cannot", done.stderr)

    def on_terminal(self, *args, **environment):
        """What a person at a terminal sees on standard error."""
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("there are no terminals here (/dev/pts)")
        process = subprocess.Popen([PROGRAM, *args], stdout=subprocess.DEVNULL, stderr=slave,
                                   cwd=self.folder, env=self.environment(**environment))
        os.close(slave)
        seen = b""
        try:
            while chunk := os.read(master, 65536):
                seen += chunk
        except OSError:  # the other end was closed
            pass
        os.close(master)
        self.assertEqual(process.wait(300), 0)
        return seen.decode()

    def test_progress_only_on_a_terminal_that_can_show_it(self):
        args = ("select", "set.npy", "-k", "20", "--kernel", "rbf")
        seen = self.on_terminal(*args, TERM="xterm")
        self.assertRegex(seen, r"\r\033\[K\033\[36m")
        self.assertRegex(seen, r"20|exemplars")
        plain = self.on_terminal(*args, TERM="xterm", NO_COLOR="1")
        self.assertIn("\r\033[K", plain)
        self.assertNotRegex(plain, r"\033\[\d")
        self.assertNotIn("\033", self.on_terminal(*args, TERM="dumb"))
        self.assertEqual(self.on_terminal(*args, "--quiet", TERM="xterm"), "")

    def test_quiet_still_warns(self):
        self.assertIn("warning", self.on_terminal("select", "set.npy", "-k", "20", *FWSR, "--quiet",
                                                  TERM="dumb"))


class Sweep(Case):
    GRID = ("-k", "5", "--alphas", "0.5,2,0", "--etas", "0,0.3")

    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(60, 8)))
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(60)))

    def json(self, *args):
        return json.loads(self.succeed("sweep", *args, "--json", "--quiet").out)

    def test_prints_a_table_and_marks_the_best(self):
        outcome = self.succeed("sweep", "set.npy", *self.GRID)
        lines = outcome.out.splitlines()
        self.assertEqual(len(lines), 1 + 6 + 1)
        self.assertEqual(outcome.err, "")
        self.assertEqual(sum(line.startswith("*") for line in lines), 1)
        rows = [line.lstrip("* ").split() for line in lines[1:-1]]
        self.assertEqual([r[:2] for r in rows], [[a, e] for a in ("0.5", "2", "0")
                                                 for e in ("0", "0.3")])
        best = min(range(6), key=lambda i: float(rows[i][-1]))
        self.assertTrue(lines[1 + best].startswith("*"))
        self.assertRegex(lines[-1], r"^6 settings in ")

    def test_every_setting_is_what_select_answers(self):
        for extra in ([], ["--labels", "y.txt", "--per-class"], ["--kernel", "rbf"]):
            r = self.json("set.npy", *self.GRID, *extra)
            self.assertEqual(len(r["settings"]), 6)
            for s in r["settings"]:
                alone = json.loads(self.succeed(
                    "select", "set.npy", "-k", "5", *FWSR, "--alpha", str(s["setting"]["alpha"]), "--eta",
                    str(s["setting"]["eta"]), *extra, "--json", "--quiet").out)
                for key in ("exemplars", "weights", "status", "warnings", "labels"):
                    self.assertEqual(s.get(key), alone.get(key))
            errors = [s["reconstruction_error"] for s in r["settings"]]
            self.assertEqual(r["best"], errors.index(min(errors)))
            self.assertEqual(r["options"]["alphas"], [0.5, 2, 0])
            self.assertNotIn("alpha", r["options"])

    def test_auto_is_one_of_the_radii(self):
        r = self.json("set.npy", "-k", "5", "--alphas", "2,auto")
        self.assertEqual(r["options"]["alphas"], [2, "auto"])
        self.assertEqual([s["setting"]["alpha"] for s in r["settings"]], [2, "auto"])
        alone = json.loads(self.succeed("select", "set.npy", "-k", "5", *FWSR, "--json", "--quiet").out)
        self.assertEqual(r["settings"][1]["trace"], alone["trace"])
        self.assertIn("\nauto,", self.succeed("sweep", "set.npy", "-k", "5", "-o", "-", "--quiet").out)

    def test_writes_files(self):
        outcome = self.succeed("sweep", "set.npy", *self.GRID, "-o", "s.csv")
        self.assertEqual(outcome.out, "")
        self.assertIn("6 settings", outcome.err)
        rows = list(csv.DictReader(io.StringIO(self.read("s.csv"))))
        self.assertEqual(len(rows), 6)
        self.assertEqual([r["best"] for r in rows].count("yes"), 1)
        picks = self.json("set.npy", *self.GRID)["settings"][3]["exemplars"]
        self.assertEqual([int(p) for p in rows[3]["picks"].split()], picks)
        self.assertEqual(rows[4]["gap"], "")
        self.assertEqual(self.succeed("sweep", "set.npy", *self.GRID, "-o", "s.json", "--quiet").err, "")
        self.assertEqual(len(json.loads(self.read("s.json"))["settings"]), 6)

    def test_defaults_units_and_no_certificate(self):
        r = self.json("set.npy", "-k", "5")
        self.assertEqual([s["setting"] for s in r["settings"]], [{"alpha": "auto", "eta": 0}])
        r = self.json("set.npy", "-k", "5", "--etas-relative", "0.5")
        self.assertAlmostEqual(r["settings"][0]["eta_in_rms"], 0.5, 12)
        r = self.json("set.npy", *self.GRID, "--certificate", "none")
        self.assertIsNone(r["best"])
        self.assertIsNone(r["settings"][0]["certificate"])

    def test_answers_are_equal_for_any_number_of_threads(self):
        self.write("big.npy", npy_bytes(random_rows(3000, 20)))
        runs = [without_machine(self.json("big.npy", *self.GRID, "--memory", "1G", "--threads", t))
                for t in ("1", "2", "3", "8")]
        for run in runs[1:]:
            self.assertEqual(runs[0], run)

    def test_dry_run(self):
        out = self.succeed("sweep", "set.npy", *self.GRID, "--dry-run").out
        for word in ("settings", "shared", "memory", "covariance"):
            self.assertIn(word, out)
        plan = self.json("set.npy", *self.GRID, "--dry-run")["plan"]
        self.assertEqual((plan["settings"], plan["at_once"]), (6, 6))
        self.succeed("sweep", "set.npy", *self.GRID, "--dry-run", "--labels", "y.txt", "--per-class")

    def test_refuses_nonsense(self):
        for args, words in (
                (["--alphas", "-1"], "negative"), (["--alphas", ""], "missing"),
                (["--alphas", "1,,2"], "missing"), (["--alphas", "1,x"], "0.5, or auto"),
                (["--alphas", "auto,1,auto"], "auto is listed twice"), (["--etas", "auto"], "not a number"),
                (["--alphas", "1,2,1.0"], "listed twice"), (["--etas", "0,inf"], "not finite"),
                (["--etas", "1", "--etas-relative", "1"], "both given"),
                (["--alpha", "1"], "did you mean --alphas"),
                (["--alphas", ",".join(map(str, range(1, 5000)))], "more than 4096"),
                (["--alphas", "0,1", "--q", "1"], "matching pursuit"),
                (["--per-class"], "needs labels")):
            outcome = self.run_program("sweep", "set.npy", "-k", "5", *args)
            self.assertEqual(outcome.code, 2, (args, outcome))
            self.assertIn(words, outcome.err)
        self.assertEqual(self.run_program("sweep", "set.npy").code, 2)
        self.assertEqual(self.run_program("sweep", "none.npy", "-k", "5").code, 1)


class Others(Case):
    def test_help_and_version(self):
        for args in (["--help"], ["select", "--help"], ["inspect", "-h"], ["generate", "--help"]):
            outcome = self.succeed(*args)
            self.assertEqual(outcome.err, "")
            self.assertGreaterEqual(outcome.out.count("\n  fwsr "), 2, outcome.out)
            self.assertLessEqual(max(map(len, outcome.out.splitlines())), 100)
        self.assertRegex(self.succeed("--version").out, r"\Afwsr \d+\.\d+\.\d+\ncompiler ")

    def test_inspect_finds_what_is_odd(self):
        self.write("odd.csv", "a,b,c\n1,0,5\n0,0,5\n1,0,5\nnan,0,5\n2,0,inf\n")
        r = json.loads(self.succeed("inspect", "odd.csv", "--json").out)
        self.assertEqual((r["nan"], r["infinite"]), (1, 1))
        self.assertEqual(r["first_not_finite"], {"point": 3, "feature": 0})
        self.assertEqual(r["constant_features"], [1])
        self.assertEqual((r["duplicates"], r["first_duplicate"]), (1, {"point": 2, "equals": 0}))
        self.assertIn("refused", r)
        self.assertIn("line 5", self.succeed("inspect", "odd.csv").out)
        self.write("tail.npy", npy_bytes([[0.0, 0], [3, 4], [3, 4], [6, 8], [300, 400]]))
        r = json.loads(self.succeed("inspect", "tail.npy", "--json").out)
        self.assertEqual(r["norms"], {"min": 0, "median": 5, "max": 500, "heavy_tailed": True})
        self.assertEqual(r["zero_points"], 1)
        self.assertEqual(r["mean"], 72.8)
        self.assertIn("form", r["plan"])

    def test_inspect_counts_sparse_points_like_dense_ones(self):
        self.write("s.svm", "a 1:1 3:2\nb 1:1 2:5\na 1:1 3:2\nb 1:1\n")
        self.write("s.csv", "1,0,2\n1,5,0\n1,0,2\n1,0,0\n")
        sparse, dense = (json.loads(self.succeed("inspect", name, "--json", "--header", "no").out if
                                    name.endswith("csv") else
                                    self.succeed("inspect", name, "--json").out)
                         for name in ("s.svm", "s.csv"))
        for key in ("zeros", "min", "max", "mean", "constant_features", "duplicates", "norms",
                    "first_duplicate", "zero_points"):
            self.assertEqual(sparse[key], dense[key], key)
        self.assertEqual(sparse["classes"], [{"class": "a", "points": 2}, {"class": "b", "points": 2}])

    def test_generate_is_repeatable_and_its_exemplars_are_found(self):
        args = ("generate", "convex", "--points", "60", "--dimensions", "40", "--exemplars", "7")
        self.succeed(*args, "-o", "a.npy", "--labels", "y.txt", "--seed", "5")
        self.succeed(*args, "-o", "b.npy", "--seed", "5")
        self.succeed(*args, "-o", "c.npy", "--seed", "6")
        self.assertEqual(read_npy(self.path("a.npy")), read_npy(self.path("b.npy")))
        self.assertNotEqual(read_npy(self.path("a.npy")), read_npy(self.path("c.npy")))
        self.assertEqual(read_npy(self.path("a.npy"))[0], (67, 40))
        labels = self.read("y.txt").split()
        self.assertEqual((len(labels), labels.count("1")), (67, 7))
        picks = json.loads(self.succeed("select", "a.npy", "-k", "7", *FWSR, "--json").out)["exemplars"]
        self.assertGreaterEqual(sum(labels[i] == "1" for i in picks), 6)


if __name__ == "__main__":
    unittest.main()
