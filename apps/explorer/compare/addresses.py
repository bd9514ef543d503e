"""The ways to a comparison: pickers, ticks in a history, and addresses in words."""

import re
from typing import Final

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils.http import urlencode

from apps.explorer.compare.selector import compare_versions
from apps.explorer.compare.view import (
    SUGGESTION,
    compare_few,
    comparison_page,
    comparison_url,
)
from apps.pages.request.parameters import QueryError
from apps.tables.head.finding import get_table, requested_version
from apps.tables.models import Table

LATEST: Final = "latest"
_KEPT: Final = ("view", "key", "page", "kind")
_MAX_DIGITS: Final = 20  # more are no version
_DOTS = re.compile(r"\.{2,}")


def compare_latest(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Lead to a comparison: of `from` and `to`, or of a version and the one before.

    With `by=suggestion` rows are compared, at once if that reads little.
    """
    table = get_table(request.user, namespace, name)
    before, after = wanted_versions(request, table)
    if not after:
        return comparison_page(request, namespace, name, (before, after), fmt)
    if request.GET.get("by") == SUGGESTION and fmt == "html":
        found = compare_versions(request.user, namespace, name, before, after)
        return compare_few(request, found)
    return _lead(request, table, (int(before), int(after)), fmt)


def wanted_versions(request: HttpRequest, table: Table) -> tuple[str, str]:
    """Return which versions an address compares; "" for both while none is indexed.

    They are those of `from` and `to`, or a version and the one before.
    """
    picked = request.GET.getlist("pick")
    last = request.GET.get("to") or request.GET.get("v", "")
    first = request.GET.get("from", "")
    if picked:
        first, last = _picked(picked)
    to_version = _requested(table, last)
    if to_version is None:
        return "", ""
    start = _requested(table, first) if first else None
    if start is None:
        runs = table.summary.get("readable_runs") or [[0]]
        start = max(to_version - 1, runs[0][0] if runs[0] else 0, 0)
    return str(start), str(to_version)


def compare_named(
    request: HttpRequest, namespace: str, name: str, versions: str, fmt: str
) -> HttpResponseBase:
    """Lead from an address that somebody wrote, such as `3...latest` or `3..5`."""
    table = get_table(request.user, namespace, name)
    first, *rest = _DOTS.split(versions, maxsplit=1)
    last = rest[0] if rest else ""
    before, after = (_requested(table, text or LATEST) for text in (first, last))
    if before is None or after is None:
        return comparison_page(request, namespace, name, ("", ""), fmt)
    return _lead(request, table, (before, after), fmt)


def _requested(table: Table, text: str) -> int | None:
    """Return the version of a text; the newest one for `latest`."""
    return requested_version(table, "" if text == LATEST else text)


def _lead(
    request: HttpRequest, table: Table, versions: tuple[int, int], fmt: str
) -> HttpResponseBase:
    suffix = "" if fmt == "html" else f".{fmt}"
    query = {key: request.GET[key] for key in _KEPT if key in request.GET}
    url = comparison_url(table.namespace, table.name, *versions) + suffix
    return HttpResponseRedirect(f"{url}?{urlencode(query)}" if query else url)


def _picked(picked: list[str]) -> tuple[str, str]:
    """Return the outermost of the versions that were ticked in a history."""
    digits = (text for text in picked if text.isascii() and text.isdigit())
    numbers = sorted(int(text[:_MAX_DIGITS]) for text in digits)
    if not numbers:
        raise QueryError(part="pick", expected="versions")
    first = numbers[0] if len(numbers) > 1 else max(numbers[0] - 1, 0)
    return str(first), str(numbers[-1])
