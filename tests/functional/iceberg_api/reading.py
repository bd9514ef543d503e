"""A table of the Iceberg door read by pyiceberg, with every byte that it is served."""

import io
import json
from dataclasses import dataclass, field
from typing import Any

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile
from pyiceberg.manifest import DataFile
from pyiceberg.table import StaticTable
from pyiceberg.table.metadata import TableMetadataUtil

from tests.functional.iceberg_api.clients import S3, body, catalog
from tests.functional.sharing_api.calls import Caller, body_of
from tests.functional.sharing_api.ruled import close_file


@dataclass
class Loaded:
    """A table as a recipient has loaded it.

    Attributes:
        objects: Every object that was fetched, by its location.
    """

    location: str
    metadata: Any
    s3: S3
    objects: dict[str, bytes] = field(default_factory=dict)

    def fetch(self, location: str) -> bytes:
        """The bytes of an object, which are kept."""
        if location in self.objects:
            return self.objects[location]
        answer = self.s3.ask(location)
        assert answer.status_code == 200, (location, body_of(answer))
        self.objects[location] = body_of(answer)
        close_file(answer)
        return self.objects[location]

    @property
    def table(self) -> StaticTable:
        """The table, for pyiceberg."""
        return StaticTable(
            ("hr", "staff"),
            TableMetadataUtil.parse_obj(self.metadata),
            self.location,
            _DoorIO(self),
            NoopCatalog("door"),
        )

    def files(self) -> list[DataFile]:
        """What manifests say of its files, deletion vectors among them."""
        table = self.table
        snapshot = table.current_snapshot()
        assert snapshot is not None
        return [
            entry.data_file
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """The rows that it has, by id."""
        for file in self.files():
            self.fetch(file.file_path)  # pyiceberg would from threads of its own
        found = self.table.scan().to_arrow().to_pylist()
        return sorted(found, key=lambda row: str(row.get("id")))

    def read_all(self) -> bytes:
        """All that is served of it: metadata, their list, manifests, and files."""
        self.fetch(self.location)
        self.rows()
        told = [json.dumps(self.metadata).encode(), *self.objects.values()]
        names = [location.encode() for location in self.objects]
        return b"\n".join([*told, *names])


def load(caller: Caller, path: str) -> Loaded:
    """Load a table by the catalogue."""
    answer = catalog(caller, path)
    assert answer.status_code == 200, answer.content
    found = body(answer)
    return Loaded(found["metadata-location"], found["metadata"], S3(found["config"]))


def every_status(asking: Loaded, names: Loaded) -> set[int]:
    """What one who asks with its keys is answered for names that another was given."""
    if not names.objects:
        names.read_all()
    answers = [asking.s3.ask(location) for location in names.objects]
    for answer in answers:
        close_file(answer)
    return {answer.status_code for answer in answers}


class _DoorIO(FileIO):
    """Files as the door's S3 face gives them."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self._loaded = loaded

    def new_input(self, location: str) -> InputFile:
        return _DoorFile(location, self._loaded)

    def new_output(self, location: str) -> OutputFile:
        raise NotImplementedError

    def delete(self, location: str | InputFile | OutputFile) -> None:
        raise NotImplementedError


class _DoorFile(InputFile):
    def __init__(self, location: str, loaded: Loaded) -> None:
        super().__init__(location)
        self._loaded = loaded

    def __len__(self) -> int:
        return len(self._loaded.fetch(self.location))

    def exists(self) -> bool:
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: FBT001, FBT002 (pyiceberg's)
        del seekable
        return io.BytesIO(self._loaded.fetch(self.location))
