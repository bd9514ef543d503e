import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sharing.errors import NameInvalidError
from apps.sharing.names import (
    check_name,
    is_storable,
    name_key,
    split_full_name,
)
from tests.support import cases


class TestCheckName:
    @pytest.mark.parametrize("kind", ["share", "schema", "table", "recipient"])
    @cases(
        "name",
        {
            "a plain word": "sales",
            "digits, a dash, a line": "Sales_2026-Q4",
            "as long as allowed": "x" * 255,
            "letters of another language": "Verkäufe",
            "signs that an address may hold": "50_off+1;a=b&c@d",
        },
    )
    def test_keeps_the_spelling(self, name: str, kind: str) -> None:
        assert check_name(name, kind) == name

    @pytest.mark.parametrize("kind", ["share", "schema", "table", "recipient"])
    @cases(
        "name, reason",
        {
            "nothing": ("", "it is empty"),
            "one too long": ("x" * 256, "longer than 255"),
            "a space": ("a b", "it contains a space"),
            "a slash": ("a/b", "it contains '/'"),
            "the end of a line": ("a\nb", r"U\+000A"),
            "NUL": ("a\0b", r"U\+0000"),
            "DEL": ("a\x7fb", r"U\+007F"),
            "a space that does not break": ("a\u00a0b", r"U\+00A0"),
            "a turn of direction": ("a\u202eb", r"U\+202E"),
            "half a character": ("a\udc80b", r"U\+DC80"),
        },
    )
    def test_refuses_what_the_protocol_does(self, name: str, reason: str, kind: str):
        with pytest.raises(NameInvalidError, match=reason):
            check_name(name, kind)

    @pytest.mark.parametrize("kind", ["share", "schema", "table"])
    @pytest.mark.parametrize("sign", ["?", "#", "%", "%2F"])
    def test_refuses_new_names_that_clients_cannot_request(self, sign, kind):
        with pytest.raises(NameInvalidError, match="clients cannot request"):
            check_name(f"a{sign}b", kind)

    def test_older_names_can_still_be_found_and_removed(self) -> None:
        assert split_full_name("50%.a?b#c") == ("50%", "a?b#c")

    @pytest.mark.parametrize("kind", ["schema", "table"])
    def test_schemas_and_tables_have_no_dot(self, kind: str) -> None:
        with pytest.raises(NameInvalidError, match=r"it contains '\.'"):
            check_name("a.b", kind)

    @pytest.mark.parametrize("kind", ["share", "recipient"])
    def test_shares_and_recipients_may_have_one(self, kind: str) -> None:
        assert check_name("a.b", kind) == "a.b"

    @pytest.mark.parametrize("name", [".", ".."])
    def test_no_name_is_a_step_of_a_path(self, name: str) -> None:
        with pytest.raises(NameInvalidError, match="an address cannot end with it"):
            check_name(name, "share")

    @given(st.text(max_size=300))
    def test_what_passes_can_be_stored_and_split(self, name: str) -> None:
        try:
            check_name(name, "table")
        except NameInvalidError:
            return

        assert is_storable(name)
        assert split_full_name(f"s.{name}") == ("s", name)
        assert 0 < len(name_key(name)) <= 3 * 255


class TestNameKey:
    def test_is_the_same_for_other_capitals(self) -> None:
        assert name_key("STRASSE") == name_key("Straße") == name_key("strasse")

    def test_is_the_same_for_accents_in_either_form(self) -> None:
        assert name_key("Cafe\N{COMBINING ACUTE ACCENT}") == name_key("CAFÉ")


class TestSplitFullName:
    def test_names_what_is_missing(self) -> None:
        with pytest.raises(NameInvalidError, match=r"not have the form schema\.table"):
            split_full_name("orders")

    @pytest.mark.parametrize("name", ["a.b.c", ".b", "a."])
    def test_refuses_more_or_empty_parts(self, name: str) -> None:
        with pytest.raises(NameInvalidError):
            split_full_name(name)


class TestIsStorable:
    @pytest.mark.parametrize("text", ["a\0", "\ud800", "\udfffx"])
    def test_a_database_is_not_asked_for_what_it_cannot_hold(self, text: str) -> None:
        assert not is_storable(text)

    @pytest.mark.parametrize("text", ["", "a", "größe", "\U0010ffff"])
    def test_it_is_asked_for_everything_else(self, text: str) -> None:
        assert is_storable(text)
