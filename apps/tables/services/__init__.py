"""What users ask of the catalogue, such as to register, rename or refresh a table.

registration   the tables themselves
scanning       tables that are found in folders
job_requests   the work that is queued
upkeep_requests  the work that writes into a log
roots          the folders that tables may come from
"""

from apps.tables.services.job_requests import (
    profile_key,
    refresh_anew,
    refresh_table,
    request_check,
    request_file_check,
    request_file_diff,
    request_preview,
    request_profile,
    request_row_diff,
    request_samples,
    request_scan,
    request_version_files,
    work_key,
)
from apps.tables.services.registration import (
    check_removable,
    describe_table,
    find_table,
    register_table,
    remove_table,
    rename_table,
    schedule_table,
)
from apps.tables.services.roots import allow_root, roots_for, samples_folder
from apps.tables.services.scanning import (
    ScanReport,
    load_samples,
    register_found,
    scan_root,
)
from apps.tables.services.upkeep_requests import (
    list_again,
    record_upkeep,
    request_checkpoint,
    request_cleanup,
)

__all__ = [
    "ScanReport",
    "allow_root",
    "check_removable",
    "describe_table",
    "find_table",
    "list_again",
    "load_samples",
    "profile_key",
    "record_upkeep",
    "refresh_anew",
    "refresh_table",
    "register_found",
    "register_table",
    "remove_table",
    "rename_table",
    "request_check",
    "request_checkpoint",
    "request_cleanup",
    "request_file_check",
    "request_file_diff",
    "request_preview",
    "request_profile",
    "request_row_diff",
    "request_samples",
    "request_scan",
    "request_version_files",
    "roots_for",
    "samples_folder",
    "scan_root",
    "schedule_table",
    "work_key",
]
