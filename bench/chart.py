"""One picture of all bars: every measured time as a share of the time its bar allows. Standard library only."""

import html
import math

LEFT, PLOT, RIGHT, ROW, TOP = 330, 380, 180, 22, 58
LOW, HIGH = 1 / 8, 8  # of the allowed time; what lies beyond is drawn at the edge


def share(line):
    """Time over allowed time: below 1 the bar is met."""
    if line["ratio"] <= 0 or line["limit"] <= 0:
        return LOW if line["met"] else HIGH
    return line["ratio"] / line["limit"] if line["sense"] == "at most" else line["limit"] / line["ratio"]


def place(value):
    part = math.log(min(max(value, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + part * PLOT


def text(x, y, words, anchor="start", fill="#333333", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}">'
            f"{html.escape(words)}</text>")


def draw(bars):
    """A row per bar and machine, the bar itself as the line at 1. `bars`: (part, what, any line, {machine: line})."""
    rows = [(part, {**line, "what": f"{name}: {line['what']}"}) for part, _, _, lines in bars for name, line in lines.items()]
    width, height = LEFT + PLOT + RIGHT, TOP + ROW * max(1, len(rows)) + 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           text(LEFT, 18, "time / time the bar allows (log scale)", weight="bold"),
           text(place(1) - 8, 34, "faster: bar met", "end", "#2a7f3f"), text(place(1) + 8, 34, "slower: not met", "start", "#b3261e")]
    for tick in (0.125, 0.25, 0.5, 1, 2, 4, 8):
        heavy = tick == 1
        out.append(f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{TOP - 6}" y2="{height - 12}" '
                   f'stroke="{"#333333" if heavy else "#dddddd"}" stroke-width="{1.5 if heavy else 1}"/>')
        out.append(text(place(tick), TOP - 10, f"{tick:g}", "middle", "#666666"))
    for at, (part, line) in enumerate(rows):
        y = TOP + ROW * at + ROW / 2
        colour = "#2a7f3f" if line["met"] else "#b3261e"
        x = place(share(line))
        what = line["what"]
        out.append(text(10, y + 4, part, weight="bold"))
        out.append(text(84, y + 4, what if len(what) <= 42 else what[:41] + "\u2026"))
        out.append(f'<line x1="{place(1):.1f}" x2="{x:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}"/>')
        unit = ("x faster" if line["sense"] == "at least" else "x") if line["seconds"] else ""
        value = f"{line['ratio']:.0f}" if line["ratio"] >= 100 else f"{line['ratio']:.3g}"
        out.append(text(LEFT + PLOT + 12, y + 4, f"{value} {unit} ({line['sense']} {line['limit']:g})".replace("  ", " ")))
    if not rows:
        out.append(text(LEFT, TOP + ROW / 2, "nothing measured yet"))
    return "\n".join([*out, "</svg>", ""])
