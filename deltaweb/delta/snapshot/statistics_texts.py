"""The statistics of live files as the text of an `add` action, whatever the log holds.

A file that is added once more takes its statistics along. The log may have them as
text, or a checkpoint as types alone.

Source: delta_protocol.md, "Per-file Statistics".
"""

import pyarrow as pa

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import StructType, stored_schema
from deltaweb.delta.values.statistics.text import texts_of_each
from deltaweb.delta.values.whole import one_array


def block_texts(block: SelectedBlock, schema: StructType) -> pa.StringArray:
    """Return the statistics of a block's live files, null where the log has none."""
    compact = block.compact()
    raw = compact.statistics()
    text = compact.text() if raw.json_text is None else raw.json_text
    return texts_of_each(
        None if text is None else one_array(text).cast(pa.string()),
        None if raw.parsed is None else one_array(raw.parsed),
        compact.block.files[VECTOR].is_valid(),
        stored_schema(schema),
    )
