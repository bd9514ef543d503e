import pytest

from deltaweb.delta.protocol.actions import Protocol
from deltaweb.sharing.capabilities import parse_capabilities
from deltaweb.sharing.compatibility import Misreading
from deltaweb.sharing.errors import TableMisreadError
from deltaweb.sharing.response_format import ResponseFormat, choose_format, plain_format

PYTHON = (
    "responseformat=delta,parquet;readerfeatures=deletionvectors,columnmapping,"
    "timestampntz"
)
PROTOCOL = Protocol(min_reader_version=1, min_writer_version=2)


def allowing(*features: str) -> Protocol:
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=features,
        writer_features=features,
    )


def chosen(header: str, *features: str) -> ResponseFormat:
    return choose_format(
        parse_capabilities(header),
        [Misreading(feature, "It does.") for feature in features],
        protocol=PROTOCOL,
        table="a.b",
    )


@pytest.mark.parametrize(
    ("header", "features", "name"),
    [
        pytest.param("", (), "parquet", id="a client that says nothing"),
        pytest.param("responseformat=parquet", (), "parquet", id="parquet alone"),
        pytest.param("responseformat=delta", (), "delta", id="delta alone"),
        pytest.param(PYTHON, (), "parquet", id="either, and a plain table"),
        pytest.param(PYTHON, ("columnMapping",), "delta", id="mapped columns"),
        pytest.param(
            PYTHON, ("timestampNtz", "columnMapping"), "delta", id="two features"
        ),
        pytest.param(
            "responseformat=delta;readerfeatures=TYPEWIDENING",
            ("typeWidening",),
            "delta",
            id="capitals",
        ),
    ],
)
def test_is_one_that_the_client_reads_the_table_in(header, features, name):
    assert chosen(header, *features).name == name


@pytest.mark.parametrize(
    ("header", "protocol", "name"),
    [
        pytest.param("", allowing("deletionVectors"), "parquet", id="parquet alone"),
        pytest.param(PYTHON, allowing("deletionVectors"), "delta", id="either"),
        pytest.param(
            PYTHON,
            allowing("deletionVectors", "v2Checkpoint"),
            "delta",
            id="beside what says nothing of files",
        ),
        pytest.param(PYTHON, allowing("v2Checkpoint"), "parquet", id="that alone"),
        pytest.param(
            PYTHON,
            Protocol(min_reader_version=2, min_writer_version=5),
            "delta",
            id="allowed by its version",
        ),
        pytest.param(
            PYTHON,
            allowing("deletionVectors", "variantType"),
            "parquet",
            id="beside what the client does not read",
        ),
        pytest.param(
            "responseformat=delta,parquet",
            allowing("deletionVectors"),
            "parquet",
            id="a client that reads none",
        ),
        pytest.param(
            PYTHON,
            Protocol(
                min_reader_version=1,
                min_writer_version=7,
                writer_features=("checkpointProtection",),
            ),
            "delta",
            id="a feature that older versions may use",
        ),
    ],
)
def test_goes_by_what_versions_may_use_where_the_client_takes_either(
    header: str, protocol: Protocol, name: str
) -> None:
    found = choose_format(
        parse_capabilities(header), [], protocol=protocol, table="a.b"
    )

    assert found.name == name


@pytest.mark.parametrize(
    ("header", "features", "named"),
    [
        pytest.param("", ("columnMapping",), ["columnMapping"], id="parquet alone"),
        pytest.param(
            PYTHON,
            ("columnMapping", "typeWidening"),
            ["typeWidening"],
            id="a feature that the client does not name",
        ),
        pytest.param(
            "responseformat=delta", ("timestampNtz",), ["timestampNtz"], id="none named"
        ),
        pytest.param(
            "responseformat=delta;readerfeatures=catalogmanaged,later",
            ("catalogManaged", "later"),
            ["catalogManaged", "later"],
            id="what no answer carries",
        ),
    ],
)
def test_is_none_where_the_client_would_misread_it(header, features, named):
    with pytest.raises(TableMisreadError) as caught:
        chosen(header, *features)

    assert caught.value.features == named
    assert "a.b" in caught.value.message


def test_of_metadata_alone_is_always_there() -> None:
    assert plain_format(parse_capabilities(PYTHON), PROTOCOL).name == "parquet"
    only = parse_capabilities("responseformat=delta")
    assert plain_format(only, PROTOCOL).name == "delta"


def test_derives_ids_by_its_own_way_or_as_it_is_asked() -> None:
    asked = parse_capabilities("responseformat=delta", file_id_hash="Parquet")

    assert chosen("responseformat=delta").id_scheme == "delta"
    assert chosen("").id_scheme == "parquet"
    assert plain_format(asked, PROTOCOL).id_scheme == "parquet"
