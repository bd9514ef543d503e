"""What the jobs of the catalogue do, in words."""

from typing import Final

WORDS: Final = {
    "tables.check_files": "Check the files of a table",
    "tables.check_location": "Check a location",
    "tables.clean_up_log": "Clean up a log",
    "tables.diff_files": "Compare files",
    "tables.diff_rows": "Compare rows",
    "tables.index_log": "Index a table",
    "tables.list_version_files": "List the files of a version",
    "tables.load_samples": "Load the sample tables",
    "tables.preview_rows": "Read rows",
    "tables.profile_column": "Profile a column",
    "tables.scan_root": "Look for tables",
    "tables.write_checkpoint": "Write a checkpoint",
}
LOOKS: Final = frozenset(
    {
        "tables.check_location",
        "tables.diff_files",
        "tables.diff_rows",
        "tables.list_version_files",
        "tables.preview_rows",
        "tables.profile_column",
    }
)
