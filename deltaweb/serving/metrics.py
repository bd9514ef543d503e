"""Where the processes of a web server count together.

The folder is in the home, one for each host and port, and is emptied at start: files
of processes that were killed would be counted for ever. This module loads no Django.
"""

import os
import shutil
import socket
from pathlib import Path
from typing import Final

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"


def begin_counting(home: Path, *, port: int) -> Path:
    """Make the folder empty, and name it to the library before that is loaded."""
    folder = home / "metrics" / f"{socket.gethostname()}-{port}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    os.environ[FOLDER] = str(folder)
    return folder


def forget_process(pid: int) -> None:
    """Drop what counts only while a process lives."""
    if not os.environ.get(FOLDER):
        return
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 (named first)

    mark_process_dead(pid)  # type: ignore[no-untyped-call]  # it has no types
