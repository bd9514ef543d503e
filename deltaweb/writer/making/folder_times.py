"""Times that folders name: which do not say their zone, and what becomes of those.

Source: delta_protocol.md, "Partition Value Serialization": a time without a zone is of
the zone of whoever wrote it, which a folder does not tell.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField
from deltaweb.delta.values.partition_values import partition_texts
from deltaweb.delta.values.value_text import names_zone, parse_timestamp

_INSTANT: Final = PrimitiveType("timestamp")
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # the zone comes later


def zone_of(name: str | None) -> ZoneInfo | None:
    """Return a zone by its name, None for None.

    Raises:
        ValueError: There is none of that name; says so in words.
    """
    if name is not None and name not in available_timezones():
        message = f"{name!r:.80} is no time zone; one is Europe/Berlin"
        raise ValueError(message)
    return None if name is None else ZoneInfo(name)


def is_zoneless(text: str, column: StructField) -> bool:
    """Tell whether a text is an instant of its column that does not say its zone.

    Raises:
        ValueError: The text is no time, and the column has such.
    """
    return column.data_type == _INSTANT and not names_zone(text)


def zoneless_texts(texts: Sequence[str], zone: ZoneInfo | None) -> list[str | None]:
    """Write times without a zone as the log has them.

    Args:
        texts: Of the folders.
        zone: Where they are from; None leaves them as they are.

    Raises:
        ValueError: A text is no time, or none of the years from 1 to 9999 has it.
    """
    ticks = [parse_timestamp(text) for text in texts]
    if zone is None:
        return partition_texts(pa.array(ticks, pa.int64()).cast(pa.timestamp("us")))
    instants = pa.array([_instant(local_us, zone) for local_us in ticks])
    return partition_texts(instants.cast(pa.timestamp("us", "UTC")))


def _instant(local_us: int, zone: ZoneInfo) -> datetime:
    """Return the instant of a time on the clocks of a zone.

    One that they pass over comes later by as much, and of one that they show twice it
    is the first: as Spark has it.
    """
    try:
        local = _EPOCH + timedelta(microseconds=local_us)
        return local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise ValueError(local_us) from None


def said_of_times(zoneless: Mapping[str, int], time_zone: str | None) -> str:
    """Say what becomes of times of folders without a zone; nothing without any.

    Args:
        zoneless: The columns that have some, and how many.
        time_zone: Where they are from; None where they stay as they are.
    """
    if not zoneless:
        return ""
    named = f"Folder times of {', '.join(zoneless)} have no zone:"
    if time_zone is not None:
        return f"{named} read as {time_zone}."
    return (
        f"{named} kept as they are. Spark reads them in the zone of its session, "
        "others in UTC; a time zone settles it."
    )
