import pytest

from deltaweb.delta.protocol.actions import Protocol
from deltaweb.sharing.capabilities import parse_capabilities
from deltaweb.sharing.compatibility import Misreading
from deltaweb.sharing.errors import TableMisreadError
from deltaweb.sharing.response_format import ResponseFormat, choose_format, plain_format
from tests.support import cases

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


@cases(
    "header, features, name",
    {
        "a client that says nothing": ("", (), "parquet"),
        "parquet alone": ("responseformat=parquet", (), "parquet"),
        "delta alone": ("responseformat=delta", (), "delta"),
        "either, and a plain table": (PYTHON, (), "parquet"),
        "mapped columns": (PYTHON, ("columnMapping",), "delta"),
        "two features": (PYTHON, ("timestampNtz", "columnMapping"), "delta"),
        "capitals": (
            "responseformat=delta;readerfeatures=TYPEWIDENING",
            ("typeWidening",),
            "delta",
        ),
    },
)
def test_is_one_that_the_client_reads_the_table_in(header, features, name):
    assert chosen(header, *features).name == name


@cases(
    "header, protocol, name",
    {
        "parquet alone": ("", allowing("deletionVectors"), "parquet"),
        "either": (PYTHON, allowing("deletionVectors"), "delta"),
        "beside what says nothing of files": (
            PYTHON,
            allowing("deletionVectors", "v2Checkpoint"),
            "delta",
        ),
        "that alone": (PYTHON, allowing("v2Checkpoint"), "parquet"),
        "allowed by its version": (
            PYTHON,
            Protocol(min_reader_version=2, min_writer_version=5),
            "delta",
        ),
        "beside what the client does not read": (
            PYTHON,
            allowing("deletionVectors", "variantType"),
            "parquet",
        ),
        "a client that reads none": (
            "responseformat=delta,parquet",
            allowing("deletionVectors"),
            "parquet",
        ),
        "a feature that older versions may use": (
            PYTHON,
            Protocol(
                min_reader_version=1,
                min_writer_version=7,
                writer_features=("checkpointProtection",),
            ),
            "delta",
        ),
    },
)
def test_goes_by_what_versions_may_use_where_the_client_takes_either(
    header: str, protocol: Protocol, name: str
) -> None:
    found = choose_format(
        parse_capabilities(header), [], protocol=protocol, table="a.b"
    )

    assert found.name == name


@cases(
    "header, features, named",
    {
        "parquet alone": ("", ("columnMapping",), ["columnMapping"]),
        "a feature that the client does not name": (
            PYTHON,
            ("columnMapping", "typeWidening"),
            ["typeWidening"],
        ),
        "none named": ("responseformat=delta", ("timestampNtz",), ["timestampNtz"]),
        "what no answer carries": (
            "responseformat=delta;readerfeatures=catalogmanaged,later",
            ("catalogManaged", "later"),
            ["catalogManaged", "later"],
        ),
    },
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
