from hypothesis import given
from hypothesis import strategies as st

from apps.tables.versions.column_address import column_address, parse_address
from tests.support import cases

NAMES = st.lists(st.text("ab.`/ é", max_size=5), min_size=1, max_size=4)


class TestColumnAddress:
    @given(NAMES)
    def test_says_the_names_again(self, names: list[str]) -> None:
        assert parse_address(column_address(names)) == tuple(names)

    @cases(
        "names, address",
        {
            "a field": (["a", "b"], "a.b"),
            "a dot is quoted": (["a.b"], "`a.b`"),
            "a backtick is doubled": (["a`b"], "`a``b`"),
        },
    )
    def test_quotes_only_what_needs_it(self, names: list[str], address: str) -> None:
        assert column_address(names) == address
