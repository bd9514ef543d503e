import pickle
from pathlib import Path

from deltaweb.storage.place import TablePlace


class TestTablePlace:
    def test_options_of_the_storage_are_in_no_text(self) -> None:
        place = TablePlace("s3://lake/t", {"key": "hush"})

        assert "hush" not in f"{place} {place!r}"

    def test_opens_the_same_table_wherever_it_travels(self, tmp_path: Path) -> None:
        place = TablePlace(str(tmp_path), {}, (str(tmp_path),))

        there = pickle.loads(pickle.dumps(place))  # noqa: S301 (its own)

        assert there == place
        assert there.open().root == place.open().root == str(tmp_path)
