"""Runs the command: python -m dptrain."""

import subprocess
import sys

from ._command import find_command

sys.exit(subprocess.call([find_command(), *sys.argv[1:]]))
