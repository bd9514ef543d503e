"""What a version's checksum file says of it, held against the log.

The file is a second opinion: where it is missing or torn nothing follows, and where it
differs either it or the log is wrong. No answer is ever taken from it.

Source: delta_protocol.md, "Version Checksum File".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import checksum_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.snapshot import Snapshot
from deltaweb.environment.bounded_json import parse_json

MAX_BYTES: Final = 32 << 20  # it may list all files, which are not read
MAX_BINS: Final = 10_000


class ChecksumState(Enum):
    """What came of looking at a checksum file."""

    MISSING = "there is none for this version"
    UNREADABLE = "it cannot be read"
    RIGHT = "it agrees with the log"
    WRONG = "it differs from the log"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a version's checksum file says of it."""

    state: ChecksumState
    differences: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        if not self.differences:
            return self.state.value
        return f"{self.state.value}: {', '.join(self.differences)}"

    def describe(self) -> dict[str, object]:
        return {"state": self.state.name, "differences": list(self.differences)}

    @classmethod
    def of_json(cls, raw: object) -> "Verdict | None":
        """Return what `describe` made JSON of; None for anything else."""
        fields = raw if isinstance(raw, dict) else {}
        states = {state.name: state for state in ChecksumState}
        state = states.get(str(fields.get("state")))
        names = fields.get("differences")
        differences = tuple(map(str, names)) if isinstance(names, list) else ()
        return None if state is None else cls(state, differences)


@dataclass(frozen=True, slots=True, eq=False)
class VersionFiles:
    """The files of a version, as far as a checksum file tells of them."""

    sizes: pa.ChunkedArray
    num_vectors: int


def check_version(
    store: LogStore, snapshot: Snapshot, files: VersionFiles | None = None
) -> Verdict:
    """Hold a version against its checksum file.

    Args:
        files: Its files where somebody has them already; the snapshot is not asked for
            any then, nor for transactions.

    Raises:
        DeltaError: If storage does not answer, or the version's log does not read.
    """
    try:
        data = store.read_head(checksum_name(snapshot.version), MAX_BYTES)
    except FileNotFoundError:
        return Verdict(ChecksumState.MISSING)
    try:
        recorded = parse_json(data)
    except (ValueError, RecursionError):
        return Verdict(ChecksumState.UNREADABLE)
    if not isinstance(recorded, dict):
        return Verdict(ChecksumState.UNREADABLE)
    wrong = tuple(
        name
        for name, is_right in _comparisons(recorded, snapshot, files)
        if name in recorded and recorded[name] is not None and not is_right
    )
    return Verdict(ChecksumState.WRONG if wrong else ChecksumState.RIGHT, wrong)


def _comparisons(
    recorded: Mapping[str, Any], snapshot: Snapshot, files: VersionFiles | None
) -> Iterator[tuple[str, bool]]:
    known = files or _files_of(snapshot)
    size_bytes = pc.sum(known.sizes).as_py() or 0
    yield "tableSizeBytes", recorded.get("tableSizeBytes") == size_bytes
    yield "numFiles", recorded.get("numFiles") == len(known.sizes)
    yield "numMetadata", recorded.get("numMetadata") == 1
    yield "numProtocol", recorded.get("numProtocol") == 1
    num_vectors = recorded.get("numDeletionVectorsOpt")
    yield "numDeletionVectorsOpt", num_vectors == known.num_vectors
    yield "protocol", _is_protocol(recorded.get("protocol"), snapshot)
    yield "metadata", _is_metadata(recorded.get("metadata"), snapshot)
    if files is None:
        yield "setTransactions", _are_transactions(recorded, snapshot)
    histogram = recorded.get("fileSizeHistogram")
    yield "fileSizeHistogram", _is_histogram(histogram, known.sizes)


def _files_of(snapshot: Snapshot) -> VersionFiles:
    files = snapshot.files
    vectors = files["dv_id"]
    return VersionFiles(files["size"], len(vectors) - vectors.null_count)


def _is_protocol(raw: object, snapshot: Snapshot) -> bool:
    try:
        found = parse_protocol(raw, path="") if isinstance(raw, dict) else None
    except DeltaError:
        return False
    ours = snapshot.protocol
    return found is not None and (
        (found.min_reader_version, found.min_writer_version)
        == (ours.min_reader_version, ours.min_writer_version)
        and {*(found.reader_features or ())} == {*(ours.reader_features or ())}
        and {*(found.writer_features or ())} == {*(ours.writer_features or ())}
    )


def _is_metadata(raw: object, snapshot: Snapshot) -> bool:
    try:
        found = parse_metadata(raw, path="") if isinstance(raw, dict) else None
    except DeltaError:
        return False
    return found == snapshot.metadata


def _are_transactions(recorded: Mapping[str, Any], snapshot: Snapshot) -> bool:
    raw = recorded.get("setTransactions")
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        return False
    said = {str(one.get("appId")): one.get("version") for one in raw}
    ours = {name: one.version for name, one in snapshot.transactions.items()}
    # A writer that is told to keep few of them leaves out the others.
    return all(name in ours and ours[name] == said[name] for name in said)


def _is_histogram(raw: object, file_sizes: pa.ChunkedArray) -> bool:
    fields = raw if isinstance(raw, dict) else {}
    try:
        bounds, counts, sums = (
            np.array(fields[name], np.int64)
            for name in ("sortedBinBoundaries", "fileCounts", "totalBytes")
        )
    except (KeyError, ValueError, TypeError, OverflowError):
        return False
    if not 0 < len(bounds) == len(counts) == len(sums) <= MAX_BINS or bounds[0] != 0:
        return False
    sizes = pc.fill_null(file_sizes, 0).to_numpy()
    places = np.searchsorted(bounds, sizes, side="right") - 1
    if len(places) and places.min() < 0:
        return False
    found = np.bincount(places, minlength=len(bounds))
    weighed = np.zeros(len(bounds), np.int64)
    np.add.at(weighed, places, sizes)
    return bool((found == counts).all() and (weighed == sums).all())
