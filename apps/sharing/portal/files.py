"""The files in which a recipient downloads rows: CSV, Parquet and XLSX."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from django.http import FileResponse, HttpResponseBase

from apps.jobs.models import Job
from apps.jobs.results import result_path
from apps.pages.responses import csv_response
from apps.sharing.models import SharedTable
from apps.sharing.portal.cells import csv_rows
from deltaweb.exports.xlsx import XLSX_TYPE, write_xlsx

SHEET: Final = "xlsx"
PARQUET_TYPE: Final = "application/vnd.apache.parquet"
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format of a download.

    Attributes:
        key: In addresses, and the end of the file's name.
        write: Writes rows to a new file; None for a format that is sent as it is made.
        about: What it keeps of the values, for people.
    """

    key: str
    label: str
    media_type: str
    about: str
    write: Callable[[Path, pa.Table], object] | None = None

    @property
    def suffix(self) -> str:
        return f".{self.key}"

    @property
    def file(self) -> str:
        """What the job writes: `ReadRows.file`."""
        return "" if self.write is None else self.key


def _write_parquet(path: Path, rows: pa.Table) -> None:
    with pq.ParquetWriter(path, rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write_batch(batch)


FORMATS: Final[Mapping[str, FileFormat]] = {
    one.key: one
    for one in (
        FileFormat(
            key="csv",
            label="CSV",
            media_type="text/csv",
            about=(
                "Text. NULL is nothing between two commas, an empty text is a pair of "
                "quotes. A text that a spreadsheet would run as a formula, because it "
                "begins with = + - or @, gets an apostrophe in front."
            ),
        ),
        FileFormat(
            key=SHEET,
            label="XLSX",
            media_type=XLSX_TYPE,
            about=(
                "Text stays text: no cell is a formula or a link. Whole numbers of "
                "more than 15 digits and decimals are text. NULL is an empty cell."
            ),
            write=write_xlsx,
        ),
        FileFormat(
            key="parquet",
            label="Parquet",
            media_type=PARQUET_TYPE,
            about="Every value with its type. For programs.",
            write=_write_parquet,
        ),
    )
}


def write_file(job_id: object, key: str) -> None:
    """Write the rows of a job as a file, which is there as a whole or not at all."""
    chosen = FORMATS[key]
    path = result_path(job_id, chosen.suffix)
    with pa.memory_map(str(result_path(job_id))) as source:
        rows = pa.ipc.open_file(source).read_all()
    beside = path.with_name(f"{path.name}.part")
    beside.unlink(missing_ok=True)
    try:
        if chosen.write is not None:
            chosen.write(beside, rows)
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def file_response(
    chosen: FileFormat, job: Job, rows: pa.Table, shared: SharedTable
) -> HttpResponseBase:
    """Return a download of rows that a job has read."""
    name = _NOT_IN_A_NAME.sub("_", shared.full_name).strip("._")[:100] or "rows"
    if chosen.write is None:
        return csv_response(csv_rows(rows), name=name)
    opened = result_path(job.id, chosen.suffix).open("rb")
    return FileResponse(
        opened,
        as_attachment=True,
        filename=f"{name}{chosen.suffix}",
        content_type=chosen.media_type,
    )
