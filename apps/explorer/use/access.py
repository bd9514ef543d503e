"""Which clients the code for a version is for, and why the others do not read it.

It is the knowledge of the page `Readers`, in sentences.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from deltaweb.delta.features.known.clients import Answer
from deltaweb.delta.features.known.readings import direct_readings
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructType,
)
from deltaweb.sharing.clients import client_readings
from deltaweb.web.explorer.use.snippets.tools import DELTAWEB, SHARING
from deltaweb.web.explorer.version.facts import vectors_of, version_facts
from deltaweb.web.explorer.version.table_version import TableVersion

_PYTHON_OF_SHARES: Final = "pandas"


@dataclass(frozen=True, slots=True)
class Access:
    """Who reads a version.

    Attributes:
        refusals: Why a client does not, a sentence, by its name.
        doubts: The same where it is not known.
        has_text_partitions: Whether folders hold any text, as values of partitions.
        has_nested: Whether any of its columns holds arrays, maps or structs.
        has_variants: Whether any of its columns is a variant, or holds one.
    """

    refusals: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    has_text_partitions: bool = False
    has_nested: bool = False
    has_variants: bool = False


def access_to(at: TableVersion, *, is_shared: bool) -> Access:
    """Return who reads a version.

    Args:
        at: The version.
        is_shared: Whether clients of shares are asked for, too.
    """
    # What a share hands out depends on its vectors; for others the protocol decides.
    facts = version_facts(at, vectors_of(at)[0] if is_shared else None)
    if facts is None:
        return Access()
    refusal = at.protocol.unsupported_reason if at.protocol else ""
    return access_by(facts, refusal=refusal, is_shared=is_shared)


def access_by(
    facts: VersionFacts, *, refusal: str = "", is_shared: bool = False
) -> Access:
    """Return who reads a version, by what is known of it.

    Args:
        facts: What is known of the version.
        refusal: Why it is not read here, or nothing.
        is_shared: Whether clients of shares are asked for, too.
    """
    told = [*_direct(facts), *(_of_share(facts) if is_shared else ())]
    if refusal:
        told.append((DELTAWEB, Answer.CANNOT, refusal))
    return Access(
        refusals={name: why for name, answer, why in told if answer is Answer.CANNOT},
        doubts={name: why for name, answer, why in told if answer is Answer.UNKNOWN},
        has_text_partitions=_has_text_partitions(facts),
        has_nested=any(
            isinstance(field.data_type, (StructType, ArrayType, MapType))
            for field in facts.fields()
        ),
        has_variants=bool(facts.columns_of({"variant"})),
    )


def _direct(facts: VersionFacts) -> Iterator[tuple[str, Answer, str]]:
    for reading in direct_readings(required_features(facts.protocol), facts):
        name, answer = reading.client.name, reading.verdict.answer
        if answer is Answer.CANNOT:
            yield name, answer, f"{name} is {reading.reason}."
        elif answer is Answer.UNKNOWN:
            yield name, answer, f"Whether {name} reads it: {reading.reason}."


def _of_share(facts: VersionFacts) -> Iterator[tuple[str, Answer, str]]:
    if facts.schema is None:
        return
    vectors = None if facts.num_vectors is None else facts.num_vectors > 0
    readings = client_readings(
        facts.protocol, facts.metadata, facts.schema, has_deletion_vectors=vectors
    )
    for reading in readings:
        if reading.client == _PYTHON_OF_SHARES:
            yield SHARING, reading.verdict.answer, reading.reason


def _has_text_partitions(facts: VersionFacts) -> bool:
    if facts.schema is None:
        return bool(facts.metadata.partition_columns)
    return any(
        field.data_type == PrimitiveType("string")
        for name in facts.metadata.partition_columns
        if (field := facts.schema.find(name)) is not None
    )
