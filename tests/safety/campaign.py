"""What the campaigns share: their length and their seed from the command line, so that what CI does for
seconds can be done for hours, and what failed can be done again."""

import os
import sys
import unittest

SANITIZED = bool(os.environ.get("FWSR_SANITIZE"))
BUILD = os.environ.get("FWSR_BUILD", "")

_settings = {"rounds": None, "seed": 1}


def rounds(in_tests):
    """How often: `--rounds`, or what fits into the tests."""
    return in_tests if _settings["rounds"] is None else _settings["rounds"]


def seed():
    return _settings["seed"]


def main():
    """unittest.main, after taking `--rounds N` and `--seed S` out of the arguments."""
    rest = sys.argv[:1]
    words = iter(sys.argv[1:])
    for word in words:
        if word in ("--rounds", "--seed"):
            _settings[word[2:]] = int(next(words))
        else:
            rest.append(word)
    unittest.main(argv=rest)
