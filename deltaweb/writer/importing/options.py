"""How files are read, and what their columns become. Every value here is plain JSON."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.values.time_zones.known import UTC_ZONE, check_zone

FORMATS: Final = ("csv", "json", "parquet")
DELIMITERS: Final = (",", ";", "\t", "|")
DAY_ORDERS: Final = ("ymd", "dmy", "mdy")


class ImportFileError(DeltaError, code="import-file-unreadable"):
    """A file to import is missing, or does not read as its format."""

    path: str
    reason: str
    message = "{path} cannot be imported: {reason}."
    hint: str = "Check the file, and say its format: csv, json or parquet."


class BadRows(StrEnum):
    """What becomes of rows with a value that does not fit."""

    REFUSE = "refuse"
    LEAVE_OUT = "leave-out"
    STORE_NULL = "store-null"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """How values are written in a file of texts.

    Attributes:
        delimiter: Between two fields; empty to find it out.
        has_header: Whether the first row holds the names.
        decimal_sign: `.` or `,`, which leaves the other, spaces and apostrophes
            between thousands; empty to find out which a column has.
        day_order: One of `DAY_ORDERS`: 2026-01-31, 31.01.2026 or 01/31/2026; empty to
            find out which a column has. 2026-01-31 is a date in any case.
    """

    delimiter: str = ""
    has_header: bool = True
    null_text: str = ""
    decimal_sign: str = ""
    day_order: str = ""
    time_zone: str = UTC_ZONE

    def __post_init__(self) -> None:
        check_zone(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportColumn:
    """What a column of the files becomes.

    Attributes:
        type_name: Its type as DDL has it: `bigint`, `decimal(12,2)`; empty to leave
            the column out.
        decimal_sign: Of its numbers, where the form of the file has none.
        day_order: Of its dates, where the form of the file has none.
    """

    source: str
    name: str
    type_name: str
    is_nullable: bool = True
    comment: str = ""
    decimal_sign: str = ""
    day_order: str = ""

    def form(self, of_file: TextForm) -> TextForm:
        """Return how its texts are written."""
        return replace(
            of_file,
            decimal_sign=of_file.decimal_sign or self.decimal_sign,
            day_order=of_file.day_order or self.day_order,
        )


AS_UTF_8: Final = (
    'Save it as UTF-8, which spreadsheets call "CSV UTF-8", or convert it: '
    "iconv -f WINDOWS-1252 -t UTF-8."
)
_SHEETS: Final = frozenset({"xlsx", "xls", "xlsm", "xlsb", "ods", "numbers"})
_PACKED: Final = frozenset({"gz", "zip", "bz2", "xz", "zst", "7z", "tar", "tgz"})
_ENDINGS: Final = {"jsonl": "json", "ndjson": "json", "tsv": "csv", "parq": "parquet"}


def format_of(name: str, file_format: str = "") -> str:
    """Return the format of a file, by its name unless one is given."""
    ending = name.rpartition(".")[2].lower()
    found = file_format or _ENDINGS.get(ending, ending)
    if found in _SHEETS:
        reason, hint = "it is a spreadsheet", "Save its sheet as CSV, and import that."
        raise ImportFileError(path=name, reason=reason, hint=hint)
    if found in _PACKED:
        raise ImportFileError(path=name, reason="it is packed", hint="Unpack it first.")
    if found not in FORMATS:
        raise ImportFileError(path=name, reason="its name does not show its format")
    return found
