"""How commits, changes and numbers stand on the pages over a table."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.zones import user_zone
from apps.explorer.column_history.selector import sentence
from apps.explorer.columns.column_facts import column_facts
from apps.explorer.history import selector as history
from apps.explorer.history.operations import operation_family
from apps.explorer.parquet_file import found as found_files
from apps.explorer.version.table_version import TableVersion
from apps.pages.templatetags.deltaweb import (
    absolute,
    compact,
    size,
    time_element,
)
from apps.tables.models import Commit
from apps.tables.templatetags.tables import state_dot
from deltaweb.delta.changes.column_history import ColumnChange
from deltaweb.delta.changes.schema import FieldState
from deltaweb.delta.protocol.column_path import join_names
from deltaweb.words import cut

register = template.Library()

READABILITY_WORDS = dict(Commit.Readability.choices)
MAX_CHANGE_LENGTH = 160  # characters of a change in a list

# The counts that a sentence is about: rows, and files where no row is named.
_COUNT = r"\d{1,3}(?:,\d{3})*"
_ROWS = re.compile(
    rf"(?<![\w.,]){_COUNT}(?= rows?\b)|(?<=inserted ){_COUNT}|(?<=deleted ){_COUNT}"
)
_FILES = re.compile(rf"(?<![\w.,]){_COUNT}(?= (?:\w+ ){{0,2}}files?\b)")


@register.simple_tag
@lru_cache(maxsize=256)
def operation_chip(operation: str) -> SafeString:
    """Draw the chip of an operation: lists have the same few again and again."""
    words = {"operation": operation, "family": operation_family(operation)}
    return render_to_string("explorer/_op.html", words)


@register.filter
def comma_names(names: Iterable[str]) -> str:
    """Return names as a form and an address have them."""
    return join_names(names)


@register.filter
def readability_word(readability: str) -> str:
    """Say whether a version can be read, in a word."""
    return READABILITY_WORDS.get(readability, readability)


@register.filter
def dot(readability: str) -> str:
    """Return the class of a version's dot."""
    return state_dot(readability)


@register.filter
def row_change(commit: Commit) -> int | None:
    """Return by how many rows a commit changed the table; None is unknown."""
    return history.row_change(commit)


@register.filter
def byte_change(commit: Commit) -> int | None:
    """Return by how many bytes a commit changed the table; None is unknown."""
    return history.byte_change(commit)


@register.filter
def field_facts(field: FieldState) -> list[tuple[str, str]]:
    """Return what the metadata of a field says, in words where they are known."""
    return list(column_facts("", field.metadata))


@register.filter
def moves_files(commit: Commit) -> bool:
    """Tell whether a commit adds or removes files."""
    return history.moves_files(commit)


@register.filter
def changed_parts(commit: Commit) -> str:
    """Return what a commit without files changed: `schema, protocol`."""
    return ", ".join(history.changed_parts(commit)) or "no data"


@register.filter
def signed_compact(count: int | None) -> str:
    """Render a change of a count: +2.5 k, 0."""
    return _signed(count, compact(abs(count)) if count is not None else "")


@register.filter
def signed_size(size_bytes: int | None) -> str:
    """Render a change of bytes: +15.8 MiB, 0 B."""
    return _signed(size_bytes, size(abs(size_bytes)) if size_bytes is not None else "")


@register.filter
def emphasized(sentence: str) -> SafeString:
    """Set the counts of a commit's sentence in bold; its text is escaped first."""
    lead, semicolon, rest = str(conditional_escape(sentence)).partition("; ")
    bold, found = _ROWS.subn(r"<b>\g<0></b>", lead)
    if not found:
        bold = _FILES.sub(r"<b>\g<0></b>", lead, count=1)
    return mark_safe(bold + semicolon + rest)  # noqa: S308 (escaped above; only <b> around digits is added)


@register.filter
def ticked(text: str) -> SafeString:
    """Set what stands between backticks as code."""
    pieces = enumerate(text.split("`"))
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", t) if n % 2 else t,) for n, t in pieces),
    )


@register.filter
def number_part(text: str) -> str:
    """Return the number of a text such as `5.5 GiB`."""
    return text.partition(" ")[0]


@register.filter
def unit_part(text: str) -> str:
    """Return the unit of a text such as `5.5 GiB`."""
    return text.partition(" ")[2]


@register.simple_tag(takes_context=True)
def clock(context: template.Context, moment: datetime) -> SafeString:
    """Render the time of day in the reader's zone; its title holds the whole moment."""
    zone = user_zone(context["request"].user)
    iso, text = moment.astimezone(UTC).isoformat(), f"{moment.astimezone(zone):%H:%M}"
    return time_element(iso, text, absolute(moment, zone))


@register.simple_tag
def column_change(event: ColumnChange) -> SafeString:
    """Say what became of a field: its name as code, then words."""
    text = cut(sentence(event), MAX_CHANGE_LENGTH)
    name = cut(".".join(event.path), MAX_CHANGE_LENGTH)
    return format_html("<code>{}</code> {}", name, text)


@register.simple_tag
def file_address(at: TableVersion, path: str) -> str:
    """Return the page of a file of a version; "" where it has none."""
    return found_files.file_address(at, path)


def _signed(number: int | None, text: str) -> str:
    if number is None:
        return "—"
    return f"{'+' if number > 0 else '−' if number < 0 else ''}{text}"
