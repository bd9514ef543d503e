"""A table of which recipients see a part, and what they are served of it."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from django.utils import timezone

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.preparing import PreparedTable, prepare_share
from apps.sharing.access.grants.room import expire
from apps.sharing.models import SharedTable
from apps.tables.index.engine import Engine
from deltaweb.delta.changes.row_changes import CHANGE_TYPE as KIND
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.log.file_actions import DELETION_VECTOR, PARTITION_VALUES, VECTOR
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.data_file import OpenFile
from deltaweb.delta.scan.rows import RowSource, read_rows
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Answer, Caller, body_of, lines, local

DELTA = "responseformat=delta;readerfeatures=deletionvectors,columnmapping"
IN_DELTA = {"delta-sharing-capabilities": DELTA}


@dataclass
class Ruled:
    """A shared table, and who reads it.

    Attributes:
        bytes_served: Every body that was answered so far: lines and files.
    """

    table: DeltaTable
    shared: SharedTable
    bytes_served: list[bytes] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The table as recipients address it."""
        name = f"schemas/{self.shared.schema}/tables/{self.shared.name}"
        return f"/shares/{self.shared.share.name}/{name}"

    def rule(self, condition: str = "", *columns: str) -> None:
        """Share a part of the table."""
        SharedTable.objects.filter(id=self.shared.id).update(
            condition=condition, columns=list(columns)
        )

    def prepare(
        self, *, engine: Engine | None = None, proves: bool = False
    ) -> list[PreparedTable]:
        """Make the newest version ready."""
        return prepare_share(
            self.shared.share,
            reports=Reports(),
            engine=engine,
            proves=proves,
            now=timezone.now(),
        )

    def expire(self, *paths: str) -> int:
        """Erase files as if they had not been read for long; return how many.

        Args:
            paths: Of their sources; none for all files.
        """
        files = self.shared.prepared_files.all()
        found = files.filter(source_path__in=paths) if paths else files
        found.update(last_used_at=timezone.now() - timedelta(days=4_000))
        return len(expire(self.shared.share, now=timezone.now()))

    def query(self, caller: Caller, body: object = None, **headers: str) -> Answer:
        """Ask for files, and keep what is answered."""
        answer = caller.query(self.path, body, **(IN_DELTA | headers))
        self.bytes_served.append(body_of(answer))
        return answer

    def rows(self, caller: Caller, body: object = None) -> list[dict[str, Any]]:
        """The rows that a recipient reads, by id; every byte of them is kept."""
        answer = self.query(caller, body)
        assert answer.status_code == 200, body_of(answer)
        first, second, *files = lines(answer)
        source = _source(
            first["protocol"]["deltaProtocol"],
            second["metaData"]["deltaMetadata"],
            [line["file"]["deltaSingleAction"]["add"] for line in files],
            lambda url: pa.BufferReader(self.fetch(caller, url)),
        )
        found = read_rows(source).to_pylist()
        return sorted(found, key=lambda row: str(row.get("id")))

    def changes(
        self, caller: Caller, first: int, last: int | None = None
    ) -> list[tuple[int, str, dict[str, Any]]]:
        """The changes that a recipient reads: version, kind and row of each."""
        asked = f"?startingVersion={first}"
        asked += "" if last is None else f"&endingVersion={last}"
        answer = caller.get(f"{self.path}/changes{asked}", **IN_DELTA)
        self.bytes_served.append(body_of(answer))
        return self._changed(caller, answer)

    def stream(
        self, caller: Caller, first: int
    ) -> list[tuple[int, str, dict[str, Any]]]:
        """The same of a stream: of files that were added or removed."""
        return self._changed(caller, self.query(caller, {"startingVersion": first}))

    def _changed(
        self, caller: Caller, answer: Answer
    ) -> list[tuple[int, str, dict[str, Any]]]:
        assert answer.status_code == 200, body_of(answer)
        protocol, metadata, *files = lines(answer)
        found = []
        for line in files:
            one = line["file"]
            ((kind, action),) = one["deltaSingleAction"].items()
            source = _source(
                protocol["protocol"]["deltaProtocol"],
                metadata["metaData"]["deltaMetadata"],
                [action],
                lambda url: pa.BufferReader(self.fetch(caller, url)),
            )
            if kind == "cdc":
                kinds = StructField(KIND, PrimitiveType("string"))
                fields = (*source.schema.fields, kinds)
                source = replace(source, schema=StructType(fields))
            read = read_rows(source).to_pylist()
            found += [(one["version"], row.pop(KIND, kind), row) for row in read]
        return sorted(found, key=str)

    def fetch(self, caller: Caller, url: str) -> bytes:
        """The bytes of a file, which are kept."""
        answer = caller.get(local(url))
        assert answer.status_code == 200
        self.bytes_served.append(body_of(answer))
        close_file(answer)
        return self.bytes_served[-1]

    def told(self, caller: Caller) -> dict[str, Any]:
        """The metadata that a recipient is told."""
        answer = caller.get(f"{self.path}/metadata", **IN_DELTA)
        self.bytes_served.append(body_of(answer))
        found: dict[str, Any] = lines(answer)[1]["metaData"]
        return found

    def has_served(self, *texts: str) -> list[str]:
        """Which of some texts stand in a byte that was served, as they are."""
        whole = b"\n".join(self.bytes_served)
        return [text for text in texts if text.encode() in whole]


def _source(
    protocol: dict[str, Any],
    metadata: dict[str, Any],
    adds: list[dict[str, Any]],
    open_file: OpenFile,
) -> RowSource:
    """What the lines of an answer in the delta format say of rows."""
    told = Metadata(
        id=metadata["id"],
        schema_string=metadata["schemaString"],
        partition_columns=metadata["partitionColumns"],
        configuration=metadata["configuration"],
    )
    read = Protocol(
        min_reader_version=protocol["minReaderVersion"],
        min_writer_version=protocol["minWriterVersion"],
        reader_features=protocol.get("readerFeatures"),
    )
    files = {
        "path": pa.array([add["path"] for add in adds], pa.string()),
        "partition_values": pa.array(
            [list(add["partitionValues"].items()) for add in adds], PARTITION_VALUES
        ),
        VECTOR: pa.array([add.get("deletionVector") for add in adds], DELETION_VECTOR),
    }
    return RowSource(
        schema=table_schema(read, told),
        partition_columns=told.partition_columns,
        files=pa.table(files),
        open_file=open_file,
    )


def close_file(answer: Answer) -> None:
    """Close the file of an answer; its own `close` ends the test's database, too."""
    for close in answer._resource_closers:  # noqa: SLF001 (Django has no other way)
        close()


SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("region", pa.string()),
        pa.field("salary", pa.int64()),
        pa.field("note", pa.string()),
    ]
)


def rows(first: int, count: int, region: str | None, note: str = "n") -> pa.Table:
    """Rows with ids from one on."""
    ids = range(first, first + count)
    return pa.table(
        {
            "id": list(ids),
            "region": [region] * count,
            "salary": [7_000_000 + one for one in ids],
            "note": [f"{note}-{one}" for one in ids],
        },
        schema=SCHEMA,
    )


def new_staff(root: Path, **facts: Any) -> DeltaTable:  # noqa: ANN401 (of a table)
    """A table of three files: of one region each, and of both."""
    table = DeltaTable.create(str(root), SCHEMA, **facts)
    table.append(rows(0, 5, "EU"))
    table.append(rows(5, 5, "US", "secret"))
    table.append(pa.concat_tables([rows(10, 3, "EU"), rows(13, 2, "US", "secret")]))
    return table
