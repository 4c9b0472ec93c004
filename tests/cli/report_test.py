"""--report on the command line: pages appear whole or not at all, with what was asked for, and refusals say why."""

import json
import os
import re
import struct
import unittest
import zlib
from html.parser import HTMLParser

from helpers import Case, npy_bytes, random_rows
from report_pages import hostile_table

LIMIT, LIMIT_WITH_IMAGES = 2_000_000, 5_000_000


class Elements(HTMLParser):
    """Tags that are closed as they were opened, and what stood where."""

    VOID = {"meta", "img", "rect", "input", "br"}

    def __init__(self, page):
        super().__init__()
        self.open, self.wrong, self.seen = [], [], []
        self.feed(page)
        self.close()
        self.wrong += [f"not closed: {name}" for name in self.open]

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def count(self, tag, **attributes):
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return sum(t == tag and wanted.items() <= a.items() for t, a in self.seen)


def png(width, height):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    raw = b"".join(b"\0" + bytes(width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


class Report(Case):
    def make(self, *command, **keywords):
        outcome = self.succeed(*command, "--report", "page.html", "-o", "out.csv", **keywords)
        with open(self.path("page.html"), encoding="utf-8") as file:
            self.page = file.read()
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', self.page, re.DOTALL).group(1))
        self.elements = Elements(self.page)
        self.assertEqual(self.elements.wrong, [])
        return outcome

    def refused(self, *command, words):
        outcome = self.run_program(*command)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn(words, outcome.err)
        self.assertFalse(os.path.exists(self.path("page.html")))

    def test_a_selection_has_a_page_and_the_same_answer(self):
        self.succeed("select", "digits", "-k", "10", "-o", "plain.csv", "--quiet")
        outcome = self.make("select", "digits", "-k", "10")
        self.assertEqual(self.read("out.csv"), self.read("plain.csv"))
        self.assertIn("page.html: a page of", outcome.err)
        self.assertEqual(self.elements.count("li", class_="card"), 10)
        self.assertEqual(self.elements.count("img"), 10)
        self.assertIn("fwsr select digits -k 10 --report page.html -o out.csv", self.page)
        self.assertEqual(len(self.data["classes"]), 10)
        self.assertLess(len(self.page), LIMIT_WITH_IMAGES)
        for name in ("gallery", "enough", "worst", "map", "classes", "trace", "export"):
            self.assertEqual(self.elements.count("section", id=name), 1, name)
        json_answer = json.loads(self.succeed("select", "digits", "-k", "10", "--json", "--report", "page.html",
                                              "--quiet").out)
        self.assertNotIn("assignment", json_answer)
        self.assertAlmostEqual(self.data["curve"]["error"][-1], json_answer["certificate"]["reconstruction_error"], 4)
        self.assertEqual(self.data["exemplars"]["index"], json_answer["exemplars"])

    def test_threads_do_not_matter(self):
        pages = []
        for threads in ("1", "4"):
            self.make("select", "digits", "-k", "6", "--threads", threads)
            text = re.sub(r"(?s)<header>.*?</header>", "", self.page)
            pages.append(re.sub(r"--threads\D+\d", "", text))
        self.assertEqual(*pages)

    def test_classes_conditions_and_other_methods_have_pages(self):
        self.make("select", "digits", "-k", "2", "--per-class", "--method", "fwsr")
        self.assertEqual(self.elements.count("li", class_="card"), 20)
        self.assertEqual(len(self.data["curve"]["error"]), 2)
        self.write("keep.txt", "5\n9\n")
        self.make("select", "digits", "-k", "3", "--include", "keep.txt")
        self.assertEqual(self.data["exemplars"]["included"], [True, True, False, False, False])
        self.assertNotIn("--include", self.data["again"]["words"])
        for method in ("kmedoids", "kmedoids:metric=manhattan", "random", "rrqr", "smrs"):
            self.make("select", "digits", "-k", "4", "--method", method)
            self.assertEqual(len(self.data["exemplars"]["index"]), 4, method)

    def test_kernels_and_dissimilarities_that_are_given(self):
        rows = random_rows(40, 4, seed=2)
        kernel = [[sum(x * y for x, y in zip(a, b)) for b in rows] for a in rows]
        apart = [[sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5 for b in rows] for a in rows]
        self.write("kernel.npy", npy_bytes(kernel))
        self.write("apart.npy", npy_bytes(apart))
        self.make("select", "kernel.npy", "-k", "3", "--method", "k-fwsr", "--kernel", "precomputed")
        self.assertEqual(len(self.data["curve"]["error"]), 3)
        self.make("select", "apart.npy", "-k", "3", "--method", "kmedoids:metric=precomputed")
        self.assertNotIn("curve", self.data)
        self.assertEqual(self.elements.count("li", class_="card"), 3)

    def test_texts_and_pictures_of_columns(self):
        numbers = random_rows(12, 3, seed=4)
        lines = ["name,words,file,a,b,c"]
        os.mkdir(self.path("pictures"))
        for i, row in enumerate(numbers):
            lines.append(f'p{i},"said <b>{i}</b>",pictures/{i}.png,' + ",".join(f"{v:.3f}" for v in row))
            self.write(f"pictures/{i}.png", png(4, 4) if i != 5 else b"no picture")
        self.write("points.csv", "\n".join(lines) + "\n")
        self.make("select", "points.csv", "--id-column", "name", "--text-column", "words", "--exclude-columns", "file",
                  "-k", "12", "--method", "random")
        self.assertEqual(self.elements.count("p", class_="text"), 12)
        self.assertIn("said &lt;b&gt;7&lt;/b&gt;", self.page)
        self.make("select", "points.csv", "--id-column", "name", "--image-column", "file", "--exclude-columns", "words",
                  "-k", "12", "--method", "random")
        self.assertEqual(self.elements.count("img"), 11)
        self.assertIn("is neither png nor jpeg", self.page)
        self.make("select", "points.csv", "--columns", "a,b,c", "-k", "4", "--map-columns", "3,a")
        self.assertEqual((self.data["map"]["across"], self.data["map"]["up"]), ("c", "a"))

    def test_hostile_tables_stay_text(self):
        self.write("hostile.csv", hostile_table(300, 150))
        self.make("select", "hostile.csv", "--label-column", "label", "--id-column", "name", "--text-column", "text",
                  "-k", "8", "--method", "k-fwsr")
        self.assertEqual(self.elements.count("script"), 2)
        self.assertLessEqual({tag for tag, _ in self.elements.seen}, {
            "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "h4", "p", "dl", "div", "dt",
            "dd", "span", "pre", "noscript", "nav", "ul", "li", "a", "main", "section", "table", "caption", "thead",
            "tbody", "tr", "th", "td", "svg", "rect", "path", "line", "circle", "text", "details", "summary", "script"})
        self.assertFalse([a for _, a in self.elements.seen if any(name.startswith("on") for name in a)])
        self.assertLess(len(self.page.encode()), LIMIT)

    def test_comparisons_and_sweeps(self):
        self.make("compare", "digits", "-k", "5", "--methods", "fwsr,random", "--repeats", "2")
        self.assertEqual(self.elements.count("table", id="compared"), 1)
        self.assertEqual(self.elements.count("img"), 10)
        self.make("sweep", "digits", "-k", "4", "--alphas", "auto,2", "--etas", "0,1")
        self.assertEqual(len(re.findall(r'<td class="h\d">', self.page)), 4)
        # Every setting has a place, and its exemplars there or with another that has the same.
        shown, same = self.page.count('<ul class="strip">'), self.page.count("The same exemplars as")
        self.assertEqual((shown + same, self.elements.count("img")), (4, 4 * shown))

    def test_plans_say_what_a_page_takes(self):
        outcome = self.succeed("select", "digits", "-k", "5", "--report", "page.html", "--dry-run")
        self.assertIn("page.html, at most 4.8 MiB; making it takes at most", outcome.out)
        self.assertFalse(os.path.exists(self.path("page.html")))

    def test_a_page_that_does_not_fit_the_memory_is_refused_before_the_work(self):
        self.succeed("select", "digits", "-k", "5", "--memory", "30M", "-o", "out.csv", "--quiet")
        outcome = self.run_program("select", "digits", "-k", "5", "--memory", "30M", "--report", "page.html")
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("making the page needs", outcome.err)
        self.assertIn("leave --report out", outcome.err)
        self.assertFalse(os.path.exists(self.path("page.html")))

    def test_anything_that_can_be_chosen_from_has_a_page(self):
        """One point, all points, equal ones, constant features, a thousand classes."""
        thousand = "".join(f"{i % 37},{i // 37},c{i % 1000}\n" for i in range(2000))
        tables = {
            "one.csv": ("a,b,kind\n1,2,x\n", "1"), "all.csv": ("a,b,kind\n1,2,x\n2,1,y\n5,5,z\n", "3"),
            "equal.csv": ("a,b,kind\n" + "1,2,x\n" * 20, "3"), "constant.csv":
            ("a,b,kind\n" + "".join(f"{i},7,{'x' if i % 2 else 'y'}\n" for i in range(30)), "4"),
            "thousand.csv": ("a,b,kind\n" + thousand, "300")}
        for name, (text, k) in tables.items():
            self.write(name, text)
            for method in ("fwsr", "exchange", "random") if len(text) < 2000 else ("random",):
                self.make("select", name, "--label-column", "kind", "-k", k, "--method", method)
                stands = re.findall(r'<p class="stands">stands for ([\d,]+) point', self.page)
                self.assertEqual(sum(int(n.replace(",", "")) for n in stands), text.count("\n") - 1, (name, method))

    def test_wrong_use_is_refused_before_the_work(self):
        self.refused("select", "digits", "-k", "5", "--images", "8x8", words="add --report page.html")
        self.refused("select", "digits", "-k", "5", "--report", "page.html", "--images", "8by8", words="28x28")
        self.refused("select", "digits", "-k", "5", "--report", "page.html", "--images", "9x8", words="72 pixels")
        self.refused("select", "digits", "-k", "5", "--report", "page.html", "--map-columns", "a", words="write A,B")
        self.refused("select", "digits", "-k", "5", "--report", "page.html", "--map-columns", "p,q", words="no feature")
        self.refused("select", "digits", "-k", "5", "--report", "", words="empty value")
        outcome = self.run_program("select", "digits", "-k", "5", "--report", "no/such/page.html")
        self.assertNotEqual(outcome.code, 0)
        outcome = self.run_program("select", "digits", "-k", "5", "--report", "a.csv", "-o", "a.csv")
        self.assertNotEqual(outcome.code, 0)

    def test_a_page_that_cannot_be_written_leaves_the_old_one(self):
        with self.unchanged("page.html"):
            outcome = self.run_program("select", "digits", "-k", "5", "--report", "page.html", "-o", "/dev/full")
            self.assertEqual(outcome.code, 1, outcome)


if __name__ == "__main__":
    unittest.main()
