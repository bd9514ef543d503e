import pytest

from deltaweb.delta.log.paths import (
    MANY_NAMES,
    CheckpointName,
    checkpoint_name,
    checkpoint_part_names,
    commit_name,
    parse_checkpoint_name,
    parse_commit_name,
    parse_commit_names,
    version_prefix,
)
from tests.support import cases

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def test_names_are_padded_to_twenty_digits() -> None:
    assert commit_name(0) == "00000000000000000000.json"
    assert checkpoint_name(10) == "00000000000000000010.checkpoint.parquet"
    assert checkpoint_part_names(10, 2) == (
        "00000000000000000010.checkpoint.0000000001.0000000002.parquet",
        "00000000000000000010.checkpoint.0000000002.0000000002.parquet",
    )
    assert commit_name(7).startswith(version_prefix(7))


@pytest.mark.parametrize("version", [0, 9, 1_000_003, 2**63 - 1])
def test_names_come_back_as_their_versions(version: int) -> None:
    assert parse_commit_name(commit_name(version)) == version
    assert parse_checkpoint_name(checkpoint_name(version)) == CheckpointName(version)
    parts = [parse_checkpoint_name(name) for name in checkpoint_part_names(version, 2)]
    assert parts == [
        CheckpointName(version, 1, 2, is_multi_part=True),
        CheckpointName(version, 2, 2, is_multi_part=True),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "0.json",
        "0000000000000000000.json",
        "000000000000000000000.json",
        "00000000000000000000.json.tmp",
        ".00000000000000000000.json",
        "00000000000000000000.JSON",
        "00000000000000000000.json\n",
        "0000000000000000000a.json",
        "00000000000000000000.crc",
        "99999999999999999999.json",
        "00000000000000000001.00000000000000000003.compacted.json",
        "٠" * 20 + ".json",
    ],
)
def test_other_names_are_no_commits(name: str) -> None:
    assert parse_commit_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000001.checkpoint.json",
        "00000000000000000001.checkpoint.parquet.tmp",
        "00000000000000000001.checkpoint.1.2.parquet",
        "00000000000000000001.checkpoint.0000000000.0000000002.parquet",
        "00000000000000000001.checkpoint.0000000003.0000000002.parquet",
        "99999999999999999999.checkpoint.parquet",
        f"00000000000000000001.checkpoint.{UUID}.parquet.tmp",
        f"00000000000000000001.checkpoint.{UUID[:-1]}.parquet",
        f"00000000000000000001.checkpoint.{UUID}.crc",
        f"99999999999999999999.checkpoint.{UUID}.json",
    ],
)
def test_other_names_are_no_checkpoints(name: str) -> None:
    assert parse_checkpoint_name(name) is None


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_checkpoints_may_be_named_by_a_uuid(kind: str) -> None:
    name = f"00000000000000000005.checkpoint.{UUID}.{kind}"

    assert parse_checkpoint_name(name) == CheckpointName(5, has_uuid=True)


@cases(
    "odd",
    {
        "the hint": "_last_checkpoint",
        "a newline behind": "00000000000000000007.json\n",
        "digits of another script": "٠" * 20 + ".json",
        "beyond a long": "9" * 20 + ".json",
        "no Unicode": "\udc80.json",
    },
)
def test_many_names_are_read_as_each_of_them_is(odd: str) -> None:
    names = [*(commit_name(version) for version in range(MANY_NAMES)), odd]

    assert parse_commit_names(names) == [*range(MANY_NAMES), None]
