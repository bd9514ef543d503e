"""Lines of answers are what a JSON writer would write, in UTF-8, one object a line."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.protocol.actions import Format, Metadata
from deltaweb.sharing.wire.lines import FileAnswer, TableFacts
from deltaweb.sharing.wire.parquet import clean_schema, file_lines, head_lines
from tests.support import cases

MAP = pa.map_(pa.string(), pa.string())
TEXTS = st.text(max_size=20)
SPLITTING = {n: f"\\u{n:04x}" for n in [*range(0x7F, 0xA0), 0x2028, 0x2029]}
EXPIRATION_MS = 1_652_140_800_000


def files(*rows: dict[str, Any]) -> pa.RecordBatch:
    defaults = {"path": "a", "size": 1, "partition_values": [], "stats": None}
    full = [{**defaults, **row} for row in rows]
    schema = pa.schema(
        {
            "path": pa.string(),
            "size": pa.int64(),
            "partition_values": MAP,
            "stats": pa.string(),
        }
    )
    return pa.RecordBatch.from_pylist(full, schema)


def answer(urls: Sequence[str], *, expiration_ms: int = 1, **facts: Any) -> FileAnswer:  # noqa: ANN401 # of any type
    texts = pa.array(urls, pa.string())
    return FileAnswer(
        urls=texts, expiration_ms=expiration_ms, id_scheme="parquet", **facts
    )


def parsed(lines: bytes) -> list[dict[str, Any]]:
    assert lines.endswith(b"\n")
    return [json.loads(line)["file"] for line in lines.decode().splitlines()]


class TestFileLines:
    def test_are_as_the_specification_shows_them(self) -> None:
        batch = files(
            {
                "path": "date=2021-04-28/part-0.parquet",
                "size": 573,
                "partition_values": [("date", "2021-04-28")],
                "stats": '{"numRecords":1}',
            }
        )

        lines = file_lines(
            batch, answer(["https://h/x?a=b"], expiration_ms=EXPIRATION_MS)
        )

        file_id = hashlib.md5(b"date=2021-04-28/part-0.parquet").hexdigest()  # noqa: S324 (an id)
        assert lines.decode() == (
            f'{{"file":{{"url":"https://h/x?a=b","id":"{file_id}",'
            '"partitionValues":{"date":"2021-04-28"},"size":573,'
            '"stats":"{\\"numRecords\\":1}","expirationTimestamp":1652140800000}}\n'
        )

    def test_leave_out_statistics_that_are_not_there(self) -> None:
        batch = files({"stats": None}, {"stats": "{}"}, {"stats": ""})

        found = parsed(file_lines(batch, answer(["u"] * 3)))

        assert [file.get("stats") for file in found] == [None, "{}", ""]
        assert "stats" not in found[0]

    def test_keep_partition_values_as_the_log_has_them(self) -> None:
        batch = files(
            {"partition_values": [("a", None), ("b", ""), ("ü", 'x"y')]},
            {"partition_values": []},
            {"partition_values": None},
        )

        found = parsed(file_lines(batch, answer(["u"] * 3)))

        assert [file["partitionValues"] for file in found] == [
            {"a": None, "b": "", "ü": 'x"y'},
            {},
            {},
        ]

    def test_say_that_instants_are_in_utc(self) -> None:
        spellings = {
            "2024-03-10 07:00:00": "2024-03-10T07:00:00.000000Z",
            "2024-03-10T07:00:00.5+05:30": "2024-03-10T01:30:00.500000Z",
            "2024-03-10T07:00:00.000000Z": "2024-03-10T07:00:00.000000Z",
            "2024-03-10": "2024-03-10T00:00:00.000000Z",
            "": "",
            "no time": "no time",
        }
        rows = [
            {"partition_values": [("kind", text), ("ts", text)]} for text in spellings
        ]
        batch = files(*rows, {"partition_values": [("ts", None)]}, {})

        lines = file_lines(batch.slice(1), answer(["u"] * 7, instants={"ts", "other"}))

        assert [file["partitionValues"] for file in parsed(lines)] == [
            *[{"kind": text, "ts": wire} for text, wire in spellings.items()][1:],
            {"ts": None},
            {},
        ]

    def test_tell_the_version_where_one_was_asked_for(self) -> None:
        lines = file_lines(files({}), answer(["u"], version=7, timestamp_ms=1_600_000))

        assert parsed(lines)[0]["version"] == 7
        assert parsed(lines)[0]["timestamp"] == 1_600_000

    @pytest.mark.parametrize(
        "text",
        [
            "é",
            "\u2028",
            "\u2029",
            "\x85",
            "\x7f",
            "\x00",
            "\n\r\x0b\x0c",
            "\\",
            '"',
            "😀",
            "\U00020000\U0002a6d6",
        ],
    )
    def test_hold_no_character_that_splits_a_line(self, text: str) -> None:
        batch = files(
            {"path": text, "partition_values": [(text, text)], "stats": f'["{text}"]'}
        )

        lines = file_lines(batch, answer([text]))

        assert len(lines.decode().splitlines()) == 1
        found = parsed(lines)[0]
        assert found["url"] == text
        assert found["stats"] == f'["{text}"]'
        assert found["partitionValues"] == {text: text}

    @cases(
        "stats, sent",
        {
            "a pair": (r'["\ud840\udc00x"]', '["\U00020000x"]'),
            "capitals": (r'["é\uD840\uDC00"]', '["é\U00020000"]'),
            "the first half": (r'["\ud840"]', r'["\ud840"]'),
            "two halves": (r'["\udc00\ud840"]', r'["\udc00\ud840"]'),
            "no pair": (r'["\\ud840\\udc00"]', r'["\\ud840\\udc00"]'),
            "after one": (r'["\\\ud840\udc00"]', '["\\\\\U00020000"]'),
        },
    )
    def test_write_a_pair_of_escapes_in_statistics_as_a_character(self, stats, sent):
        lines = file_lines(files({"stats": stats}), answer(["u"]))

        assert parsed(lines)[0]["stats"] == sent

    def test_take_slices_of_larger_batches(self) -> None:
        rows = [
            {"path": f"f{n}", "partition_values": [("p", str(n))], "stats": f"[{n}]"}
            for n in range(9)
        ]
        whole = files(*rows)

        found = parsed(file_lines(whole.slice(3, 4), answer(list("abcd"))))

        assert [file["partitionValues"]["p"] for file in found] == list("3456")
        assert [file["stats"] for file in found] == ["[3]", "[4]", "[5]", "[6]"]

    def test_of_no_files_are_none(self) -> None:
        assert file_lines(files(), answer([])) == b""

    def test_leave_out_statistics_that_are_not_text(self) -> None:
        torn = pa.array([b"\xff{}", b"{}"]).cast(pa.binary())
        stats = pa.StringArray.from_buffers(2, *torn.buffers()[1:])
        batch = files({}, {}).set_column(3, "stats", stats)

        found = parsed(file_lines(batch, answer(["u", "v"])))

        assert [file.get("stats") for file in found] == [None, "{}"]

    @given(
        st.lists(
            st.tuples(
                TEXTS,
                st.integers(0, 2**62),
                st.dictionaries(TEXTS, st.none() | TEXTS, max_size=3),
                st.none() | TEXTS,
                TEXTS,
            ),
            min_size=1,
            max_size=6,
        )
    )
    def test_say_what_a_json_writer_says(self, rows: list[tuple[Any, ...]]) -> None:
        batch = files(
            *(
                {
                    "path": path,
                    "size": size,
                    "partition_values": list(values.items()),
                    "stats": stats,
                }
                for path, size, values, stats, _ in rows
            )
        )

        lines = file_lines(batch, answer([row[4] for row in rows], expiration_ms=5))

        expected = []
        for path, size, values, stats, url in rows:
            file = {
                "url": url,
                "id": hashlib.md5(path.encode()).hexdigest(),  # noqa: S324 (an id)
                "partitionValues": values,
                "size": size,
                **({} if stats is None else {"stats": stats}),
                "expirationTimestamp": 5,
            }
            line = json.dumps({"file": file}, separators=(",", ":"), ensure_ascii=False)
            expected.append(line.translate(SPLITTING))
        assert lines.decode() == "".join(f"{line}\n" for line in expected)


class TestHeadLines:
    def test_says_what_the_table_is(self) -> None:
        metadata = Metadata(
            id="f8d5c169",
            name="sales",
            description="All\u2028of it",
            format=Format(provider="parquet", options={"a": "b"}),
            schema_string='{"type":"struct","fields":[]}',
            partition_columns=["day"],
            configuration={"delta.appendOnly": "true", "secret": "x"},
        )

        facts = TableFacts(version=3, size_bytes=9, num_files=2)
        line = head_lines(metadata, facts).splitlines()[1]

        assert json.loads(line.decode()) == {
            "metaData": {
                "id": "f8d5c169",
                "name": "sales",
                "description": "All\u2028of it",
                "format": {"provider": "parquet"},
                "schemaString": '{"type":"struct","fields":[]}',
                "configuration": {},
                "partitionColumns": ["day"],
                "accessModes": ["url"],
                "version": 3,
                "size": 9,
                "numFiles": 2,
            }
        }

    def test_writes_characters_as_they_are_and_halves_as_escapes(self) -> None:
        metadata = Metadata(id="x", name="\U00020000", description="\ud840")

        line = head_lines(metadata, TableFacts()).splitlines()[1]

        assert '"name":"\U00020000","description":"\\ud840"' in line.decode()

    def test_leaves_out_what_is_not_known(self) -> None:
        lines = head_lines(Metadata(id="x", schema_string="{}"), TableFacts())

        assert list(json.loads(lines.splitlines()[1])["metaData"]) == [
            "id",
            "format",
            "schemaString",
            "configuration",
            "partitionColumns",
            "accessModes",
        ]

    def test_begin_with_a_protocol_of_the_first_version(self) -> None:
        lines = head_lines(Metadata(id="x", schema_string="{}"), TableFacts())

        assert lines.startswith(b'{"protocol":{"minReaderVersion":1}}\n')
        assert lines.count(b"\n") == 2
        assert lines.endswith(b"\n")


class TestCleanSchema:
    def test_drops_what_is_kept_of_columns_but_comments_at_every_depth(self) -> None:
        kept = {"comment": "c", "delta.columnMapping.id": 1}
        inner = {"name": "i", "type": "long", "nullable": True, "metadata": kept}
        struct = {"type": "struct", "fields": [inner]}
        array = {"type": "array", "elementType": struct, "containsNull": True}
        by_name = {
            "type": "map",
            "keyType": struct,
            "valueType": array,
            "valueContainsNull": False,
        }
        schema = {
            "type": "struct",
            "fields": [
                {"name": "s", "type": struct, "nullable": True, "metadata": {"x": "y"}},
                {"name": "m", "type": by_name, "nullable": True, "metadata": kept},
            ],
        }

        cleaned = json.loads(clean_schema(json.dumps(schema)))

        text = json.dumps(cleaned)
        assert "columnMapping" not in text
        assert '"x"' not in text
        assert text.count('"comment": "c"') == 4
        assert [field["metadata"] for field in cleaned["fields"]] == [
            {},
            {"comment": "c"},
        ]
        assert cleaned["fields"][1]["type"]["valueContainsNull"] is False

    def test_keeps_types_as_they_are_spelled(self) -> None:
        field = {
            "name": "d",
            "type": "decimal(10,2)",
            "nullable": False,
            "metadata": {},
        }
        schema = {"type": "struct", "fields": [field]}

        assert json.loads(clean_schema(json.dumps(schema))) == schema

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "no JSON",
            "[]",
            "7",
            '{"fields":7}',
            "[" * 100_000,
            '{"fields":[7,null]}',
        ],
        ids=lambda text: text[:10] or "nothing",
    )
    def test_leaves_what_is_no_schema(self, text: str) -> None:
        cleaned = clean_schema(text)

        assert cleaned == text or json.loads(cleaned) == json.loads(text)

    def test_gives_a_column_without_any_metadata_an_empty_one(self) -> None:
        text = '{"type":"struct","fields":[{"name":"a","type":"long","nullable":true}]}'

        assert json.loads(clean_schema(text))["fields"][0]["metadata"] == {}
