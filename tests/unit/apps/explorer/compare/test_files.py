"""Files that two versions do not share, added up by partition."""

import pyarrow as pa

from apps.explorer.compare.files import partition_changes
from deltaweb.delta.protocol.schema import PrimitiveType

FILES = pa.table(
    {
        "kind": ["added", "removed", "added"],
        "partition_values": pa.array(
            [[("p", "7")], [("p", "07")], [("p", "8")]],
            pa.map_(pa.string(), pa.string()),
        ),
    }
)


def test_one_value_is_one_partition_whatever_its_text() -> None:
    changes = partition_changes(FILES, [("p", PrimitiveType("integer"))])

    assert [(one.text, one.num_added, one.num_removed) for one in changes] == [
        ("p=7", 1, 1),
        ("p=8", 1, 0),
    ]


def test_texts_count_where_the_columns_became_others() -> None:
    assert [one.text for one in partition_changes(FILES)] == ["p=7", "p=07", "p=8"]
