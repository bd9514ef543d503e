"""Folders that name times, with their zone and without."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType, StructField
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.table import DeltaTable
from deltaweb.writer.making.conversion import Conversion, plan_conversion
from tests.support.logs.spelled_partitions import spelled


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of a row at a place."""

    def written(place: str, **columns: object) -> Path:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
        return path

    return written


class TestTimesOfFolders:
    ZONED = "ts=2024-03-10T02%3A30%3A00Z"
    OFFSET = "ts=2024-03-10T02%3A30%3A00-05:00"
    ZONELESS = "ts=2024-03-10 02%3A30%3A00"
    BEFORE_NOON = "ts=2024-11-03 01%3A30%3A00.25"

    @staticmethod
    def texts(table: DeltaTable) -> set[str]:
        return {said["ts"] for said in spelled(table)}

    def test_keep_their_zone(self, tmp_path: Path, write: Callable[..., Path]) -> None:
        write(f"{self.ZONED}/1.parquet", id=[1])
        write(f"{self.OFFSET}/1.parquet", id=[2])

        table = DeltaTable.convert(
            str(tmp_path), partition_schema="ts TIMESTAMP", time_zone="Asia/Kolkata"
        )

        assert self.texts(table) == {
            "2024-03-10T02:30:00.000000Z",
            "2024-03-10T07:30:00.000000Z",
        }

    @pytest.mark.parametrize(
        ("zone", "texts", "said"),
        [
            pytest.param(
                None,
                {"2024-03-10 02:30:00", "2024-11-03 01:30:00.250000"},
                "kept as they are",
                id="no zone",
            ),
            pytest.param(
                "UTC",
                {"2024-03-10T02:30:00.000000Z", "2024-11-03T01:30:00.250000Z"},
                "read as UTC",
                id="UTC",
            ),
            pytest.param(
                "America/New_York",  # one is in a gap of clocks, the other twice there
                {"2024-03-10T07:30:00.000000Z", "2024-11-03T05:30:00.250000Z"},
                "read as America/New_York",
                id="summer time",
            ),
            pytest.param(
                "Asia/Kolkata",
                {"2024-03-09T21:00:00.000000Z", "2024-11-02T20:00:00.250000Z"},
                "read as Asia/Kolkata",
                id="half an hour",
            ),
            pytest.param(
                "-03:30",
                {"2024-03-10T06:00:00.000000Z", "2024-11-03T05:00:00.250000Z"},
                "read as -03:30",
                id="an offset",
            ),
        ],
    )
    def test_without_a_zone_take_the_given_one(
        self,
        tmp_path: Path,
        write: Callable[..., Path],
        zone: str | None,
        texts: set[str],
        said: str,
    ) -> None:
        write(f"{self.ZONELESS}/1.parquet", id=[1])
        write(f"{self.BEFORE_NOON}/1.parquet", id=[2])
        asked = Conversion(
            partition_schema=[StructField("ts", PrimitiveType("timestamp"))],
            time_zone=zone,
        )

        plan = plan_conversion(DeltaTable(str(tmp_path)).store, asked)
        table = DeltaTable.convert(
            str(tmp_path), partition_schema="ts TIMESTAMP", time_zone=zone
        )

        assert self.texts(table) == texts
        assert said in plan.said_of_times
        assert plan.describe()["zoneless_times"] == {"ts": 2}

    def test_are_of_a_zone_that_is_one(self, tmp_path, write):
        write(f"{self.ZONELESS}/1.parquet", id=[1])

        with pytest.raises(TimeZoneUnknownError, match="No time zone is called 'Mars'"):
            DeltaTable.convert(str(tmp_path), time_zone="Mars")

    def test_of_a_local_column_have_no_zone(self, tmp_path, write):
        write(f"{self.ZONELESS}/1.parquet", id=[1])

        table = DeltaTable.convert(
            str(tmp_path),
            partition_schema="ts TIMESTAMP_NTZ",
            time_zone="America/New_York",
        )

        assert self.texts(table) == {"2024-03-10 02:30:00"}
