"""A real installation in processes of its own, started as a person starts it."""

import atexit
import functools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from tests.support.processes.kept_commands import KeptCommands
from tests.support.processes.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
START_TIMEOUT_S = 240
WAIT_S = 60  # for what takes a moment on a machine with nothing else to do
LOOK_INTERVAL_S = 0.03
RARE_LOOK_INTERVAL_S = 0.1  # at what has not come about within a second
STOP_TIMEOUT_S = 60
OPENING = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
"""What a browser says of a page that it opens."""


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Variables of a process of the installation, none of the tests' own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DELTAWEB_")}
    for name in ("LAKE", "PORT", "WORKERS"):
        kept.pop(name, None)
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        "DELTAWEB_HOME": str(home),
        "DELTAWEB_LOG_LEVEL": "WARNING",
        "DELTAWEB_STORAGE_HOSTS": "127.0.0.1",
        **variables,
    }


def run(
    home: Path, *arguments: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run one command of the installation to its end."""
    return _run(home, ["-m", "deltaweb", *arguments], variables)


def run_each(home: Path, *lines: Sequence[str], **variables: str) -> list[str]:
    """Run commands one after another in one process; return what each has printed."""
    code = each(*lines)
    done = manage(home, "shell", "--no-imports", "--command", code, **variables)
    assert done.returncode == 0, done.stderr
    printed: list[str] = json.loads(done.stdout)
    return printed


def each(*lines: Sequence[str]) -> str:
    """Return the Python that runs commands, and prints a list of what they print."""
    return (
        "import io, json, sys\n"
        "from django.core.management import call_command\n"
        "def printed(line):\n"
        "    out = io.StringIO()\n"
        "    call_command(*line, stdout=out)\n"
        "    return out.getvalue()\n"
        f"json.dump([printed(line) for line in {[*map(list, lines)]!r}], sys.stdout)"
    )


def manage(
    home: Path, *arguments: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run one command of Django's, or of the installation, to its end."""
    return _run(home, [str(ROOT / "manage.py"), *arguments], variables)


def _run(
    home: Path, arguments: list[str], variables: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(home, **variables),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_TIMEOUT_S,
    )


@functools.cache
def migrated() -> Path:
    """A database of the newest migrations, a copy for this process.

    The first of the processes that run side by side makes it for all.
    """
    own = Path(tempfile.mkdtemp(prefix="deltaweb-migrated-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    number = os.environ.get("PYTEST_XDIST_TESTRUNUID", own.name)
    home = own.with_name(f"deltaweb-migrated-{number}")
    home.mkdir(mode=0o700, exist_ok=True)
    with FileLock(home / "lock"):
        if not (home / "done").exists():
            atexit.register(shutil.rmtree, home, ignore_errors=True)
            done = run(home, "migrate", "--verbosity", "0")
            assert done.returncode == 0, done.stderr
            (home / "done").touch()
        return Path(shutil.copy(home / "deltaweb.sqlite3", own))


def migrate(home: Path) -> None:
    """Give an installation its database, by a copy of one that is migrated."""
    shutil.copy(migrated(), home)


def furnish(home: Path, samples: Path) -> None:
    """Give an installation what takes its first start most of the time."""
    migrate(home)
    shutil.copytree(samples, home / "samples")


def rows(home: Path, query: str, *values: object) -> list[dict[str, Any]]:
    """Ask the installation's database."""
    with closing(sqlite3.connect(home / "deltaweb.sqlite3", timeout=30)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(query, values)]


def is_running(pid: int) -> bool:
    """Tell whether a process is there, and more than what its parent left of it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def wait_for(condition: Callable[[], bool], *, timeout_s: float = WAIT_S) -> bool:
    """Wait until the condition holds; say whether it came to hold.

    It is looked at once more when the time is over: a busy machine may not have come
    to a single look until then.
    """
    began_s = time.monotonic()
    while (passed_s := time.monotonic() - began_s) < timeout_s:
        if condition():
            return True
        time.sleep(LOOK_INTERVAL_S if passed_s < 1 else RARE_LOOK_INTERVAL_S)
    return condition()


def status_of(url: str) -> int:
    """The HTTP status of a page, 0 while nobody answers."""
    try:
        opened = urllib.request.Request(url, headers=OPENING)  # noqa: S310 (our own)
        with urllib.request.urlopen(opened, timeout=60) as answer:  # noqa: S310 (as above)
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (urllib.error.URLError, OSError):
        return 0


def page_opener() -> urllib.request.OpenerDirector:
    """Somebody who opens pages with cookies, and says so as a browser does."""
    cookies = urllib.request.HTTPCookieProcessor()
    opener = urllib.request.build_opener(cookies)
    opener.addheaders = [*opener.addheaders, *OPENING.items()]
    return opener


@dataclass(frozen=True)
class Installation:
    """A running `deltaweb serve`."""

    url: str
    home: Path
    process: "subprocess.Popen[bytes]"
    commands: KeptCommands

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return (self.home / "serve.log").read_text()

    def command(self, *arguments: str) -> str:
        """Run a command against this installation and return what it prints."""
        return self._ran(self.commands.run("deltaweb", *arguments))

    def manage(self, *arguments: str) -> str:
        """Run a command of Django's against this installation, as `command` does."""
        return self._ran(self.commands.run("manage.py", *arguments))

    @staticmethod
    def _ran(done: "subprocess.CompletedProcess[str]") -> str:
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def serving(
    home: Path,
    *,
    ready: int | None = 200,
    line: Sequence[str] = (sys.executable, "-m", "deltaweb", "serve"),
    cwd: Path = ROOT,
    **variables: str,
) -> Iterator[Installation]:
    """Start `deltaweb serve` and wait until `/status` answers with `ready`.

    Or another line, in another folder.

    Args:
        ready: A status of HTTP; None for any.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (home / "serve.log").open("ab") as log:
        process = subprocess.Popen(
            line,
            env=environment(home, PORT=str(port), **variables),
            cwd=cwd,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    commands = KeptCommands(home, environment(home, PORT=str(port)))
    installation = Installation(url, home, process, commands)
    try:
        is_ready = wait_for(
            lambda: (
                process.poll() is not None
                or (found := status_of(f"{url}/status.json")) == ready
                or (found > 0 and ready is None)
            ),
            timeout_s=START_TIMEOUT_S,
        )
        assert is_ready, installation.log
        assert process.poll() is None, installation.log
        yield installation
    finally:
        commands.close()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(STOP_TIMEOUT_S)
