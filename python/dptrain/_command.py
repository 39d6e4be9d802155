"""Runs the command dptrain on arrays, which it gets as a file that nobody else can read and that is removed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from ._types import Array


class CommandError(RuntimeError):
    """The command dptrain failed. exit_code is its exit code, which dptrain --help explains.

    The text is what dptrain wrote on standard error. That is private: it can depend on private rows.
    """

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def find_command(path: Optional[str] = None) -> str:
    """Returns the path of the command dptrain: the given one, or $DPTRAIN, or the one in $PATH."""
    wanted = path or os.environ.get("DPTRAIN") or "dptrain"
    found = shutil.which(wanted)
    if found is None:
        raise FileNotFoundError(f"no command {wanted}: install dptrain (docs/install.md), and put it into $PATH or its path into $DPTRAIN")
    return found


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Makes a folder of mode 0700, and removes it whatever happens: an error, Ctrl-C, or SIGTERM or SIGHUP in the main thread.

    SIGKILL and a power cut leave it where temporary files are.
    """
    with _terminable():
        folder = tempfile.mkdtemp(prefix="dptrain-")
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Makes SIGTERM, and SIGHUP of a terminal that is closed, an exception, if they would end the program at once."""
    replaced = []
    if threading.current_thread() is threading.main_thread():
        known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
        replaced = [number for number in known if signal.getsignal(number) == signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def write_arrays(path: str, arrays: Mapping[str, Array]) -> None:
    """Writes arrays to a new NPZ file of mode 0600."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        np.savez(file, **arrays)


def run(command: str, arguments: Sequence[str], folder: str, verbose: bool) -> Dict[str, Any]:
    """Runs a command that prints JSON, and returns that. Standard error goes to a file in the folder, unless verbose."""
    line = [command, *arguments, "--json"] + ([] if verbose else ["--quiet"])
    errors = os.path.join(folder, "errors")
    descriptor = os.open(errors, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        out = _output(line, None if verbose else file.fileno())
    if out.returncode != 0:
        with open(errors, encoding="utf-8", errors="replace") as read:
            text = read.read()
        raise CommandError(f"dptrain {arguments[0]} ended with exit code {out.returncode}: {_message(text)}", out.returncode)
    return dict(json.loads(out.stdout))


def _output(line: List[str], stderr: Optional[int]) -> "subprocess.CompletedProcess[bytes]":
    """Runs a command to its end. If this program is interrupted, the command is ended first, and no file is left in use."""
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr) as process:
        try:
            stdout, _ = process.communicate()
        except BaseException:
            process.terminate()
            try:
                process.wait(timeout=10)
            except BaseException:  # a second interruption, or a command that doesn't end
                process.kill()
            raise
    return subprocess.CompletedProcess(line, process.returncode, stdout)


def _message(text: str) -> str:
    """Returns the error in what the command wrote: its last line, a JSON object."""
    for row in reversed(text.splitlines()):
        try:
            return str(json.loads(row)["error"])
        except (ValueError, KeyError, TypeError):
            continue
    return text.strip() or "see standard error"
