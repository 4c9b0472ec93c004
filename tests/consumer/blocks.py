"""The programs of a page, each into a file of its own: every block of C++ is a whole one.

usage: blocks.py PAGE.md FOLDER
"""

import pathlib
import re
import sys


def main(page, folder):
    blocks = re.findall(r"^```cpp\n(.*?)^```$", pathlib.Path(page).read_text(encoding="utf-8"),
                        re.DOTALL | re.MULTILINE)
    if not blocks:
        sys.exit(f"{page} has no C++")
    for number, block in enumerate(blocks, start=1):
        if "int main()" not in block:
            sys.exit(f"block {number} of {page} is no whole program")
        pathlib.Path(folder, f"block{number}.cpp").write_text(block, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
