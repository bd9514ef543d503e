"""Background work of the catalogue: thin, idempotent, by the job's id alone."""

from apps.tables.tasks.catalogue import (
    check_location,
    load_samples,
    probe_due,
    scan_root,
)
from apps.tables.tasks.comparing import diff_files, diff_rows
from apps.tables.tasks.file_checking import check_data_files
from apps.tables.tasks.indexing import index_log
from apps.tables.tasks.profiling import profile_column
from apps.tables.tasks.reading import list_version_files, preview_rows
from apps.tables.tasks.upkeep import clean_up_log, write_checkpoint

__all__ = [
    "check_data_files",
    "check_location",
    "clean_up_log",
    "diff_files",
    "diff_rows",
    "index_log",
    "list_version_files",
    "load_samples",
    "preview_rows",
    "probe_due",
    "profile_column",
    "scan_root",
    "write_checkpoint",
]
