import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.web.tables.versions.column_address import column_address, parse_address

NAMES = st.lists(st.text("ab.`/ é", max_size=5), min_size=1, max_size=4)


class TestColumnAddress:
    @given(NAMES)
    def test_says_the_names_again(self, names: list[str]) -> None:
        assert parse_address(column_address(names)) == tuple(names)

    @pytest.mark.parametrize(
        ("names", "address"),
        [
            pytest.param(["a", "b"], "a.b", id="a field"),
            pytest.param(["a.b"], "`a.b`", id="a dot is quoted"),
            pytest.param(["a`b"], "`a``b`", id="a backtick is doubled"),
        ],
    )
    def test_quotes_only_what_needs_it(self, names: list[str], address: str) -> None:
        assert column_address(names) == address
