"""Finding Delta tables below a local folder, without trusting what is there.

Symbolic links to folders are not followed, hidden folders and those that hold data
or logs are passed over, a table's own folders are not entered, and both the depth
and the number of folders are bounded.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deltaweb.web.tables.errors import ScanRootError

MAX_DEPTH = 12
MAX_FOLDERS = 200_000
MAX_TABLES = 20_000
LOG_FOLDER = "_delta_log"


@dataclass(slots=True)
class ScanResult:
    """What a scan found: the path of each table below the root, in name order.

    Attributes:
        root: The scanned folder.
        tables: For each table the parts of its path below the root; `()` is the root.
        unreadable: Folders that could not be listed.
        truncated: Whether a bound ended the scan early.
    """

    root: Path
    tables: list[tuple[str, ...]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    truncated: bool = False


def find_tables(
    root: str, *, max_depth: int = MAX_DEPTH, max_folders: int = MAX_FOLDERS
) -> ScanResult:
    """Find the tables below `root`.

    Raises:
        ScanRootError: If `root` is no folder or cannot be listed.
    """
    folder = Path(root)
    if not folder.is_dir():
        reason = "it is not a folder" if folder.exists() else "it does not exist"
        raise ScanRootError(root=root, reason=reason)
    if not os.access(folder, os.R_OK | os.X_OK):
        raise ScanRootError(root=root, reason="it cannot be listed by this user")
    result = ScanResult(root=folder)
    waiting: list[tuple[str, ...]] = [()]
    seen = 0
    while waiting:
        parts = waiting.pop()
        seen += 1
        if seen > max_folders or len(result.tables) >= MAX_TABLES:
            result.truncated = True
            break
        children = _visit(result, parts)
        if children and len(parts) >= max_depth:
            result.truncated = True
        else:
            waiting.extend((*parts, name) for name in reversed(children))
    result.tables.sort()
    return result


def _visit(result: ScanResult, parts: tuple[str, ...]) -> list[str]:
    """Note a table, or return the names of the folders to look into next."""
    try:
        names = sorted(_folders(result.root.joinpath(*parts)))
    except OSError:
        result.unreadable.append("/".join(parts))
        return []
    if LOG_FOLDER in names:
        result.tables.append(parts)
        return []
    return [name for name in names if not _is_passed_over(name)]


def _folders(path: Path) -> Iterator[str]:
    """Yield the names of real folders; the log's may itself be a link."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=entry.name == LOG_FOLDER):
                yield entry.name


def _is_passed_over(name: str) -> bool:
    """Whether a folder is hidden, internal to an engine, or a partition's data."""
    return name.startswith((".", "_")) or "=" in name
