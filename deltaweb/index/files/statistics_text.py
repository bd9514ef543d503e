"""The statistics of files as JSON text, whatever the log holds of them.

What the log has as text is passed on as it is. A checkpoint may hold typed statistics
alone: then the text is written from them as a writer would have. What JSON has no value
for, such as NaN, is left out, which means unknown.

Source: delta_protocol.md, "Per-file Statistics".
"""

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from deltaweb.delta.log.blocks import RawStatistics
from deltaweb.delta.values.whole import one_array
from deltaweb.sharing.json_text import escaped

MEMBERS: Final = (
    ("numRecords", ("numRecords",)),
    ("tightBounds", ("tightBounds",)),
    ("minValues", ("minValues",)),
    ("maxValues", ("maxValues",)),
    ("nullCount", ("nullCount", "nullCounts")),
)
"""The members of the text, and how checkpoints spell them."""
NO_TEXT: Final = pa.scalar(None, pa.string())
# Years that are four digits wide.
FIRST_MICROSECOND: Final = -62_135_596_800_000_000
LAST_MICROSECOND: Final = 253_402_300_799_999_999
MICROSECONDS_A_DAY: Final = 86_400_000_000


def statistics_texts(
    raw: RawStatistics,
    load_text: Callable[[], pa.ChunkedArray | None] | None,
    num_rows: int,
) -> pa.StringArray:
    """Return the text of each file's statistics, null where it has none.

    Args:
        load_text: Reads their text where `raw` leaves it out.
    """
    text = raw.json_text
    if text is None and raw.parsed is not None and load_text is not None:
        text = load_text()
    texts = pa.nulls(num_rows, pa.string())
    if text is not None:
        texts = one_array(text).cast(pa.string())
    if not texts.null_count or raw.parsed is None:
        return texts
    return pc.coalesce(texts, _written(one_array(raw.parsed)))


def _written(parsed: pa.StructArray) -> pa.StringArray:
    """Write typed statistics; those without a number of records are none."""
    members = {}
    for name, spellings in MEMBERS:
        for spelling in spellings:
            position = parsed.type.get_field_index(spelling)
            if position >= 0 and name not in members:
                members[name] = _json(pc.struct_field(parsed, [position]))
    if "numRecords" not in members:
        return pa.nulls(len(parsed), pa.string())
    texts = _object(members, len(parsed))
    return pc.if_else(members["numRecords"].is_valid(), texts, NO_TEXT)


def _json(values: pa.Array) -> pa.StringArray:
    """Return values as JSON, null where there is none to write."""
    if pt.is_struct(values.type):
        fields = [values.type.field(i).name for i in range(values.type.num_fields)]
        members = {
            name: _json(part)
            for name, part in zip(fields, values.flatten(), strict=True)
        }
        return pc.if_else(values.is_valid(), _object(members, len(values)), NO_TEXT)
    try:
        return _leaf(values)
    except pa.ArrowException:
        return pa.nulls(len(values), pa.string())


def _leaf(values: pa.Array) -> pa.StringArray:
    kind = values.type
    if pt.is_integer(kind) or pt.is_boolean(kind) or pt.is_decimal(kind):
        return values.cast(pa.string())
    if pt.is_floating(kind):
        return pc.if_else(pc.is_finite(values), values.cast(pa.string()), NO_TEXT)
    if pt.is_string(kind) or pt.is_large_string(kind):
        return _quoted(escaped(values.cast(pa.string())))
    if pt.is_date32(kind):
        days = values.cast(pa.int32()).cast(pa.int64())
        return _four_digit_years(
            pc.multiply(days, MICROSECONDS_A_DAY), _quoted(values.cast(pa.string()))
        )
    if pt.is_timestamp(kind):
        return _moments(values)
    return pa.nulls(len(values), pa.string())


def _moments(values: pa.Array) -> pa.StringArray:
    """Write times of UTC, which those without a zone are too: old 96-bit ones."""
    moments = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    naive = moments.cast(pa.timestamp("us"))
    text = pc.strftime(naive, format="%Y-%m-%dT%H:%M:%S")
    text = pc.replace_substring_regex(text, r"(\.[0-9]{3})000$", r"\1")
    return _four_digit_years(moments, _quoted(text, "Z"))


def _four_digit_years(microseconds: pa.Array, texts: pa.StringArray) -> pa.StringArray:
    fits = pc.and_(
        pc.greater_equal(microseconds, FIRST_MICROSECOND),
        pc.less_equal(microseconds, LAST_MICROSECOND),
    )
    return pc.if_else(fits, texts, NO_TEXT)


def _quoted(texts: pa.StringArray, suffix: str = "") -> pa.StringArray:
    return pc.binary_join_element_wise('"', texts, f'{suffix}"', "")


def _object(members: dict[str, pa.StringArray], num_rows: int) -> pa.StringArray:
    """Join members to objects; one that is null is left out."""
    empty = pa.array([""], pa.string()).take(pa.array([0] * num_rows, pa.int32()))
    pieces = [empty]
    for name, texts in members.items():
        key = escaped(pa.array([name], pa.string()))[0].as_py()
        pieces.append(pc.binary_join_element_wise(f',"{key}":', texts, ""))
    joined = pc.binary_join_element_wise(
        *pieces, "", null_handling="replace", null_replacement=""
    )
    inside = pc.utf8_slice_codeunits(joined, 1)  # without the first comma
    return pc.binary_join_element_wise("{", inside, "}", "")
