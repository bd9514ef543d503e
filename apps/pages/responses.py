"""One answer in three forms: a page, its JSON, the rows of its list as CSV."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from apps.pages.lists.csv_lines import csv_line
from apps.pages.page_json import context_of, json_of
from deltaweb.delta.values.cell_text import cell_text, plain_value

CSV_ROWS_PER_CHUNK = 200
CSV_CHUNK_LENGTH = 65_536  # characters; rows of long values are sent one by one
# What the web server puts into the environment (`deltaweb.serving.bodies`).
HAS_LEFT = "deltaweb.has_left"
CLIENT_LEFT = 499  # nobody reads it but the log
# The wide forms are formulas where people write in them.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def respond(  # noqa: PLR0913 (one answer has this many forms)
    request: HttpRequest,
    fmt: str,
    *,
    template: str,
    context: Mapping[str, Any],
    data: object,
    rows: Iterable[Sequence[object]] | None = None,
    fragment: str = "",
    status: int = 200,
) -> HttpResponseBase:
    """Answer in the form that the URL asked for.

    Args:
        request: The request; htmx asks for `fragment` alone.
        data: What the JSON form holds: a mapping, or a dataclass.
        rows: What the CSV form holds, its first row the header. Read once.
        fragment: Name of the partial in `template` that htmx swaps.
        status: HTTP status of the HTML and JSON forms.
    """
    if request.META.get(HAS_LEFT, bool)():
        return HttpResponse(status=CLIENT_LEFT)
    if fmt == "json":
        return json_response(data, status=status)
    if fmt == "csv" and rows is not None:
        return csv_response(rows, name=_file_name(request))
    is_fragment = fragment and "HX-Request" in request.headers
    name = f"{template}#{fragment}" if is_fragment else template
    response = render(request, name, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "Cookie"])
    return response


def respond_page(  # noqa: PLR0913 (as above)
    request: HttpRequest,
    fmt: str,
    page: object,
    *,
    template: str,
    rows: Iterable[Sequence[object]] | None = None,
    fragment: str = "",
    status: int = 200,
) -> HttpResponseBase:
    """Answer with a page whose fields are its JSON form; see `page_json`.

    The arguments are those of `respond`, but that `page` is a dataclass and brings both
    what the template renders and what the JSON form holds.
    """
    return respond(
        request,
        fmt,
        template=template,
        context={} if fmt == "json" else context_of(page),
        data=page,
        rows=rows,
        fragment=fragment,
        status=status,
    )


def json_response(data: object, *, status: int = 200) -> HttpResponse:
    """Answer with one JSON document; it is never cached."""
    response = HttpResponse(to_json(data), status=status)
    response["Content-Type"] = "application/json"
    response["Cache-Control"] = "no-store"
    return response


def to_json(data: object, *, indent: int | None = None) -> str:
    """Return JSON text; NaN and infinity, which JSON has not, become null."""
    return json.dumps(json_of(data), default=_plain, ensure_ascii=False, indent=indent)


def csv_response(rows: Iterable[Sequence[object]], *, name: str) -> HttpResponseBase:
    """Stream rows as a CSV file."""
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield rows as the lines of a CSV file, some at a time."""
    chunk: list[str] = []
    length = 0
    for row in rows:
        line = f"{csv_line(map(_cell, row))}\r\n"
        chunk.append(line)
        length += len(line)
        if len(chunk) == CSV_ROWS_PER_CHUNK or length > CSV_CHUNK_LENGTH:
            yield "".join(chunk)
            chunk.clear()
            length = 0
    yield "".join(chunk)


def _cell(value: object) -> str | None:
    """Render one value; a text that a spreadsheet would run as a formula is quoted.

    A number is none, though it begins with a sign; true and false are as in JSON.
    """
    if value is None:
        return None
    if isinstance(value, str):
        is_formula = value.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(value)
        return f"'{value}" if is_formula else value
    return cell_text(value)


def _plain(value: object) -> object:
    """Return what `json` has no form of as text, or as a list."""
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    plain = plain_value(value)
    return str(plain) if plain is value else plain


def _file_name(request: HttpRequest) -> str:
    """Name a download by its URL: `/t/default/orders/files.csv` is orders-files."""
    parts = [part for part in request.path_info.removesuffix(".csv").split("/") if part]
    name = "-".join(parts[-2:]) or "deltaweb"
    return "".join(
        c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name
    )
