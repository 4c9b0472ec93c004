"""Makes docs/command_line.md out of what the program says about itself, so that the two agree.

usage: make_command_line.py PROGRAM [PAGE.md]      (default: command_line.md beside this file)
"""

import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "command_line.md"

HEAD = """# Command line

<!-- Made by docs/make_command_line.py from fwsr --help; changes belong into the program. -->

    fwsr COMMAND ... | --help | --version

{commands}

`fwsr COMMAND --help` prints what stands here. What the options mean is explained in
[parameters](parameters.md), what files hold in [formats](formats.md), and what `--json` prints in
[JSON](json.md).

`pip install` brings the same program: as the command `fwsr`, and as `python -m fwsr`. Both also
read tables of Arrow (files named .parquet, .arrow or .feather) where pyarrow is installed.

Exit code: 0 done, 1 the work failed (a file, memory, the data), 2 wrong use, 128 + n ended by
signal n (130: Ctrl-C; of exchanges of exemplars the best so far [is written all the
same](promises.md#files)). Results go to standard output, all other words to standard error.
"""

METHODS = """
## Methods and their settings

What `fwsr methods` prints. [Methods](methods.md) explains them, and [a page of its
own](choosing.md) when to use which.

{text}
"""


def said(program, *arguments):
    """What the program prints, on any terminal."""
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True,
                          encoding="utf-8").stdout


def indented(text):
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").splitlines())


def cell(text):
    """Text in a table, as it is."""
    return re.sub(r"([|<>*_\\])", r"\\\1", " ".join(text.split()))


def table(first, lines):
    """The lines of one group of options: name, and sentences on the lines below or beside it."""
    rows = []
    for line in lines:
        name = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if name:
            rows.append([name[1], name[2] or ""])
        else:
            rows[-1][1] += " " + line.strip()
    out = [f"| {first} | |", "|---|---|"]
    # In code a bar of its own would end the cell.
    return out + ["| `{}` | {} |".format(name.replace("|", "\\|"), cell(text))
                  for name, text in rows]


def command_page(program, name):
    """One command: its words, its options group by group, its examples."""
    about, usage, rest = re.split(r"\n(?=usage: )|(?<=\n)\n(?=Argument:)",
                                  said(program, name, "--help"), maxsplit=2)
    groups = re.findall(r"^(\S[^\n]*):\n((?:  [^\n]*\n)+)", rest, re.MULTILINE)
    out = ["", f"## fwsr {name}", "", indented(about), "", indented(usage.strip()), ""]
    for heading, lines in groups:
        if heading == "Examples":
            out += ["Examples:", "", indented(re.sub(r"(?m)^  ", "", lines)), ""]
        elif heading != "Other":
            out += [*table(heading, lines.rstrip("\n").split("\n")), ""]
    return out


def page(program):
    overview = said(program, "--help")
    commands = re.findall(r"^  (\w+) +(.*)$", overview.split("Commands:\n")[1].split("\n\n")[0],
                          re.MULTILINE)
    listed = ["| command | |", "|---|---|"]
    listed += [f"| [`fwsr {name}`](#fwsr-{name}) | {cell(about)} |" for name, about in commands]
    out = HEAD.format(commands="\n".join(listed)).rstrip("\n").split("\n")
    for name, _ in commands:
        out += command_page(program, name)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out).rstrip("\n") + "\n")
    return text + METHODS.format(text=indented(said(program, "methods")))


def main(program, path=PAGE):
    pathlib.Path(path).write_text(page(program), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
