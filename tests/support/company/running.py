"""The company of the manual: `docker/company/start`, and its processes."""

import mailbox
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.support.processes.installation import ROOT, is_running, status_of, wait_for
from tests.support.processes.node import NODE

START: Final = ROOT / "docker" / "company" / "start"
START_TIMEOUT_S: Final = 600
COMMAND_TIMEOUT_S: Final = 240
STOP_TIMEOUT_S: Final = 180
DEBIAN: Final = ("nginx", "prometheus", "redis-server", "aiosmtpd", "supervisord")
BESIDE_OURS: Final = "/usr/sbin"  # where Debian has nginx
SETTLED: Final = "RUNNING"


@dataclass(frozen=True)
class Company:
    """A running company.

    Attributes:
        folder: All that it writes.
        address: The loopback address that all its processes listen on.
    """

    folder: Path
    address: str

    @property
    def url(self) -> str:
        """The address that people open."""
        return f"https://{self.address}:8443"

    @property
    def certificate(self) -> Path:
        return self.folder / "etc" / "tls.pem"

    def command(self, *arguments: str, ends_with: int = 0) -> str:
        """Run a command of deltaweb with the company's settings; return its output."""
        line = 'set -a; . "$0"; exec "$@"'
        settings = str(self.folder / "etc" / "settings")
        program = (sys.executable, "-m", "deltaweb", *arguments)
        done = subprocess.run(
            ["bash", "-c", line, settings, *program],
            env=_environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_TIMEOUT_S,
        )
        assert done.returncode == ends_with, done.stderr + done.stdout
        return done.stdout

    def kill(self, name: str) -> int:
        """Kill a process at once, as its machine would; return its number."""
        pid = int(self._control("pid", name))
        os.kill(pid, signal.SIGKILL)
        return pid

    def has_again(self, name: str, killed: int) -> bool:
        """Whether a killed process runs again."""
        state = self._control("status", name)
        return SETTLED in state and f"pid {killed}," not in state

    def serves(self) -> bool:
        """Whether both web servers answer."""
        urls = [f"http://{self.address}:{port}/livez" for port in (8001, 8002)]
        return all(status_of(url) == 200 for url in urls)

    def mails(self, to: str) -> list[str]:
        """Return the texts of the mails that somebody got."""
        box = mailbox.Maildir(str(self.folder / "mail"))
        texts = [mail.get_payload(decode=True) for mail in box if to in str(mail["To"])]
        return [text.decode() for text in texts if isinstance(text, bytes)]

    def log(self) -> str:
        """Return the end of each log."""
        logs = sorted((self.folder / "log").glob("*.log"))
        return "\n".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in logs)

    def stop(self) -> None:
        """Stop all processes."""
        file = self.folder / "run" / "supervisord.pid"
        if file.exists():
            pid = int(file.read_text())
            self._control("shutdown")
            assert wait_for(lambda: not is_running(pid), timeout_s=STOP_TIMEOUT_S)

    def _control(self, *arguments: str) -> str:
        configuration = str(self.folder / "etc" / "supervisord.conf")
        done = subprocess.run(
            ["supervisorctl", "--configuration", configuration, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=STOP_TIMEOUT_S,
        )
        return done.stdout.strip()


@contextmanager
def running_company() -> Iterator[Company]:
    """Start the company of the manual on a loopback address of its own."""
    path = f"{os.environ['PATH']}{os.pathsep}{BESIDE_OURS}"
    if missing := [one for one in DEBIAN if not shutil.which(one, path=path)]:
        pytest.skip(f"not installed: {', '.join(missing)}; make test-all brings them")
    pid = os.getpid()
    address = f"127.1.{pid >> 8 & 255}.{pid & 255 or 1}"
    with tempfile.TemporaryDirectory(prefix="company") as folder:
        company = Company(Path(folder), address)
        try:
            started = subprocess.run(
                [str(START), folder, address],
                env=_environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=START_TIMEOUT_S,
            )
            assert started.returncode == 0, started.stderr + company.log()
            yield company
        finally:
            company.stop()


def _environment() -> dict[str, str]:
    """Variables of a shell in which the environment of deltaweb is entered."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DELTAWEB_")}
    for name in ("DJANGO_SETTINGS_MODULE", "PORT"):
        kept.pop(name, None)
    first = (str(Path(sys.executable).parent), str(NODE.parent))
    return {**kept, "PATH": os.pathsep.join((*first, os.environ["PATH"]))}
