"""The files in which a recipient downloads rows: CSV, Parquet and XLSX."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from django.http import FileResponse, HttpResponseBase

from apps.jobs.models import Job
from apps.jobs.results import result_path
from apps.pages.responses import csv_lines, csv_response
from apps.sharing.models import SharedTable
from apps.sharing.portal.cells import csv_rows
from deltaweb.exports.errors import SheetError
from deltaweb.exports.xlsx import XLSX_TYPE, write_xlsx

SHEET: Final = "xlsx"
PARQUET: Final = "parquet"
PARQUET_TYPE: Final = "application/vnd.apache.parquet"
MAX_SAMPLE_CELLS: Final = 2_000  # that are written to estimate the size of a file
OnProgress = Callable[[int], None]
"""Is given the number of rows that are written."""
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format of a download.

    Attributes:
        key: In addresses, and the end of the file's name.
        write: Writes rows to a new file; None for a format that is sent as it is made.
        about: What it keeps of the values, for people.
        empty_bytes: The size of a file without rows, about.
    """

    key: str
    label: str
    media_type: str
    about: str
    write: Callable[[Path, pa.Table, OnProgress], object] | None = None
    empty_bytes: int = 0

    @property
    def suffix(self) -> str:
        return f".{self.key}"

    @property
    def file(self) -> str:
        """What the job writes: `ReadRows.file`."""
        return "" if self.write is None else self.key


def _write_parquet(path: Path, rows: pa.Table, on_progress: OnProgress) -> None:
    written = 0
    with pq.ParquetWriter(path, rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write_batch(batch)
            written += batch.num_rows
            on_progress(written)


def _write_sheet(path: Path, rows: pa.Table, on_progress: OnProgress) -> None:
    write_xlsx(path, rows, on_progress=on_progress)


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
            write=_write_sheet,
            empty_bytes=5 << 10,
        ),
        FileFormat(
            key=PARQUET,
            label="Parquet",
            media_type=PARQUET_TYPE,
            about="Every value with its type. For programs.",
            write=_write_parquet,
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedFile:
    """A format of a download of some rows, as a page offers it.

    Attributes:
        size_bytes: Of the file; None if nothing is known of it.
        is_exact: Whether the file exists, so that its size is known.
        is_begun: Whether it is being prepared.
    """

    format: FileFormat
    size_bytes: int | None
    is_exact: bool = False
    is_begun: bool = False


def bytes_of_a_row(rows: pa.Table) -> dict[str, float]:
    """Return the size of a row in a file of each format, by writing some of them.

    A format that cannot hold them is left out.
    """
    num_rows = min(rows.num_rows, MAX_SAMPLE_CELLS // max(1, rows.num_columns))
    if not num_rows:
        return {}
    found = {}
    with TemporaryDirectory() as folder:
        for one in FORMATS.values():
            path = Path(folder) / f"rows{one.suffix}"
            with suppress(SheetError):
                empty = _written_bytes(one, path, rows.slice(0, 0))
                some = _written_bytes(one, path, rows.slice(0, num_rows))
                found[one.key] = max(0, some - empty) / num_rows
    return found


def _written_bytes(chosen: FileFormat, path: Path, rows: pa.Table) -> int:
    if chosen.write is None:
        return sum(len(line.encode()) for line in csv_lines(csv_rows(rows)))
    path.unlink(missing_ok=True)
    chosen.write(path, rows, lambda _: None)
    return path.stat().st_size


def write_file(job_id: object, key: str, on_progress: OnProgress) -> None:
    """Write the rows of a job as a file, which is there as a whole or not at all."""
    chosen = FORMATS[key]
    path = result_path(job_id, chosen.suffix)
    with pa.memory_map(str(result_path(job_id))) as source:
        rows = pa.ipc.open_file(source).read_all()
    beside = path.with_name(f"{path.name}.part")
    beside.unlink(missing_ok=True)
    try:
        if chosen.write is not None:
            chosen.write(beside, rows, on_progress)
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
