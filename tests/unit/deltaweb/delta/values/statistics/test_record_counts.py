"""Counts of rows are those of the statistics, however odd the texts."""

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.statistics.columns import parse_statistics
from deltaweb.delta.values.statistics.record_counts import record_counts

GOOD = '{"numRecords":3,"minValues":{"a":1},"nullCount":{"a":0}}'
TEXTS = {
    "good": GOOD,
    "none": None,
    "an empty text": "",
    "an empty object": "{}",
    "a null": '{"numRecords":null}',
    "a negative number": '{"numRecords":-4}',
    "a number in another object": '{"minValues":{"numRecords":7}}',
    "a number twice": '{"numRecords":1,"numRecords":2}',
    "white space": ' { "numRecords" : 5 } ',
    "an escaped key": '{"numRecord\\u0073":5}',
    "a fraction": '{"numRecords":5.0}',
    "a text": '{"numRecords":"5"}',
    "a truth": '{"numRecords":true}',
    "the largest long": '{"numRecords":9223372036854775807}',
    "more than a long": '{"numRecords":9223372036854775808}',
    "no object": "[1]",
    "no JSON": '{"numRecords":5',
    "no JSON after it": '{"numRecords":5,"minValues":{"a":}}',
    "no number among the bounds": '{"numRecords":5,"minValues":{"a":NaN}}',
    "deep nesting": '{"numRecords":5,"x":' + "[" * 5_000 + "]" * 5_000 + "}",
    "a long text": '{"numRecords":5,"x":"' + "y" * (2 << 20) + '"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_count_is_what_the_statistics_say(text: str | None) -> None:
    texts = [GOOD, text, None, GOOD, text]

    counts = record_counts(texts)

    stats = pa.chunked_array([pa.array(texts, pa.string())])
    expected = parse_statistics(stats, StructType(()))["num_records"]
    assert counts.to_pylist() == expected.to_pylist()
    assert counts.type == pa.int64()
    assert counts.to_pylist()[0] == 3
