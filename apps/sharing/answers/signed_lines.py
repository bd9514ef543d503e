"""The lines of files, each with URLs that are signed while the answer is sent.

Nothing else opens a signer: what comes here was judged by
`deltaweb.index.query.classification`, file by file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.sharing.access.earlier_urls import is_part
from apps.sharing.access.grants.prepared import location_of
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import terms_of
from apps.sharing.answers.row_count import ListedFiles
from apps.sharing.models import RecipientToken, SharedTable
from apps.tables.storage.connections import options_for
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.index.query.change_selection import ChangeSelection
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.restricted_version import PreparedPart
from deltaweb.sharing.response_format import ResponseFormat
from deltaweb.sharing.wire.lines import FileAnswer
from deltaweb.storage.location import is_local, normalize_location
from deltaweb.storage.signing.file_urls import (
    PATH_PREFIX,
    PREPARED_PREFIX,
    LocalFileSigner,
)
from deltaweb.storage.signing.signer import URLSigner, open_signer, sign_all


class NamedVersion(Protocol):
    """A version that was named: of `SharedVersion`, what matters here."""

    @property
    def version(self) -> int: ...

    @property
    def timestamp(self) -> datetime:
        """Time of its commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningPlan:
    """What the URLs of files are made from.

    Attributes:
        base_url: The server's public address.
        keys: The keys of the URLs of this server's own files.
        prepared_keys: Those of the URLs of rewritten ones.
        lifetime_s: How long a URL is good at most.
        part_lifetime_s: The same for a URL of an object store, where the recipient may
            not read the whole table: such a URL cannot be taken back.
        token: The caller's token, without which a URL of this server does not work.
        token_keys: The keys of tokens of pages and of refreshed URLs.
    """

    base_url: str
    keys: Sequence[bytes]
    prepared_keys: Sequence[bytes]
    lifetime_s: int
    part_lifetime_s: int
    now: datetime
    token: RecipientToken
    token_keys: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Signers:
    """What signs the files of a shared table.

    Attributes:
        prepared: What a rule left of some, rewritten; they lie elsewhere.
    """

    own: URLSigner
    prepared: URLSigner

    @property
    def expires_at(self) -> datetime:
        """When the first of the URLs ends."""
        return min(self.own.expires_at, self.prepared.expires_at)

    def of(self, part: FilePart | None) -> URLSigner:
        """Return what signs the files of a part."""
        return self.prepared if isinstance(part, PreparedPart) else self.own


def open_plan(shared: SharedTable, plan: SigningPlan, rule: TableRule) -> Signers:
    """Return what signs the files; no URL outlives the token that asked for it.

    Args:
        rule: The rule that the files were chosen under. URLs of this server end when
            another one holds.
    """
    own = _open_signer(shared, plan, rule, location=shared.table.location)
    if rule.is_stored:
        return Signers(own, own)
    location = location_of(shared.id)
    prepared = _open_signer(shared, plan, rule, location=location, is_prepared=True)
    return Signers(own, prepared)


def _open_signer(
    shared: SharedTable,
    plan: SigningPlan,
    rule: TableRule,
    *,
    location: str,
    is_prepared: bool = False,
) -> URLSigner:
    if not is_local(normalize_location(location)):
        lifetime_s = plan.lifetime_s
        if is_part(shared, is_whole=rule.is_whole):
            lifetime_s = min(lifetime_s, plan.part_lifetime_s)
        lifetime = _expiry(plan, lifetime_s) - plan.now
        return open_signer(
            location,
            options_for(location),
            now=plan.now,
            lifetime_s=max(1, int(lifetime.total_seconds())),
        )
    return LocalFileSigner(
        base_url=plan.base_url,
        share=shared.share.name,
        table_id=shared.id,
        token_id=plan.token.id,
        terms=terms_of(shared, rule),
        keys=plan.prepared_keys if is_prepared else plan.keys,
        expires_at=_expiry(plan, plan.lifetime_s),
        path_prefix=PREPARED_PREFIX if is_prepared else PATH_PREFIX,
    )


def _expiry(plan: SigningPlan, lifetime_s: int) -> datetime:
    return min(plan.now + timedelta(seconds=lifetime_s), plan.token.ends_at)


def signed_lines(
    selection: ListedFiles,
    response_format: ResponseFormat,
    *,
    signers: Signers,
    instants: frozenset[str],
    named: NamedVersion | None,
) -> Iterator[bytes]:
    """Yield the lines of files; those of a version that was named say its time."""
    expiration_ms = to_ms(signers.expires_at)
    timestamp_ms = None if named is None else to_ms(named.timestamp)
    # What is kept has partition values as the log has them.
    for part, batch in selection.part_batches(as_kept=not instants):
        signer = signers.of(part)
        answer = FileAnswer(
            urls=sign_all(signer, batch["relative_path"], batch["size"]),
            expiration_ms=expiration_ms,
            id_scheme=response_format.id_scheme,
            vector_urls=_vector_urls(batch, signer),
            instants=instants,
            version=None if named is None else named.version,
            timestamp_ms=timestamp_ms,
        )
        yield response_format.file_lines(batch, answer)


def signed_changes(
    selection: ChangeSelection,
    response_format: ResponseFormat,
    *,
    signer: URLSigner,
    instants: frozenset[str],
) -> Iterator[bytes]:
    """Yield the lines of files with changes, each of which says its version."""
    for batch in selection.batches():
        answer = FileAnswer(
            urls=sign_all(signer, batch["relative_path"], batch["size"]),
            expiration_ms=to_ms(signer.expires_at),
            id_scheme=response_format.id_scheme,
            vector_urls=_vector_urls(batch, signer),
            instants=instants,
        )
        yield response_format.change_lines(batch, answer)


def _vector_urls(batch: pa.RecordBatch, signer: URLSigner) -> pa.StringArray | None:
    """Return the URLs of deletion vectors, row for row; None where no file has one."""
    vectors, places = batch["deletion_vector"], batch["relative_vector_path"]
    if vectors.null_count == len(vectors):
        return None
    stored = pa.array(np.flatnonzero(places.is_valid()))
    sizes = vectors.field("sizeInBytes").take(stored)
    urls = sign_all(signer, places.take(stored), sizes)
    return pc.replace_with_mask(
        pa.nulls(len(places), pa.string()), places.is_valid(), urls
    )
