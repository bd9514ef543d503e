"""Commands of one installation, each in a fork of a process that has loaded its parts.

A command loads for a second and a half of a processor what it then uses for a tenth of
that. What one is in all else, its arguments, streams, exit and end, stays its own.

python -m tests.support.processes.kept_commands
"""

import atexit
import importlib
import json
import os
import selectors
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests.support.processes.asking import CODE_BYTES, LENGTH_BYTES, ask

ROOT: Final = Path(__file__).resolve().parents[3]
PROGRAM: Final = "deltaweb"
DJANGO: Final = "manage.py"
LEARNED: Final = (PROGRAM, "apps", "django", "pyarrow", "numpy")
LOADED: Final = (
    "apps.sharing.management.commands.recipient",
    "apps.sharing.management.commands.share",
    "apps.tables.management.commands.table",
    "django.core.management.commands.shell",
)


class KeptCommands:
    """Runs commands of an installation; its process starts with the first of them."""

    def __init__(self, home: Path, variables: Mapping[str, str]) -> None:
        """Take the folder of the installation, and all variables of its processes."""
        self._home, self._variables = home, variables
        self._process: subprocess.Popen[str] | None = None
        # A socket's path has a hundred characters; that of a test's home may have more.
        self._place = tempfile.TemporaryDirectory(prefix="kept-")
        self._at = f"{self._place.name}/socket"

    def run(self, *line: str) -> "subprocess.CompletedProcess[str]":
        """Run `deltaweb` or `manage.py`, the first word, to its end."""
        self.start()
        with (
            Path(os.devnull).open() as nothing,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            streams = [file.fileno() for file in (nothing, out, err)]
            code = ask(self._at, line, str(self._home), streams)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(
                line, code, out.read().decode(), err.read().decode()
            )

    def start(self) -> None:
        """Start the process, unless it has started."""
        if self._process is not None:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._at],
            env={**self._variables, "PYTHONPATH": str(ROOT)},
            cwd=self._home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline(), "the process has ended"

    def put_into(self, folder: Path) -> None:
        """Make a file `deltaweb` there, for shells: it runs what `run` does."""
        asking = Path(__file__).with_name("asking.py")
        line = shlex.join([sys.executable, "-IS", str(asking), self._at, PROGRAM])
        file = folder / PROGRAM
        file.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        file.chmod(0o700)

    def close(self) -> None:
        """End the process, if it has started."""
        if self._process is not None:
            self._process.communicate(timeout=60)
            self._process = None
        self._place.cleanup()


def _keep(at: str) -> None:
    """Answer who asks at a socket until the input ends; return in forks alone."""
    _load(LOADED)
    with socket.socket(socket.AF_UNIX) as door, selectors.DefaultSelector() as waiting:
        door.bind(at)
        door.listen()
        waiting.register(door, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            for key, _ in waiting.select():
                if key.fileobj is sys.stdin:
                    os._exit(0)  # forks that still run answer nobody
                if key.fileobj is not door:
                    waiting.unregister(key.fileobj)
                    _end(key.fd, *key.data)
                    continue
                asked, _ = door.accept()
                line, folder, streams = _heard(asked)
                told, tells = os.pipe()
                child = os.fork()
                if not child:
                    os.close(told)
                    return _become(line, folder, streams, tells)
                for number in (*streams, tells):
                    os.close(number)
                waiting.register(told, selectors.EVENT_READ, (child, asked))


def _load(names: Iterable[str]) -> None:
    import django

    from deltaweb.environment.own_process import VARIABLES

    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    django.setup()
    for name in names:
        importlib.import_module(name)


def _heard(asked: socket.socket) -> tuple[list[str], str, list[int]]:
    heading, streams, *_ = socket.recv_fds(asked, LENGTH_BYTES, 3)
    told = asked.recv(int.from_bytes(heading), socket.MSG_WAITALL)
    line, folder = json.loads(told)
    return line, folder, streams


def _become(line: list[str], folder: str, streams: list[int], tells: int) -> None:
    """Become the command: what happens from here on is as in a process of its own."""
    from deltaweb import __main__ as program

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    sys.argv = line
    atexit.register(_tell_what_is_loaded, tells, frozenset(sys.modules))
    if line[0] == PROGRAM:
        program.main()
    else:
        program.manage()


def _tell_what_is_loaded(tells: int, before: frozenset[str]) -> None:
    names = [name for name in sys.modules if name not in before]
    os.write(tells, json.dumps(names).encode())


def _end(told: int, child: int, asked: socket.socket) -> None:
    """Answer how a command has ended, and load what it had to load, for the next."""
    with os.fdopen(told) as file:
        names = file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with asked:
        asked.sendall(code.to_bytes(CODE_BYTES, signed=True))
    for name in json.loads(names or "[]"):
        if name.partition(".")[0] in LEARNED and "__main__" not in name:
            importlib.import_module(name)


if __name__ == "__main__":
    _keep(sys.argv[1])
