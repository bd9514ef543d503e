"""The statistics of files whose rows are marked: bounds that hold, and may be wide.

They stay as they are, digit by digit, but that they say so. A file must have its
number of rows, whatever else is known of it.

Source: delta_protocol.md, "Per-file Statistics".
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.file_actions import dv_ids, file_keys, files_of_block
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.statistics_texts import block_texts
from deltaweb.delta.values.exact_json import ExactNumber, exact_json, parse_exact


def wide_statistics(text: str | None, num_rows: int) -> str:
    """Return statistics whose bounds need not be tight.

    Args:
        text: As the log has them; None, or what is no JSON, for none.
    """
    said: Any = None
    try:
        said = parse_exact(text or "")
    except (ValueError, RecursionError):
        said = None
    kept = said if isinstance(said, dict) else {}
    first = {"numRecords": ExactNumber(num_rows), "tightBounds": False}
    rest = {key: value for key, value in kept.items() if key not in first}
    return exact_json({**first, **rest}, is_ascii=True)


def statistics_texts(snapshot: Snapshot, files: pa.Table) -> Mapping[str, str]:
    """Return the statistics of some files of a version as JSON, by their paths.

    Those of a file that the log has none of are left out.
    """
    wanted = _keys(files)
    found: dict[str, str] = {}
    for block in snapshot.state.blocks:
        compact = block.compact()
        held = files_of_block(compact.block.files)
        is_wanted = pc.is_in(_keys(held), value_set=wanted)
        if not is_wanted.true_count:
            continue
        texts = block_texts(SelectedBlock(compact.block, is_wanted), snapshot.schema)
        pairs = zip(
            held["path"].filter(is_wanted).to_pylist(), texts.to_pylist(), strict=True
        )
        found.update((path, text) for path, text in pairs if text is not None)
    return found


def _keys(files: pa.Table | pa.RecordBatch) -> pa.Array:
    paths, vectors = files["path"], files["deletion_vector"]
    if isinstance(files, pa.Table):
        paths, vectors = paths.combine_chunks(), vectors.combine_chunks()
    return file_keys(paths, dv_ids(vectors))
