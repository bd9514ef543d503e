"""A folder that all tests read: it shows who changes it.

Modes of files and folders would not do: they do not stop root, and each copy that a
test takes would have them, too. So a change within the process of a test is refused
where it is made; what another process changes, such as a server that a test started, is
found by a comparison after each file of tests.
"""

import errno
import os
import sys
from pathlib import Path
from typing import Final

MAX_NAMED: Final = 5
WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Which arguments of an audit event are paths that it changes.
CHANGES: Final = {
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.link": (1,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
}
Entries = dict[str, tuple[int, int, int, int]]


class SharedFolder:
    """A folder that is refused to those who change it, from now on.

    Attributes:
        folder: Its absolute path.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start = str(folder)
        self._within = f"{folder}{os.sep}"
        self._attempts: list[str] = []
        self._entries = _entries(self._start)
        sys.addaudithook(self._refuse)

    def attempts(self) -> list[str]:
        """Return what this process has tried to change since the last call."""
        found, self._attempts = self._attempts, []
        return found

    def changes(self) -> list[str]:
        """Return what any process has changed since the last call, a few by name.

        A file that was moved away and back is found by the time of its folder.
        """
        before, self._entries = self._entries, _entries(self._start)
        changed = sorted(
            path
            for path in before.keys() | self._entries.keys()
            if before.get(path) != self._entries.get(path)
        )
        return changed[:MAX_NAMED]

    def _refuse(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & WRITING):
                return
            paths = [path]
        elif event in CHANGES:
            paths = [arguments[place] for place in CHANGES[event]]
            if event == "os.mkdir" and os.path.isdir(paths[0]):  # type: ignore[arg-type]  # noqa: PTH112 (of any kind of path)
                return  # it is not made again
        else:
            return
        for path in paths:
            if self._holds(path):
                self._attempts.append(f"{event} {os.fsdecode(path)}")  # type: ignore[arg-type]
                reason = "all tests share this folder: copy the table first"
                raise PermissionError(errno.EACCES, reason, path)

    def _holds(self, path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False  # a descriptor
        text = os.fsdecode(path)
        if self._start not in text and ".." not in text:
            return False
        whole = os.path.abspath(text)  # noqa: PTH100 (links stay what they are)
        return whole == self._start or whole.startswith(self._within)


def _entries(folder: str) -> Entries:
    found: Entries = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            facts = entry.stat(follow_symlinks=False)
            found[entry.path] = (
                facts.st_ino,
                facts.st_mode,
                facts.st_size,
                facts.st_mtime_ns,
            )
            if entry.is_dir(follow_symlinks=False):
                found |= _entries(entry.path)
    own = Path(folder).stat()
    found[folder] = (own.st_ino, own.st_mode, own.st_size, own.st_mtime_ns)
    return found
