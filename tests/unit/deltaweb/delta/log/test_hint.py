"""What `_last_checkpoint` says: the examples are the specification's."""

import json

import pytest

from deltaweb.delta.log.hint import canonical_form, checksum_of, load_hint

EXAMPLE = (
    b'{"k0":"\'v 0\'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": '
    b'["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}'
)


class TestChecksum:
    def test_is_that_of_the_specification(self) -> None:
        assert checksum_of(EXAMPLE) == "6a92d155a59bf2eecbd4b4ec7fd1f875"

    def test_is_of_the_values_in_order_of_their_paths(self) -> None:
        assert canonical_form(EXAMPLE) == (
            '"k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,'
            '"k1"+"k3"+1+1=2,"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5",'
            '"k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7"'
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                '{"a": 10, "b": {"y": null, "x": "https://delta.io"}}',
                '"a"=10,"b"+"x"="https%3A%2F%2Fdelta.io","b"+"y"=null',
            ),
            ('{"t": true, "f": false}', '"f"=false,"t"=true'),
            ('{"n": 1.50e+2}', '"n"=1.50e+2'),
            ('{"~-._": "é>"}', '"~-._"="%C3%A9%3E"'),
        ],
        ids=["objects", "literals", "numbers as written", "escapes"],
    )
    def test_has_one_form_of_each_value(self, text: str, expected: str) -> None:
        assert canonical_form(text.encode()) == expected


class TestHint:
    def test_is_taken_with_its_checksum(self) -> None:
        hint = json.dumps({"version": 5, "size": 7}).encode()
        whole = json.dumps({"version": 5, "size": 7, "checksum": checksum_of(hint)})

        found = load_hint(whole.encode())

        assert found is not None
        assert found["version"] == 5

    def test_is_none_that_was_changed_since(self) -> None:
        hint = {"version": 5, "checksum": checksum_of(b'{"version": 6}')}

        assert load_hint(json.dumps(hint).encode()) is None

    def test_is_none_with_a_number_that_json_has_not(self) -> None:
        assert load_hint(b'{"version": NaN, "checksum": "0"}') is None

    @pytest.mark.parametrize(
        "data",
        [None, b"", b"{", b"[]", b"\xff", b'{"a": {"b": 1, "b": 1}}', b"[" * 100_000],
        ids=["none", "empty", "torn", "a list", "no text", "a key twice", "deep"],
    )
    def test_is_none_where_it_is_no_object(self, data: bytes | None) -> None:
        assert load_hint(data) is None
