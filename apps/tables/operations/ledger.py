"""What a table's folder holds, by what it is: the storage ledger."""

from typing import Any

import pyarrow.compute as pc

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.operations.file_ages import (
    CHANGES,
    HIDDEN_KIND,
    LIVE,
    ORPHAN,
    TOMBSTONED,
)
from deltaweb.delta.writing.operations.vacuum import VacuumOutlook


def storage_ledger(store: TableStore, outlook: VacuumOutlook) -> list[dict[str, Any]]:
    """Return files and bytes of each kind; those of the log come last.

    Args:
        store: The table's files.
        outlook: The files of its folder.
    """
    ages = outlook.ages
    entries = [
        _entry(kind, files.num_rows, pc.sum(files["size"]).as_py() or 0)
        for kind in (LIVE, TOMBSTONED, CHANGES, ORPHAN, HIDDEN_KIND)
        if (files := ages.filter(pc.equal(ages["kind"], kind))).num_rows
        or kind not in {CHANGES, HIDDEN_KIND}
    ]
    log = store.list_from("")
    checkpoints = [status for status in log if ".checkpoint" in status.name]
    commits = [status for status in log if ".checkpoint" not in status.name]
    checkpoints += store.list_sidecars()
    for kind, files in (("log", commits), ("checkpoints", checkpoints)):
        entries.append(_entry(kind, len(files), sum(file.size for file in files)))
    return entries


def _entry(kind: str, num_files: int, size_bytes: int) -> dict[str, Any]:
    return {"kind": kind, "num_files": num_files, "size_bytes": size_bytes}
