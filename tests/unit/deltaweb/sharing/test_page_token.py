import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.sharing.errors import ParameterInvalidError
from deltaweb.sharing.page_token import PageScope, decode_page_token, encode_page_token
from tests.support import cases

KEYS = [b"k" * 32]
SCOPE = PageScope("tables", "r1", ("sales", "crm"))
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3)


class TestPageToken:
    @given(last=TEXTS)
    def test_gives_its_key_back(self, last: list[str]) -> None:
        token = encode_page_token(last, SCOPE, keys=KEYS)

        assert decode_page_token(token, SCOPE, keys=KEYS) == tuple(last)
        assert token.replace("-", "").replace("_", "").isalnum()

    def test_tells_its_holder_nothing(self) -> None:
        few, many = (
            encode_page_token(["index-1", row], SCOPE, keys=KEYS)
            for row in ("7", "123456789")
        )

        assert len(few) == len(many)
        for token in (few, many):
            held = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            assert b"index" not in held

    @cases(
        "scope",
        {
            "endpoint": PageScope("shares", "r1", ("sales", "crm")),
            "recipient": PageScope("tables", "r2", ("sales", "crm")),
            "name": PageScope("tables", "r1", ("sales", "web")),
            "joined names": PageScope("tables", "r1", ("salescrm",)),
            "moved names": PageScope("tables", "r1sales", ("crm",)),
        },
    )
    def test_serves_its_list_alone(self, scope: PageScope) -> None:
        token = encode_page_token(["x"], SCOPE, keys=KEYS)

        with pytest.raises(ParameterInvalidError, match="pageToken"):
            decode_page_token(token, scope, keys=KEYS)

    def test_of_a_former_key_is_known_and_new_ones_are_of_the_first(self) -> None:
        new, old = b"n" * 32, b"o" * 32
        token = encode_page_token(["x"], SCOPE, keys=[old])

        assert decode_page_token(token, SCOPE, keys=[new, old]) == ("x",)
        fresh = encode_page_token(["x"], SCOPE, keys=[new, old])
        assert decode_page_token(fresh, SCOPE, keys=[new]) == ("x",)
        with pytest.raises(ParameterInvalidError):
            decode_page_token(token, SCOPE, keys=[new])

    @given(made_up=st.one_of(st.text(max_size=99), st.binary(max_size=99)))
    def test_is_never_made_up(self, made_up: str | bytes) -> None:
        if isinstance(made_up, bytes):
            made_up = base64.urlsafe_b64encode(made_up).decode()

        with pytest.raises(ParameterInvalidError):
            decode_page_token(made_up, SCOPE, keys=KEYS)

    @given(data=st.data())
    def test_has_one_spelling(self, data: st.DataObject) -> None:
        token = encode_page_token(["last"], SCOPE, keys=KEYS)
        position = data.draw(st.integers(0, len(token) - 1))
        character = data.draw(st.characters(exclude_categories=["Cs"]))
        changed = token[:position] + character + token[position + 1 :]

        if changed != token:
            with pytest.raises(ParameterInvalidError):
                decode_page_token(changed, SCOPE, keys=KEYS)

    @pytest.mark.parametrize("end", ["=", "==", "A", "\0", " ", "€"])
    def test_goes_on_by_no_character(self, end: str) -> None:
        token = encode_page_token(["last"], SCOPE, keys=KEYS)

        with pytest.raises(ParameterInvalidError):
            decode_page_token(token + end, SCOPE, keys=KEYS)
