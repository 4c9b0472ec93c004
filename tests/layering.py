"""A folder of fwsr/ includes only from itself and from the folders to its left; apps see all.

What is installed (the list in fwsr/CMakeLists.txt) includes only what is installed too, and asks for no OpenMP."""

import pathlib
import re
import sys

ORDER = ["base", "linalg", "data", "prep", "kernel", "solver", "cuda", "methods", "mpi", "report"]
# data reads files and prep sees points: neither needs the other, so both stand right of linalg.
# Cards are reached through the solver (solver/on_card.hpp).
FORBIDDEN = {("prep", "data"), ("kernel", "data"), ("solver", "data"), ("cuda", "data"), ("methods", "data"),
             ("methods", "cuda"), ("report", "data"), ("report", "cuda"), ("mpi", "data"), ("mpi", "cuda"), ("report", "mpi")}
INCLUDE = re.compile(r'^\s*#include\s+"fwsr/([a-z]+)/')


def public_faults(root):
    listed = re.search(r"FILE_SET HEADERS.*?FILES\n(.*?)\)", (root / "CMakeLists.txt").read_text(encoding="utf-8"),
                       re.DOTALL)
    public = set(listed.group(1).split())
    faults = []
    for name in sorted(public):
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#include\s+[<"]fwsr/(.+?)[>"]', line)
            if match and match.group(1) not in public | {"version.hpp"}:
                faults.append(f"{root / name}:{number}: is installed, and {match.group(1)} is not")
            if re.search(r"#\s*pragma\s+omp|<omp\.h>", line):
                faults.append(f"{root / name}:{number}: is installed, and needs OpenMP")
    return faults


def main():
    root = pathlib.Path(__file__).parent.parent / "fwsr"
    faults = []
    seen = 0
    for path in sorted(p for p in root.glob("*/*.*") if p.suffix in {".cpp", ".hpp", ".cu", ".cuh"}):
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
    faults += public_faults(root)
    if not seen:
        faults.append(f"{root}: no includes found; is this the right folder?")
    print("\n".join(faults) if faults else f"layering: {seen} includes, all to the left")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
