import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.sharing.capabilities import ANSWERED, parse_capabilities


class TestParseCapabilities:
    @pytest.mark.parametrize(
        ("header", "formats"),
        [
            pytest.param("", (), id="nothing"),
            pytest.param("responseformat=parquet", ("parquet",), id="one"),
            pytest.param(
                "responseformat=delta,parquet;readerfeatures=deletionvectors",
                ("delta", "parquet"),
                id="as the python client sends it",
            ),
            pytest.param(
                " ResponseFormat = DELTA , Delta ", ("delta",), id="spaces and capitals"
            ),
            pytest.param("responseformat", (), id="no value"),
            pytest.param("responseformat=,", (), id="empty values"),
            pytest.param("x=responseformat=delta", (), id="another key"),
        ],
    )
    def test_reads_the_formats(self, header: str, formats: tuple[str, ...]) -> None:
        assert parse_capabilities(header).response_formats == formats

    @pytest.mark.parametrize(
        ("header", "reads"),
        [
            ("", True),
            (ANSWERED, True),
            ("responseformat=delta", False),
            ("responseformat=avro,orc", False),
        ],
    )
    def test_without_a_format_means_parquet(self, header: str, *, reads: bool) -> None:
        assert parse_capabilities(header).reads_parquet is reads

    @given(header=st.text())
    def test_never_fails(self, header: str) -> None:
        assert parse_capabilities(header).reads_parquet in {True, False}
