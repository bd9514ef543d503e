"""A folder and a port that notice every access, however short."""

import ctypes
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

IN_ACCESS, IN_OPEN = 0x1, 0x20
IN_NONBLOCK = 0o4000


@dataclass(frozen=True)
class Watched:
    """A folder with one file, and a server that accepts nothing.

    Attributes:
        file: A file with a secret line; it is never opened unless a test does it.
        url: An address of the server.
    """

    file: Path
    url: str
    _events: int = field(repr=False)
    _server: socket.socket = field(repr=False)

    def accesses(self) -> list[str]:
        """Return what was opened or connected since the last call."""
        found = []
        try:
            if os.read(self._events, 1 << 16):
                found.append("the file system")
        except BlockingIOError:
            pass
        try:
            self._server.accept()[0].close()
            found.append("the port")
        except BlockingIOError:
            pass
        return found


@contextmanager
def watched(folder: Path) -> Iterator[Watched]:
    """Make a folder and a port, and watch them by inotify and a listening socket."""
    folder.mkdir()
    file = folder / "secret.txt"
    file.write_text("the secret line\n", encoding="utf-8")
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(IN_NONBLOCK)
    for path in (folder, file):
        assert libc.inotify_add_watch(events, bytes(path), IN_ACCESS | IN_OPEN) > 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003  # Python's signature
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        try:
            yield Watched(file, url, events, server)
        finally:
            os.close(events)
