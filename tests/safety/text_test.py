"""Text from data: on a terminal it drives nothing, in messages it is short, in files it stays as it is."""

import csv
import io
import os
import pty
import subprocess

import campaign
from helpers import PROGRAM, Case, npy_image

WILD = "\x1b[31mred\x07\x9b2J\u202eevil"  # a label of a NumPy file may be anything
ODD = "\x9b2Jred\u202eevil"  # csv files with escape characters are refused
CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]"


class Text(Case):
    def table(self, classes, ids=None):
        rows = ["id,x,y,z,kind"]
        for i in range(24):
            name = (ids or ["p"])[i % len(ids or ["p"])]
            label = classes[i % len(classes)].replace('"', '""')
            rows.append(f'"{name}",{i * 37 % 11},{i * 53 % 13},{i * i % 17},"{label}"')
        self.write("d.csv", "\n".join(rows).encode("utf-8", "surrogateescape") + b"\n")
        return ["d.csv", "--label-column", "kind", "--id-column", "id"]

    def array_of(self, *labels):
        """The classes of the table, as bytes of a NumPy file."""
        cells = [label.encode("utf-8", "surrogateescape") for label in labels]
        width = max(map(len, cells))
        header = npy_image(f"|S{width}", "(24,)", [])
        self.write("y.npy", header + b"".join(cells[i % len(cells)].ljust(width, b"\0") for i in range(24)))
        return ["d.csv", "--labels", "y.npy", "--columns", "x,y,z", "--id-column", "id"]

    def on_terminal(self, *args):
        """What a person sees whose terminal is both standard output and standard error."""
        main, end = pty.openpty()
        process = subprocess.Popen([PROGRAM, *args], stdout=end, stderr=end, cwd=self.folder,
                                   env=self.environment(TERM="dumb"))
        os.close(end)
        seen = b""
        try:
            while chunk := os.read(main, 65536):
                seen += chunk
        except OSError:  # the other end was closed
            pass
        os.close(main)
        process.wait(60)
        return seen.decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    def test_a_terminal_is_not_driven(self):
        self.table(["k"], [ODD, "plain"])
        data = self.array_of(WILD, "tame")
        for args in (["select", *data, "-k", "6"], ["select", *data, "-k", "2", "--per-class"],
                     ["select", *data, "-k", "3", "--json"], ["select", *data, "-k", "6", "-o", "/dev/stdout"],
                     ["select", *data, "-k", "50", "--per-class"], ["select", *data, "-k", "no=1", "--per-class"],
                     ["select", *data, "-k", "2", "--per-class", "--dry-run"], ["inspect", *data],
                     ["inspect", *data, "--json"], ["sweep", *data, "-k", "2", "--per-class"],
                     ["compare", *data, "-k", "2", "--per-class", "--methods", "fwsr,random"]):
            self.assertNotRegex(self.on_terminal(*args), CONTROL, args)
        self.assertIn("\\x1b[31mred", self.on_terminal("select", *data, "-k", "24"))

    def test_pipes_and_files_get_the_bytes(self):
        self.table(["k"], [ODD])
        data = self.array_of(WILD)
        for text in (self.succeed("select", *data, "-k", "3").out,
                     self.succeed("select", *data, "-k", "3", "-o", "p.csv") and self.read("p.csv")):
            self.assertEqual({(row["id"], row["class"]) for row in csv.DictReader(io.StringIO(text))},
                             {(ODD, WILD)})

    def test_bytes_that_are_no_letters(self):
        data = self.table(["\udcff\udcfe", "b"])
        seen = self.on_terminal("select", *data, "-k", "2", "--per-class")
        self.assertIn("\\xff\\xfe", seen)
        self.assertNotRegex(seen, "[\udc80-\udcff]")
        self.assertIn("\udcff\udcfe", self.succeed("select", *data, "-k", "2", "--per-class").out)

    def test_long_names_are_shortened_in_messages(self):
        long = "n" * 1_000_000
        data = self.table([long, "b" + long])
        for args in (["-k", "2", "--per-class"], ["-k", "20", "--per-class"], ["-k", "no=1", "--per-class"],
                     ["-k", "2", "--per-class", "--kernel", "precomputed"],
                     ["-k", "2", "--per-class", "--memory", "1K"]):
            for command in ("select", "sweep"):
                outcome = self.run_program(command, *data, *args, "-o", "p.csv")
                self.assertLess(len(outcome.err), 4000, (command, args, outcome))
        for args in (["inspect", *data], ["select", *data, "-k", "2", "--per-class", "--dry-run"],
                     ["select", "d.csv", "-k", "2"], ["select", "d.csv", "--columns", "x" + long, "-k", "2"]):
            if sum(map(len, args)) > 120_000:
                args = [a[:100_000] for a in args]
            outcome = self.run_program(*args)
            self.assertLess(len(outcome.out) + len(outcome.err), 10_000, args[:2])

    def test_formulas(self):
        wild = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "tame", "-1.5", "+7", "a=b"]
        data = self.table(["k"], wild)
        plain = self.succeed("select", *data, "-k", "24", "--fill", "--assignment", "a.csv").out
        self.assertEqual({row["id"] for row in csv.DictReader(io.StringIO(plain))}, set(wild))
        safe = {"'=1+1", "'+cmd|' /C calc'!A0", "'-2+3", "'@SUM(1)", "tame", "-1.5", "+7", "a=b"}
        text = self.succeed("select", *data, "-k", "24", "--fill", "--quote-formulas", "--assignment", "b.csv").out
        for found in (text, self.read("b.csv")):
            self.assertEqual({row["id"] for row in csv.DictReader(io.StringIO(found))}, safe)


if __name__ == "__main__":
    campaign.main()
