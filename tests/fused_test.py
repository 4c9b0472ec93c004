"""Multiplications and additions are fused only where the code says so: compilers for ARM fuse what they can unless told
otherwise, and differences of equal numbers are then no longer zero.

    fused_test.py OBJDUMP LIBRARY     a static library of ours"""

import re
import subprocess
import sys

FUSED = re.compile(r"\t(fn?m(add|sub)|fml[as]|bfml[as]\w*|vfn?m(add|sub)\w+)\b")
FILE, FUNCTION = re.compile(r"^(\S+\.o):\s"), re.compile(r"^[0-9a-f]+ <(.+)>:$")
# Those that ask for it: with a flag (fwsr/CMakeLists.txt), or with the instruction itself.
MEANT = re.compile(r"^(small_gram|gram_tiles|pass_avx2|pass_avx512|eight_bit_vnni|matrix_unit_amx)\.cpp\.o$")


def main(objdump, library):
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True, capture_output=True, text=True)
    found, files, name, function = {}, 0, "", ""
    for line in listing.stdout.splitlines():
        if match := FILE.match(line):
            name, files = match.group(1), files + 1
        elif match := FUNCTION.match(line):
            function = match.group(1)
        elif not MEANT.match(name) and FUSED.search(line):
            found.setdefault((name, function), line.strip())
    for (name, function), line in found.items():
        print(f"{name}: {function}\n    {line}")
    if files < 10:
        print(f"{library} has {files} files; it should be the library")
    return int(bool(found) or files < 10)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
