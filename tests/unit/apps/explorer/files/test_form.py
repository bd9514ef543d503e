import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from apps.explorer.files.form import parse_file_filter
from apps.explorer.history.form import parse_history_filter
from apps.explorer.rows.form import parse_row_query
from apps.explorer.version.query import parse_search
from apps.pages.request.parameters import QueryError
from tests.support import cases


class TestFileFilter:
    @cases(
        "text, expected",
        {
            "zero": ("0", 0),
            "bytes": ("65536", 65536),
            "a fraction of a unit": ("1.5 MiB", 1_572_864),
            "a letter for a unit": ("2g", 2**31),
            "more than a file can have": ("9" * 19, 2**63 - 1),
        },
    )
    def test_reads_sizes_as_people_write_them(self, text: str, expected: int) -> None:
        query = QueryDict(mutable=True)
        query["min"] = text

        assert parse_file_filter(query).min_size_bytes == expected

    def test_a_partition_without_a_value_is_null(self) -> None:
        query = QueryDict("partition=country&partition=day=2026-01-01&partition=a=b=c")

        assert parse_file_filter(query).partitions == (
            ("country", None),
            ("day", "2026-01-01"),
            ("a", "b=c"),
        )

    @pytest.mark.parametrize("text", ["-1", "many", "1 XiB", "1e9", "½"])
    def test_other_sizes_are_refused(self, text: str) -> None:
        query = QueryDict(mutable=True)
        query["max"] = text

        with pytest.raises(QueryError, match="'max'"):
            parse_file_filter(query)


NAMES = ["op", "user", "from", "to", "q", "before", "partition", "min", "max", "sort"]
PARSERS = [parse_history_filter, parse_file_filter, parse_row_query, parse_search]


@pytest.mark.parametrize("parse", PARSERS)
@given(
    values=st.dictionaries(
        st.sampled_from([*NAMES, "page", "col", "f"]), st.text(max_size=60)
    )
)
def test_any_query_is_read_or_refused_with_a_hint(parse, values):
    query = QueryDict(mutable=True)
    query.update(values)

    try:
        answer: object = parse(query)
    except QueryError as error:
        answer = error.hint

    assert answer is not None
