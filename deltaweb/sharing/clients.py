"""Whether the known clients of shares read a version, in which format, and from when.

Only what a version uses counts: a feature that its protocol merely allows asks nothing
of a client.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from deltaweb.delta.features.known.clients import (
    CANNOT,
    SHARE,
    Answer,
    KnownClient,
    Support,
    clients_of,
)
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.readings import ClientVerdict, client_verdict
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import OPAQUE, StructType
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import (
    Misreading,
    fields_of,
    listed,
    misreadings,
    primitives,
)
from deltaweb.sharing.plain import left_in_plain
from deltaweb.sharing.response_format import IN_DELTA, prefers_delta
from deltaweb.sharing.wire import delta, parquet


class How(Enum):
    """The ways in which a client reads a shared table."""

    STORED = "reads as stored"
    PLAIN = "reads plain"
    CANNOT = "cannot"
    UNKNOWN = "not known"


class HelpfulSetting(Enum):
    """The setting of a shared table, or of a share, that lets a client read it."""

    NONE = ""
    PLAIN = "plain"
    IDS = "ids"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReading:
    """Whether one client reads a table as it is shared.

    Attributes:
        reason: Why it does not; empty when it does.
        minimum_version: The first release of it that reads the table, as text.
        response_format: The format it is answered in; "" where it is not answered.
        verdict: The same by the features that the version uses.
        remedy: What would let it read the table, if it does not.
    """

    client: KnownClient
    how: How
    reason: str = ""
    minimum_version: str = ""
    response_format: str = ""
    verdict: ClientVerdict
    used: Sequence[str]
    remedy: HelpfulSetting = HelpfulSetting.NONE

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def since(self) -> str:
        """From which release on it reads the table, in words."""
        first = self.minimum_version
        return "any release" if first.startswith("any") else f"from {first}"

    @property
    def can_read(self) -> bool:
        """Whether it is known to return the table's rows."""
        return self.how in {How.STORED, How.PLAIN}


def client_readings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
    is_plain: bool = False,
) -> list[ClientReading]:
    """Return, for each client of the sharing protocol, whether it reads a version.

    Args: As `misreadings`.
        is_plain: Whether recipients get plain files.
    """
    found = misreadings(
        protocol, metadata, schema, has_deletion_vectors=has_deletion_vectors
    )
    plain = left_in_plain(found)
    readings = []
    for client in clients_of(SHARE):
        prefers = prefers_delta(capabilities_of(client), protocol)
        form = delta.NAME if found or prefers else parquet.NAME
        stored = _reading(client, found, metadata, schema, form)
        form = delta.NAME if plain else parquet.NAME
        by_plain = _reading(client, plain, metadata, schema, form)
        if is_plain:
            is_copied = by_plain.can_read and len(plain) < len(found)
            stored = replace(by_plain, how=How.PLAIN) if is_copied else by_plain
        elif not stored.can_read and by_plain.can_read:
            stored = replace(stored, remedy=HelpfulSetting.PLAIN)
        readings.append(stored)
    return readings


def capabilities_of(client: KnownClient) -> Capabilities:
    """Return what a client says of itself in its requests."""
    return Capabilities(client.formats, frozenset(map(str.lower, client.supports)))


def share_support(client: KnownClient, feature: str) -> Support:
    """Return whether a client of shares reads a version that uses a feature."""
    if feature not in IN_DELTA or delta.NAME not in client.formats:
        return CANNOT
    return client.support(feature)


def judged(
    client: KnownClient,
    supports: Mapping[str, Support],
    reasons: Mapping[str, str],
    *,
    refusal: str = "",
    response_format: str = "",
) -> ClientReading:
    """Return the reading of a client.

    Args:
        supports: What it does with each feature that the version uses.
        reasons: Why each of these stops a client, as sentences.
        refusal: What else stops it; "" for nothing.
    """
    used = [*supports]
    verdict = client_verdict(used, supports)
    reason = _refusal(supports, reasons, verdict)
    if refusal and not reason:
        reason, verdict = refusal, ClientVerdict(Answer.CANNOT)
    if reason:
        how = How.UNKNOWN if verdict.answer is Answer.UNKNOWN else How.CANNOT
        return ClientReading(
            client=client, how=how, reason=reason, verdict=verdict, used=used
        )
    release = verdict.release or client.first or client.tried
    first = f"{client.product} {release}" if release else "any release of its connector"
    return ClientReading(
        client=client,
        how=How.STORED,
        minimum_version=first,
        response_format=response_format,
        verdict=verdict,
        used=used,
    )


def _refusal(
    supports: Mapping[str, Support], reasons: Mapping[str, str], verdict: ClientVerdict
) -> str:
    """Return why a client does not read a version; "" when its releases do."""
    if verdict.answer is Answer.READS:
        return ""
    unread = [name for name, one in supports.items() if one.answer is not Answer.READS]
    if verdict.answer is Answer.CANNOT:
        return " ".join(reasons[name] for name in unread)
    names = ", ".join(describe_feature(name).in_sentence for name in unread)
    return f"No release of it is known that reads {names}."


def _reading(
    client: KnownClient,
    misread: Sequence[Misreading],
    metadata: Metadata,
    schema: StructType,
    form: str,
) -> ClientReading:
    return judged(
        client,
        {one.feature: share_support(client, one.feature) for one in misread},
        {one.feature: one.reason for one in misread},
        refusal=next(_unread_types(client, metadata, schema, form), ""),
        response_format=form,
    )


def _unread_types(
    client: KnownClient, metadata: Metadata, schema: StructType, form: str
) -> Iterator[str]:
    """Yield which columns a client cannot read although others can."""
    for type_name in sorted(client.unread_types):
        names = [
            name
            for name, field in fields_of(schema)
            if type_name in primitives(field.data_type)
        ]
        if names:
            kind = "" if type_name == OPAQUE else f" {type_name}"
            yield f"{client.product} does not know the type{kind} of {listed(names)}."
    if form != parquet.NAME:
        return
    for type_name in sorted(client.unread_partitions):
        names = [
            name
            for name in metadata.partition_columns
            if (field := schema.find(name)) and type_name in primitives(field.data_type)
        ]
        if names:
            yield (
                f"{client.product} does not read the partition values of "
                f"{listed(names)}, which is {type_name}."
            )
