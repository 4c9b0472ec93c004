"""Makes docs/cpp_reference.md out of the public headers: their comments as text, their declarations as code.

usage: make_cpp_reference.py [--check]      (--check: fails when the page is not what the headers say)
"""

import difflib
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "cpp_reference.md"
ROOT = PAGE.parent.parent / "fwsr"

HEAD = """# C++: the reference

<!-- Made by docs/make_cpp_reference.py from the installed headers; changes belong there. -->

`#include <fwsr/fwsr.hpp>` brings all of this; each header may also be included by itself. Everything is in the
namespace `fwsr`, that of pages in `fwsr::report`. Names in `fwsr::detail`, and headers that are not installed, are
nobody's promise. The guide, with whole programs, is [cpp.md](cpp.md).
"""

DELETED = re.compile(r"= delete;[^\n]*$")

# In the order of reading. A header that is installed and not listed here is an error.
ORDER = """views.hpp base/index.hpp base/matrix.hpp base/labels.hpp base/check_view.hpp
    solver/select.hpp solver/options.hpp solver/conditions.hpp solver/device.hpp kernel/kernel.hpp prep/preprocessing.hpp solver/selection.hpp solver/sweep.hpp
    methods/methods.hpp methods/request.hpp methods/method.hpp methods/settings.hpp methods/compare.hpp methods/compare_table.hpp methods/quality.hpp
    solver/result_fields.hpp methods/compare_fields.hpp
    report/page.hpp report/rows.hpp report/run.hpp
    data/read.hpp data/dataset.hpp data/table_reading.hpp data/write.hpp data/synthetic.hpp
    base/result.hpp base/keep_going.hpp base/memory.hpp base/memory_budget.hpp base/files.hpp""".split()


def installed():
    """The public headers, as fwsr/CMakeLists.txt lists them."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return set(re.search(r"FILE_SET HEADERS.*?FILES\n(.*?)\)", text, re.DOTALL).group(1).split()) - {"fwsr.hpp"}


def without_macros(text):
    """Lists that macros write (FWSR_KERNELS, FWSR_FORMS), written out; no preprocessor lines."""
    for name, body in re.findall(r"#define (FWSR_\w+S)\(\w+\)((?:.*\\\n)+.*)\n", text):
        words = re.findall(r"\b[A-Z]+\((\w+)\)", body)
        text = text.replace(f" {name}(FWSR_NAME)", (", " if f"none {name}" in text else " ") + ", ".join(words) + " ")
    text = re.sub(r"(?m)^(///.*\n)*#define FWSR_\w+S\((.*\\\n)*.*\n", "", text)
    return re.sub(r"(?m)^#.*\n", "", text).replace("  };", " };")


def end_of(text, start):
    """Behind the brace that closes the one at `start`; braces in comments and texts do not count."""
    depth, at = 0, start
    while at < len(text):
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text[at] == '"':
            at = re.compile(r'"(?:\\.|[^"\\])*"').match(text, at).end() - 1
        elif text[at] in "{}":
            depth += 1 if text[at] == "{" else -1
            if depth == 0:
                return at + 1
        at += 1
    raise SystemExit("make_cpp_reference: a brace is never closed")


def declared(code):
    """The same without the bodies of functions and without what is private."""
    out, at, start = "", 0, 0  # start: of the statement that is being read, in `out`
    while at < len(code):
        if code.startswith("//", at):
            end = code.index("\n", at) if "\n" in code[at:] else len(code)
            out += code[at:end]
            at = end
            continue
        here = code[at]
        statement = re.sub(r"//.*", "", out[start:])
        is_type = re.search(r"\b(struct|class|enum|union)\s+(\[\[\w+\]\]\s*)?\w+[^()]*$", statement)
        if here == "{" and is_type:
            start = len(out) + 1
        elif here == "{" and "(" in statement and not re.search(r"=\s*$", statement):
            named = start + len(re.match(r"(\s*//.*\n)*", out[start:]).group(0))
            out = out[:named] + without_initialisers(out[named:]).rstrip() + ";"
            at = end_of(code, at)
            start = len(out)
            continue
        elif here == "{":
            end = end_of(code, at)
            out += code[at:end]
            at = end
            continue
        elif here in ";}":
            start = len(out) + 1
        elif here == ":" and re.search(r"\n\s*private$", out):
            out = re.sub(r"\s*\n\s*private$", "", out) + "\n"
            at = closing(code, at)
            start = len(out)
            continue
        elif here == ":" and re.search(r"\n\s*public$", out):
            start = len(out) + 1
        out += here
        at += 1
    return out


def without_initialisers(function):
    """A constructor without what follows its parameters."""
    return re.sub(r"\)\s*:\s.*$", ")", function, flags=re.DOTALL)


def closing(code, at):
    """The brace that closes the block `at` is in."""
    depth = 1
    while True:
        if code.startswith("//", at):
            at = code.index("\n", at)
        elif code[at] == "{":
            depth += 1
        elif code[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1


def prose(lines):
    """Comments as Markdown: what stands four blanks in is code."""
    out = []
    for line in lines:
        if line.startswith("    "):
            out.append(line)
            continue
        parts = re.split(r"(`[^`]*`)", line)
        parts[::2] = [re.sub(r"([<*_\[|])", r"\\\1", part) for part in parts[::2]]
        line = "".join(parts).replace("@pre ", "Precondition: ").replace("@throws ", "Throws ")
        out.append(re.sub(r"^([#+-])", r"\\\1", line))
    return "\n".join(out)


def chunks(body):
    """Pairs of the comment above a declaration and the declaration, at the outermost level."""
    comment, code, depth = [], [], 0
    for line in [*body.split("\n"), ""]:
        plain = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
        if depth == 0 and not code and line.startswith("//"):
            comment.append(re.sub(r"^///? ?", "", line))
        elif line.strip() or depth:
            code.append(line)
        depth += plain.count("{") - plain.count("}")
        ended = depth == 0 and code and re.search(r"[;}]\s*$", plain)
        if (not line.strip() and depth == 0) or ended:
            if code or comment:
                yield comment, "\n".join(code)
            comment, code = [], []


def block(codes):
    """Declarations one below the other; types stand apart."""
    text = codes[0]
    for before, code in zip(codes, codes[1:]):
        text += ("\n\n" if "};" in before + code else "\n") + code
    return f"```cpp\n{text}\n```"


def section(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    top = re.match(r"((?://.*\n)*)", text).group(1)
    opened = re.search(r"namespace fwsr(::report)? \{", text)
    body = text[opened.end():text.rindex("}  // namespace fwsr")]
    defines = "".join(re.findall(r"(?m)^#define (?:.*\\\n)+.*\n", text[:opened.start()]))
    body = without_macros(defines + body)
    body = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", body, flags=re.DOTALL)
    parts = [f"## `fwsr/{name}`", prose([re.sub(r"^// ?", "", line) for line in top.splitlines()])]
    waiting = []
    for comment, code in chunks(declared(body)):
        if comment and waiting:
            parts.append(block(waiting))
            waiting = []
        if comment:
            parts.append(prose(comment))
        if code.strip() and not re.match(r"\s*(struct|class)\s+\w+;", code) and not DELETED.search(code):
            waiting.append(code.strip("\n"))
    if waiting:
        parts.append(block(waiting))
    return "\n\n".join(part for part in parts if part.strip())


def page():
    if installed() != set(ORDER):
        raise SystemExit(f"make_cpp_reference: ORDER and fwsr/CMakeLists.txt differ: {installed() ^ set(ORDER)}")
    return HEAD + "\n" + "\n\n".join(section(name) for name in ORDER) + "\n"


def main(arguments=()):
    new = page()
    if "--check" in arguments:
        old = PAGE.read_text(encoding="utf-8")
        if old == new:
            return print("cpp_reference.md says what the headers say")
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "page", "headers"))
        raise SystemExit("make it again: python3 docs/make_cpp_reference.py")
    PAGE.write_text(new, encoding="utf-8")
    print(PAGE.relative_to(PAGE.parent.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
