"""Pages in a real browser: every view is drawn and works, nothing is asked of a network, no text becomes markup."""

import csv
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import browser
from helpers import Case, random_rows
from report_pages import hostile_table

#: How many colours a canvas has: a blank one has one.
COLOURS = """const c = document.querySelector("#map canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size;"""
CORNER = """const c = document.querySelector("#map canvas"); return [...c.getContext("2d").getImageData(1, 1, 1, 1).data];"""
#: Text whose contrast with what is behind it is less than people with weak eyes need (WCAG AA), and what it is.
CONTRAST = """
const parts = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => { const c = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
  if (c.length < 4 || c[3] > 0.99) return c; } return parts(getComputedStyle(document.body).backgroundColor); };
const poor = [];
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  if (["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(e.tagName) || !e.getClientRects().length) continue;
  if (e.closest(".beyond")) continue;
  const style = getComputedStyle(e), svg = e instanceof SVGElement;
  const a = light(parts(svg ? style.fill : style.color)), b = light(behind(e));
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) poor.push(`${contrast.toFixed(2)} ${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`);
}
return poor.slice(0, 10);"""
#: What a screen reader could not name, and other broken promises of markup.
NAMES = """
const bad = [];
const say = (e, what) => bad.push(`${what}: ${e.outerHTML.slice(0, 100)}`);
for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) say(e, "no alt");
for (const e of document.querySelectorAll("canvas, svg[role=img]")) if (!e.getAttribute("aria-label")) say(e, "no name");
for (const e of document.querySelectorAll("button, summary, a")) if (!e.textContent.trim() && !e.getAttribute("aria-label")) say(e, "no words");
for (const e of document.querySelectorAll("input, select")) if (!e.labels.length && !e.getAttribute("aria-label")) say(e, "no label");
for (const e of document.querySelectorAll("th")) if (!e.scope) say(e, "no scope");
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push(`id ${id} twice`);
if (document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) bad.push("h1 and main");
let level = 0;
for (const e of document.querySelectorAll("h1, h2, h3, h4")) { const now = Number(e.tagName[1]); if (now > level + 1) say(e, "skips a level"); level = now; }
for (const e of document.querySelectorAll("a[href^='#']")) if (!document.getElementById(e.getAttribute("href").slice(1))) say(e, "leads nowhere");
if (!document.documentElement.lang) bad.push("no language");
return bad.slice(0, 10);"""


def axe_core():
    """The rules of axe-core, where a package of Python's that brings them is installed; '' elsewhere."""
    for package in ("axe_core_python", "axe_selenium_python"):
        found = importlib.util.find_spec(package)
        for file in sorted(pathlib.Path(found.origin).parent.rglob("axe.min.js")) if found else []:
            return file.read_text(encoding="utf-8")
    return ""


AXE = axe_core()


@unittest.skipUnless(browser.there(), browser.WHY_NOT)
class Pages(Case):
    def setUp(self):
        super().setUp()
        self.window = browser.Browser(self.folder)
        self.addCleanup(self.window.close)

    def page(self, *command):
        self.succeed(*command, "--report", "page.html", "--quiet", "-o", "out.csv")
        self.window.open(self.path("page.html"))

    def fine(self):
        """No message, no request, no dialog; names and contrast in light and dark."""
        w = self.window
        self.assertEqual(w.alert(), None)
        self.assertEqual([m["message"] for m in w.log()], [])
        self.assertEqual(w.requests(), [])
        self.assertEqual(w.do(NAMES), [])
        for dark in (False, True):
            w.dark(dark)
            self.assertEqual(w.do(CONTRAST), [], f"dark: {dark}")
        w.dark(False)
        for width in (400, 1280, 3840):
            w.resize(width, 900)
            self.assertLessEqual(w.do("return document.documentElement.scrollWidth"), width)
        w.resize(1280, 900)

    def accessible(self):
        """The rules of axe-core, where there are any."""
        if AXE:
            self.window.do(AXE + "; return null")
            broken = self.window.do("""return axe.run().then((r) => r.violations.map((v) =>
                `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))""")
            self.assertEqual(broken, [])

    def test_digits_every_view_is_drawn_and_works(self):
        self.page("select", "digits", "-k", "12", "--method", "fwsr")
        w = self.window
        self.assertGreater(w.do(COLOURS), 8)
        self.assertEqual(w.do("return document.querySelectorAll('#curve path').length"), 2)
        self.assertEqual(w.do("return document.querySelectorAll('#trace .chart path').length"), 2)
        self.assertEqual(w.do("return [...document.querySelectorAll('.card img')].filter((i) => i.naturalWidth === 8).length"), 12)
        # The slider dims what is beyond it, and the number for a share is found.
        said = w.do("""const s = document.getElementById("k-slider"); s.value = 5; s.dispatchEvent(new Event("input"));
            return [document.querySelectorAll(".card.beyond").length, document.querySelector("#enough .said").textContent];""")
        self.assertEqual(said[0], 7)
        self.assertIn("The first 5 span", said[1])
        self.groups_are_those_of_the_first(5)
        w.do("""const s = document.getElementById("k-slider"); s.value = 12; s.dispatchEvent(new Event("input"));""")
        self.groups_are_those_of_the_first(12)
        found = w.do("""const s = document.getElementById("k-share"); s.value = 50; s.dispatchEvent(new Event("input"));
            return [document.querySelector("#enough output").textContent, document.getElementById("k-slider").value,
                    DATA.curve.error];""")
        first = next(i + 1 for i, e in enumerate(found[2]) if 1 - e >= 0.5)
        self.assertEqual(found[:2], [f"{first} exemplars", str(first)])
        # Members of a group get their images when it is opened.
        w.do("""const s = document.getElementById("k-slider"); s.value = 12; s.dispatchEvent(new Event("input"));""")
        drawn = w.do("""const d = document.querySelector("details.group"); d.open = true;
            return new Promise((done) => setTimeout(() => done([...d.querySelectorAll("canvas")].map((c) =>
              new Set(c.getContext("2d").getImageData(0, 0, c.width, c.height).data).size)), 500));""")
        self.assertEqual(len(drawn), 16)
        self.assertTrue(all(colours > 2 for colours in drawn), drawn)
        # All of them: as many as it stands for, without itself, beside the sixteen that are there already.
        listed = w.do("""const d = document.querySelector("details.group"); d.querySelector(".all").click();
            return [d.querySelectorAll("li").length, d.querySelectorAll("canvas").length, DATA.exemplars.weight[0]];""")
        self.assertEqual(listed[0], listed[2] - 1 + 16)
        self.assertEqual(listed[1], listed[0])
        order = w.do("""const s = document.getElementById("gallery-order"); s.value = "number of points"; s.dispatchEvent(new Event("change"));
            return [...document.querySelectorAll(".card")].map((c) => DATA.exemplars.weight[Number(c.dataset.place)]);""")
        self.assertEqual(order, sorted(order, reverse=True))
        self.fine()
        w.do("document.querySelector('details.group').open = false")
        self.accessible()

    def groups_are_those_of_the_first(self, number):
        """Cards, map and mixes say the same, and all points are there."""
        stands, beyond, counted, mixed = self.window.do("""
            const counted = DATA.exemplars.index.map(() => 0);
            map.now.forEach((t) => { counted[t] += 1; });
            const cards = [...document.querySelectorAll(".card")].sort((a, b) => a.dataset.place - b.dataset.place);
            return [cards.map((c) => Number(c.querySelector(".stands").textContent.match(/for ([\\d,]+)/)[1].replace(",", ""))),
                    cards.map((c) => c.classList.contains("beyond")), counted,
                    cards.map((c) => c.querySelector(".mixed").textContent)];""")
        self.assertEqual(stands, counted)
        self.assertEqual(sum(stands), 1797)
        self.assertEqual(beyond, [t >= number for t in range(12)])
        self.assertEqual(stands[number:], [0] * (12 - number))
        for words in mixed[:number]:
            self.assertRegex(words, r"^classes of its points: \d:\u00a0[\d.]+\u00a0%")

    def test_the_map_is_pointed_at_moved_and_listed(self):
        self.page("select", "digits", "-k", "8")
        w = self.window
        w.do("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
        x, y, width, height = w.do("""const b = document.querySelector("#map canvas").getBoundingClientRect();
            return [b.left, b.top, b.width, b.height].map(Math.round);""")
        place = w.do("return map.toScreen(map.place.get(DATA.exemplars.index[3])).map(Math.round)")
        w.point(x + place[0], y + place[1])
        shown = w.do("return document.getElementById('map-shown').textContent")
        self.assertIn(f"#{w.do('return DATA.exemplars.index[3]')}", shown)
        self.assertIn("exemplar 3", shown)
        w.drag(x + 20, y + 20, x + width - 20, y + min(height, 850) - 30, shift=True)
        self.assertGreater(w.do("return document.querySelectorAll('.region tbody tr').length"), 100)
        before = w.do("return [map.zoom, ...map.centre]")
        w.do("const c = document.querySelector('#map canvas'); for (const key of ['+', 'ArrowLeft', 'ArrowUp']) "
             "c.dispatchEvent(new KeyboardEvent('keydown', {key}));")
        after = w.do("return [map.zoom, ...map.centre]")
        self.assertTrue(after[0] > before[0] and after[1] < before[1] and after[2] < before[2], (before, after))
        for mode in ("group", "error"):
            w.do("const s = document.getElementById('map-colours'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", mode)
            self.assertGreater(w.do(COLOURS), 5)
        w.dark()
        w.do("map.draw()")
        self.assertLess(max(w.do(CORNER)[:3]), 60)

    def test_what_is_taken_away_is_what_the_program_wrote(self):
        self.page("select", "digits", "-k", "6")
        w = self.window
        with open(self.path("out.csv"), encoding="utf-8") as file:
            written = [row["index"] for row in csv.DictReader(file)]
        taken = [row["index"] for row in csv.DictReader(io.StringIO(w.do("return taking.csv()")))]
        self.assertEqual(taken, written)
        self.assertEqual(w.do("return JSON.parse(taking.json()).exemplars.map(String)"), written)
        command = w.do("""const tick = (card, box) => { const b = document.querySelectorAll(`#e${card} .ticks input`)[box]; b.click(); };
            tick(1, 0); tick(4, 0); tick(2, 1); tick(1, 1); return document.getElementById("again").textContent;""")
        lines = command.splitlines()
        self.assertEqual(lines[0], f"printf '%s\\n' index {written[4]} > keep.csv")
        self.assertEqual(lines[1], f"printf '%s\\n' index {written[1]} {written[2]} > leave.csv")
        self.assertIn("-k 5 --include keep.csv --exclude leave.csv", lines[2])
        # The command does what it says.
        self.write("again.sh", command.replace("fwsr select", '"$FWSR_PROGRAM" select'))
        ran = subprocess.run(["sh", "again.sh"], cwd=self.folder, capture_output=True, text=True,
                             env=self.environment())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        again = [row["index"] for row in csv.DictReader(io.StringIO(ran.stdout))]
        self.assertEqual((again[0], len(again)), (written[4], 6))
        self.assertFalse({written[1], written[2]} & set(again))

    def test_three_questions_of_somebody_new_take_two_clicks_at_the_most(self):
        self.page("select", "digits", "-k", "20", "--method", "fwsr")
        w = self.window
        # Which images does exemplar 4 stand for?
        w.click("#e4 summary")
        w.click("#e4 button.all")
        others = w.do("return DATA.exemplars.weight[4]") - 1
        self.assertEqual(w.until("""return [...document.querySelectorAll("#e4 .all canvas")].filter((c) => new Set(
            c.getContext("2d").getImageData(0, 0, c.width, c.height).data).size > 2).length""", others), others)
        # What is badly represented?
        w.do("location.hash = ''; scrollTo({top: 0, behavior: 'instant'})")
        w.click("nav a[href='#worst']")
        self.settled()
        self.assertTrue(w.in_view("#worst tbody tr"))
        most = w.do("""return [document.querySelector("#worst tbody td").textContent, percent(Math.max(...map.left) / 65535)]""")
        self.assertEqual(most[0], most[1])
        # How few exemplars for 80 %?
        w.do("scrollTo({top: 0, behavior: 'instant'})")
        w.click("nav a[href='#enough']")
        self.settled()
        self.assertTrue(w.in_view("#enough output"))
        said, error = w.do("return [document.querySelector('#enough output').textContent, DATA.curve.error]")
        self.assertEqual(said, f"{next(i + 1 for i, e in enumerate(error) if e <= 0.2)} exemplars")
        # Where these do not reach it, the page has the command that does.
        self.page("select", "digits", "-k", "5", "--method", "fwsr")
        said, command = w.do("return [document.querySelector('#enough output').textContent, document.getElementById('more').textContent]")
        self.assertIn("more than these 5, which span", said)
        self.assertIn("-k 50 --until-error 0.2", command)
        self.write("more.sh", command.replace("fwsr select", '"$FWSR_PROGRAM" select') + " --json")
        ran = subprocess.run(["sh", "more.sh"], cwd=self.folder, capture_output=True, text=True, env=self.environment())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        answer = json.loads(ran.stdout)
        self.assertLessEqual(answer["certificate"]["reconstruction_error"], 0.2)
        self.assertLess(len(answer["exemplars"]), 50)
        w.do("const s = document.getElementById('k-share'); s.value = 1; s.dispatchEvent(new Event('input'));")
        self.assertTrue(w.do("return document.getElementById('more').hidden"))
        self.fine()

    def settled(self):
        """Smooth scrolling has come to its end."""
        self.window.do("""return new Promise((done) => { let last = -1;
            const look = () => { if (scrollY === last) done(); else { last = scrollY; setTimeout(look, 150); } }; look(); })""")

    def test_files_are_downloaded_a_region_is_selected_and_paper_has_no_buttons(self):
        self.write("points.csv", "name,a,b\n" + "".join(f"=p{i},{a},{b}\n" for i, (a, b) in enumerate(random_rows(60, 2, seed=5))))
        self.page("select", "points.csv", "--id-column", "name", "-k", "6")
        w = self.window
        w.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder)
        for words, name in (("Download CSV", "exemplars.csv"), ("Download JSON", "exemplars.json")):
            w.do("[...document.querySelectorAll('#export button')].find((b) => b.textContent === arguments[0]).click()", words)
            for _ in range(300):
                if os.path.exists(self.path(name)):
                    break
                time.sleep(0.1)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            written = [(row["index"], row["id"]) for row in csv.DictReader(file)]
        with open(self.path("exemplars.csv"), encoding="utf-8") as file:
            taken = [(row["index"], row["id"]) for row in csv.DictReader(file)]
        self.assertEqual(taken, [(index, "'" + name) for index, name in written])  # no formula in a spreadsheet
        self.assertEqual([str(i) for i in json.loads(self.read("exemplars.json"))["exemplars"]], [i for i, _ in written])
        w.do("""document.execCommand = (what) => { window.taken = document.activeElement.value; return what === "copy"; };
            Object.defineProperty(navigator, "clipboard", {value: {writeText: () => Promise.reject(new Error("no"))}});
            [...document.querySelectorAll("#export button")].find((b) => b.textContent === "Copy ids").click();""")
        names = "\n".join(name for _, name in written)
        self.assertEqual(w.until("return window.taken", names), names)
        # A region by the button, without a key.
        w.do("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
        w.do("map.choosing.click()")
        x, y, width, height = w.do("""const b = document.querySelector("#map canvas").getBoundingClientRect();
            return [b.left, b.top, b.width, b.height].map(Math.round);""")
        w.drag(x + 2, y + 2, x + width // 2, min(y + height, 890) - 3)
        inside = w.do("""const [x0, y0, x1, y1] = map.region; return [...map.index.keys()].filter((i) => { const [u, v] = map.toScreen(i);
            return u >= x0 && u <= x1 && v >= y0 && v <= y1; }).length""")
        self.assertEqual(w.do("return document.querySelectorAll('.region tbody tr').length"), inside)
        self.assertTrue(0 < inside < 60)
        self.fine()
        w.devtools("Emulation.setEmulatedMedia", media="print")
        w.resize(760, 1000)
        shown = "return [...document.querySelectorAll(arguments[0])].filter((e) => e.getClientRects().length).length"
        self.assertEqual(w.do(shown, ".controls, .ticks, nav, #k-slider, #export *"), 0)
        for what, count in ((".card", 6), ("#map canvas", 1), ("#curve", 1)):
            self.assertEqual(w.do(shown, what), count, what)
        self.assertLessEqual(w.do("return document.documentElement.scrollWidth"), 760)
        self.assertGreater(len(w.devtools("Page.printToPDF")["data"]), 10_000)

    def stays_text(self):
        """Nothing of the data became markup, script or style."""
        w = self.window
        self.assertEqual(w.do("return window.broken"), None)
        self.assertEqual(w.do("return document.querySelectorAll('script').length"), 2)
        self.assertEqual(w.do("return document.querySelectorAll('style').length"), 1)
        self.assertEqual(w.do("return document.querySelectorAll('iframe, base, link, object, form, marquee, plaintext').length"), 0)
        self.assertEqual(w.do("""return [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes])
            .filter((a) => a.name.startsWith("on")).length"""), 0)
        self.assertEqual(w.do("""return [...document.querySelectorAll("a, img")].map((e) => e.getAttribute("href") || e.getAttribute("src"))
            .filter((where) => !/^(#|data:image\\/)/.test(where))"""), [])

    def test_hostile_names_of_files_columns_classes_and_texts_in_comparisons_and_sweeps(self):
        name = "<img src=x onerror=window.broken=1>\"'&`$(x) \u202etxt.csv"
        self.write(name, hostile_table(120, 60))
        columns = ("--label-column", "label", "--id-column", "name")
        for command in (("select", name, "-k", "5"), ("compare", name, "-k", "4", "--methods", "fwsr,random", "--repeats", "2"),
                        ("sweep", name, "-k", "4", "--alphas", "auto,2", "--etas", "0,1")):
            for shown in (("--text-column", "text"), ("--exclude-columns", "text")):
                self.page(*command, *columns, *shown)
                self.stays_text()
                text = self.window.do("return document.body.innerText + document.title")
                self.assertIn("<img src=x onerror=window.broken=1>", text)
                self.assertNotIn("\u202e", text)
                self.fine()
            self.accessible()

    def test_two_hundred_hostile_labels_stay_text(self):
        self.write("hostile.csv", hostile_table(400, 200))
        for shown in (("--text-column", "text"), ("--exclude-columns", "text")):
            self.page("select", "hostile.csv", "--label-column", "label", "--id-column", "name", *shown, "-k", "9",
                      "--method", "k-fwsr", "--name", "</title><script>window.broken = 1</script>")
            w = self.window
            w.do("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            w.do("document.querySelector('#map canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
            self.stays_text()
            self.assertEqual(w.do("return DATA.classes.length"), 200)
            self.assertTrue(w.do("return document.title").startswith("9 exemplars of </title><script>"))
            self.fine()

    def test_tables_comparisons_and_sweeps(self):
        rows = random_rows(90, 5, seed=3)
        self.write("points.csv", "a,b,c,d,e\n" + "\n".join(",".join(f"{v:.4f}" for v in row) for row in rows) + "\n")
        self.page("select", "points.csv", "-k", "5", "--map-columns", "a,c")
        self.assertIn("a", self.window.do("return document.querySelector('.axes').textContent"))
        self.fine()
        self.accessible()
        self.page("compare", "points.csv", "-k", "4", "--methods", "fwsr,kmedoids,random", "--repeats", "2")
        w = self.window
        order = """document.querySelectorAll("#compared th[data-less] button")[0].click();
            return [...document.querySelectorAll("#compared tbody tr")].map((r) => Number(r.cells[1].dataset.value));"""
        values = w.do(order)
        self.assertEqual(values, sorted(values))
        self.assertEqual(w.do(order), sorted(values, reverse=True))
        self.assertGreaterEqual(w.do("return document.querySelectorAll('#compared tbody tr:first-child .fill').length"), 3)
        self.fine()
        self.accessible()
        self.page("sweep", "points.csv", "-k", "4", "--alphas", "auto,2", "--etas", "0,1,2")
        self.assertEqual(w.do("return document.querySelectorAll('.heat td a').length"), 6)
        # Every setting can be gone to, also one whose exemplars stand with another.
        self.assertEqual(w.do("return [...document.querySelectorAll('.heat td a')].map((a) => document.querySelector(a.hash).textContent)"),
                         [f"alpha {alpha}, eta {eta}" for alpha in ("auto", "2") for eta in (0, 1, 2)])
        self.fine()
        self.accessible()

    def test_without_scripts_gallery_and_tables_are_there(self):
        self.window.devtools("Emulation.setScriptExecutionDisabled", value=True)
        self.page("select", "digits", "-k", "5")
        root = self.window.devtools("DOM.getDocument")["root"]["nodeId"]
        for what, least in ((".card img", 5), ("#worst tbody tr", 20), ("#exemplars tbody tr", 5), ("noscript", 1),
                            ("#curve path", 2)):
            found = self.window.devtools("DOM.querySelectorAll", nodeId=root, selector=what)["nodeIds"]
            self.assertGreaterEqual(len(found), least, what)


if __name__ == "__main__":
    if not browser.there():
        print(browser.WHY_NOT, file=sys.stderr)
    unittest.main()
