"""Folders that name the values of their files: `year=2026/country=DE/part-0.parquet`.

Source: Apache Hive, "Partitions"; delta_protocol.md, "Partition Value Serialization".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final
from urllib.parse import unquote

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructField,
    type_text,
)
from deltaweb.delta.values.partition_values import partition_texts, type_partition_texts
from deltaweb.delta.values.time_zones.rules import ZoneRules
from deltaweb.delta.values.value_text import parse_value
from deltaweb.writer.files.partition_split import NULL_PARTITION
from deltaweb.writer.making.folder_times import is_zoneless, zoneless_texts

_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_INT_BITS: Final = 31
_LONG_BITS: Final = 63


def is_hidden(place: str) -> bool:
    """Tell whether a file is nobody's data, as Spark does.

    What begins with a dot or an underscore is skipped, but for folders of a
    partition column whose name begins so.
    """
    return any(
        part[:1] == "." or (part[:1] == "_" and "=" not in part)
        for part in place.split("/")
    )


def folder_values(folder: str) -> dict[str, str | None]:
    """Return the columns that a folder names, with their values as texts.

    Args:
        folder: Its place below the table's root; "" is the root.
    """
    values: dict[str, str | None] = {}
    for part in folder.split("/"):
        name, separator, text = part.partition("=")
        if separator and name:
            value = unquote(text)
            values[unquote(name)] = None if value in {"", NULL_PARTITION} else value
    return values


def inferred_type(texts: Iterable[str]) -> DataType:
    """Return the narrowest type that keeps every text: a number, a day, or text.

    A number with leading zeros stays text: `month=01` would lose its zero.
    """
    known = set(texts)
    if known and all(_WHOLE.fullmatch(text) for text in known):
        bits = max(int(text).bit_length() for text in known)
        if bits <= _INT_BITS:
            return PrimitiveType("integer")
        if bits <= _LONG_BITS:
            return PrimitiveType("long")
    if known and all(map(_is_day, known)):
        return PrimitiveType("date")
    return PrimitiveType("string")


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def log_texts(
    texts: Sequence[str], column: StructField, zone: ZoneRules | None = None
) -> tuple[Mapping[str, str | None], str]:
    """Write the texts of folders as the log has the values of a column.

    Args:
        zone: Where times are from that do not say it; None leaves them as they are,
            and readers take them for times of their own zone.

    Returns:
        The text of the log by that of the folder, and the first text that is not a
        value of the column's type; "" where all are.
    """
    for text in texts:
        try:
            parse_value(text, column.data_type)
            if is_zoneless(text, column):
                zoneless_texts([text], zone)
        except ValueError:
            return {}, text
    values = type_partition_texts(pa.array(texts, pa.string()), column.data_type)
    written = dict(zip(texts, partition_texts(values), strict=True))
    zoneless = [text for text in texts if is_zoneless(text, column)]
    if zoneless:
        written.update(zip(zoneless, zoneless_texts(zoneless, zone), strict=True))
    return written, ""


def misfit_reason(text: str, column: StructField) -> str:
    """Say that the text of a folder is no value of its column."""
    return (
        f"its folder names {text!r:.120}, which is not a valid "
        f"{type_text(column.data_type)}"
    )
