"""What scripts/test quick rests on: which files were changed, and what clang-tidy has to look at because of them."""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
for person in ("AUTHOR", "COMMITTER"):
    ENVIRONMENT.update({f"GIT_{person}_NAME": "a", f"GIT_{person}_EMAIL": "a@example.org"})
ENVIRONMENT.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Changed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/changed", self.root / "scripts/changed")
        self.git("init", "-q", "-b", "main")
        self.write("kept.cpp", "edited.cpp", "removed.cpp", "page.md", ".gitignore")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, env=ENVIRONMENT, check=True, capture_output=True)

    def write(self, *names):
        for name in names:
            (self.root / name).write_text(f"/build{len(os.listdir(self.root))}\n")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def changed(self, *patterns):
        return subprocess.run([self.root / "scripts/changed", *patterns], env=ENVIRONMENT, check=True,
                              capture_output=True, text=True).stdout.split()

    def test_nothing(self):
        self.assertEqual(self.changed(), [])

    def test_on_a_branch_what_is_committed_and_what_is_not(self):
        self.git("checkout", "-q", "-b", "branch")
        self.write("edited.cpp", "committed.cpp")
        self.commit()
        self.write("new.cpp", "page.md")
        (self.root / "removed.cpp").unlink()
        (self.root / ".gitignore").write_text("*.o\n")
        self.write("made.o")
        self.assertEqual(self.changed(), [".gitignore", "committed.cpp", "edited.cpp", "new.cpp", "page.md"])
        self.assertEqual(self.changed("*.cpp"), ["committed.cpp", "edited.cpp", "new.cpp"])

    def test_what_others_did_on_the_main_branch_is_not_ours(self):
        self.git("checkout", "-q", "-b", "branch")
        self.git("checkout", "-q", "main")
        self.write("theirs.cpp")
        self.commit()
        self.git("checkout", "-q", "branch")
        self.write("ours.cpp")
        self.assertEqual(self.changed(), ["ours.cpp"])


class Tidy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = importlib.machinery.SourceFileLoader("tidy", str(ROOT / "scripts/tidy"))
        cls.tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
        loader.exec_module(cls.tidy)

    def test_a_header_is_looked_at_in_its_source_or_the_smallest_that_has_it(self):
        parts = {"a.cpp": ["a.cpp", "a.hpp", "b.hpp", "c.hpp"], "b.cpp": ["b.cpp"], "t.cpp": ["t.cpp", "a.hpp"]}

        def looked_at(*changed):
            return self.tidy.sources_of(changed, set(parts), parts)

        self.assertEqual(looked_at("a.hpp"), ["a.cpp"])
        self.assertEqual(looked_at("c.hpp", "b.cpp"), ["a.cpp", "b.cpp"])
        del parts["b.cpp"]
        parts["u.cpp"] = ["u.cpp", "b.hpp"]
        self.assertEqual(looked_at("b.hpp"), ["u.cpp"])
        self.assertEqual(looked_at("page.md", "unbuilt.cpp", "unused.hpp"), [])

    def test_what_was_clean_is_looked_at_again_when_a_header_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.tidy.ROOT = pathlib.Path(folder)
            for name in (".clang-tidy", "a.cpp", "a.hpp", "b.hpp"):
                pathlib.Path(folder, name).write_text(name)
            parts = {"a.cpp": ["a.cpp", "a.hpp"]}
            marks = [self.tidy.mark_of("a.cpp", parts)]
            pathlib.Path(folder, "b.hpp").write_text("other")
            self.assertEqual(self.tidy.mark_of("a.cpp", parts), marks[0])
            for name in ("a.hpp", "a.cpp", ".clang-tidy"):
                pathlib.Path(folder, name).write_text("other")
                marks.append(self.tidy.mark_of("a.cpp", parts))
            self.assertEqual(len(set(marks)), 4)


if __name__ == "__main__":
    unittest.main()
