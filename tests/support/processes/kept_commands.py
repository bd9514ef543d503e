"""Commands of one installation, each in a fork of a process that has loaded its parts.

A command loads for a second and a half of a processor what it then uses for a tenth of
that. What one is in all else, its arguments, output, exit and end, stays its own.

python -m tests.support.processes.kept_commands
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

LOADED: Final = (
    "deltaweb.web.sharing.management.commands.recipient",
    "deltaweb.web.sharing.management.commands.share",
    "deltaweb.web.tables.management.commands.table",
    "django.core.management.commands.shell",
)
ROOT: Final = Path(__file__).resolve().parents[3]


class KeptCommands:
    """Runs commands of an installation; its process starts with the first of them."""

    def __init__(self, home: Path, variables: Mapping[str, str]) -> None:
        """Take the folder of the installation, and all variables of its processes."""
        self._home, self._variables = home, variables
        self._process: subprocess.Popen[str] | None = None

    def run(self, *line: str) -> "subprocess.CompletedProcess[str]":
        """Run `deltaweb` or `manage.py`, the first word, to its end."""
        if self._process is None:
            self._process = self._start()
        asks, tells = self._process.stdin, self._process.stdout
        assert asks is not None
        assert tells is not None
        print(json.dumps(line), file=asks, flush=True)
        code, out, err = json.loads(tells.readline())
        return subprocess.CompletedProcess(line, code, out, err)

    def close(self) -> None:
        """End the process, if it has started."""
        if self._process is not None:
            self._process.communicate(timeout=60)
            self._process = None

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", __name__],
            env={**self._variables, "PYTHONPATH": str(ROOT)},
            cwd=self._home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def _load() -> None:
    import importlib

    import django

    from deltaweb.environment.own_process import VARIABLES

    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    django.setup()
    for name in LOADED:
        importlib.import_module(name)


def _in_child(line: list[str], out: IO[Any], err: IO[Any]) -> None:
    """Become the command: what happens from here on is as in a process of its own."""
    from deltaweb import __main__ as program

    with Path(os.devnull).open() as nothing:
        for number, file in enumerate((nothing, out, err)):
            os.dup2(file.fileno(), number)
    sys.argv = line
    if line[0] == "deltaweb":
        program.main()
    else:
        program.manage()


def _keep() -> None:
    _load()
    with os.fdopen(os.dup(1), "w") as answers:
        for asked in iter(sys.stdin.readline, ""):
            line = json.loads(asked)
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                child = os.fork()
                if not child:
                    return _in_child(line, out, err)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                told = []
                for file in (out, err):
                    file.seek(0)
                    told.append(file.read().decode())
            print(json.dumps([code, *told]), file=answers, flush=True)
    return None


if __name__ == "__main__":
    _keep()
