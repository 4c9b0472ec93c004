"""The page bench/results/README.md, drawn from the JSON files in the folders beside it, one folder for each machine. A bar
is called met where it is met on every machine that was measured. Computes nothing but medians.

usage: page.py [FOLDER]        draws the page again
"""

import json
import pathlib
import statistics
import sys

import chart


def clock(seconds):
    """1.23 s, 45.6 ms, 789 us"""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            break
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"


def spread(seconds):
    if not seconds:
        return "", ""
    return clock(statistics.median(seconds)), f"{clock(min(seconds))} .. {clock(max(seconds))}"


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio_of(line):
    """1.18 x the floor, 312 x faster, or the bare number."""
    if line["ratio"] is None:
        return ""
    if not line["seconds"]:
        return number(line["ratio"])
    if line["sense"] == "at least":
        return f"{number(line['ratio'])} x faster"
    return f"{number(line['ratio'])} x"


def bar_of(line):
    return "" if line["limit"] is None else f"{line['sense']} {number(line['limit'])}"


def verdict(line):
    return {None: "", True: "met", False: "**not met**"}[line["met"]]


def one_line(line):
    median, between = spread(line["seconds"])
    words = [line["what"] + ":", median, f"({between})" if between else "", ratio_of(line), bar_of(line),
             verdict(line).strip("*")]
    return " ".join(word for word in words if word)


def table(lines):
    rows = ["| what | median | min .. max | against | its median | ratio | bar | |", "|---|---|---|---|---|---|---|---|"]
    for line in lines:
        median, between = spread(line["seconds"])
        cells = [line["what"], median, between, line["against"], spread(line["base"])[0], ratio_of(line), bar_of(line)]
        rows.append("| " + " | ".join([*cells, verdict(line)]) + " |")
    return rows


def rate_table(rates):
    """One row per rate and shape."""
    units = {"bytes/s": (1e9, "GB/s"), "flop/s": (1e9, "Gflop/s"), "1/s": (1e9, "G/s")}
    names = {"read": "read memory, MB", "syrk32": "SYRK float32, d", "syrk64": "SYRK float64, d", "gemm32": "GEMM float32, d",
             "gemm64": "GEMM float64, d", "exp32": "exponentials float32", "exp64": "exponentials float64",
             "inflate": "gzip inflate", "pread": "pread, warm file"}
    rows = ["| rate | size | best | how |", "|---|---|---|---|"]
    for name, title in names.items():
        found = rates.get(name, {})
        for size, rate in ({"": found} if "rate" in found else found).items():
            factor, unit = units[rate["unit"]]
            rows.append(f"| {title} | {size} | {rate['rate'] / factor:.3g} {unit} | {rate['way']} |")
    return rows


def described(result, common):
    """One part on one machine: its table, its notes, and when it was measured."""
    if "skipped" in result:
        return [f"skipped: {result['skipped']}"]
    if "failed" in result:
        return [f"**failed**: {result['failed']}"]
    out = table(result["lines"]) if result["lines"] else []
    for note in result["notes"]:  # a sentence, or a table of its own
        out += [*([""] if out else []), note if note.startswith("|") else f"- {note}"]
    facts = [f"Commit {result['machine']['commit']}, {result['date']}"]
    if result["load_before"] > 0.5:
        facts.append(f"load average {result['load_before']:.1f} when it started: the machine was not idle")
    if result["quick"]:
        facts.append("**quick run: sizes too small to mean anything**")
    if result["machine"]["program"] != common.get("program"):
        facts.append("another build than above")
    return [*out, "", "; ".join(facts) + "."]


def machines_in(folder, order):
    """name: {part: result}, for every folder of results there is; `rates` is a part, too."""
    found = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        parts = {name: json.loads((place / f"{name}.json").read_text(encoding="utf-8")) for name in ["rates", *order]
                 if (place / f"{name}.json").exists()}
        if parts:
            found[place.name] = parts
    return found


def bars_of(machines, order):
    """(part, what, bar, {machine: line}) for every bar that was measured anywhere."""
    bars = {}
    for name, parts in machines.items():
        for part in order:
            for line in parts.get(part, {}).get("lines", []):
                if line["met"] is not None:
                    bars.setdefault((part, line["what"]), {})[name] = line
    ranked = sorted(bars.items(), key=lambda item: order.index(item[0][0]))
    return [(part, what, next(iter(lines.values())), lines) for (part, what), lines in ranked]


def side_by_side(machines, bars):
    """Every bar with what each machine reaches; met where every machine that was asked meets it."""
    rows = ["| part | what | bar | " + " | ".join(machines) + " | |", "|---|---|---|" + "---|" * len(machines) + "---|"]
    for part, what, any_line, lines in bars:
        cells = [part, what, bar_of(any_line)]
        for name in machines:
            line = lines.get(name)
            cells.append("not measured" if line is None else ratio_of(line) + ("" if line["met"] else " (not met)"))
        all_met = len(lines) == len(machines) and all(line["met"] for line in lines.values())
        some = all(line["met"] for line in lines.values())
        cells.append("met" if all_met else "open: measured on one machine alone" if some else "**not met**")
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def write(folder, order):
    machines = machines_in(folder, order)
    bars = bars_of(machines, order)
    met = sum(len(lines) == len(machines) and all(line["met"] for line in lines.values()) for *_, lines in bars)
    out = ["# Measured", "",
           f"{met} of {len(bars)} bars met on every machine. `scripts/bench` runs everything and writes this page; "
           "`scripts/bench PART ...` only the named parts. Each machine has a folder of its own, named after its processor, "
           "whose results other machines leave alone.", "",
           "![Each time as a share of the time its bar allows](summary.svg)", "",
           "A *floor* is the time the arithmetic and the reads of a case take at the rates of this machine, "
           "measured just before and after every repeat: of several ways to read, or to multiply by BLAS, the fastest, of each "
           "way the median of several tries. Ratios to floors are medians over repeats of time / floor, "
           "ratios to peers are ratios of medians. Unless a line says otherwise points are float32 in memory and the "
           "certificate is off.", ""]
    commons = {}
    for name, parts in machines.items():
        common = commons[name] = next(result["machine"] for result in reversed(parts.values()) if "machine" in result)
        out += [f"**{name}**: {common['processor']}, {common['cores']} cores; {common['caches']}; memory {common['memory']}; "
                f"commit {common['commit']}", "", "```", common["program"], "```", ""]
    out += ["## Every bar", "", *side_by_side(machines, bars)]
    for name, parts in machines.items():
        if "rates" in parts:
            rates = parts["rates"]
            out += ["", f"## rates: what {name} can do", "", *rate_table(rates), "",
                    f"Commit {rates['machine']['commit']}." + (" **Quick run.**" if rates["quick"] else "")]
    for part in order:
        there = {name: parts[part] for name, parts in machines.items() if part in parts}
        if not there:
            continue
        out += ["", f"## {part}: {next(iter(there.values()))['title']}"]
        for name, result in there.items():
            out += ["", f"### {part} on {name}", "", *described(result, commons[name])]
    if met < len(bars):
        out += ["", (pathlib.Path(__file__).parent / "limits.md").read_text(encoding="utf-8").rstrip()]
    (folder / "README.md").write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")
    (folder / "summary.svg").write_text(chart.draw(bars), encoding="utf-8")


if __name__ == "__main__":
    import cases

    write(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "bench/results"), [case.__name__ for case in cases.CASES])
