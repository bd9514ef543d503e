"""Finding Delta tables below a local folder or a URL, without trusting what is there.

Symbolic links to folders are not followed, hidden folders and those that hold data
or logs are skipped, a table's own folders are not entered, and both the depth
and the number of folders are bounded.
"""

import os
from collections.abc import Callable
from pathlib import Path

from apps.tables.errors import ScanRootError
from apps.tables.storage.connections import connection_for, options_for
from apps.tables.storage.locations import is_remote
from apps.tables.storage.received import find_shared, is_received
from apps.tables.storage.trying import reach
from deltaweb.delta.errors import CredentialsNeededError
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.objects.scan import (
    MAX_DEPTH,
    MAX_FOLDERS,
    FoundTables,
    Visit,
    find_below,
    find_objects,
    is_skipped,
)

Report = Callable[[FoundTables], None]


def find_tables(
    root: str,
    *,
    on_progress: Report = lambda _: None,
    max_depth: int = MAX_DEPTH,
    max_folders: int = MAX_FOLDERS,
) -> FoundTables:
    """Find the tables below a root, in the order of their paths.

    Args:
        root: From `parse_location`.
        on_progress: Told again and again what is found so far; what it raises ends
            the scan.
    """
    if is_received(root):
        connection = connection_for(root)
        if connection is None:
            raise CredentialsNeededError(location=root)
        return find_shared(root, connection)
    if is_remote(root):
        return find_objects(root, options_for(root), on_progress=on_progress)
    _check_folder(root)
    return find_below(
        root,
        _local_visit(root),
        on_progress=on_progress,
        max_depth=max_depth,
        max_folders=max_folders,
    )


def check_reached(root: str) -> None:
    """Refuse a root that cannot be listed, by one brief request.

    Args:
        root: From `parse_location`. A provider of received shares was asked for its
            tables when it was added.

    Raises:
        DeltaError: If the store refuses or does not answer, or there is no folder.
    """
    if is_received(root):
        return
    if is_remote(root):
        reach(root, options_for(root))
    else:
        _check_folder(root)


def _check_folder(root: str) -> None:
    folder = Path(root)
    if not folder.is_dir():
        reason = "it is not a folder" if folder.exists() else "it does not exist"
        raise ScanRootError(root=root, reason=reason)
    if not os.access(folder, os.R_OK | os.X_OK):
        raise ScanRootError(root=root, reason="it cannot be listed by this user")


def _local_visit(root: str) -> Visit:
    def visit(parts: tuple[str, ...]) -> list[str] | None:
        with os.scandir("/".join((root, *parts))) as entries:
            # The log's folder may itself be a link.
            names = sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=entry.name == LOG_FOLDER)
            )
        if LOG_FOLDER in names:
            return None
        return [name for name in names if not is_skipped(name)]

    return visit
