"""scripts/release in a repository of its own: what it changes, and when it refuses to. And the version of this one,
which is stated in several files."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ["CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "pyproject.toml", "scripts/release"]
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
               "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
               "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # as a hook of git finds them set
    ENVIRONMENT.pop(name, None)
TESTS = "#!/bin/sh\necho $0 >>../ran\nexit {}\n"
NEWS = "# Changelog\n\n## [Unreleased]\n\n### Added\n- A thing.\n\n## [0.0.1] - 2020-01-01\n- Old.\n"


def stated(text):
    return re.search(r"^project\(fwsr VERSION ([0-9.]+)", text, re.MULTILINE)[1]


class Version(unittest.TestCase):
    def test_all_files_state_the_version_of_cmake(self):
        here = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}
        version = stated(here["CMakeLists.txt"])
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(re.findall(r"(?m)^version: (.*)$", here["CITATION.cff"]), [version])
        pattern = re.search(r"(?m)^regex = '(.*)'$", here["pyproject.toml"])[1]
        self.assertEqual(re.search(pattern, here["CMakeLists.txt"])["value"], version)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "project")
        (self.root / "scripts").mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / name, self.root / name)
        self.git("init", "-q")
        self.change("CHANGELOG.md", NEWS)
        self.let_tests_end_with(0)
        self.let_tests_end_with(0, "scripts/tidy")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.root, env=ENVIRONMENT, check=True,
                              capture_output=True, text=True).stdout.strip()

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def change(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def let_tests_end_with(self, code, script="scripts/test"):
        (self.root / script).write_text(TESTS.format(code), encoding="utf-8")
        (self.root / script).chmod(0o755)
        self.change("note", f"{script} {code}")

    def release(self, *arguments):
        return subprocess.run([self.root / "scripts/release", *arguments], env=ENVIRONMENT, capture_output=True,
                              text=True)

    def ran(self):
        """The scripts that ran."""
        notes = self.root.parent / "ran"
        return [pathlib.Path(line).name for line in notes.read_text().split()] if notes.exists() else []

    def refused(self, word, *arguments):
        """And nothing is changed."""
        before = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")
        done = self.release(*arguments)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(word, done.stderr)
        after = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")
        self.assertEqual(before, after)

    def test_a_release_sets_the_version_everywhere_and_is_tagged(self):
        done = self.release("98.7.6", "--no-test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ran(), [])
        self.assertEqual(stated(self.text("CMakeLists.txt")), "98.7.6")
        self.assertRegex(self.text("CITATION.cff"), r"(?m)^version: 98\.7\.6\ndate-released: \d{4}-\d\d-\d\d$")
        news = re.sub(r"\d{4}-\d\d-\d\d", "DATE", self.text("CHANGELOG.md"))
        self.assertIn("## [Unreleased]\n\n## [98.7.6] - DATE\n\n### Added\n- A thing.\n\n## [0.0.1]", news)
        self.assertEqual(self.git("rev-parse", "v98.7.6^{commit}"), self.git("rev-parse", "HEAD"))
        self.assertIn("- A thing.", self.git("tag", "-n99"))
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.refused("nothing under [Unreleased]", "98.7.7", "--no-test")
        self.refused("a tag v98.7.6", "98.7.6", "--no-test")
        self.change("CHANGELOG.md", self.text("CHANGELOG.md").replace("[Unreleased]\n", "[Unreleased]\n- More.\n"))
        self.assertEqual(self.release("98.10.0", "--no-test").returncode, 0)
        self.assertEqual(self.text("CITATION.cff").count("date-released"), 1)

    def test_tests_run_first_and_decide(self):
        self.let_tests_end_with(1)
        self.refused("the tests failed", "98.7.6")
        self.assertEqual(self.ran(), ["test"])
        self.let_tests_end_with(0)
        self.let_tests_end_with(1, "scripts/tidy")
        self.refused("clang-tidy found", "98.7.6")
        self.let_tests_end_with(0, "scripts/tidy")
        self.assertEqual(self.release("98.7.6").returncode, 0)
        self.assertEqual(self.ran(), ["test", "test", "tidy", "test", "tidy"])

    def test_what_has_passed_is_not_tested_again(self):
        self.change(".gitignore", "/build/\n")
        (self.root / "build").mkdir()
        (self.root / "build/passed").write_text(self.git("rev-parse", "HEAD^{tree}") + "\n")
        self.assertEqual(self.release("98.7.6").returncode, 0)
        self.assertEqual(self.ran(), ["tidy"])

    def test_what_is_not_ready_is_refused(self):
        self.refused("three numbers", "98.7")
        self.refused("three numbers")
        self.refused("no option", "98.7.6", "--force")
        self.refused("before", "0.0.1")
        (self.root / "new").write_text("x")
        self.refused("not committed", "98.7.6")
        (self.root / "new").unlink()
        self.change("CITATION.cff", "version: 1.2.3\n")
        self.refused("make them equal", "98.7.6")


if __name__ == "__main__":
    unittest.main()
