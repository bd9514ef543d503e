import contextlib

from hypothesis import given
from hypothesis import strategies as st

from apps.sharing.api.files import ByteRange, parse_range
from deltaweb.sharing.errors import RangeUnsatisfiableError


class TestParseRange:
    @given(
        first=st.integers(0, 200), last=st.integers(0, 300), size=st.integers(1, 200)
    )
    def test_is_the_bytes_of_a_slice(self, first: int, last: int, size: int) -> None:
        content = bytes(size)
        expected = len(content[first : last + 1])

        try:
            found = parse_range(f"bytes={first}-{last}", size=size)
        except RangeUnsatisfiableError:
            assert first >= size
        else:
            assert found == (ByteRange(first, expected) if last >= first else None)

    @given(length=st.integers(1, 300), size=st.integers(1, 200))
    def test_may_count_from_the_end(self, length: int, size: int) -> None:
        found = parse_range(f"bytes=-{length}", size=size)

        assert found is not None
        assert found.length == min(length, size)
        assert found.first + found.length == size
        last = size - 1
        assert found.content_range(size) == f"bytes {found.first}-{last}/{size}"

    @given(
        header=st.from_regex(r"bytes *= *[0-9]{0,25} *- *[0-9]{0,25}", fullmatch=True)
        | st.builds("bytes={}-{}".format, st.integers(0, 150), st.integers(0, 150))
        | st.text(max_size=30),
        size=st.integers(0, 100),
    )
    def test_is_never_outside_of_the_file(self, header: str, size: int) -> None:
        found = None
        with contextlib.suppress(RangeUnsatisfiableError):
            found = parse_range(header, size=size)

        assert found is None or 0 <= found.first < found.first + found.length <= size

    def test_is_nothing_without_a_header(self) -> None:
        assert parse_range(None, size=10) is None
