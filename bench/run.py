"""Runs the named parts of the benchmark suite and writes bench/results. Called by scripts/bench.

usage: run.py [--quick] [--results FOLDER] [PART ...]        (all parts when none is named)
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import cases
import page
import tools


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tools.ROOT).stdout.strip()


def machine():
    """The processor as lscpu tells it, and what was built."""
    facts = dict(re.findall(r"^([^:\n]+):\s+(.*)$", output_of("lscpu"), re.MULTILINE))
    caches = ", ".join(f"{level} {facts[level + ' cache']}" for level in ("L1d", "L2", "L3") if level + " cache" in facts)
    commit = output_of("git", "rev-parse", "--short", "HEAD")
    if output_of("git", "status", "--porcelain", "--untracked-files=no", "--", "fwsr", "apps", "bench/*.cpp"):
        commit += " with changes"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {"processor": facts.get("Model name", "unknown"), "cores": os.cpu_count(), "caches": caches,
            "memory": f"{memory:.0f} GiB", "commit": commit, "program": output_of(tools.BIN / "fwsr", "--version")}


def folder_of(results, here):
    """intel-xeon, amd-epyc, amd-epyc-2: what the results of a machine are found under. Processors that are told by the same
    name are told apart by their caches."""
    words = re.sub(r"\(.*?\)", " ", here["processor"]).lower().replace("processor", " ")
    name = "-".join(re.findall(r"[a-z0-9]+", words)) or "unknown"

    def caches(folder):
        return {json.loads(file.read_text())["machine"]["caches"] for file in folder.glob("*.json")}

    for number in itertools.count(1):
        folder = results / (name if number == 1 else f"{name}-{number}")
        if caches(folder) <= {here["caches"]}:
            return folder


def measure_rates(quick):
    """The rates by themselves: a table for the page. Cases measure their own, in the same minute."""
    sizes = "16,128" if quick else "16,128,512,1024"
    more = []
    try:
        more += ["--gzip", tools.mnist_file("train-images-idx3-ubyte.gz")]
    except tools.Skip as missing:
        tools.say(missing)
    file = tools.generated(100_000, 128)
    return tools.rates("--read", sizes, "--features", "128,784", "--file", file, *more)


def run_case(case, quick):
    """The result of one part, with everything the page says about it."""
    notes = []
    result = {"part": case.__name__, "title": case.__doc__, "date": f"{datetime.date.today()}", "quick": quick,
              "load_before": os.getloadavg()[0], "machine": machine()}
    try:
        result["lines"] = case(quick, notes)
    except tools.Skip as why:
        result["skipped"] = str(why)
        tools.say(f"skipped: {why}")
    except tools.Failed as why:
        result["failed"] = str(why)
        tools.say(f"FAILED: {why}")
    result["notes"] = notes
    for line in result.get("lines", []):
        tools.say(page.one_line(line))
    return result


def main():
    parts = {case.__name__: case for case in cases.CASES}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(["rates", *parts]))
    parser.add_argument("--quick", action="store_true", help="small sizes: tests the suite, not the library")
    parser.add_argument("--results", type=pathlib.Path, default=tools.ROOT / "bench/results")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.parts if name not in parts and name != "rates"]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; choose from rates, {', '.join(parts)}")
    wanted = arguments.parts or ["rates", *parts]
    own = folder_of(arguments.results, machine())
    own.mkdir(parents=True, exist_ok=True)

    def save(name, result):
        (own / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        page.write(arguments.results, list(parts))

    failed = []
    for name in wanted:
        print(f"== {name}", file=sys.stderr, flush=True)
        if name == "rates":
            save(name, {"part": "rates", "quick": arguments.quick, "machine": machine(), **measure_rates(arguments.quick)})
        else:
            result = run_case(parts[name], arguments.quick)
            failed += [name] if "failed" in result else []
            save(name, result)
    print(f"wrote {arguments.results}/README.md", file=sys.stderr)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
