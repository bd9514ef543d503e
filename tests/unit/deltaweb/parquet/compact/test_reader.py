"""The compact protocol: what is wanted is read, the rest passed, no count believed."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.compact import reader
from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf, NamedListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.metadata import parse_metadata
from tests.support import cases

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
            (b"\x15", "ends in the middle"),
            (b"\x18\x05ab", "ends in the middle"),
            (b"\x15" + b"\xff" * 11, "too many bytes"),
            (b"\x39\xfc\xff\xff\xff\x7f", "elements follow, but"),
            (b"\x3b\xff\xff\xff\x7f\x55", "elements follow, but"),
            (b"\x3c" * 200, "nested more than"),
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

        with pytest.raises(FooterCorruptError, match="has no n"):
            _read(bomb, layout)

    @pytest.mark.parametrize("few", [0, 250])
    def test_of_late_structs_reads_one_when_it_is_asked_for(self, few, monkeypatch):
        monkeypatch.setattr(reader, "FEW_LATE", few)
        layout = Layout(many=(1, LateListOf(SMALL)), after=(2, "int"))
        odd = b"\x28\x30" + b"x" * 48 + STOP  # too long for the usual pattern
        late = _read(b"\x19\x2c\x15\x02\x00" + odd + b"\x15\x06" + STOP, layout)

        assert late["after"] == 3
        many = late["many"]
        assert list(many) == [{"n": 1}, {"text": b"x" * 48}]  # type: ignore[call-overload]


class TestListOfNamedStructs:
    LAYOUT = Layout(
        "name", n=(1, "int"), name=(2, "binary"), after=(3, "int"), kind=(4, "fields")
    )

    def _read(self, *structs: bytes) -> list[tuple[bytes, dict[str, object]]]:
        layout = Layout(many=(1, NamedListOf(self.LAYOUT, "name")))
        head = b"\x19" + bytes([len(structs) << 4 | 12])
        found: object = _read(head + b"".join(structs) + STOP, layout)["many"]
        return found  # type: ignore[return-value]

    def test_gives_names_and_one_rest_to_what_is_else_equal(self) -> None:
        first, second, other = self._read(
            b"\x15\x04\x18\x01a\x15\x06\x00",
            b"\x15\x04\x18\x02bc\x15\x06\x00",
            b"\x28\x00\x2c\x1c\x15\x02\x00\x00\x00",
        )

        assert (first[0], second[0], other[0]) == (b"a", b"bc", b"")
        assert first[1] is second[1]
        assert first[1] == {"n": 2, "name": b"", "after": 3}
        assert other[1] == {"name": b"", "kind": {1: {1: 1}}}

    @cases(
        "odd",
        {
            "a field with a long header": b"\x08\x04\x01d\x00",
            "a length in more than one byte": b"\x28\x81\x00d\x00",
            "a list that is unknown": b"\x28\x01d\x39\x18\x01x\x00",
            "another text": b"\x28\x01d\x38\x01x\x00",
        },
    )
    def test_reads_what_has_another_shape_field_by_field(self, odd: bytes) -> None:
        (only,) = self._read(odd)

        assert only == (b"d", {"name": b"d"})

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            (b"\x15\x04\x00", "has no name"),
            (b"\x15\x04\x38\x01x\x00", "has no name"),
            (b"\x28\x05ab", "ends in the middle"),
            (b"\x28", "ends in the middle"),
            (b"\x28\x01a\x15" + b"\xff" * 11, "too many bytes"),
        ],
    )
    def test_is_refused_where_one_is_none(self, bad: bytes, reason: str) -> None:
        with pytest.raises(FooterCorruptError, match=reason):
            self._read(bad)

    def test_is_refused_where_it_holds_no_structs(self) -> None:
        with pytest.raises(FooterCorruptError, match="something else"):
            _read(b"\x19\x15\x02" + STOP, Layout(many=(1, NamedListOf(SMALL, "n"))))


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

    @cases(
        "kind, element",
        {"structs": (ListOf(SMALL), b"\x00"), "texts": (ListOf("binary"), b"\x00")},
    )
    def test_is_counted_over_all_lists(self, monkeypatch, kind, element):
        monkeypatch.setattr(reader, "MAX_BUILT", 1_000)
        layout = Layout(a=(1, kind), b=(2, kind))
        code = b"\xfc" if kind.element is SMALL else b"\xf8"
        of_600 = b"\x19" + code + b"\xd8\x04" + element * 600

        assert len(_read(of_600 + STOP, layout)["a"]) == 600  # type: ignore[arg-type]
        with pytest.raises(FooterCorruptError, match="more than 1,000 parts"):
            _read(of_600 * 2 + STOP, layout)

    def test_places_of_late_structs_are_counted_over_all_lists(self, monkeypatch):
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
