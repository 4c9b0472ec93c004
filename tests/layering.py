"""A folder of fwsr/ includes only from itself and from the folders to its left; apps see all."""

import pathlib
import re
import sys

ORDER = ["base", "linalg", "data", "prep", "kernel", "solver", "methods"]
# data reads files and prep sees points: neither needs the other, so both stand right of linalg.
FORBIDDEN = {("prep", "data"), ("kernel", "data"), ("solver", "data"), ("methods", "data")}
INCLUDE = re.compile(r'^\s*#include\s+"fwsr/([a-z]+)/')


def main():
    root = pathlib.Path(__file__).parent.parent / "fwsr"
    faults = []
    seen = 0
    for path in sorted(root.glob("*/*.[ch]pp")):
        folder = path.parent.name
        if folder not in ORDER:
            faults.append(f"{path}: folder '{folder}' is not in the layering of {__file__}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            seen += 1
            to = match.group(1)
            if ORDER.index(to) > ORDER.index(folder) or (folder, to) in FORBIDDEN:
                faults.append(f"{path}:{number}: {folder} may not include from {to}")
    if not seen:
        faults.append(f"{root}: no includes found; is this the right folder?")
    print("\n".join(faults) if faults else f"layering: {seen} includes, all to the left")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
