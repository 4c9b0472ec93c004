"""fwsr-mpi: the answer of fwsr to the last bit, however many ranks share the points; errors of one rank end all.

Skipped with a line where fwsr-mpi was not built, or no mpirun starts it (scripts/setup mpi)."""

import array
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from helpers import ENDLESS, FWSR, Case, Outcome, TooShort, npy_bytes, npy_image, random_rows

MPI_PROGRAM = os.environ.get("FWSR_MPI_PROGRAM", "")
MPIRUN = shutil.which("mpirun")


RANKS = os.environ.get("FWSR_RANKS", "")  # tests/mpi/ranks.cpp


def mpirun(ranks, program=MPI_PROGRAM):
    return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-q", "-n", str(ranks), program]


def same_answer(result):
    """What may not depend on where the points are."""
    left_out = ("seconds", "threads", "peak_memory_bytes", "plan", "data")
    answer = {k: v for k, v in result.items() if k not in left_out}
    for part in answer.get("classes") or []:
        part.pop("seconds", None)
        part.pop("plan", None)
    return answer


class Ranks(Case):
    def environment(self, **changes):
        return super().environment(OMPI_MCA_btl_vader_single_copy_mechanism="none", **changes)

    def share(self, ranks, *args, timeout=300):
        done = subprocess.run([*mpirun(ranks), *args], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, env=self.environment())
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *args, ranks=0):
        outcome = self.share(ranks, *args, "--json", "--quiet") if ranks else self.run_program(*args, "--json", "--quiet")
        self.assertEqual(outcome.code, 0, outcome)
        return json.loads(outcome.out)

    def expect_same(self, ranks, data, *args, shared=None):
        """`shared`: the name by which fwsr-mpi knows the same points."""
        alone = self.json("select", data, *args)
        for count in ranks:
            with self.subTest(ranks=count, args=args):
                found = self.json("select", shared or data, *args, ranks=count)
                self.assertIn("ranks of MPI", " ".join(found["plan"]["notes"]) if found.get("plan")
                              else "ranks of MPI")
                self.assertEqual(same_answer(found), same_answer(alone))

    def points(self, name, type_code, rows=5300, features=6):
        values = [[3 + (1 + l) * v for l, v in enumerate(row)] for row in random_rows(rows, features, 5)]
        self.write(name, npy_bytes(values, type_code))
        return values


class SameBits(Ranks):
    def test_of_the_linear_kernel_however_prepared(self):
        self.points("points.npy", "<f8")
        self.expect_same((1, 2, 8), "points.npy", "-k", "7", *FWSR, "--center", "feature", "--scale", "standard",
                         "--eta-relative", "0.3")
        self.expect_same((3,), "points.npy", "-k", "5", *FWSR, "--refine", "exchange", "--alpha", "2")

    def test_of_the_cosine_kernel_in_single_precision(self):
        self.points("points.npy", "<f4")
        self.expect_same((3, 5), "points.npy", "-k", "6", *FWSR, "--kernel", "cosine")

    def test_of_the_default_method(self):
        self.points("points.npy", "<f4")
        self.expect_same((2, 5), "points.npy", "-k", "5")

    def test_of_a_factor_in_double_precision(self):
        self.points("points.npy", "<f8", rows=3300)
        self.expect_same((3,), "points.npy", "-k", "5", "--method", "k-fwsr", "--rank", "40", "--eta", "0.1")

    def test_of_classes(self):
        rows = self.points("points.npy", "<f4")
        self.write("labels.txt", "".join("abc"[i % 3 if i < 4000 else 0] + "\n" for i in range(len(rows))))
        self.expect_same((2, 5), "points.npy", "--labels", "labels.txt", "--per-class", "-k", "3", *FWSR)

    def test_under_conditions(self):
        rows = self.points("points.npy", "<f8")
        self.write("weights.txt", "".join(f"{1 + i % 7}\n" for i in range(len(rows))))
        self.write("not.txt", "".join(f"{i}\n" for i in range(0, len(rows), 3)))
        self.expect_same((3,), "points.npy", "-k", "5", *FWSR, "--weights", "weights.txt", "--exclude", "not.txt")
        self.expect_same((2,), "points.npy", "-k", "5", *FWSR, "--exclude", "not.txt", "--refine", "exchange")
        self.write("groups.txt", "".join("abcd"[i % 4] + "\n" for i in range(len(rows))))
        short = ("-k", "9", "--max-iterations", "3")
        self.expect_same((3,), "points.npy", *short, *FWSR, "--fill")
        self.expect_same((2,), "points.npy", *short, "--method", "k-fwsr", "--rank", "40", "--groups", "groups.txt",
                         "--at-least", "2", "--exclude", "not.txt")

    def test_of_sweeps(self):
        self.points("points.npy", "<f4", features=20)
        grid = ("-k", "5", "--alphas", "auto,2", "--etas-relative", "0,0.3")
        for more in ((), ("--refine", "exchange"), ("--kernel", "rbf", "--rank", "30")):
            alone = self.json("sweep", "points.npy", *grid, *more)
            for ranks in (1, 2, 5):
                with self.subTest(ranks=ranks, more=more):
                    found = self.json("sweep", "points.npy", *grid, *more, ranks=ranks)
                    self.assertEqual([same_answer(s) for s in found["settings"]],
                                     [same_answer(s) for s in alone["settings"]])
        self.points("few.npy", "<f8", rows=200)
        few = self.json("sweep", "few.npy", *grid, ranks=2)
        self.assertEqual([same_answer(s) for s in few["settings"]],
                         [same_answer(s) for s in self.json("sweep", "few.npy", *grid)["settings"]])

    def test_of_single_precision_with_more_features_and_ranks(self):
        self.points("points.npy", "<f4", rows=9300, features=40)
        for more in (FWSR, ("--rank", "100"), (*FWSR, "--kernel", "cosine", "--eta", "0.2"), ()):
            self.expect_same((2, 3, 5, 8), "points.npy", "-k", "5", *more)

    def test_of_many_files(self):
        rows = self.points("all.npy", "<f4")
        for name, first, last in (("part-a", 0, 700), ("part-b", 700, 701), ("part-c", 701, 4500), ("part-d", 4500, None)):
            self.write(name + ".npy", npy_bytes(rows[first:last], "<f4"))
        self.expect_same((1, 3, 8), "all.npy", "-k", "6", *FWSR, shared="part-*.npy")

    def test_of_tables_of_text(self):
        rows = random_rows(5300, 5, 5)
        lines = [f"p{i},{'abc'[i % 3 if i < 4000 else 0]},{','.join(map(repr, row))}\n" for i, row in enumerate(rows)]
        header = "name,kind,a,b,c,d,e\n"
        self.write("all.csv", header + "".join(lines))
        for name, first, last in (("part-a", 0, 700), ("part-b", 700, 701), ("part-c", 701, 5300)):
            self.write(name + ".csv", header + "".join(lines[first:last]))
        columns = ("--id-column", "name", "--label-column", "kind", "-k", "4")
        self.expect_same((1, 2, 5, 8), "all.csv", *columns)
        self.expect_same((3,), "all.csv", *columns, *FWSR, "--scale", "standard", shared="part-*.csv")
        self.expect_same((3,), "all.csv", *columns, *FWSR, "--per-class", shared="part-*.csv")
        self.write("few.csv", header + "".join(lines[:90]))
        few = self.json("select", "few.csv", *columns, ranks=3)
        self.assertEqual(same_answer(few), same_answer(self.json("select", "few.csv", *columns)))

    def test_of_sparse_text(self):
        pick = random.Random(3)
        lines = [" ".join([str(i % 2), *(f"{l}:{pick.random()}" for l in range(1, 20) if pick.random() < 0.3)]) + "\n"
                 for i in range(3300)]
        self.write("all.svm", "".join(lines))
        for name, first, last in (("part-1", 0, 5), ("part-2", 5, 3300)):
            self.write(name + ".svm", "".join(lines[first:last]))
        self.expect_same((2, 5), "all.svm", "-k", "4", *FWSR, "--scale", "unit", shared="part-*.svm")
        self.expect_same((3,), "all.svm", "-k", "3", *FWSR, "--per-class")
        self.write("few.svm", "".join(lines[:90]))
        few = self.json("select", "few.svm", "-k", "4", ranks=3)
        self.assertEqual(same_answer(few), same_answer(self.json("select", "few.svm", "-k", "4")))

    def test_of_streamed_points(self):
        numbers = array.array("f", (random.Random(4).random() for _ in range(1 << 20))) * 2
        with open(self.path("points.npy"), "wb") as file:  # 64 MiB, of one block of numbers turned a little every time
            file.write(npy_image("<f4", "(65536, 256)", []))
            for turn in range(16):
                file.write(memoryview(numbers)[turn * 1009:][:1 << 20])
        ask = ("select", "points.npy", "-k", "3", *FWSR, "--threads", "1")
        held, streamed = self.json(*ask), self.json(*ask, "--memory", "30M", ranks=2)
        self.assertRegex(" ".join(streamed["plan"]["notes"]), "streamed in blocks.* ranks of MPI")
        self.assertEqual(same_answer(streamed), same_answer(held))

    def test_of_few_points_which_rank_0_chooses_from(self):
        self.points("points.npy", "<f8", rows=300)
        found = self.json("select", "points.npy", "-k", "4", ranks=3)
        self.assertIn("by rank 0 alone", " ".join(found["plan"]["notes"]))
        self.assertEqual(same_answer(found), same_answer(self.json("select", "points.npy", "-k", "4")))


class Library(Ranks):
    @unittest.skipUnless(os.path.exists(RANKS), "no program of tests/mpi")
    def test_ranks_choose_from_their_own_rows_however_these_fall_on_them(self):
        for ranks in (1, 2, 3, 5, 8):
            done = subprocess.run(mpirun(ranks, RANKS), stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                                  env=self.environment())
            self.assertEqual((done.returncode, done.stdout.decode()), (0, "all the same\n"), done.stderr.decode())


class Cards(Ranks):
    def test_every_rank_works_on_a_card_or_all_hear_that_one_has_none(self):
        self.points("points.npy", "<f8", features=20)
        self.write("labels.txt", "".join("ab"[i % 2] + "\n" for i in range(5300)))
        asks = [("-k", "6", *FWSR, "--center", "feature"), ("-k", "6", *FWSR, "--refine", "exchange", "--eta", "0.5"),
                ("-k", "5", "--method", "k-fwsr", "--rank", "40"), ("-k", "9", *FWSR, "--max-iterations", "3", "--fill"),
                ("-k", "3", *FWSR, "--labels", "labels.txt", "--per-class")]
        on_card = ("--device", "cuda")
        if self.run_program("select", "points.npy", "-k", "6", *FWSR, *on_card, "--quiet").code != 0:
            outcome = self.share(2, "select", "points.npy", "-k", "6", *FWSR, *on_card)
            self.assertEqual(outcome.code, 1, outcome)
            self.assertIn("rank 0 cannot work on a card", outcome.err)
            self.skipTest("the rest needs a card")
        for ask in asks:
            alone = self.json("select", "points.npy", *ask)
            for ranks in (1, 2, 3):
                with self.subTest(ranks=ranks, ask=ask):
                    found = self.json("select", "points.npy", *ask, *on_card, ranks=ranks)
                    parts = list(zip(found.get("classes") or [found], alone.get("classes") or [alone]))
                    for one, other in parts:
                        self.assertEqual(one["exemplars"], other["exemplars"])
                        self.assertEqual(one["weights"], other["weights"])
                        self.assertAlmostEqual(one["certificate"]["f"] / other["certificate"]["f"], 1, 8)
                    again = self.json("select", "points.npy", *ask, *on_card, ranks=ranks)
                    self.assertEqual(same_answer(found), same_answer(again))


class Errors(Ranks):
    def refused(self, code, sentence, ranks, *args):
        outcome = self.share(ranks, *args, timeout=120)
        self.assertEqual(outcome.code, code, outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("fwsr:")]
        self.assertEqual(len(said), 1, outcome)
        self.assertIn(sentence, said[0])

    def test_of_one_rank_end_all_with_one_sentence(self):
        rows = self.points("points.npy", "<f8", rows=5000)
        rows[4900][2] = float("nan")
        self.write("bad.npy", npy_bytes(rows, "<f8"))
        self.refused(1, "point 4900 has NaN in feature 2", 3, "select", "bad.npy", "-k", "3", *FWSR)
        self.refused(1, "nothing.npy", 2, "select", "nothing.npy", "-k", "3")
        self.refused(2, "digits is a set that fwsr itself has", 2, "select", "digits", "-k", "3")
        self.refused(1, "no file has such a name", 2, "select", "nothing-*.npy", "-k", "3")
        self.refused(2, "unknown option '--foo'", 2, "select", "points.npy", "-k", "3", "--foo")
        self.refused(2, "fwsr-mpi shares the work of select and sweep alone", 2, "inspect", "points.npy")
        self.write("labels.txt", "a\n" + "b\n" * 4999)
        self.refused(2, "sweeps over all points alone", 2, "sweep", "points.npy", "-k", "3", "--labels", "labels.txt",
                     "--per-class")
        self.refused(2, "write cuda or cpu", 2, "select", "points.npy", "-k", "3", *FWSR, "--device", "auto")
        self.refused(2, "factors of the rbf kernel", 2, "select", "points.npy",
                     "-k", "3", "--method", "k-fwsr", "--rank", "20", "--kernel", "laplacian", "--device", "cuda")
        self.refused(2, "write one of select and sweep; see fwsr-mpi --help", 2)
        self.refused(2, "the commands are select and sweep", 2, "x")

    def test_help_lists_what_is_shared(self):
        said = self.share(2, "--help")
        self.assertEqual(said.code, 0, said)
        self.assertRegex(said.out, "(?m)^  select .*\n  sweep ")
        self.assertNotIn("  inspect ", said.out)

    def test_files_that_cannot_be_shared_are_refused(self):
        with gzip.open(self.path("a.csv.gz"), "wt") as file:
            file.write("x,y\n1,2\n3,4\n")
        self.refused(1, "a.csv.gz: is compressed", 2, "select", "a.csv.gz", "-k", "1")
        self.write("a.txt", "\0\1\2")
        self.refused(1, "a.txt: only npy, plain idx, csv and libsvm files", 2, "select", "a.txt", "-k", "1")
        self.write("part-1.npy", npy_bytes(random_rows(20, 3), "<f8"))
        self.write("part-2.npy", npy_bytes(random_rows(20, 4), "<f8"))
        self.refused(1, "has 4 features", 2, "select", "part-*.npy", "-k", "1")
        self.write("part-2.npy", npy_bytes(random_rows(20, 3), "<f4"))
        self.refused(1, "one type of number", 2, "select", "part-*.npy", "-k", "1")

    def test_what_is_wrong_in_a_table_is_said_once_wherever_it_stands(self):
        lines = [f"{i % 7},{i % 11},{i % 13}\n" for i in range(5000)]
        lines[4900] = "1,2\n"
        self.write("ragged.csv", "x,y,z\n" + "".join(lines))
        self.refused(1, "ragged.csv:4902:1: 2 fields where the first record has 3", 4, "select", "ragged.csv", "-k", "3")
        lines[4900] = "1,nan,2\n"
        self.write("part-1.csv", "x,y,z\n" + "".join(lines[:100]))
        self.write("part-2.csv", "x,y,z\n" + "".join(lines[100:]))
        self.refused(1, "point 4900 has NaN in feature 1", 4, "select", "part-*.csv", "-k", "3", *FWSR)
        self.write("part-3.csv", "1,2\n3,4\n")
        self.refused(1, "part-3.csv: has 2 features, and part-1.csv has 3", 3, "select", "part-*.csv", "-k", "3")
        self.write("part-3.csv", "x,y,w\n1,2,3\n")
        self.refused(1, "part-3.csv: has other columns than part-1.csv", 3, "select", "part-*.csv", "-k", "3")
        self.refused(1, "kind", 3, "select", "ragged.csv", "-k", "3", "--label-column", "kind")
        self.refused(1, "takes more memory while it is read", 2, "select", "part-2.csv", "-k", "3", "--memory", "60k")

    def signalled(self, number, ask):
        """What comes of a signal as soon as there is a checkpoint."""
        process = subprocess.Popen([*mpirun(3), *ask], cwd=self.folder, stdin=subprocess.DEVNULL, env=self.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            end = time.monotonic() + 300
            while not os.path.exists(self.path("run.json")) and time.monotonic() < end and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(number)
            out, err = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return out, err, process.returncode

    def test_a_signal_ends_all_with_one_sentence_and_the_run_goes_on_from_its_checkpoint(self):
        for number in (signal.SIGINT, signal.SIGTERM):  # mpirun takes its time to pass one on
            self.of_any_length(lambda times, number=number: self.interrupt_and_resume(30000 * times, number))

    def interrupt_and_resume(self, points, number):
        ask = ["select", "points.npy", "-k", "290", "--method", "k-fwsr", "--rank", "300", "--quiet", "-o", "picks.csv",
               "--checkpoint", "run.json", "--checkpoint-seconds", "0"]
        self.succeed("generate", "blobs", "-o", "points.npy", "--points", str(points), "--dimensions", "20")
        out, err, code = self.signalled(number, ask)
        if os.path.exists(self.path("picks.csv")):
            os.unlink(self.path("picks.csv"))
            os.unlink(self.path("run.json"))
            raise TooShort
        said = [line for line in err.decode().splitlines() if line.startswith("fwsr:") and ": warning: " not in line]
        self.assertEqual((out, len(said)), (b"", 1), err)
        self.assertIn("run.json has what was done so far", said[0])
        self.assertNotEqual(code, 0)
        self.assertEqual(self.share(2, *ask, "--resume").code, 0)
        shutil.move(self.path("picks.csv"), self.path("resumed.csv"))
        os.unlink(self.path("run.json"))
        self.assertEqual(self.run_program(*ask[:-4]).code, 0)
        self.assertEqual(self.read("picks.csv"), self.read("resumed.csv"))
        os.unlink(self.path("picks.csv"))

    def test_a_rank_that_dies_leaves_nobody_waiting(self):
        self.points("points.npy", "<f4", rows=30000, features=20)
        ask = ["select", "points.npy", "-k", "2000", *FWSR, "--alpha", "50", *ENDLESS, "--quiet", "-o", "picks.csv"]
        process = subprocess.Popen([*mpirun(3), *ask], cwd=self.folder, stdin=subprocess.DEVNULL, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            ours = []
            end = time.monotonic() + 300
            while len(ours) < 3 and time.monotonic() < end and process.poll() is None:
                ours = children(process.pid)
                time.sleep(0.05)
            time.sleep(0.5)
            self.assertIsNone(process.poll(), "it ended before anybody was killed")
            os.kill(random.Random(1).choice(ours), signal.SIGKILL)
            self.assertNotEqual(process.wait(timeout=300), 0)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        self.assertFalse(os.path.exists(self.path("picks.csv")))
        self.assertEqual(self.leftovers(), [])


def children(parent):
    """The ranks that an mpirun has started."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                    found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


def why_not():
    """Why there are no ranks here; nothing: there are."""
    if not MPIRUN or not os.path.exists(MPI_PROGRAM):
        return "scripts/setup mpi installs what it takes"
    tried = subprocess.run([*mpirun(2), "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                           env={**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    return "" if b"mpi       fwsr-mpi" in tried.stdout else "mpirun does not start it: " + tried.stderr.decode()[-300:]


if __name__ == "__main__":
    if reason := why_not():
        print(f"no MPI here: {reason}")
        sys.exit(0)
    unittest.main()
