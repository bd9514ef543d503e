"""Tables that are made, and rows of files: each looked at first, or done at once."""

from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.catalogue.operations import (
    Wanted,
    asked_answer,
    asked_of,
    body_of,
)
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.shapes import one_of
from apps.jobs.listing.resource import Started
from apps.tables.catalogue.adding.checked import (
    checked_conversion,
    checked_creation,
    checked_import,
)
from apps.tables.catalogue.adding.uploads import keep_upload
from apps.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from apps.tables.catalogue.adding.work.create import CREATE, CreateTable
from apps.tables.catalogue.adding.work.import_rows import IMPORT, ImportRows
from apps.tables.head.finding import get_own_table
from apps.tables.head.job_json import check_may
from apps.tables.storage.locations import parse_location
from deltaweb.writer.importing.options import (
    DAY_ORDERS,
    DELIMITERS,
    FORMATS,
    BadRows,
    TextForm,
)
from deltaweb.writer.importing.plan import ImportMode

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTable:
    """A table that is to be made.

    Attributes:
        name: `table`, or `namespace.table`.
        location: An empty folder of the server, or a URL of an object store.
        description: Its description in the catalog.
    """

    name: str
    location: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedConversion(WantedTable):
    """A folder of Parquet files that is to become a table where it lies.

    Attributes:
        name: `table`, or `namespace.table`.
        location: The folder, or its URL.
        description: Its description in the catalog.
        partition_schema: The partition columns in folder names, as DDL; empty to infer
            them.
        time_zone: The time zone of times without one in folder names.
    """

    partition_schema: str = ""
    time_zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How values are written in a file of texts.

    Attributes:
        delimiter: The separator of fields; null to infer it.
        has_header: Whether the first row has the column names.
        null_text: The text that means null.
        decimal_sign: A point or a comma; null to infer it, column by column. An import
            is refused if both fit.
        day_order: The order in dates: 2026-01-31 (`ymd`), 31.01.2026 (`dmy`) or
            01/31/2026 (`mdy`); null to infer it, column by column. An import is refused
            if two fit.
        time_zone: The time zone of times without one.
    """

    delimiter: str | None = one_of(DELIMITERS)
    has_header: bool = True
    null_text: str = ""
    decimal_sign: str | None = one_of(".,")
    day_order: str | None = one_of(DAY_ORDERS)
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedColumn:
    """A column of a table, or what becomes of one of a file.

    Attributes:
        name: The name in the table.
        type: The type as in DDL, such as decimal(12,2); empty to leave out a column of
            the file.
        source: The name in the file; the same name if left out.
        is_nullable: Whether a value may be missing.
        is_partition: Whether the table is partitioned by it.
        comment: Its comment.
    """

    name: str
    type: str
    source: str = ""
    is_nullable: bool = True
    is_partition: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file, and how it is written.

    Attributes:
        upload: The id of an uploaded file, from `uploads`.
        path: Instead of an upload: a path on the server, or a URL.
        name: The name of an uploaded file, which determines its format.
        format: The format; null to infer it from the name.
        texts: How values are written in the file.
    """

    upload: UUID | None = None
    path: str = ""
    name: str = ""
    format: str | None = one_of(FORMATS)
    texts: TextOptions = field(default_factory=TextOptions)

    def facts(self) -> dict[str, Any]:
        """Return the file as the parameters of an operation have it."""
        path = parse_location(self.path) if self.path and not self.upload else ""
        said = {k: v for k, v in asdict(self.texts).items() if v is not None}
        return {
            "upload": str(self.upload or ""),
            "path": path,
            "file_name": path.rpartition("/")[2] if path else self.name,
            "file_format": self.format or "",
            "form": asdict(TextForm(**said)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCreation(WantedTable):
    """A table that is to be made of columns, or of those of a file.

    Attributes:
        name: `table`, or `namespace.table`.
        location: An empty folder of the server, or a URL of an object store.
        description: Its description in the catalog.
        columns: The columns; if empty, those of the file.
        file: A file that defines the columns; its rows are not stored.
    """

    columns: list[WantedColumn] = field(default_factory=list)
    file: WantedFile = field(default_factory=WantedFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRows:
    """Rows that are to be imported.

    Attributes:
        file: The file with the rows.
        columns: The columns to import; if empty, those that the preview proposes.
        mode: What to do with existing rows; null appends.
        bad_rows: What to do with rows that do not fit; null leaves them out.
        merge_schema: Whether to add columns that the table does not have.
    """

    file: WantedFile
    columns: list[WantedColumn] = field(default_factory=list)
    mode: str | None = one_of(ImportMode)
    bad_rows: str | None = one_of(BadRows)
    merge_schema: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedImport(WantedTable):
    """A table that is to be made of the rows of a file.

    Attributes:
        name: `table`, or `namespace.table`.
        location: An empty folder of the server, or a URL of an object store.
        description: Its description in the catalog.
        rows: The rows.
    """

    rows: WantedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that is kept until it is imported, or for a day.

    Attributes:
        upload: The id of the upload.
        file_name: The name of the file.
    """

    upload: UUID
    file_name: str
    size_bytes: int


CREATION = body_of("create_table", WantedCreation)
CONVERSION = body_of("convert_folder", WantedConversion)
NEW_IMPORT = body_of("import_table", WantedImport)
ROW_IMPORT = body_of("import_rows", WantedRows)


class Uploads(RestView):
    """Files that are brought."""

    @endpoint(Role.EDITOR, file=True, answers={201: Upload})
    def post(self, request: HttpRequest, file: "UploadedFile[bytes]") -> Answer:
        """Upload a file to import it or to infer its columns."""
        upload, name = keep_upload(file, user_id=signed_in(request).pk)
        kept = Upload(upload=UUID(upload), file_name=name, size_bytes=file.size or 0)
        return Answer(kept, HTTPStatus.CREATED)


class TableCreation(RestView):
    """A table of columns."""

    @endpoint(Role.EDITOR, body=CREATION, answers={202: Started})
    def post(self, request: HttpRequest, body: Wanted) -> Answer:
        """Create an empty table and register it.

        A preview lists its columns; with `seen`, the previewed table is created.
        """
        wanted: WantedCreation | None = asked_of(body)
        asked = wanted and checked_creation(
            CreateTable(
                **_place(request, wanted),
                **wanted.file.facts(),
                columns=[
                    {
                        name: value
                        for name, value in asdict(one).items()
                        if name != "source"
                    }
                    for one in wanted.columns
                ],
            )
        )
        return asked_answer(request, CREATE, None, body, asked)


class TableConversion(RestView):
    """A table of a folder."""

    @endpoint(Role.EDITOR, body=CONVERSION, answers={202: Started})
    def post(self, request: HttpRequest, body: Wanted) -> Answer:
        """Turn a folder of Parquet files into a table in place, and register it.

        A preview reads every footer and describes the table.
        """
        wanted: WantedConversion | None = asked_of(body)
        asked = wanted and checked_conversion(
            ConvertFolder(
                **_place(request, wanted),
                partition_schema=wanted.partition_schema,
                time_zone=wanted.time_zone,
            )
        )
        return asked_answer(request, CONVERT, None, body, asked)


class TableImport(RestView):
    """A table of a file."""

    @endpoint(Role.EDITOR, body=NEW_IMPORT, answers={202: Started})
    def post(self, request: HttpRequest, body: Wanted) -> Answer:
        """Create a table from the rows of a file, and register it.

        A preview checks every row, proposes types and shows the first rows.
        """
        wanted: WantedImport | None = asked_of(body)
        asked = wanted and checked_import(
            _import_of(wanted.rows, _place(request, wanted)), None
        )
        return asked_answer(request, IMPORT, None, body, asked)


class RowImport(RestView):
    """Rows of a file."""

    @endpoint(Role.VIEWER, body=ROW_IMPORT, answers={202: Started})
    def post(
        self, request: HttpRequest, namespace: str, name: str, body: Wanted
    ) -> Answer:
        """Import the rows of a file into a table.

        A preview checks every row and lists those that do not fit. It needs the right
        to edit the table.
        """
        user = signed_in(request)
        table = get_own_table(user, namespace, name)
        check_may(table, table.version)
        wanted: WantedRows | None = asked_of(body)
        asked = wanted and checked_import(
            _import_of(wanted, {"user_id": user.pk}), table
        )
        return asked_answer(request, IMPORT, table, body, asked)


def _place(request: HttpRequest, wanted: WantedTable) -> dict[str, Any]:
    return {
        "name": wanted.name.strip(),
        "location": parse_location(wanted.location),
        "description": wanted.description,
        "user_id": signed_in(request).pk,
    }


def _import_of(wanted: WantedRows, place: dict[str, Any]) -> ImportRows:
    return ImportRows(
        **place,
        **wanted.file.facts(),
        columns=[
            {
                "source": one.source or one.name,
                "name": one.name,
                "type_name": one.type,
                "is_nullable": one.is_nullable,
                "is_partition": one.is_partition,
                "comment": one.comment,
            }
            for one in wanted.columns
        ],
        mode=wanted.mode or ImportMode.APPEND,
        bad_rows=wanted.bad_rows or BadRows.LEAVE_OUT,
        merge_schema=wanted.merge_schema,
    )
