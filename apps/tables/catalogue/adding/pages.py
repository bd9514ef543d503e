"""Which pages add data, what each asks, and how its fields become parameters."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest

from apps.accounts.permissions import signed_in
from apps.tables.catalogue.adding.checked import (
    checked_conversion,
    checked_creation,
    checked_import,
)
from apps.tables.catalogue.adding.forms import (
    ConvertForm,
    CreationForm,
    ImportForm,
)
from apps.tables.catalogue.adding.uploads import keep_upload
from apps.tables.catalogue.adding.work.convert import CONVERT, ConvertFolder
from apps.tables.catalogue.adding.work.create import CREATE, CreateTable, CreationDetail
from apps.tables.catalogue.adding.work.import_rows import (
    IMPORT,
    ImportDetail,
    ImportRows,
)
from apps.tables.models import Table
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.stored import StoredPreview
from apps.tables.storage.locations import parse_location
from deltaweb.writer.importing.options import DAY_ORDERS, format_of
from deltaweb.writer.importing.readings import FORMAT_WORDS

MAX_COLUMNS: Final = 240  # Django takes a thousand fields of a form
EMPTY_COLUMNS: Final = 3
DECIMALS: Final = (",", ".")
TYPES: Final = (
    *("bigint", "int", "smallint", "string", "decimal(12,2)", "double", "boolean"),
    *("date", "timestamp", "timestamp_ntz", "binary"),
)


# === Fields become parameters ===


def _columns(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the columns that the rows of a form describe; empty ones are left out."""
    post = request.POST
    texts = {
        name: post.getlist(f"column_{name}")[:MAX_COLUMNS]
        for name in ("source", "name", "type", "format", "comment")
    }
    number, _, type_and_format = post.get("take", "").partition("|")
    taken_type, _, taken_format = type_and_format.rpartition("|")
    nullable, partition = (
        set(post.getlist(f"column_{name}")) for name in ("nullable", "partition")
    )
    columns = []
    for place, name in enumerate(texts["name"]):
        source = _at(texts["source"], place) or name.strip()
        if not source:
            continue
        is_taken = number == str(place)
        columns.append(
            {
                "source": source,
                "name": name.strip(),
                "type": taken_type if is_taken else _at(texts["type"], place).strip(),
                "format": taken_format if is_taken else _at(texts["format"], place),
                "comment": _at(texts["comment"], place).strip(),
                "is_nullable": str(place) in nullable,
                "is_partition": str(place) in partition,
            }
        )
    return columns


def _at(texts: list[str], number: int) -> str:
    return texts[number] if number < len(texts) else ""


def _table_request(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": values["name"].strip(),
        "location": parse_location(values["location"]),
        "description": values["description"],
        "user_id": signed_in(request).pk,
    }


def _file_of(
    request: HttpRequest, values: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Return which file is meant, kept if it is brought, and how it is written.

    Also whether what was said of its columns counts no more: it is another than before,
    or what is proposed is asked for.
    """
    upload, path = values["upload"], values["path"].strip()
    file_name = values["file_name"]
    if values["file"]:
        format_of(values["file"].name, values["file_format"])
        upload, file_name = keep_upload(values["file"], user_id=signed_in(request).pk)
        path = ""
    elif path:
        path, upload = parse_location(path), None
        file_name = path.rpartition("/")[2]
    before = request.POST.get("path_before", path)
    is_other = bool(values["file"]) or path != before or "propose" in request.POST
    file = {
        "upload": str(upload or ""),
        "path": path,
        "file_name": file_name,
        "file_format": values["file_format"],
        "form": {
            "delimiter": values["delimiter"],
            "has_header": values["header"] != "data",
            "null_text": values["null_text"],
            "decimal_sign": values["decimal_sign"],
            "day_order": values["day_order"],
            "time_zone": values["time_zone"],
        },
    }
    return file, is_other


def read_creation(
    request: HttpRequest, values: Mapping[str, Any], _table: Table | None
) -> CreateTable:
    """Read a table that is to be made of columns."""
    file, is_other = _file_of(request, values)
    columns = [] if is_other else _columns(request)
    for column in columns:
        del column["source"], column["format"]
    return checked_creation(
        CreateTable(**_table_request(request, values), **file, columns=columns)
    )


def read_conversion(
    request: HttpRequest, values: Mapping[str, Any], _table: Table | None
) -> ConvertFolder:
    """Read a folder that is to become a table."""
    return checked_conversion(
        ConvertFolder(
            **_table_request(request, values),
            partition_schema=values["partition_schema"],
            time_zone=values["time_zone"],
        )
    )


def read_import(
    request: HttpRequest, values: Mapping[str, Any], table: Table | None
) -> ImportRows:
    """Read what is imported; a file that is brought is kept."""
    made: dict[str, Any] = {"user_id": signed_in(request).pk}
    if table is None:
        made = _table_request(request, values)
    file, is_other = _file_of(request, values)
    asked = ImportRows(
        **made,
        **file,
        columns=[]
        if is_other
        else [
            {
                "source": column["source"],
                "name": column["name"],
                "type_name": column["type"],
                "decimal_sign": column["format"]
                if column["format"] in DECIMALS
                else "",
                "day_order": column["format"] if column["format"] in DAY_ORDERS else "",
                "is_nullable": column["is_nullable"],
                "is_partition": column["is_partition"],
            }
            for column in _columns(request)
        ],
        mode=values["mode"] or "append",
        bad_rows=values["bad_rows"] or "leave-out",
    )
    return checked_import(asked, table)


# === Parameters become fields ===


def show_made(asked: CreateTable | ConvertFolder) -> dict[str, Any]:
    """Return the fields of a table that is to be made."""
    shown = {
        "name": asked.name,
        "location": asked.location,
        "description": asked.description,
    }
    if isinstance(asked, ConvertFolder):
        return {
            **shown,
            "partition_schema": asked.partition_schema,
            "time_zone": asked.time_zone,
        }
    return {**shown, **_show_file(asked)}


def show_import(asked: ImportRows) -> dict[str, Any]:
    """Return the fields of an import."""
    return {
        "name": asked.name,
        "location": asked.location,
        "description": asked.description,
        **_show_file(asked),
        "mode": asked.mode,
        "bad_rows": asked.bad_rows,
    }


def _show_file(asked: CreateTable | ImportRows) -> dict[str, Any]:
    return {
        "upload": asked.upload,
        "path": asked.path,
        "file_name": asked.file_name,
        "file_format": asked.file_format,
        **{k: v for k, v in asked.form.items() if k != "has_header"},
        "header": "names" if asked.form.get("has_header", True) else "data",
    }


def _create_context(
    request: HttpRequest,
    asked: CreateTable | None,
    look: StoredPreview[CreationDetail] | None,
) -> dict[str, Any]:
    columns: list[dict[str, Any]] = [*(asked.columns if asked else _columns(request))]
    columns = columns or [dict(one) for one in look.detail.columns] if look else columns
    empty = {"name": "", "type": "", "comment": "", "is_nullable": True}
    too_many = len(columns) if len(columns) > MAX_COLUMNS else 0
    shown = [
        {**column, "num_more_misfits": _more_misfits(column.get("narrower"))}
        for column in columns
    ]
    return {
        "columns": [] if too_many else [*shown, *([empty] * EMPTY_COLUMNS)],
        "too_many": too_many,
        "types": TYPES,
        "asked": asked,
    }


def _import_context(
    _request: HttpRequest,
    asked: ImportRows | None,
    look: StoredPreview[ImportDetail] | None,
) -> dict[str, Any]:
    known = asked.columns if asked else []
    types = look.detail.table_columns if look else {}
    partitions = {c["source"] for c in known if c.get("is_partition")}
    columns = [
        {
            **column,
            "is_partition": column["source"] in partitions,
            "in_table": types.get(column["name"], ""),
            "types": _choices(column["type"]),
            "format_words": FORMAT_WORDS.get(column.get("format", ""), ""),
            "num_more_misfits": _more_misfits(column.get("narrower")),
        }
        for column in (look.detail.columns if look else ())
    ]
    return {"columns": columns, "asked": asked}


def _more_misfits(narrower: Mapping[str, Any] | None) -> int:
    """Return how many values do not have the narrower type, and are not shown."""
    if narrower is None:
        return 0
    shown = len(narrower["misfits"])
    return int(narrower["num_values"] - narrower["num_fitting"] - shown)


def _choices(type_name: str) -> list[str]:
    return [type_name, *(name for name in TYPES if name != type_name)]


CREATE_PAGE: Final = OperationPage(
    operation=CREATE,
    adds="create",
    form=CreationForm,
    heading="Create a table",
    about="Creates an empty table in an empty folder, with the columns below or with "
    "those of a file.",
    failed="The table cannot be created",
    read=read_creation,
    shows=show_made,
    more=_create_context,
)
CONVERT_PAGE: Final = OperationPage(
    operation=CONVERT,
    adds="convert",
    form=ConvertForm,
    heading="Convert a Parquet folder",
    about="Turns a folder of Parquet files into a table by adding a log to it. No file "
    "is changed or moved, and only footers are read.",
    failed="The folder cannot be converted",
    read=read_conversion,
    shows=show_made,
    more=lambda _request, _asked, _look: {},
)
IMPORT_PAGE: Final = OperationPage(
    operation=IMPORT,
    adds="import",
    form=ImportForm,
    heading="Import a file",
    about="Imports the rows of a CSV, JSON or Parquet file. Types are proposed and "
    "every row is checked; nothing is written before the last step.",
    failed="The file cannot be imported",
    read=read_import,
    shows=show_import,
    more=_import_context,
)
