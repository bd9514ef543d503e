import re
from urllib.parse import quote, unquote

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.storage.signing.url_quoting import quote_all, quote_column, quote_paths

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.lists(TEXTS), st.sampled_from(["", "/", "/=", "/:@$"]))
def test_quotes_as_the_standard_library_does(texts: list[str], safe: str) -> None:
    assert quote_all(texts, safe=safe) == [quote(text, safe=safe) for text in texts]


def test_quotes_bytes_that_are_no_text() -> None:
    name = unquote("a%FFb", errors="surrogateescape")

    assert quote_all([name, "%41"]) == ["a%FFb", "%2541"]


@given(st.lists(st.text("ab.%= /é", max_size=6)), st.integers(0, 2))
def test_quotes_a_column_as_it_quotes_paths(paths: list[str], first: int) -> None:
    column = pa.array(["skipped"] * first + paths, pa.string()).slice(first)
    try:
        quoted = quote_paths(paths)
    except PathEscapesTableError as error:
        with pytest.raises(PathEscapesTableError, match=re.escape(str(error))):
            quote_column(column)
    else:
        assert quote_column(column).to_pylist() == quoted


@pytest.mark.parametrize(
    "path",
    [
        *["", ".", "..", "/a", "a/", "a//b", "../a", "a/..", "a/../b", "./a"],
        *["a/./b", "a\0b", "a/..\0b"],
    ],
)
def test_refuses_a_path_that_may_lead_elsewhere(path: str) -> None:
    paths = ["fine.parquet", path, "fine too.parquet"]

    with pytest.raises(PathEscapesTableError):
        quote_paths(paths)
    with pytest.raises(PathEscapesTableError):
        quote_column(pa.array(paths))


def test_takes_dots_that_are_part_of_a_name() -> None:
    paths = ["a.b/..c", "...", ".hidden/a..", "d/.e./f"]

    assert quote_paths(paths) == paths


def test_quotes_no_paths_at_all() -> None:
    assert quote_paths([]) == []
