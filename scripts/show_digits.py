"""Draws the digits that `fwsr select digits --per-class` chose, one line of digits per class."""

import gzip
import json
import pathlib
import sys

SHADES = " .:-=+*#%@"


def load_digits():
    """The built-in 8 x 8 digits: a list of (64 values of 0..16, label)."""
    path = pathlib.Path(__file__).parent.parent / "data" / "digits.csv.gz"
    with gzip.open(path, "rt", encoding="ascii") as lines:
        rows = [line.strip().split(",") for line in lines]
    body = rows if rows[0][0].lstrip("-").isdigit() else rows[1:]
    return [([int(v) for v in row[:64]], row[64]) for row in body]


def picture(values):
    """Eight strings, two characters a pixel."""
    return [
        "".join(SHADES[min(9, values[8 * r + c] * 10 // 17)] * 2 for c in range(8))
        for r in range(8)
    ]


def main():
    digits = load_digits()
    result = json.load(open(sys.argv[1], encoding="utf-8"))
    by_class = {}
    for pick in result["picks"]:
        by_class.setdefault(pick["class"], []).append(pick)
    for name, picks in by_class.items():
        titles = [f"point {p['index']}, stands for {p['weight']:.0f}" for p in picks]
        print(f"\nclass {name}")
        print("   ".join(f"{t:<26}" for t in titles))
        for line in zip(*(picture(digits[p["index"]][0]) for p in picks)):
            print("   ".join(f"{part:<26}" for part in line).rstrip())


if __name__ == "__main__":
    main()
