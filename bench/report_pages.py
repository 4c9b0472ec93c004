"""What pages cost: size, seconds, memory against the plan, and the time until a browser shows something.

usage: report_pages.py PROGRAM [FOLDER]      writes the table of bench/results/report.md to standard output
       (numbers of points: REPORT_POINTS=1000,100000,1000000; other data: REPORT_DATA="name=words of fwsr select;...")
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import browser


def measured(command, folder):
    """Seconds of processors, seconds, and the peak of memory in MiB; the last of its words."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: {said}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024, said


def paint(window, page):
    """Milliseconds until something was painted, and until the scripts were done."""
    window.open(page)
    return window.do("""return new Promise((done) => setTimeout(() => {
        const p = performance.getEntriesByName("first-contentful-paint")[0], n = performance.getEntriesByType("navigation")[0];
        done([p ? p.startTime : NaN, n.loadEventEnd]); }, 500))""")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        cases = []
        for n in os.environ.get("REPORT_POINTS", "1000,100000,1000000").split(","):
            # Twenty blobs of fifty features.
            subprocess.run([program, "generate", "blobs", "-o", f"{n}.npy", "--clusters", "20", "--points", n,
                            "--dimensions", "50"], cwd=folder, check=True, capture_output=True)
            cases.append((f"{int(n):,} x 50", [f"{n}.npy", "-k", "20", "--method", "fwsr"]))
        for one in filter(None, os.environ.get("REPORT_DATA", "").split(";")):
            name, words = one.split("=", 1)
            cases.append((name, words.split()))
        window = browser.Browser(folder) if browser.there() else None
        print("| points | page | CPU s without | with | s with | peak MiB without | with | the page's plan MiB | first paint ms | "
              "loaded ms |\n|---|---|---|---|---|---|---|---|---|---|")
        for name, words in cases:
            bare = ["--exclude-columns" if word == "--text-column" else word for word in words]
            plain = measured([program, "select", *bare, "-o", "out.csv", "--quiet"], folder)
            page = measured([program, "select", *words, "-o", "out.csv", "--quiet", "--report", "page.html"], folder)
            said = measured([program, "select", *words, "--dry-run", "--report", "page.html"], folder)[3]
            plan, unit = re.search(r"making it takes at most ([\d.]+) (\w+)", said).groups()
            plan = float(plan) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]
            path = os.path.join(folder, "page.html")
            first, loaded = paint(window, path) if window else (float("nan"),) * 2
            print(f"| {name} | {os.path.getsize(path) / 1000:,.0f} kB | {plain[0]:.2f} | {page[0]:.2f} | {page[1]:.2f} | "
                  f"{plain[2]:.0f} | {page[2]:.0f} | {plan:.0f} | {first:.0f} | {loaded:.0f} |", flush=True)
        if window:
            window.close()


if __name__ == "__main__":
    main()
