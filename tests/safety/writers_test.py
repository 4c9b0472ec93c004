"""Files that others write too, links, names, rights and full disks: what was there is replaced whole or stays."""

import fcntl
import os
import random
import resource
import shutil
import subprocess
import unittest

import campaign
from helpers import PROGRAM, Case, Outcome, npy_bytes, random_rows

PART = ".out.csv.0123456789abcdef.part"


class Writers(Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.write("set.npy", npy_bytes(random_rows(60, 8)))

    def select(self, k=3, out="out.csv", *more, **keywords):
        return self.run_program("select", "set.npy", "-k", str(k), "--quiet", "-o", out, *more, **keywords)

    def expected(self, k=3):
        return self.succeed("select", "set.npy", "-k", str(k), "--quiet").out

    def expect_whole(self, k=3, out="out.csv"):
        outcome = self.select(k, out)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(self.read(out), self.expected(k))

    def start(self, *command, **keywords):
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **keywords)

    # ---- several writers ----

    def write_together(self, before=()):
        """Two processes put something else under one name at the same time."""
        known = [self.expected(k) for k in (3, 40)]
        for _ in range(campaign.rounds(8)):
            both = [self.start(*before, PROGRAM, "select", "set.npy", "-k", k, "--quiet", "-o", "out.csv",
                               "--codes", "c.npy") for k in ("3", "40")]
            for process in both:
                _, err = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, err)
            self.assertIn(self.read("out.csv"), known)
            self.assertEqual(self.leftovers(), [])

    def test_two_processes(self):
        self.write_together()

    def test_two_processes_of_one_number(self):
        apart = ["unshare", "--pid", "--fork"]
        if not shutil.which("unshare") or subprocess.run([*apart, "true"], capture_output=True).returncode:
            self.skipTest("no PID namespaces here")
        self.write_together(apart)

    # ---- parts of others ----

    def test_parts_of_the_dead_are_removed_and_no_others(self):
        self.write(PART, "half")
        others = (".out.csv.0123456789ABCDEF.part", ".out.csv.0123.part", "out.csv.0123456789abcdef.part",
                  ".other.csv.0123456789abcdef.part", ".out.csv.0123456789abcdef.parts")
        for name in others:
            self.write(name, "mine")
        self.expect_whole()
        self.assertFalse(os.path.exists(self.path(PART)))
        for name in others:
            self.assertEqual(self.read(name), "mine")

    def test_parts_of_the_living_stay(self):
        self.write(PART, "half")
        with open(self.path(PART), "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.expect_whole()
            self.assertEqual(self.read(PART), "half")

    def test_links_at_names_one_could_guess(self):
        self.write("victim", "precious")
        os.symlink("victim", self.path(PART))
        for number in range(os.getpid(), os.getpid() + 300):
            os.symlink("victim", self.path(f"out.csv.part-{number}"))
        self.expect_whole()
        self.assertEqual(self.read("victim"), "precious")
        self.assertTrue(os.path.islink(self.path(PART)))

    # ---- links and names ----

    def test_what_a_link_leads_to_is_written(self):
        os.mkdir(self.path("deep"))
        self.write("deep/real.csv", "before")
        os.symlink("deep/real.csv", self.path("one.csv"))
        os.symlink(self.path("one.csv"), self.path("out.csv"))
        self.expect_whole()
        self.assertTrue(os.path.islink(self.path("out.csv")))
        self.assertEqual(self.read("deep/real.csv"), self.read("out.csv"))
        self.assertEqual(os.listdir(self.path("deep")), ["real.csv"])

    def test_a_link_to_nothing_makes_its_end(self):
        os.symlink("later.csv", self.path("out.csv"))
        self.expect_whole()
        self.assertTrue(os.path.islink(self.path("out.csv")))
        self.assertTrue(os.path.isfile(self.path("later.csv")))

    def test_links_in_a_circle_are_refused(self):
        os.symlink("b.csv", self.path("a.csv"))
        os.symlink("a.csv", self.path("b.csv"))
        self.assertEqual(self.select(out="a.csv").code, 1)

    def test_another_name_of_the_file_keeps_the_old(self):
        self.write("other.csv", "before")
        os.link(self.path("other.csv"), self.path("out.csv"))
        self.expect_whole()
        self.assertEqual(self.read("other.csv"), "before")

    def test_names_as_long_as_they_may_be(self):
        self.expect_whole(out="n" * 251 + ".csv")
        self.expect_whole(out="\u00e4" * 125 + ".csv")
        self.assertEqual(self.leftovers(), [])
        outcome = self.run_program("select", "missing.npy", "-k", "3", "-o", "n" * 252 + ".csv")
        self.assertEqual(outcome.code, 1)
        self.assertIn("too long", outcome.err)

    # ---- rights ----

    def test_mode_stays_and_new_files_follow_umask(self):
        self.write("out.csv", "before")
        os.chmod(self.path("out.csv"), 0o604)
        self.expect_whole()
        self.assertEqual(os.stat(self.path("out.csv")).st_mode & 0o7777, 0o604)
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        self.expect_whole(out="new.csv")
        self.assertEqual(os.stat(self.path("new.csv")).st_mode & 0o7777, 0o640)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_owner_stays(self):
        self.write("out.csv", "before")
        os.chown(self.path("out.csv"), 12345, 23456)
        self.expect_whole()
        about = os.stat(self.path("out.csv"))
        self.assertEqual((about.st_uid, about.st_gid), (12345, 23456))

    def test_a_folder_that_cannot_be_written_is_refused_before_the_work(self):
        os.mkdir(self.path("locked"), 0o755)
        self.write("locked/out.csv", "before")
        os.chmod(self.path("locked/out.csv"), 0o666)
        os.chmod(self.path("locked"), 0o555)
        somebody = {"user": 65534} if os.geteuid() == 0 else {}  # root may write anywhere
        try:
            done = subprocess.run([PROGRAM, "select", "missing.npy", "-k", "3", "-o", "locked/out.csv"],
                                  cwd=self.folder, capture_output=True, timeout=300, **somebody)
        except PermissionError:
            self.skipTest("the program cannot be run by an ordinary user")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"locked/out.csv: cannot be written: no permission", done.stderr)

    # ---- no room ----

    def expect_untouched(self, names, run):
        for name in names:
            self.write(name, "before")
        outcome = run()
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, r"\Afwsr: .*cannot be written: .*; no file was changed\n\Z")
        for name in names:
            self.assertEqual(self.read(name), "before")

    def test_files_that_may_not_grow(self):
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
        bits = random.Random(campaign.seed())
        for _ in range(campaign.rounds(5)):
            # The codes of 60 x 3 numbers fit, all of the JSON does not.
            limit = bits.randrange(1, 3000)

            def run():
                done = subprocess.run([PROGRAM, "select", "set.npy", "-k", "3", "--quiet", "--codes", "c.npy",
                                       "-o", "out.json"], cwd=self.folder, capture_output=True, timeout=300,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                return Outcome(done.returncode, "", done.stderr.decode())

            self.expect_untouched(["c.npy", "out.json"], run)
            self.assertEqual(self.leftovers(), [])

    def test_full_disk(self):
        os.mkdir(self.path("small"))
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.path("small")],
                          capture_output=True).returncode:
            self.skipTest("nothing may be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.path("small")])
        self.expect_untouched(["small/c.npy", "small/out.json"], lambda: self.select(
            30, "small/out.json", "--codes", "small/c.npy"))
        self.assertEqual(sorted(os.listdir(self.path("small"))), ["c.npy", "out.json"])

    # ---- descriptors and inputs ----

    def test_a_descriptor_is_written_where_it_stands(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            if not os.path.exists(name) and name != "-":
                continue
            self.write("log", "first\n")
            with open(self.path("log"), "ab") as log:
                done = subprocess.run([PROGRAM, "select", "set.npy", "-k", "3", "--quiet", "-o", name],
                                      cwd=self.folder, stdout=log, timeout=300)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(self.read("log"), "first\n" + self.expected())

    def test_an_output_that_is_the_input_is_refused(self):
        rows = "".join(",".join(map(str, row)) + "\n" for row in random_rows(20, 4))
        self.write("f.csv", rows)
        os.link(self.path("f.csv"), self.path("g.csv"))
        for out in ("f.csv", "g.csv"):
            with open(self.path("f.csv"), "rb") as file:
                done = subprocess.run([PROGRAM, "select", "-", "-k", "3", "-o", out], stdin=file,
                                      cwd=self.folder, capture_output=True, timeout=300)
            self.assertEqual((done.returncode, self.read("f.csv")), (2, rows), done)
            self.assertIn(b"overwrite the input", done.stderr)
        with open(self.path("g.csv"), "ab") as file:
            done = subprocess.run([PROGRAM, "select", "f.csv", "-k", "3"], stdout=file,
                                  cwd=self.folder, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual((done.returncode, self.read("f.csv")), (2, rows), done)


if __name__ == "__main__":
    campaign.main()
