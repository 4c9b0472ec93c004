"""Tables as people have them, and matrices that are no kernel: what is said about them."""

import json
import math
import subprocess
import unittest

from helpers import PROGRAM, Case, npy_bytes, random_rows

ROWS = random_rows(30, 4)


def table(header, rows, index=False):
    lines = [header] if header else []
    for i, row in enumerate(rows):
        lines.append(",".join([str(i)] * index + [f"{v:.6f}" for v in row]))
    return "\n".join(lines) + "\n"


class Tables(Case):
    def picks(self, *args):
        return json.loads(self.succeed("select", *args, "-k", "5", "--json").out)

    def test_what_pandas_writes_is_what_was_there(self):
        self.write("plain.csv", table("a,b,c,d", ROWS))
        plain = self.picks("plain.csv")
        for name, text in {
            "names.csv": table("0,1,2,3", ROWS),
            "index.csv": table(",0,1,2,3", ROWS, index=True),
            "named.csv": table(",a,b,c,d", ROWS, index=True),
            "again.csv": table("Unnamed: 0,a,b,c,d", ROWS, index=True),
            "bars.csv": table("a,b,c,d", ROWS).replace(",", "|"),
            "commas.csv": table("a,b,c,d", ROWS).replace("\n", ",\n"),
            "comments.csv": "# made by hand\n\n" + table("a,b,c,d", ROWS).replace("\n", "\n\n"),
        }.items():
            self.write(name, text)
            found = self.picks(name)
            self.assertEqual(found["exemplars"], plain["exemplars"], name)
            self.assertTrue(found["data"]["table"]["header"], name)
            if name in ("index.csv", "named.csv", "again.csv"):
                self.assertEqual(found["ids"], [str(e) for e in found["exemplars"]], name)

    def test_the_summary_says_how_a_table_was_understood(self):
        self.write("t.csv", table(",0,1,2,3", ROWS, index=True))
        wanted = "separated by commas; with a header (its first line counts the columns, 0 to 3"
        for args in (["select", "t.csv", "-k", "3"], ["inspect", "t.csv"],
                     ["select", "t.csv", "-k", "3", "--dry-run"],
                     ["sweep", "t.csv", "-k", "3", "--alphas", "1"],
                     ["compare", "t.csv", "-k", "3", "--methods", "random"]):
            done = self.succeed(*args)
            self.assertIn(wanted, done.out + done.err, args)
            self.assertIn("ids from column 1", done.out + done.err, args)
        for args in (["select", "t.csv", "-k", "3", "--json"], ["inspect", "t.csv", "--json"]):
            found = json.loads(self.succeed(*args).out)["data"]["table"]
            self.assertEqual((found["header"], found["separator"], found["id_column"], found["left_out"]),
                             (True, ",", "column 1", []))
        self.write("x.npy", npy_bytes(ROWS))
        self.assertIsNone(json.loads(self.succeed("inspect", "x.npy", "--json").out)["data"]["table"])

    def test_columns_are_chosen_and_excluded_by_ranges(self):
        self.write("t.csv", table("a,b,c,d", ROWS))
        for args in (["--columns", "b-d"], ["--columns", "2-4"], ["--exclude-columns", "a"],
                     ["--exclude-columns", "1"]):
            found = self.picks("t.csv", *args)
            self.assertEqual(found["data"]["features"], 3, args)
            self.assertEqual([c["column"] for c in found["data"]["table"]["left_out"]],
                             ["'a' (column 1)"], args)

    def test_the_option_that_is_proposed_works(self):
        self.write("t.csv", "a,kind,b,place\n" + "".join(
            f"{r[0]},{'xyz'[i % 3]},{r[1]},in {i}\n" for i, r in enumerate(ROWS)))
        refused = self.run_program("select", "t.csv", "-k", "2")
        self.assertEqual(refused.code, 1)
        option = refused.err.split("leave them out: ")[1].split(" (in Python")[0].split()
        self.assertEqual(option, ["--exclude-columns", "kind,place"])
        self.succeed("select", "t.csv", "-k", "2", *option)

    def test_a_piped_array_is_refused_before_it_is_read(self):
        data = npy_bytes(random_rows(4000, 40))
        done = subprocess.run([PROGRAM, "select", "-", "-k", "3", "--memory", "1M"], input=data,
                              capture_output=True, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn("only text (csv, libsvm) can be read from standard input", done.stderr.decode())
        self.assertIn("give the file's name", done.stderr.decode())

    def test_text_too_large_for_the_memory(self):
        done = self.run_program("select", "-", "-k", "3", "--memory", "1M",
                                stdin=table("", random_rows(40000, 4)).encode())
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"takes more memory while it is read than the 1\.0 MiB allowed")
        self.assertNotIn("1.0 MiB or more", done.err)

    def test_empty_labels(self):
        self.write("t.csv", table("a,b,c,d", ROWS))
        self.write("y.txt", "")
        done = self.run_program("select", "t.csv", "-k", "3", "--labels", "y.txt")
        self.assertEqual(done.code, 1)
        self.assertIn("y.txt: is empty; it needs a label for every point", done.err)


class NoKernels(Case):
    def refused(self, *args):
        done = self.run_program(*args)
        self.assertEqual(done.code, 1, done)
        self.assertEqual(done.out, "")
        return done.err

    def test_distances(self):
        self.write("d.npy", npy_bytes([[math.dist(a, b) for b in ROWS] for a in ROWS]))
        for args in (["select", "d.npy", "-k", "3"], ["select", "d.npy", "-k", "3", "--method", "rrqr"],
                     ["sweep", "d.npy", "-k", "3", "--alphas", "1"]):
            self.assertRegex(self.refused(*args, "--kernel", "precomputed"),
                             r"\Afwsr: d.npy: .*looks like distances.*numpy\.exp\(-D\*\*2")
        self.succeed("select", "d.npy", "-k", "3", "--method", "kmedoids:metric=precomputed")

    def test_indefinite(self):
        self.write("k.npy", npy_bytes([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        self.assertRegex(self.refused("select", "k.npy", "-k", "2", "--kernel", "precomputed"),
                         "not positive semi-definite.* 2 at row 0, column 1")
        size = 30
        self.write("c.npy", npy_bytes([[1.0 if i == j else 0.9 * (-1) ** ((i + j) % 3 == 2)
                                        for j in range(size)] for i in range(size)]))
        self.assertRegex(self.refused("select", "c.npy", "-k", "2", "--kernel", "precomputed"),
                         "not positive semi-definite.*smallest eigenvalue is -")


if __name__ == "__main__":
    unittest.main()
