"""A link that nobody may follow, not even the administrator of the machine."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def closed_link(tmp_path: Path) -> Iterator[Path]:
    """Yield a link to the folder of a process that has ended."""
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        link = tmp_path / "closed"
        link.symlink_to(f"/proc/{ended.pid}/cwd")
        yield link
