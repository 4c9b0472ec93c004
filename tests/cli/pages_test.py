"""Pages that say what the program says: the command line page is made from its help, and the JSON page has every key
it prints, and no other."""

import importlib.util
import json
import os
import re
import unittest

from helpers import FWSR, PROGRAM, Case, npy_bytes, random_rows

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


def page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


class CommandLine(unittest.TestCase):
    maxDiff = 2000

    def test_the_page_is_made_from_the_help_of_this_program(self):
        where = importlib.util.spec_from_file_location("make", os.path.join(DOCS, "make_command_line.py"))
        make = importlib.util.module_from_spec(where)
        where.loader.exec_module(make)
        if make.page(PROGRAM) != page("command_line.md"):
            self.assertMultiLineEqual(page("command_line.md"), make.page(PROGRAM),
                                      "make it again: python3 docs/make_command_line.py PROGRAM")


def keys_of(value, path, found):
    """Every key, objects and lists included, as in `certificate.gap` and `picks[].index`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(f"{path}.{key}")
            keys_of(inner, f"{path}.{key}", found)
    elif isinstance(value, list):
        for inner in value:
            keys_of(inner, f"{path}[]", found)


def keys_on_page():
    """Those of the tables, each below a comment that says what they are keys of."""
    found = set()
    for places, table in re.findall(r"<!-- keys of: ([^>]*) -->\n\n((?:\|.*\n)+)", page("json.md")):
        for key in re.findall(r"^\| `([\w.\[\]]+)` \|", table, re.MULTILINE):
            for place in places.split(", "):
                parts = f"{place}.{key}".split(".")
                # What stands in an object is a key of it: `seconds.read` makes `seconds` one too.
                found |= {".".join(parts[:n]).removesuffix("[]") for n in range(2, len(parts) + 1)}
    return found


def listed(key, page_keys):
    """Whether the page has the key; NAME stands for any."""
    return any(re.fullmatch(re.escape(known).replace("NAME", r"[^.\[\]]+"), key) for known in page_keys)


class Keys(Case):
    def printed(self):
        """The keys of runs that show all of them."""
        rows = [row + [0.0] for row in random_rows(12, 3)]
        rows[5] = rows[4]
        lines = [f"p{i},{'uv'[i % 2]}," + ",".join(map(str, row)) + ",w" for i, row in enumerate(rows)]
        self.write("t.csv", "name,kind,a,b,c,d,e\n" + "\n".join(lines) + "\n")
        self.write("x.npy", npy_bytes(rows))
        self.write("some.txt", "0\n1\n")
        self.write("bad.csv", "1,2\n3,nan\n")
        self.write("same.npy", npy_bytes([[1.0, 0.0]] * 4 + [[0.0, 2.0]] * 2))
        named = ("t.csv", "--label-column", "kind", "--id-column", "name", "--exclude-columns", "e")
        runs = {
            "select": [
                ("select", *named, "-k", "2", "--lambda", "1", "--rho", "1", "--assignment", "a.npy"),
                ("select", "same.npy", "-k", "4", "--fill", "--center", "none"),
                ("select", "x.npy", "-k", "2", *FWSR),
                ("select", "x.npy", "-k", "2", "--method", "smrs"),
                ("select", "x.npy", "-k", "2", "--method", "coreset"),
                ("select", *named, "-k", "2", "--per-class", "--method", "coreset"),
                ("select", "x.npy", "-k", "2", "--method", "ssc-omp:clusters=2"),
                ("select", *named, "-k", "2", "--per-class", "--method", "ssc-omp:clusters=2"),
                ("select", "x.npy", "-k", "2", "--method", "ksvd", "--codes", "c.npy"),
                ("select", *named, "-k", "2", "--per-class", "--method", "ksvd", "--codes", "c.npy"),
                ("select", *named, "-k", "2", "--per-class", "--method", "kmeans"),
                ("select", *named, "-k", "2", "--per-class", "--lambda", "1", "--rho", "1", "--fill"),
                ("select", *named, "-k", "2", "--per-class", "--dry-run"),
                ("select", "x.npy", "-k", "2", "--dry-run"),
                ("select", "x.npy", "-k", "2", *FWSR, "--refine", "exchange"),
                ("select", *named, "-k", "2", "--per-class", *FWSR, "--refine", "exchange"),
                ("select", "x.npy", "-k", "1", *FWSR, "--include", "some.txt"),
                ("select", *named, "-k", "1", *FWSR, "--per-class", "--include", "some.txt"),
            ],
            "sweep": [
                ("sweep", *named, "-k", "2", "--alphas", "auto,1", "--lambda", "1", "--rho", "1"),
                ("sweep", *named, "-k", "2", "--alphas", "auto,1", "--per-class", "--lambda", "1", "--rho", "1",
                 "--fill"),
                ("sweep", "same.npy", "-k", "4", "--fill", "--center", "none"),
                ("sweep", "x.npy", "-k", "2", "--refine", "exchange"),
                ("sweep", "x.npy", "-k", "1", "--include", "some.txt"),
                ("sweep", *named, "-k", "1", "--per-class", "--include", "some.txt"),
                ("sweep", *named, "-k", "2", "--per-class", "--refine", "exchange"),
                ("sweep", *named, "-k", "2", "--dry-run"),
                ("sweep", *named, "-k", "2", "--dry-run", "--per-class"),
            ],
            "compare": [("compare", *named, "-k", "2", "--methods", "fwsr,smrs,random", "--repeats", "2")],
            "inspect": [("inspect", *named), ("inspect", "bad.csv")],
        }
        found = set()
        for command, all_arguments in runs.items():
            for arguments in all_arguments:
                keys_of(json.loads(self.succeed(*arguments, "--json").out), command, found)
        return found

    def test_the_page_has_every_key_and_no_other(self):
        printed, on_page = self.printed(), keys_on_page()
        self.assertGreater(len(on_page), 100)
        missing = sorted(key for key in printed if not listed(key, on_page))
        self.assertEqual(missing, [], "these are not on docs/json.md")
        # Facts are those of methods, which a sweep has none of.
        unseen = sorted(known for known in on_page
                        if not any(listed(key, {known}) for key in printed) and "facts.NAME" not in known)
        self.assertEqual(unseen, [], "docs/json.md has these, and no run prints them")


class Checks(unittest.TestCase):
    """The tests above can fail."""

    def test_keys_are_found_at_every_depth(self):
        found = set()
        keys_of({"a": 1, "b": [{"c": {"d": None}}]}, "x", found)
        self.assertEqual(found, {"x.a", "x.b", "x.b[].c", "x.b[].c.d"})

    def test_names_stand_for_any_key_but_not_for_two(self):
        self.assertTrue(listed("x.facts.cost", {"x.facts.NAME"}))
        self.assertFalse(listed("x.facts.cost.more", {"x.facts.NAME"}))
        self.assertFalse(listed("x.fact", {"x.facts"}))


if __name__ == "__main__":
    unittest.main()
