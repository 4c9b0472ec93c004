"""Draws the digits that `fwsr select digits --per-class --json` chose.

usage: show_digits.py RESULT.json [PICTURE.svg]

Without a picture's name, draws with characters on the terminal, one line of digits per class.
"""

import gzip
import json
import pathlib
import sys

SHADES = " .:-=+*#%@"
CELL = 6  # picture: size of a pixel
GAP = 14  # picture: space between digits


def load_digits():
    """The built-in 8 x 8 digits: a list of 64 values of 0..16 each."""
    path = pathlib.Path(__file__).parent.parent / "data" / "digits.csv.gz"
    with gzip.open(path, "rt", encoding="ascii") as lines:
        next(lines)  # the header
        return [[int(v) for v in line.split(",")[:64]] for line in lines]


def by_class(result):
    """The picks of each class, in the order of choosing."""
    classes = {}
    for pick in result["picks"]:
        classes.setdefault(pick["class"], []).append(pick)
    return classes


def characters(values):
    """Eight strings, two characters a pixel."""
    return [
        "".join(SHADES[min(9, values[8 * r + c] * 10 // 17)] * 2 for c in range(8))
        for r in range(8)
    ]


def print_digits(digits, result):
    for name, picks in by_class(result).items():
        titles = [f"point {p['index']}, stands for {p['weight']:.0f}" for p in picks]
        print(f"\nclass {name}")
        print("   ".join(f"{t:<26}" for t in titles).rstrip())
        for line in zip(*(characters(digits[p["index"]]) for p in picks)):
            print("   ".join(f"{part:<26}" for part in line).rstrip())


def draw_digits(digits, result):
    """One column per class, the exemplars below each other with the number of points they stand for."""
    classes = by_class(result)
    side = 8 * CELL
    rows = max(len(picks) for picks in classes.values())
    width = len(classes) * (side + GAP) + GAP
    height = rows * (side + 2 * GAP) + GAP
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for column, picks in enumerate(classes.values()):
        for row, pick in enumerate(picks):
            x = GAP + column * (side + GAP)
            y = GAP + row * (side + 2 * GAP)
            out.append(f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="#f1f3f8"/>')
            for p, value in enumerate(digits[pick["index"]]):
                if value:
                    out.append(
                        f'<rect x="{x + p % 8 * CELL}" y="{y + p // 8 * CELL}" width="{CELL}" '
                        f'height="{CELL}" fill="#1d3557" fill-opacity="{value / 16:.2f}"/>'
                    )
            out.append(
                f'<text x="{x + side / 2:.0f}" y="{y + side + 11}" text-anchor="middle" '
                f'fill="#444444">{pick["weight"]:.0f}</text>'
            )
    return "\n".join(out + ["</svg>", ""])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    digits = load_digits()
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(draw_digits(digits, result), encoding="utf-8")
    else:
        print_digits(digits, result)


if __name__ == "__main__":
    main()
