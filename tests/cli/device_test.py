"""Where the work is done: on the processor, or on a card where there is one."""

import json
import re
import unittest

from helpers import Case, npy_bytes, random_rows

PAPERS = ("--method", "fwsr")


class Device(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(300, 12)))
        cards = re.search(r"^cards +(.*)$", self.succeed("--version").out, re.MULTILINE).group(1)
        self.why_none = cards.removeprefix("none: ") if cards.startswith("none: ") else ""

    def refuse(self, *args, code=2):
        outcome = self.run_program(*args)
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.out, "")
        return outcome

    def select(self, *args):
        return json.loads(self.succeed("select", "set.npy", "-k", "6", *PAPERS, *args, "--json", "--quiet").out)

    def test_no_device_that_is_not_known(self):
        for name in ("gpu", "cuda:", "cuda:-1", "cuda:1x", "CUDA", ""):
            self.assertIn("write cpu, cuda, cuda:1 or auto",
                          self.refuse("select", "set.npy", "-k", "6", "--device", name).err, name)
        self.assertIn("--device-memory", self.refuse("select", "set.npy", "-k", "6", "--device-memory", "much").err)
        self.assertIn("add --device cuda", self.refuse("select", "set.npy", "-k", "6", "--device-memory", "1G").err)

    def test_what_a_card_does_not_serve_is_said_before_one_is_looked_for(self):
        factor = ("--method", "k-fwsr", "--rank", "4")
        for reason, args in (("factors of the rbf kernel; leave the rank out", (*factor, "--kernel", "laplacian")),
                             ("q = 2", (*PAPERS, "--q", "1")),
                             ("boolean objective", (*factor, "--lambda", "1", "--rho", "1")),
                             ("until_error", (*factor, "--until-error", "0.2")),
                             ("works on the processor", ("--method", "kmedoids"))):
            said = self.refuse("select", "set.npy", "-k", "6", "--device", "cuda", *args).err
            self.assertIn(reason, said)
            self.assertIn("use device cpu", said)

    def test_sweeps_have_a_device(self):
        sweep = ("sweep", "set.npy", "-k", "6", "--alphas", "auto,5")
        self.assertIn("add --device cuda", self.refuse(*sweep, "--device-memory", "1G").err)
        self.assertIn("q = 2", self.refuse(*sweep, "--q", "1", "--device", "cuda").err)
        if self.why_none:
            self.assertIn("use device cpu", self.refuse(*sweep, "--device", "cuda", code=1).err)
            self.skipTest(f"the rest needs a card: {self.why_none}")
        on_card, on_cpu = (json.loads(self.succeed(*sweep, "--device", name, "--json", "--quiet").out)["settings"]
                           for name in ("cuda", "cpu"))
        self.assertEqual([s["exemplars"] for s in on_card], [s["exemplars"] for s in on_cpu])

    def test_comparisons_have_a_device(self):
        compare = ("compare", "set.npy", "-k", "6", "--methods", "fwsr,k-fwsr,fwsr:q=1,rrqr", "--quiet")
        self.assertIn("add --device cuda", self.refuse(*compare, "--device-memory", "1G").err)
        on_cpu = json.loads(self.succeed(*compare, "--json", "--device", "auto").out)["methods"]
        self.assertEqual([m["device"] for m in on_cpu], ["cpu"] * 4)
        if self.why_none:
            self.assertIn("use device cpu", self.refuse(*compare, "--device", "cuda", code=1).err)
            self.skipTest(f"the rest needs a card: {self.why_none}")
        on_card = json.loads(self.succeed(*compare, "--json", "--device", "cuda").out)["methods"]
        self.assertEqual([m["device"] for m in on_card], ["cuda", "cuda", "cpu", "cpu"])
        self.assertIn("q = 2", on_card[2]["warnings"][0])
        for there, here in zip(on_card, on_cpu):
            self.assertEqual(there["runs"][0]["exemplars"], here["runs"][0]["exemplars"])

    def test_auto_says_why(self):
        plan = self.select("--device", "auto", "--dry-run")["plan"]
        self.assertEqual(plan["device"], "cpu")
        self.assertEqual(plan["notes"], ["on the processor: too little work for a card"])
        plan = self.select("--q", "1", "--device", "auto", "--dry-run")["plan"]
        self.assertIn("on the processor: the card serves q = 2 without a sign constraint", plan["notes"])

    def test_a_card_gives_the_answer_of_the_processor_or_its_absence_is_said(self):
        on_cpu = self.select("--device", "cpu")
        self.assertEqual(on_cpu["plan"]["device"], "cpu")
        if self.why_none:
            said = self.refuse("select", "set.npy", "-k", "6", *PAPERS, "--device", "cuda", code=1).err
            self.assertIn(self.why_none.rstrip("."), said)
            self.assertIn("use device cpu", said)
            self.skipTest(f"the rest needs a card: {self.why_none}")
        on_card = self.select("--device", "cuda")
        self.assertEqual(on_card["plan"]["device"], "cuda")
        self.assertEqual(on_card["exemplars"], on_cpu["exemplars"])
        self.assertEqual(on_card["weights"], on_cpu["weights"])


if __name__ == "__main__":
    unittest.main()
