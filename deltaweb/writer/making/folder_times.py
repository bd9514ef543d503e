"""Times that folders name: which do not say their zone, and what becomes of those.

Source: delta_protocol.md, "Partition Value Serialization": a time without a zone is of
the zone of whoever wrote it, which a folder does not tell.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField
from deltaweb.delta.values.partition_values import partition_texts
from deltaweb.delta.values.time_zones.rules import CLOCK, ZoneRules, to_instants
from deltaweb.delta.values.value_text import names_zone, parse_timestamp

_INSTANT: Final = PrimitiveType("timestamp")


def is_zoneless(text: str, column: StructField) -> bool:
    """Tell whether a text is an instant of its column that does not say its zone."""
    return column.data_type == _INSTANT and not names_zone(text)


def zoneless_texts(texts: Sequence[str], zone: ZoneRules | None) -> list[str | None]:
    """Write times without a zone as the log has them.

    Args:
        zone: Where they are from; None leaves them as they are.
    """
    ticks = pa.array([parse_timestamp(text) for text in texts], pa.int64())
    clocks = ticks.cast(CLOCK)
    if zone is None:
        return partition_texts(clocks)
    try:
        return partition_texts(to_instants(clocks, zone))
    except OverflowError as error:
        raise ValueError(str(error)) from None


def said_of_times(zoneless: Mapping[str, int], time_zone: str | None) -> str:
    """Say what becomes of times of folders without a zone; nothing without any.

    Args:
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
