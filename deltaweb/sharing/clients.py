"""The clients that people read shares with, and whether they read a version.

A feature that a protocol merely allows asks nothing of a client: it is answered in the
delta format where it reads the feature there, and otherwise as if there were none.

Source: release notes of delta-sharing and delta-sharing-spark; the clients were tried
against this server, but for Power BI.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.clients import CANNOT, UNKNOWN, Answer, Support
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.verdicts import ClientVerdict, client_verdict
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import OPAQUE, PrimitiveType, StructType
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import (
    Misreading,
    fields_of,
    listed,
    misreadings,
    primitives,
)
from deltaweb.sharing.response_format import IN_DELTA, prefers_delta
from deltaweb.sharing.wire import delta, parquet


@dataclass(frozen=True, slots=True)
class ShareClient:
    """A client of shares.

    Attributes:
        in_delta: The features it reads in the delta format, each from a release on.
        by_python: Whether it reads through the python client.
    """

    name: str
    about: str
    first: str
    product: str
    in_delta: Mapping[str, str]
    by_python: bool = False

    def support(self, feature: str) -> Support:
        """Return whether it reads a version that uses a feature."""
        if feature not in IN_DELTA:
            return CANNOT
        if feature in self.in_delta:
            return Support(Answer.READS, self.in_delta[feature])
        return UNKNOWN

    @property
    def capabilities(self) -> Capabilities:
        formats = (delta.NAME, parquet.NAME) if self.in_delta else ()
        return Capabilities(formats, frozenset(map(str.lower, self.in_delta)))


_PYTHON: Final[Mapping[str, str]] = {
    "deletionVectors": "1.1",
    "columnMapping": "1.1",
    "timestampNtz": "1.4",
}
_SPARK: Final[Mapping[str, str]] = {
    "deletionVectors": "3.1",
    "columnMapping": "3.1",
    "timestampNtz": "3.3",
}
_BY_PYTHON: Final = ("delta-sharing, Python", "0.1", "delta-sharing", _PYTHON, True)
SHARE_CLIENTS: Final = (
    ShareClient("pandas", *_BY_PYTHON),
    ShareClient("Spark", "delta-sharing-spark", "0.1", "delta-sharing-spark", _SPARK),
    ShareClient("Polars", *_BY_PYTHON),
    ShareClient("DuckDB", *_BY_PYTHON),
    ShareClient("Power BI", "Delta Sharing connector", "", "its connector", {}),
)


@dataclass(frozen=True, slots=True)
class ClientReading:
    """Whether one client reads a table as it is shared.

    Attributes:
        can_read: Whether it is known to return the table's rows.
        reason: Why it does not; empty when it does.
        minimum_version: The first release of it that reads the table, as text.
        response_format: The format it is answered in; "" where it is not answered.
        verdict: The same by the features that the version uses.
    """

    client: str
    can_read: bool
    reason: str
    minimum_version: str
    response_format: str
    verdict: ClientVerdict
    used: Sequence[str]


def client_readings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
) -> list[ClientReading]:
    """Return, for each client that people use, whether it reads a version.

    Args: As `misreadings`.
    """
    misread = misreadings(
        protocol, metadata, schema, has_deletion_vectors=has_deletion_vectors
    )
    readings = []
    for client in SHARE_CLIENTS:
        is_delta = bool(misread) or prefers_delta(client.capabilities, protocol)
        form = delta.NAME if is_delta else parquet.NAME
        readings.append(_reading(client, misread, metadata, schema, form))
    return readings


def _reading(
    client: ShareClient,
    misread: Sequence[Misreading],
    metadata: Metadata,
    schema: StructType,
    form: str,
) -> ClientReading:
    used = [misreading.feature for misreading in misread]
    verdict = client_verdict(used, {name: client.support(name) for name in used})
    reason = _refusal(client, misread, verdict)
    if not reason and client.by_python:
        reason = _python_refusal(schema, metadata)
        verdict = ClientVerdict(Answer.CANNOT) if reason else verdict
    if reason:
        return ClientReading(client.name, False, reason, "", "", verdict, used)  # noqa: FBT003 (its second field)
    release = verdict.release or client.first
    first = f"{client.product} {release}" if release else "any release of its connector"
    return ClientReading(client.name, True, "", first, form, verdict, used)  # noqa: FBT003


def _refusal(
    client: ShareClient, misread: Sequence[Misreading], verdict: ClientVerdict
) -> str:
    """Return why a client does not read a version; "" when its releases do."""
    if verdict.answer is Answer.READS:
        return ""
    unread = [
        misreading
        for misreading in misread
        if client.support(misreading.feature).answer is not Answer.READS
    ]
    if verdict.answer is Answer.CANNOT:
        return " ".join(misreading.reason for misreading in unread)
    names = ", ".join(
        describe_feature(misreading.feature).in_sentence for misreading in unread
    )
    return f"No release of it is known that reads {names}."


def _python_refusal(schema: StructType, metadata: Metadata) -> str:
    """Return why the python client cannot read what others can; "" when it can."""
    void = [
        field.name
        for field in schema.fields
        if field.data_type == PrimitiveType("void")
        or getattr(field.data_type, "spelling", "") == "null"
    ]
    if void:
        return f"The python client does not know the type void of {listed(void)}."
    unknown = [
        name
        for name, field in fields_of(schema)
        if OPAQUE in primitives(field.data_type)
    ]
    if unknown:
        return f"The python client does not know the type of {listed(unknown)}."
    partitioned = [
        name
        for name in metadata.partition_columns
        if (field := schema.find(name)) and field.data_type == PrimitiveType("binary")
    ]
    if partitioned:
        return (
            "The python client does not read the partition values of "
            f"{listed(partitioned)}, which is binary."
        )
    return ""
