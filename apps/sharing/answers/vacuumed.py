"""Versions whose files a VACUUM has deleted: refused, before a client fails on a file.

The index marks versions by what the log says of a VACUUM. Files of this machine are
looked at as well, since some files of such a version are mostly still there.

Source: sharing_wire.md, 2.3 ("table files missing").
"""

import os

from apps.tables.models import Table
from apps.tables.versions.readable import is_marked
from deltaweb.index.query.file_selection import FileSelection
from deltaweb.sharing.errors import FilesVacuumedError
from deltaweb.storage.location import is_local, normalize_location


def check_files(table: Table, version: int, selection: FileSelection) -> None:
    """Refuse files of an older version of which some were deleted.

    In object storage those that a condition has selected pass unseen: they may all be
    there, and one request a file would find it out.
    """
    if table.version is None or version >= table.version:
        return  # nothing deletes what the newest version needs
    if not is_marked(table, version):
        return
    root = normalize_location(table.location)
    is_hurt = (
        _lacks_local_file(root, selection)
        if is_local(root)
        else selection.num_files == selection.total_files
    )
    if is_hurt:
        raise FilesVacuumedError(version=version)


def _lacks_local_file(root: str, selection: FileSelection) -> bool:
    return any(
        not os.path.lexists(os.path.join(root, path))  # noqa: PTH118 (of a million paths)
        for batch in selection.batches()
        for path in batch["relative_path"].to_pylist()
    )
