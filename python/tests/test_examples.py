"""The examples and the first lines of Python in README.md run, and say what they promise."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import fwsr

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"


def own_warnings(stderr, script):
    """Warnings about a script, about fwsr, or about a model that did not converge. What a library
    says about the machine (joblib, where it cannot count the cores) is not ours."""
    ours = (str(script), str(pathlib.Path(fwsr.__file__).parent))
    return [f"{file}: {kind}: {words}" for file, kind, words in
            re.findall(r"^(.+?):\d+: (\w*Warning): (.*)$", stderr, re.MULTILINE)
            if file.startswith(ours) or kind == "ConvergenceWarning"]


def run(script, *arguments, folder, quiet=True):
    """What a script prints; it must end well, and a quiet one without a warning of ours."""
    paths = [str(pathlib.Path(fwsr.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p),
                   "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(script), *arguments], cwd=folder, env=environment,
                          timeout=300, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not quiet or not own_warnings(done.stderr, script), done.stderr
    return done.stdout


def test_warnings_of_ours_are_seen_and_those_about_the_machine_are_not(tmp_path):
    script = tmp_path / "warns.py"
    script.write_text("import warnings\nwarnings.warn('of the script', UserWarning)\n"
                      "warnings.warn_explicit('no /sys', UserWarning, '/x/joblib/context.py', 3)\n"
                      "print('done')\n")
    assert run(script, folder=tmp_path, quiet=False) == "done\n"
    with pytest.raises(AssertionError, match="of the script"):
        run(script, folder=tmp_path)
    lines = script.read_text().splitlines()
    script.write_text("\n".join([lines[0], *lines[2:]]))
    assert run(script, folder=tmp_path) == "done\n"
    of_fwsr = f"{pathlib.Path(fwsr.__file__).parent}/_run.py:7: UserWarning: short"
    assert len(own_warnings(of_fwsr, script)) == 1
    assert len(own_warnings("/l/sklearn/x.py:9: ConvergenceWarning: no", script)) == 1


def table(text):
    """Lines of a word and numbers: {word: [numbers]}."""
    rows = {}
    for line in text.splitlines():
        word, *rest = line.split()[:4] or [""]
        numbers = [float(r) for r in rest if re.fullmatch(r"\d+(\.\d+)?", r)]
        if numbers:
            rows[word] = numbers
    return rows


def test_every_example_is_tried():
    tried = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {p.stem for p in EXAMPLES.glob("*.py")} <= tried
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text().splitlines()) < 60
        assert (ROOT / "docs" / "outputs" / f"{path.stem}.txt").exists(), "run scripts/docs"


def test_label_these_first(tmp_path):
    rows = table(run(EXAMPLES / "label_these_first.py", folder=tmp_path))
    assert set(rows) >= {"exchange", "fwsr", "k-fwsr", "kmedoids", "random"}
    for method in ("exchange", "fwsr", "k-fwsr", "kmedoids", "random"):
        accuracy, seen = rows[method][:2]
        assert 0 <= accuracy <= 1 and 1 <= seen <= 10


def test_shrink_training_set(tmp_path):
    lines = [line.split() for line in
             run(EXAMPLES / "shrink_training_set.py", folder=tmp_path).splitlines()[3:]]
    kept = {(int(n), method): [float(v) for v in values] for n, method, *values in lines}
    assert len(kept) == 9 and (398, "all") in kept
    assert all(0 <= v <= 1 for values in kept.values() for v in values)


def test_few_shot_examples(tmp_path):
    text = run(EXAMPLES / "few_shot_examples.py", folder=tmp_path)
    examples = re.findall(r'^(\w+) +"(.+)" stands for (\d+)$', text, re.MULTILINE)
    intents = [intent for intent, _, _ in examples]
    assert len(examples) == 8 and {intents.count(i) for i in intents} == {2}
    assert len({message for _, message, _ in examples}) == 8
    assert sum(int(weight) for _, _, weight in examples) == 32  # each known message is one's
    found = dict(re.findall(r"^([\w-]+) +accuracy ([\d.]+)", text, re.MULTILINE))
    assert len(found) == 5 and all(0 <= float(v) <= 1 for v in found.values())


def test_images_per_class(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "digits.png"
    text = run(EXAMPLES / "images_per_class.py", str(picture), folder=tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    classes = re.findall(r"^class (\d): images (.+) stand for (.+) of (\d+)$", text, re.MULTILINE)
    assert [int(c) for c, *_ in classes] == list(range(10))
    for _, images, weights, size in classes:
        assert len(set(images.split(", "))) == 4
        assert abs(sum(int(w) for w in weights.split(", ")) - int(size)) <= 1
    found = re.findall(r": (?:accuracy )?([01]\.\d+)$", text, re.MULTILINE)
    ours, drawn = (float(v) for v in found)
    assert 0 <= ours <= 1 and 0 <= drawn <= 1


def test_kernels_on_text(tmp_path):
    text = run(EXAMPLES / "kernels_on_text.py", folder=tmp_path)
    covered = {name.strip(): float(n) for name, n in
               re.findall(r"^(.+?) +([\d.]+) of 12 ", text, re.MULTILINE)}
    assert len(covered) == 6 and all(1 <= n <= 12 for n in covered.values())
    assert {"TF-IDF, cosine", "random"} <= set(covered)


def test_guide(tmp_path):
    """All lines of Python in the guide, one after the other."""
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 8
    try:
        import imblearn  # noqa: F401
    except ImportError:
        blocks = [b for b in blocks if "imblearn" not in b]
    script = tmp_path / "guide.py"
    script.write_text("\n".join(blocks))
    text = run(script, folder=tmp_path, quiet=False)  # a run is interrupted, which warns
    assert "int64 converted once to float64" in text and "kmedoids needs" in text


def test_reference_is_whole():
    """Every public name is on the pages of the reference."""
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("api.md", "estimators.md"))
    for name in fwsr.__all__:
        assert f"fwsr.{name}" in pages, name


def test_front_page(tmp_path):
    """The Python of the site's first page; its lines for the command line name what there is."""
    page = (ROOT / "docs" / "index.md").read_text()
    [block] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(block.splitlines()) <= 12
    script = tmp_path / "front.py"
    script.write_text(block)
    assert "k-fwsr" in run(script, folder=tmp_path)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/choosing.md", "docs/costs.md",
                                  "docs/json.md"])
def test_options_on_a_page_are_those_of_the_program(page):
    known = set(re.findall(r"--[a-z][\w-]*", (ROOT / "docs" / "command_line.md").read_text()))
    lines = re.findall(r"(?:^    |`)(?:python -m )?fwsr (?!.*--preset)[^`\n#]*",
                       (ROOT / page).read_text(), re.MULTILINE)
    used = {option for line in lines for option in re.findall(r"--[a-z][\w-]*", line)}
    assert used and used <= known | {"--version"}


def test_methods_of_the_advice_exist():
    page = (ROOT / "docs" / "choosing.md").read_text()
    used = set(re.findall(r'--method (\S+?)[:`]|method="([\w-]+)"', page))
    assert used and {a or b for a, b in used} <= set(fwsr.methods())


def test_readme(tmp_path):
    """The first lines of Python in README.md, as they stand there."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block, "README.md has no Python"
    assert len(block[1].splitlines()) <= 12
    script = tmp_path / "readme.py"
    script.write_text(block[1])
    assert run(script, folder=tmp_path).strip()
