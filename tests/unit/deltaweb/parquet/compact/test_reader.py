"""The compact protocol: what is wanted is read, the rest passed, no count believed."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.compact import reader
from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.metadata import parse_metadata

SMALL = Layout(n=(1, "int"), text=(2, "binary"))
STOP = b"\0"


def _read(data: bytes, layout: Layout = SMALL) -> dict[str, object]:
    return CompactReader(data).read_struct(layout)


class TestStruct:
    def test_has_the_wanted_fields_by_name(self) -> None:
        assert _read(b"\x15\x04\x18\x02hi" + STOP) == {"n": 2, "text": b"hi"}

    def test_goes_past_what_it_does_not_want(self) -> None:
        unwanted = b"\x79\x15\x02" + b"\x1c\x15\x02\x00" + b"\x11"

        assert _read(b"\x15\x04" + unwanted + STOP) == {"n": 2}

    def test_leaves_out_a_field_of_another_type(self) -> None:
        assert _read(b"\x18\x01x" + STOP) == {}

    def test_reads_numbers_of_any_length(self) -> None:
        assert _read(b"\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + STOP) == {
            "n": -(2**63)
        }

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"\x15", "ends within"),
            (b"\x18\x05ab", "ends within"),
            (b"\x15" + b"\xff" * 11, "too many bytes"),
            (b"\x39\xfc\xff\xff\xff\x7f", "elements where"),
            (b"\x3b\xff\xff\xff\x7f\x55", "elements where"),
            (b"\x3c" * 200, "nests more than"),
            (b"\x3e", "unknown type"),
        ],
    )
    def test_is_refused_where_it_is_none(self, data: bytes, reason: str) -> None:
        with pytest.raises(FooterCorruptError, match=reason):
            _read(data)


class TestList:
    def test_ends_at_the_first_struct_that_lacks_what_it_needs(self) -> None:
        layout = Layout(many=(1, ListOf(Layout("n", n=(1, "int")))))
        bomb = b"\x19\xfc\xff\xff\x03" + b"\0" * 65_535 + STOP

        with pytest.raises(FooterCorruptError, match="without its n"):
            _read(bomb, layout)

    def test_of_late_structs_reads_one_when_it_is_asked_for(self) -> None:
        layout = Layout(many=(1, LateListOf(SMALL)), after=(2, "int"))
        odd = b"\x28\x30" + b"x" * 48 + STOP  # too long for the usual pattern
        late = _read(b"\x19\x2c\x15\x02\x00" + odd + b"\x15\x06" + STOP, layout)

        assert late["after"] == 3
        many = late["many"]
        assert list(many) == [{"n": 1}, {"text": b"x" * 48}]  # type: ignore[call-overload]


def test_column_chunks_are_the_same_by_one_match_and_step_by_step() -> None:
    columns = {f"c{i}": [i, None] for i in range(3)}
    names = {"a_name_longer_than_the_thirty_two_bytes_of_one_match": ["x" * 60, "y"]}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({**columns, **names}), sink, row_group_size=1)
    file = sink.getvalue().to_pybytes()
    length = int.from_bytes(file[-8:-4], "little")
    metadata = parse_metadata(file[-8 - length : -8])

    for group in metadata.row_groups:
        assert [".".join(chunk.path) for chunk in group.columns] == [*columns, *names]
        assert all(chunk.values["num_values"] == 1 for chunk in group.columns)


class TestAnEmptyList:
    @pytest.mark.parametrize("kind", [ListOf(SMALL), LateListOf(SMALL)])
    def test_may_say_anything_of_its_elements(self, kind: ListOf | LateListOf) -> None:
        layout = Layout(parts=(1, kind))

        found = _read(b"\x19\x00" + STOP, layout)

        assert list(found["parts"]) == []  # type: ignore[call-overload]

    @pytest.mark.parametrize("kind", [ListOf(SMALL), LateListOf(SMALL)])
    def test_alone_may(self, kind: ListOf | LateListOf) -> None:
        with pytest.raises(FooterCorruptError, match="something else"):
            _read(b"\x19\x15\x02" + STOP, Layout(parts=(1, kind)))


class TestWhatIsBuilt:
    """A few bytes may say what takes hundreds as a value: bytes bound no memory."""

    @pytest.mark.parametrize(
        ("kind", "element"),
        [
            pytest.param(ListOf(SMALL), b"\x00", id="structs"),
            pytest.param(ListOf("binary"), b"\x00", id="texts"),
        ],
    )
    def test_is_counted_over_all_lists(
        self, monkeypatch: pytest.MonkeyPatch, kind: ListOf, element: bytes
    ) -> None:
        monkeypatch.setattr(reader, "MAX_BUILT", 1_000)
        layout = Layout(a=(1, kind), b=(2, kind))
        code = b"\xfc" if kind.element is SMALL else b"\xf8"
        of_600 = b"\x19" + code + b"\xd8\x04" + element * 600

        assert len(_read(of_600 + STOP, layout)["a"]) == 600  # type: ignore[arg-type]
        with pytest.raises(FooterCorruptError, match="more than 1,000 parts"):
            _read(of_600 * 2 + STOP, layout)

    def test_places_of_late_structs_are_counted_over_all_lists(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "MAX_LATE", 1_000)
        kind = LateListOf(SMALL)
        of_600 = b"\x19\xfc\xd8\x04" + b"\x00" * 600

        with pytest.raises(FooterCorruptError, match="more than 1,000 column chunks"):
            _read(of_600 * 2 + STOP, Layout(a=(1, kind), b=(2, kind)))

    def test_lists_of_equal_bytes_are_one(self) -> None:
        late = _read(
            b"\x19\x2c" + (b"\x19\x25\x02\x04" + STOP) * 2 + STOP,
            Layout(many=(1, LateListOf(Layout(n=(1, ListOf("int")))))),
        )["many"]

        first, second = (one["n"] for one in late)  # type: ignore[attr-defined]
        assert first == [1, 2]
        assert first is second
