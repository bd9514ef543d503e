"""The objects of a version that are made for clients: its manifests and their list.

Files stand in the order of their paths, so that equal versions give equal objects
wherever they are made, and a manifest holds few partitions.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector
from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.iceberg.access.object_keys import PathSealer
from deltaweb.iceberg.avro_schemas import WITH_VECTORS
from deltaweb.iceberg.errors import InexpressibleError
from deltaweb.iceberg.files import DataFiles, data_files, has_row_counts
from deltaweb.iceberg.manifests import (
    ADDED,
    DATA,
    DELETES,
    EXISTING,
    FILES_A_MANIFEST,
    ListedManifest,
    SnapshotFacts,
    VectorFiles,
    data_manifest,
    manifest_list,
    vector_manifest,
)
from deltaweb.iceberg.metadata import TableVersion
from deltaweb.iceberg.puffin import BLOB_START, PuffinVector
from deltaweb.iceberg.schema import FieldIds
from deltaweb.iceberg.served_file import ServedForm

LIST: Final = "list.avro"
THREADS: Final = 2  # that make manifests: most of the work is numpy's and Arrow's
MAX_FILES: Final = 1_000_000
DATA_FILES, VECTORS = "data", "vectors"
REWRITTEN_FILES: Final = "rewritten"
WITH_IDS: Final = "-ids"
"""The end of the kinds of files that are served with field ids."""
IS_REWRITTEN: Final = "is_rewritten"
"""The column that marks what rules left of files, which lies beside the table."""
IS_ADDED: Final = "is_added"
"""The column that marks the files that the commit added, where only that was done."""
CHANGED_LOG: Final = "the log has changed since its index was made"
MAX_INLINE: Final = 2_000  # characters of a vector in the log, which is in its name


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNames:
    """The names of the objects of a version.

    Attributes:
        form: How data files are served; None as they are stored.
    """

    table_location: str
    version_location: str
    sealer: PathSealer
    form: ServedForm | None = None

    def data(self, paths: list[str], kind: str = DATA_FILES) -> pa.StringArray:
        """Return where clients fetch data files, by their paths below their root."""
        head = f"{self.table_location}/{kind}"
        if self.form is not None:
            head, kind = f"{head}{WITH_IDS}", f"{kind}{WITH_IDS}"
            paths = [f"{self.form.text}:{path}" for path in paths]
        texts = self.sealer.seal(kind, paths)
        return pa.array([f"{head}/{text}.parquet" for text in texts], pa.string())

    def files(self, rows: pa.Table) -> pa.StringArray:
        """Return where clients fetch files, each by the kind that it is of."""
        paths, is_rewritten = rows["relative_path"], rows[IS_REWRITTEN].combine_chunks()
        if not is_rewritten.true_count:
            return self.data(paths.to_pylist())
        locations = pa.nulls(rows.num_rows, pa.string())
        for kind, mask in (
            (DATA_FILES, pc.invert(is_rewritten)),
            (REWRITTEN_FILES, is_rewritten),
        ):
            found = self.data(paths.filter(mask).to_pylist(), kind)
            locations = pc.replace_with_mask(locations, mask, found)
        return locations

    def vector(self, named: "NamedVector") -> str:
        """Return where clients fetch a deletion vector."""
        (text,) = self.sealer.seal(VECTORS, [named.text])
        return f"{self.table_location}/{VECTORS}/{text}.puffin"


@dataclass(frozen=True, slots=True)
class NamedVector:
    """A deletion vector and its data file, as the name of an object holds them.

    Attributes:
        form: As in `ObjectNames`.
    """

    path: str
    fields: Mapping[str, Any]
    form: ServedForm | None = None

    @property
    def text(self) -> str:
        names = ("storageType", "pathOrInlineDv", "offset", "sizeInBytes")
        values = [self.fields[name] for name in (*names, "cardinality")]
        form = self.form.text if self.form else None
        return json.dumps([self.path, *values, form])

    @classmethod
    def of(cls, text: str) -> "NamedVector":
        """Return what `text` was made of."""
        path, kind, place, offset, size, cardinality, *form = json.loads(text)
        fields = {
            "storageType": kind,
            "pathOrInlineDv": place,
            "offset": offset,
            "sizeInBytes": size,
            "cardinality": cardinality,
        }
        # Names of earlier releases end with a number.
        is_form = bool(form) and isinstance(form[0], str)
        return cls(path, fields, ServedForm.of(form[0]) if is_form else None)


@dataclass(slots=True, eq=False)
class VersionObjects:
    """The objects of a version, by the last part of their names.

    Attributes:
        num_rows: Count of their rows, deleted ones too.
    """

    objects: dict[str, bytes] = field(default_factory=dict)
    num_files: int = 0
    num_rows: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.objects.values()))


def version_objects(
    rows: pa.Table,
    version: TableVersion,
    snapshot: SnapshotFacts,
    ids: FieldIds,
    names: ObjectNames,
) -> VersionObjects:
    """Make the manifests of a version, and their list.

    Args:
        rows: As `data_files` wants them, with marks in `IS_REWRITTEN`, and in
            `IS_ADDED` where the snapshot has added files.
    """
    _check(rows, version, snapshot)
    writer = _Writer(version, snapshot, ids, names)
    rows = rows.take(pc.sort_indices(rows["relative_path"]))
    with ThreadPoolExecutor(THREADS) as pool:
        made = pool.map(lambda part: writer.manifests(*part), _parts(rows, snapshot))
        for number, manifests in enumerate(made):
            writer.add(number, manifests)
    writer.made.objects[LIST] = manifest_list(writer.listed, snapshot)
    return writer.made


def _parts(rows: pa.Table, snapshot: SnapshotFacts) -> Iterator[tuple[pa.Table, int]]:
    """Yield the files of each manifest and the status of its entries.

    Files that were added have manifests of their own, so that readers of these files
    read no others.
    """
    chosen = [(rows, EXISTING)]
    if snapshot.has_added_files:
        is_added = rows[IS_ADDED]
        chosen = [
            (rows.filter(pc.invert(is_added)), EXISTING),
            (rows.filter(is_added), ADDED),
        ]
    for files, status in chosen:
        for first in range(0, files.num_rows, FILES_A_MANIFEST):
            yield files.slice(first, FILES_A_MANIFEST).combine_chunks(), status


def _check(rows: pa.Table, version: TableVersion, snapshot: SnapshotFacts) -> None:
    if rows.num_rows > MAX_FILES:
        raise InexpressibleError(reason=f"it has more than {MAX_FILES:,} files")
    if rows.num_rows and not has_row_counts(rows["num_records"]):
        raise InexpressibleError(
            reason="the log does not say of every file how many rows it has"
        )
    has_vectors = rows[VECTOR].null_count < rows.num_rows
    if has_vectors and snapshot.format_version < WITH_VECTORS:
        raise InexpressibleError(reason="a file has a deletion vector")
    if snapshot.has_added_files:
        added = rows.filter(rows[IS_ADDED])
        has_vectors = added[VECTOR].null_count < added.num_rows
        if has_vectors or added.num_rows != version.num_added_files:
            raise InexpressibleError(reason=CHANGED_LOG)


@dataclass(frozen=True, slots=True, eq=False)
class _Manifest:
    suffix: str
    content: int
    data: bytes
    files: DataFiles | VectorFiles
    num_rows: int
    status: int = EXISTING


@dataclass(frozen=True, slots=True, eq=False)
class _Writer:
    version: TableVersion
    snapshot: SnapshotFacts
    ids: FieldIds
    names: ObjectNames
    made: VersionObjects = field(default_factory=VersionObjects)
    listed: list[ListedManifest] = field(default_factory=list)

    def manifests(self, part: pa.Table, status: int) -> list[_Manifest]:
        files = self.files(part)
        num_rows = int(pc.sum(files.num_records).as_py() or 0)
        data = data_manifest(files, self.snapshot, status)
        made = [_Manifest("", DATA, data, files, num_rows, status)]
        vectors = self.vectors(part, files)
        if vectors is not None:
            data = vector_manifest(vectors, self.snapshot)
            num_deleted = int(pc.sum(vectors.num_deleted).as_py())
            made.append(_Manifest("-vectors", DELETES, data, vectors, num_deleted))
        return made

    def add(self, number: int, manifests: Iterable[_Manifest]) -> None:
        for one in manifests:
            if one.content == DATA:
                self.made.num_files += len(one.files)
                self.made.num_rows += one.num_rows
            self._list(f"{number}{one.suffix}.avro", one)

    def files(self, part: pa.Table) -> DataFiles:
        locations = self.names.files(part)
        columns, fields = self.version.columns, self.snapshot.fields
        files = data_files(part, locations, columns, fields, self.ids)
        room = self.names.form.room if self.names.form else 0
        return replace(files, sizes=pc.add(files.sizes, room))

    def vectors(self, part: pa.Table, files: DataFiles) -> VectorFiles | None:
        descriptors = part[VECTOR].combine_chunks()
        if descriptors.null_count == len(descriptors):
            return None
        with_one = pa.array(np.flatnonzero(descriptors.is_valid()))
        paths = part["relative_path"].take(with_one).to_pylist()
        data_locations = files.locations.take(with_one)
        found = [
            (NamedVector(path, fields, self.names.form), location)
            for path, fields, location in zip(
                paths,
                descriptors.take(with_one).to_pylist(),
                data_locations.to_pylist(),
                strict=True,
            )
        ]
        puffins = [puffin_of(named, location) for named, location in found]
        return VectorFiles(
            locations=pa.array([self.names.vector(named) for named, _ in found]),
            sizes=pa.array([one.size_bytes for one in puffins], pa.int64()),
            num_deleted=pa.array(
                [one.vector.cardinality for one in puffins], pa.int64()
            ),
            data_locations=data_locations,
            content_offsets=pa.array([BLOB_START] * len(puffins), pa.int64()),
            content_sizes=pa.array([one.blob_bytes for one in puffins], pa.int64()),
            partition=[values.take(with_one) for values in files.partition],
        )

    def _list(self, name: str, one: _Manifest) -> None:
        self.made.objects[name] = one.data
        self.listed.append(
            ListedManifest(
                location=f"{self.names.version_location}/{name}",
                length=len(one.data),
                content=one.content,
                num_files=len(one.files),
                num_rows=one.num_rows,
                partition=one.files.partition,
                status=one.status,
            )
        )


def puffin_of(named: NamedVector, data_location: str) -> PuffinVector:
    try:
        vector = DeletionVector.of(named.fields)
    except MalformedVectorError as error:
        raise InexpressibleError(reason=f"of a deletion vector {error}") from error
    if vector.path is None and len(vector.path_or_inline) > MAX_INLINE:
        raise InexpressibleError(reason="a large deletion vector lies in the log")
    return PuffinVector(vector, data_location)
