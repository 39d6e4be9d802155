"""Runs the command dptrain on arrays, which it gets as a file that nobody else can read and that is removed."""

import contextlib
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import threading
import zipfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

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
    """Returns the path of the command dptrain: the given one, $DPTRAIN, that of this Python environment, or the one in $PATH.

    A wheel brings the command along, and pip puts it beside the environment's Python, which may not be in $PATH.
    """
    wanted = path or os.environ.get("DPTRAIN")
    if not wanted:
        for folder in (sysconfig.get_path("scripts"), os.path.join(site.getuserbase(), "bin")):
            found = shutil.which("dptrain", path=folder)
            if found is not None:
                return found
    found = shutil.which(wanted or "dptrain")
    if found is None:
        raise FileNotFoundError(f"no command {wanted or 'dptrain'}: install dptrain (docs/install.md), and put it into $PATH or its path into $DPTRAIN")
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
    """Writes arrays to a new NPZ file of mode 0600. numpy.savez doesn't take every name."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, values in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)


def run(command: str, arguments: Sequence[str], folder: str, verbose: bool, told: Callable[[str], str]) -> Tuple[Dict[str, Any], List[str]]:
    """Runs a command that prints JSON, and returns that and its warnings, which are private.

    With verbose, what it writes on standard error appears: on a terminal as it is, and elsewhere, such as in a notebook, by
    sys.stderr. told puts errors and warnings in the caller's words.
    """
    line = [command, *arguments, "--json"] + ([] if verbose else ["--quiet"])
    errors = os.path.join(folder, "errors")
    descriptor = os.open(errors, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if verbose and sys.__stderr__ is not None and sys.stderr is sys.__stderr__ and sys.__stderr__.isatty():
            out = _output(line, None)
        else:
            out = _output(line, file.fileno(), _Relay(errors) if verbose else None)
    with open(errors, encoding="utf-8", errors="replace") as read:
        text = read.read()
    if out.returncode != 0:
        message = told(_message(text))
        if "unknown flag" in message:
            message += f"; {command} doesn't fit this package: install both from one version"
        raise CommandError(f"dptrain {arguments[0]} ended with exit code {out.returncode}: {message}", out.returncode)
    prefix = "warning: "
    return dict(json.loads(out.stdout)), [told(row[len(prefix) :]) for row in text.splitlines() if row.startswith(prefix)]


def ledger(command: str) -> List[Dict[str, Any]]:
    """Returns the data sets in the ledger of the store, each with its releases and what they cost together."""
    out = _output([command, "ledger", "--json", "--quiet"], subprocess.DEVNULL)
    return list(json.loads(out.stdout)["data"]) if out.returncode == 0 else []


class _Relay(threading.Thread):
    """Copies to sys.stderr what is written to a file, until stop is called."""

    def __init__(self, path: str) -> None:
        super().__init__(daemon=True)
        self._path, self._ended = path, threading.Event()

    def run(self) -> None:
        with open(self._path, encoding="utf-8", errors="replace") as file:
            last = False
            while not last:
                last = self._ended.wait(0.1)
                sys.stderr.write(file.read())
                sys.stderr.flush()

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _output(line: List[str], stderr: Optional[int], relay: Optional[_Relay] = None) -> "subprocess.CompletedProcess[bytes]":
    """Runs a command to its end. If this program is interrupted, the command is ended first, and no file is left in use."""
    if relay:
        relay.start()
    try:
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
    finally:
        if relay:
            relay.stop()
    return subprocess.CompletedProcess(line, process.returncode, stdout)


def _message(text: str) -> str:
    """Returns the error in what the command wrote: its last line, a JSON object."""
    for row in reversed(text.splitlines()):
        try:
            return str(json.loads(row)["error"])
        except (ValueError, KeyError, TypeError):
            continue
    return text.strip() or "see standard error"
