import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.sharing.capabilities import answered, parse_capabilities
from deltaweb.sharing.errors import ParameterInvalidError
from tests.support import cases


class TestParseCapabilities:
    @cases(
        "header, formats",
        {
            "nothing": ("", ()),
            "one": ("responseformat=parquet", ("parquet",)),
            "as the python client sends it": (
                "responseformat=delta,parquet;readerfeatures=deletionvectors",
                ("delta", "parquet"),
            ),
            "spaces and capitals": (" ResponseFormat = DELTA , Delta ", ("delta",)),
            "no value": ("responseformat", ()),
            "empty values": ("responseformat=,", ()),
            "another key": ("x=responseformat=delta", ()),
        },
    )
    def test_reads_the_formats(self, header: str, formats: tuple[str, ...]) -> None:
        assert parse_capabilities(header).response_formats == formats

    @pytest.mark.parametrize(
        ("header", "reads"),
        [
            ("", True),
            (answered("parquet"), True),
            ("responseformat=delta", False),
            ("responseformat=avro,orc", False),
            (";;=;responseformat;x=y=z", True),
        ],
    )
    def test_without_a_format_means_parquet(self, header: str, *, reads: bool) -> None:
        assert parse_capabilities(header).reads_parquet is reads

    @given(header=st.text())
    def test_never_fails(self, header: str) -> None:
        assert parse_capabilities(header).reads_parquet in {True, False}

    def test_reads_the_features_of_tables(self) -> None:
        found = parse_capabilities(
            "readerfeatures=deletionVectors, columnmapping;responseformat=delta"
        )

        assert found.reader_features == {"deletionvectors", "columnmapping"}
        assert found.reads_delta

    def test_refuses_an_unknown_way_to_derive_ids(self) -> None:
        assert parse_capabilities("", file_id_hash=" DELTA ").file_id_scheme == "delta"
        with pytest.raises(ParameterInvalidError, match="'md5' is not a way"):
            parse_capabilities("", file_id_hash="md5")

    @pytest.mark.parametrize(
        ("header", "wants"),
        [
            ("IncludeEndStreamAction=TRUE", True),
            ("responseformat=parquet;includeendstreamaction=true", True),
            ("includeendstreamaction=false", False),
            ("includeendstreamaction", False),
            ("", False),
        ],
    )
    def test_reads_whether_an_end_is_wanted(self, header: str, *, wants: bool) -> None:
        assert parse_capabilities(header).wants_end is wants
