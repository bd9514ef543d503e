"""Statistics of a column chunk: what they say, and whether they may be believed.

Source: Parquet logical types, "sort order"; parquet.thrift, "Statistics" and
"ColumnOrder".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from deltaweb.parquet.annotations import SIGNED, UNDEFINED
from deltaweb.parquet.rendering import JSON, decode_plain, needed_length, render
from deltaweb.parquet.schema import Node

NEW_FIELDS: Final = "min_value/max_value"
OLD_FIELDS: Final = "min/max (deprecated)"
IS_NAN: Final = "it is NaN"
_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What the statistics of one column chunk say.

    Attributes:
        source: Which fields hold the bounds; None where none does.
        low: The lower bound as stored, by Parquet's plain encoding.
        ignored_because: Why the bounds are not believed; None where they are.
        soft: Why readers judge these bounds differently; None where they do not.
        min: The lower bound as JSON; None where it is not known.
        max: The upper bound, likewise.
        has_bounds: Whether the bounds were looked at: one may be None all the same,
            because it is absent, is NaN or does not read.
    """

    source: str | None
    low: bytes | None
    high: bytes | None
    ignored_because: str | None
    soft: str | None
    min: Any
    max: Any
    has_bounds: bool


NOTHING_KNOWN: Final = ColumnStatistics(
    None, None, None, None, None, None, None, has_bounds=False
)
_SOFT: Final = "deprecated fields, whose order writers did not agree on"
_ONE_VALUE: Final = "min equals max, so the order does not matter"


def read_statistics(
    raw: Mapping[str, Any], node: Node, order: str | None
) -> ColumnStatistics:
    """Judge the bounds of a column chunk by the rules, and render them.

    Args:
        raw: The fields as stored; see `ColumnChunk.statistics`.
        order: Its column order; None where the footer has none.
    """
    is_old = "min" in raw or "max" in raw
    is_new = "min_value" in raw or "max_value" in raw
    # Without column orders nobody knows in which order the new fields were made.
    is_new = is_new and not (is_old and order is None)
    is_old = is_old and not is_new
    source = NEW_FIELDS if is_new else OLD_FIELDS if is_old else None
    low = raw.get("min_value" if is_new else "min")
    high = raw.get("max_value" if is_new else "max")
    if source is None:
        return NOTHING_KNOWN
    reason, soft = _why_ignored(node, order, is_new=is_new, is_one=low == high)
    if reason is not None:
        return ColumnStatistics(
            source, low, high, reason, soft, None, None, has_bounds=False
        )
    shown: dict[str, Any] = {"min": None, "max": None}
    faults: dict[str, str] = {}
    for name, bound in (("min", low), ("max", high)):
        if bound is None:
            continue
        shown[name], fault = _read_bound(bound, node, order, is_low=name == "min")
        if fault is not None:
            faults[name] = fault
    # A bound that is NaN says nothing, and leaves the other what it is.
    is_one_left = any(bound is not None for bound in shown.values())
    for name, fault in faults.items():
        if fault != IS_NAN or not is_one_left:
            reason = f"{name}: {fault}"
    return ColumnStatistics(
        source, low, high, reason, soft, shown["min"], shown["max"], has_bounds=True
    )


def _why_ignored(
    node: Node, order: str | None, *, is_new: bool, is_one: bool
) -> tuple[str | None, str | None]:
    """Return why bounds are not believed, and why readers may judge otherwise."""
    physical = node.element.physical_type
    is_ordered_int96 = physical == "INT96" and order == "INT96_TIMESTAMP_ORDER"
    if node.sort_order == UNDEFINED and not is_ordered_int96 and is_new:
        return "sort order undefined for this type", None
    if is_new:
        return _why_order_is_unknown(order), None
    is_binary = physical not in {"INT32", "INT64", "FLOAT", "DOUBLE", "BOOLEAN"}
    if node.sort_order == SIGNED and not is_binary:
        return None, _SOFT
    if is_one and node.sort_order != UNDEFINED:
        return None, _ONE_VALUE
    if node.sort_order == SIGNED:
        reason = "deprecated min/max of a binary column are not in the order of the "
        return reason + "type", _SOFT
    return "deprecated min/max are in signed order, this type is not", _SOFT


def _why_order_is_unknown(order: str | None) -> str | None:
    if order is None:
        fields = "min_value/max_value"
        return f"no column_orders in the footer: meaning of {fields} undefined"
    return "column order not known" if order.startswith("UNKNOWN") else None


def _read_bound(
    raw: bytes, node: Node, order: str | None, *, is_low: bool
) -> tuple[JSON, str | None]:
    """Return a bound as JSON, and why it does not read; a NaN bounds nothing."""
    physical = node.element.physical_type
    needed = needed_length(physical, node.element.type_length)
    if needed is not None and len(raw) != needed:
        return None, f"{len(raw)} bytes where {needed} are needed"
    annotation = None if node.invalid else node.annotation
    value = decode_plain(raw, physical)
    shown = render(value, annotation, physical)
    if physical in _FLOATS or node.kind == "FLOAT16":
        if shown == "NaN" and order != "IEEE_754_TOTAL_ORDER":
            return None, IS_NAN
        if shown == 0:
            # Writers do not agree on the sign of a zero that bounds.
            return (-0.0 if is_low else 0.0), None
    return shown, None
