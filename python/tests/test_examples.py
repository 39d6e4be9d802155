"""The examples run."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@unittest.skipUnless(os.environ.get("DPTRAIN"), "DPTRAIN isn't set")
class TestExamples(unittest.TestCase):
    def test_own_data(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TMPDIR": folder, "DPTRAIN_STORE": os.path.join(folder, "store")}
            out = subprocess.run(
                [sys.executable, "-B", os.path.join(ROOT, "examples", "own_data.py")], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
            )
            self.assertEqual(out.returncode, 0, out.stderr)
            first, *rest = out.stdout.splitlines()
            self.assertRegex(first, r"^accuracy on public rows 0\.[6-9]\d+, epsilon (2\.00|1\.9\d) at delta 0.0001$")
            self.assertEqual(len(rest), 7)
            self.assertIn("<dptrain.Model mlp:8 of files: classification, samples of shape [4]>", rest[0])


if __name__ == "__main__":
    unittest.main()
