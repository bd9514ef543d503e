"""Which pages add data, what each asks, and how its fields become parameters."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast
from zoneinfo import available_timezones

from django import forms
from django.http import HttpRequest

from apps.tables.catalogue.adding.flow import AddingPage
from apps.tables.catalogue.adding.newborn import check_newborn
from apps.tables.catalogue.adding.uploads import keep_upload
from apps.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from apps.tables.catalogue.adding.work.create import CREATE, CreateTable
from apps.tables.catalogue.adding.work.import_rows import IMPORT, ImportRows, check_file
from apps.tables.errors import TableNameError
from apps.tables.head.shapes import signed_in
from apps.tables.models import Table
from apps.tables.storage.locations import MAX_LENGTH, parse_location
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.writer.importing.checked_rows import schema_of
from deltaweb.writer.importing.options import (
    DAY_ORDERS,
    DELIMITERS,
    FORMATS,
    BadRows,
    ImportColumn,
    format_of,
)
from deltaweb.writer.importing.plan import ImportMode

MAX_COLUMNS: Final = 240  # Django takes a thousand fields of a form
EMPTY_COLUMNS: Final = 3
TYPES: Final = (
    *("bigint", "int", "smallint", "string", "decimal(12,2)", "double", "boolean"),
    *("date", "timestamp", "timestamp_ntz", "binary"),
)
DELIMITER_WORDS: Final = {
    ",": "Comma ,",
    ";": "Semicolon ;",
    "\t": "Tab",
    "|": "Bar |",
}
OPTIONS: Final = {
    "file_format": "Format",
    "delimiter": "Delimiter",
    "header": "First row holds",
    "null_text": "Text of null",
    "decimal_sign": "Decimal sign",
    "day_order": "Dates",
    "time_zone": "Times are in",
}
"""How a file is written, as the page asks for it."""
DAY_WORDS: Final = {"ymd": "YYYY-MM-DD", "dmy": "DD.MM.YYYY", "mdy": "MM/DD/YYYY"}


class NewbornForm(forms.Form):
    """A table that is to be made: its name and its place."""

    name = forms.CharField(
        max_length=401, error_messages={"required": "A table needs a name."}
    )
    location = forms.CharField(
        max_length=MAX_LENGTH, error_messages={"required": "Say where it is to be."}
    )
    description = forms.CharField(max_length=10_000, required=False)


class ConvertForm(NewbornForm):
    """A folder, and what its own folders name."""

    partition_schema = forms.CharField(max_length=10_000, required=False)

    def clean_partition_schema(self) -> str:
        """Refuse what is no DDL."""
        text: str = self.cleaned_data["partition_schema"].strip()
        if text:
            try:
                parse_columns_ddl(text)
            except SchemaError as error:
                raise forms.ValidationError(error.message) from None
        return text


class ImportForm(forms.Form):
    """A file, how it is written, and what becomes of its rows."""

    name = forms.CharField(max_length=401, required=False)
    location = forms.CharField(max_length=MAX_LENGTH, required=False)
    description = forms.CharField(max_length=10_000, required=False)
    file = forms.FileField(required=False, allow_empty_file=True)
    upload = forms.UUIDField(required=False)
    path = forms.CharField(max_length=MAX_LENGTH, required=False)
    file_name = forms.CharField(max_length=1_000, required=False)
    file_format = forms.ChoiceField(
        choices=[("", "by its name"), *((name, name) for name in FORMATS)],
        required=False,
    )
    delimiter = forms.ChoiceField(
        choices=[("", "Find out"), *((c, DELIMITER_WORDS[c]) for c in DELIMITERS)],
        required=False,
    )
    header = forms.ChoiceField(
        choices=[("names", "Names"), ("data", "Data")], required=False
    )
    null_text = forms.CharField(max_length=50, required=False, strip=False)
    decimal_sign = forms.ChoiceField(
        choices=[(".", "Point ."), (",", "Comma ,")], required=False
    )
    day_order = forms.ChoiceField(
        choices=[(order, DAY_WORDS[order]) for order in DAY_ORDERS], required=False
    )
    time_zone = forms.CharField(max_length=60, required=False)
    mode = forms.ChoiceField(
        choices=[(mode.value, mode.value) for mode in ImportMode], required=False
    )
    bad_rows = forms.ChoiceField(
        choices=[(word.value, word.value) for word in BadRows], required=False
    )

    def options(self) -> list[tuple[str, forms.BoundField]]:
        """Return the fields of how the file is written, each with its label."""
        return [(label, self[name]) for name, label in OPTIONS.items()]

    def clean_time_zone(self) -> str:
        """Refuse a zone that is none."""
        zone: str = self.cleaned_data["time_zone"] or "UTC"
        if zone not in available_timezones():
            message = f"{zone} is no time zone."
            raise forms.ValidationError(message)
        return zone

    def clean(self) -> dict[str, Any]:
        """Ask for a file: one that is brought, was brought, or is at a path."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(values.get(name) for name in ("file", "upload", "path")):
            self.add_error("file", "Choose a file, or give the path of one.")
        return values


# === Fields become parameters ===


def _columns(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the columns that the rows of a form describe; empty ones are left out."""
    post = request.POST
    texts = {
        name: post.getlist(f"column_{name}")[:MAX_COLUMNS]
        for name in ("source", "name", "type", "comment")
    }
    nullable, partition = (
        set(post.getlist(f"column_{name}")) for name in ("nullable", "partition")
    )
    columns = []
    for number, name in enumerate(texts["name"]):
        source = _at(texts["source"], number) or name.strip()
        if not source:
            continue
        columns.append(
            {
                "source": source,
                "name": name.strip(),
                "type": _at(texts["type"], number).strip(),
                "comment": _at(texts["comment"], number).strip(),
                "is_nullable": str(number) in nullable,
                "is_partition": str(number) in partition,
            }
        )
    return columns


def _at(texts: list[str], number: int) -> str:
    return texts[number] if number < len(texts) else ""


def _newborn(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": values["name"].strip(),
        "location": parse_location(values["location"]),
        "description": values["description"],
        "user_id": signed_in(request).pk,
    }


def read_creation(
    request: HttpRequest, values: Mapping[str, Any], _table: Table | None
) -> CreateTable:
    """Read a table that is to be made of columns.

    Raises:
        DeltaError: If its name, its place or a column is none.
    """
    columns = [
        {key: value for key, value in column.items() if key != "source"}
        for column in _columns(request)
    ]
    if not columns:
        raise SchemaError(column="", reason="a table needs a column")
    asked = CreateTable(**_newborn(request, values), columns=columns)
    check_newborn(asked)
    schema_of(
        [
            ImportColumn(source=c["name"], name=c["name"], type_name=c["type"] or "?")
            for c in columns
        ]
    )
    return asked


def read_conversion(
    request: HttpRequest, values: Mapping[str, Any], _table: Table | None
) -> ConvertFolder:
    """Read a folder that is to become a table.

    Raises:
        DeltaError: If its name or its place is none.
    """
    asked = ConvertFolder(
        **_newborn(request, values), partition_schema=values["partition_schema"]
    )
    check_newborn(asked)
    return asked


def read_import(
    request: HttpRequest, values: Mapping[str, Any], table: Table | None
) -> ImportRows:
    """Read what is imported; a file that is brought is kept.

    Raises:
        DeltaError: If the file, or the new table, is none.
    """
    made: dict[str, Any] = {"user_id": signed_in(request).pk}
    if table is None:
        if not values["name"].strip():
            raise TableNameError(name="", reason="a table needs a name")
        made = _newborn(request, values)
    upload, path = values["upload"], values["path"].strip()
    file_name = values["file_name"]
    if values["file"]:
        format_of(values["file"].name, values["file_format"])
        upload, file_name = keep_upload(values["file"])
        path = ""
    elif path:
        path, upload = parse_location(path), None
        file_name = path.rpartition("/")[2]
    is_other = values["file"] or path != request.POST.get("path_before", path)
    asked = ImportRows(
        **made,
        upload=str(upload or ""),
        path=path,
        file_name=file_name,
        file_format=values["file_format"],
        form={
            "delimiter": values["delimiter"],
            "has_header": values["header"] != "data",
            "null_text": values["null_text"],
            "decimal_sign": values["decimal_sign"] or ".",
            "day_order": values["day_order"] or "ymd",
            "time_zone": values["time_zone"],
        },
        columns=[]
        if is_other or "propose" in request.POST
        else [
            {
                "source": column["source"],
                "name": column["name"],
                "type_name": column["type"],
                "is_nullable": column["is_nullable"],
                "is_partition": column["is_partition"],
            }
            for column in _columns(request)
        ],
        mode=values["mode"] or "append",
        bad_rows=values["bad_rows"] or "leave-out",
    )
    if table is None:
        check_newborn(asked)
    format_of(asked.file_name, asked.file_format)
    if asked.columns:
        schema_of(
            [
                ImportColumn(**{k: v for k, v in c.items() if k != "is_partition"})
                for c in asked.columns
            ]
        )
    check_file(asked)
    return asked


# === Parameters become fields ===


def show_made(asked: CreateTable | ConvertFolder) -> dict[str, Any]:
    """Return the fields of a table that is to be made."""
    shown = {
        "name": asked.name,
        "location": asked.location,
        "description": asked.description,
    }
    if isinstance(asked, ConvertFolder):
        shown["partition_schema"] = asked.partition_schema
    return shown


def show_import(asked: ImportRows) -> dict[str, Any]:
    """Return the fields of an import."""
    return {
        "name": asked.name,
        "location": asked.location,
        "description": asked.description,
        "upload": asked.upload,
        "path": asked.path,
        "file_name": asked.file_name,
        "file_format": asked.file_format,
        **{k: v for k, v in asked.form.items() if k != "has_header"},
        "header": "names" if asked.form.get("has_header", True) else "data",
        "mode": asked.mode,
        "bad_rows": asked.bad_rows,
    }


def _create_context(
    request: HttpRequest, asked: CreateTable | None, _look: Mapping[str, Any] | None
) -> dict[str, Any]:
    columns: list[dict[str, Any]] = [*(asked.columns if asked else _columns(request))]
    empty = {"name": "", "type": "", "comment": "", "is_nullable": True}
    return {
        "columns": [*columns, *([empty] * EMPTY_COLUMNS)],
        "types": TYPES,
    }


def _import_context(
    _request: HttpRequest, asked: ImportRows | None, look: Mapping[str, Any] | None
) -> dict[str, Any]:
    known = asked.columns if asked else []
    partitions = {c["source"] for c in known if c.get("is_partition")}
    columns = [
        {
            **column,
            "is_partition": column["source"] in partitions,
            "in_table": (look or {}).get("table_columns", {}).get(column["name"], ""),
            "types": _choices(column["type"]),
        }
        for column in cast("Iterable[dict[str, Any]]", (look or {}).get("columns", ()))
    ]
    return {"columns": columns, "asked": asked}


def _choices(type_name: str) -> list[str]:
    return [type_name, *(name for name in TYPES if name != type_name)]


CREATE_PAGE: Final = AddingPage(
    operation=CREATE,
    slug="create",
    form=NewbornForm,
    heading="Create a table",
    about="An empty table of the columns below, in a folder where nothing is yet.",
    failed="The table cannot be created",
    read=read_creation,
    shows=show_made,
    more=_create_context,
)
CONVERT_PAGE: Final = AddingPage(
    operation=CONVERT,
    slug="convert",
    form=ConvertForm,
    heading="Convert a Parquet folder",
    about="A folder of Parquet files becomes a table where it lies: a log is written "
    "beside the files, and no file is changed, moved or read but for its footer.",
    failed="The folder cannot be converted",
    read=read_conversion,
    shows=show_made,
    more=lambda _request, _asked, _look: {},
)
IMPORT_PAGE: Final = AddingPage(
    operation=IMPORT,
    slug="import",
    form=ImportForm,
    heading="Import a file",
    about="Rows of a CSV, JSON or Parquet file. Types are proposed and every row is "
    "looked at; nothing is written before the last step.",
    failed="The file cannot be imported",
    read=read_import,
    shows=show_import,
    more=_import_context,
)
