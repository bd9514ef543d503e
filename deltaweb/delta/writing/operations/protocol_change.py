"""What becomes of a table's protocol: upgraded by itself, or with what needs it.

A change of the definition asks for features (`protocol_knowing`). Where the protocol
has them it stays; else it goes up by as little as does, in the same commit, once
somebody has agreed to that: clients that do not know the new one are shut out, and
this cannot be undone.

Source: delta_protocol.md, "Protocol Evolution" and "Table Features".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from deltaweb.delta.features.registry import (
    BY_WRITER_VERSION,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
    required_features,
    writer_features,
)
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import ProtocolTooOldError, ProtocolUpgradeError
from deltaweb.delta.writing.operations.new_protocol import OF_READERS
from deltaweb.delta.writing.operations.properties import RESTS_ON
from deltaweb.delta.writing.transaction import Transaction


def upgrade_protocol(
    base: Definition,
    *,
    reader: int | None = None,
    writer: int | None = None,
    root: str,
) -> Transaction:
    """Return the transaction that raises the versions of the protocol.

    A writer version 7 lists the features that the versions before brought.
    """
    now = base.protocol
    reader = now.min_reader_version if reader is None else reader
    writer = now.min_writer_version if writer is None else writer
    if reader < now.min_reader_version or writer < now.min_writer_version:
        reason = (
            f"it is at reader {now.min_reader_version} and writer "
            f"{now.min_writer_version}, and versions never go down"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    if reader >= FEATURES_READER_VERSION and writer < FEATURES_WRITER_VERSION:
        reason = f"reader version {reader} needs writer version 7"
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    protocol = _raised(now, reader, writer)
    return Transaction(
        base=base,
        operation="UPGRADE PROTOCOL",
        parameters={
            "newProtocol": {"minReaderVersion": reader, "minWriterVersion": writer}
        },
        protocol=protocol if protocol != now else None,
    )


def _raised(now: Protocol, reader: int, writer: int) -> Protocol:
    """Return a protocol of higher versions, which lists what its own brought."""
    protocol = Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=_listed(now, reader),
        writer_features=now.writer_features,
    )
    if writer >= FEATURES_WRITER_VERSION and now.writer_features is None:
        return replace(protocol, writer_features=writer_features(now))
    return protocol


def _listed(now: Protocol, reader: int) -> Sequence[str] | None:
    """Return the features of readers; from version 3 on those that its number had."""
    if now.reader_features is not None or reader < FEATURES_READER_VERSION:
        return now.reader_features
    return required_features(now)


# === With what needs it ===


def protocol_knowing(  # noqa: PLR0913 (each is asked of it)
    base: Definition,
    features: Iterable[str],
    *,
    root: str,
    operation: str,
    upgrade: bool = False,
    listed: Iterable[str] = (),
) -> Protocol:
    """Return the protocol that has some features: the present one where it does.

    Args:
        operation: What asks, for the error: `ADD CONSTRAINT`.
        upgrade: Whether it is agreed that the protocol goes up.
        listed: Features that it is to list by name, whatever its version brings.
    """
    named = [*listed]
    protocol = upgraded(base.protocol, features, listed=named)
    if protocol == base.protocol or upgrade or _only_lists(base, protocol, named):
        return protocol
    raise ProtocolTooOldError(
        root=root,
        version=base.version,
        operation=operation,
        now=base.protocol,
        then=protocol,
        features=_new(base.protocol, protocol),
    )


def check_known(base: Definition, feature: str, *, root: str) -> None:
    """Refuse what a table's protocol does not tell other writers to keep."""
    if feature not in writer_features(base.protocol):
        reason = f"it lacks {feature}: set delta.feature.{feature} = supported first"
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)


def upgraded(
    now: Protocol, features: Iterable[str], *, listed: Iterable[str] = ()
) -> Protocol:
    """Return the lowest protocol from another one on that has some features.

    One that goes by versions alone goes on so while that is enough; one that lists
    features lists the new ones, too, and what they rest on.

    Args:
        listed: What it is to list by name.
    """
    known, there = writer_features(now), now.writer_features or ()
    named = [*dict.fromkeys(name for name in listed if name not in there)]
    wanted = [*dict.fromkeys(name for name in features if name not in known), *named]
    if not wanted:
        return now
    lists = now.writer_features is not None or bool(named)
    if not lists and (version := _bringing(wanted)):
        return replace(now, min_writer_version=version)
    below = [rest for name in wanted for rest in RESTS_ON.get(name, ())]
    names = [*dict.fromkeys([*wanted, *below])]
    of_readers = [name for name in names if name in OF_READERS]
    reader = FEATURES_READER_VERSION if of_readers else now.min_reader_version
    protocol = _raised(now, reader, FEATURES_WRITER_VERSION)
    writers = dict.fromkeys([*(protocol.writer_features or ()), *names])
    if of_readers:
        readers = dict.fromkeys([*(protocol.reader_features or ()), *of_readers])
        protocol = replace(protocol, reader_features=[*readers])
    return replace(protocol, writer_features=[*writers])


def _bringing(features: Sequence[str]) -> int | None:
    """Return the writer version that brings features; None where lists alone do."""
    brought: set[str] = set()
    for version, names in BY_WRITER_VERSION.items():
        brought.update(names)
        if brought.issuperset(features) and not OF_READERS.intersection(features):
            return version
    return None


def _only_lists(base: Definition, protocol: Protocol, named: Sequence[str]) -> bool:
    """Return whether nothing comes but the features that were asked for by name."""
    now = base.protocol
    versions = (now.min_reader_version, now.min_writer_version)
    if versions != (protocol.min_reader_version, protocol.min_writer_version):
        return False
    below = {rest for name in named for rest in RESTS_ON.get(name, ())}
    return {*_new(now, protocol)} <= {*named} | below


def _new(now: Protocol, then: Protocol) -> list[str]:
    known = writer_features(now)
    return [name for name in writer_features(then) if name not in known]
