"""The objects of tables by the protocol of S3, to be read and nothing else.

A request is signed by keys that the catalogue has vended. They alone are not enough:
the token must be good still, the address allowed, and the table shared as it was, at
this very request. The rule that holds for its recipient now is part of what each name
was sealed for, so that a name of another rule opens nothing.

Source: Amazon S3 API, "GetObject" and "HeadObject".
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.http import http_date
from rest_framework.request import Request

from apps.sharing.access.grants.rules import TableRule, rule_for
from apps.sharing.answers.files import (
    check_live_token,
    granted_by_id,
    known_token,
)
from apps.sharing.api.base import ProtocolView
from apps.sharing.api.errors import Failure
from apps.sharing.api.files import (
    OCTETS,
    OK,
    PARTIAL_CONTENT,
    ByteRange,
    FileAnswer,
    FilePart,
    asked_part,
    say_part,
)
from apps.sharing.api.iceberg.files import (
    StoredObject,
    open_stored,
    stored_bytes,
)
from apps.sharing.api.iceberg.kept import kept_objects, objects_of
from apps.sharing.api.iceberg.layouts import field_ids, open_iceberg_table, scope_of
from apps.sharing.api.iceberg.responses import object_refusal
from apps.sharing.api.keys import object_keys, session_keys
from apps.sharing.api.places import Download
from apps.sharing.api.responses import Answer, StreamedAnswer, WholeAnswer
from apps.sharing.models import RecipientToken, SharedTable
from deltaweb.iceberg.access.errors import (
    KeysRefusedError,
    ObjectChangedError,
    ObjectMissingError,
)
from deltaweb.iceberg.access.object_keys import ObjectKey, PathSealer, parse_key
from deltaweb.iceberg.access.signature import (
    SignedRequest,
    check_signature,
    parse_signature,
)
from deltaweb.iceberg.access.vended_keys import Claims, open_keys
from deltaweb.iceberg.schema import FieldIds
from deltaweb.iceberg.served_file import Piece
from deltaweb.sharing.json_text import json_bytes
from deltaweb.storage.signing.s3 import host_header

METADATA: Final = ".json"


@dataclass(frozen=True, slots=True)
class ObjectCaller:
    """Who asks for an object, and what the keys of the request are good for.

    Attributes:
        rule: What of the table its recipient sees now.
    """

    token: RecipientToken
    shared: SharedTable
    rule: TableRule
    claims: Claims

    @property
    def scope(self) -> str:
        """What names have to be sealed for that open something."""
        return scope_of(self.shared, self.rule, self.claims.last_version)


class ObjectView(ProtocolView):
    """GET and HEAD of an object; only refusals are recorded."""

    def refusal(self, failure: Failure, error: Exception) -> WholeAnswer:
        """Return a failure as S3 spells it."""
        return object_refusal(failure, error)

    def get(self, request: Request, *, key: str) -> HttpResponseBase:
        """Answer with the object, or the part of it that is asked for."""
        named = parse_key(key)
        if named is None:
            raise ObjectMissingError
        signed = _signed_request(request._request)  # noqa: SLF001 (the very request that was signed)
        claims = _claims(signed, now=self.now)
        token = known_token(claims.token_id)
        self.note_caller(token)
        check_live_token(token, address=self.record.address, now=self.now)
        caller = _caller(named, token, claims)
        self.record.shared_table = caller.shared
        found = _find(named, caller, now=self.now)
        self.record.is_recorded = False
        return _answer(request, found, caller)


def _claims(signed: SignedRequest, *, now: datetime) -> Claims:
    """Return what the keys of a request are good for."""
    signature = parse_signature(signed, now=now)
    keys = open_keys(
        signature.session_token, signature.access_key, keys=session_keys(), now=now
    )
    check_signature(signed, signature, secret_key=keys.secret_key)
    return keys.claims


def _caller(named: ObjectKey, token: RecipientToken, claims: Claims) -> ObjectCaller:
    """Return who has signed a request."""
    shared = granted_by_id(claims.table_id, token)
    if named.table_id != shared.id:
        raise KeysRefusedError(reason="they are for another table")
    _check_versions(claims, shared, named)
    return ObjectCaller(token, shared, rule_for(shared, token.recipient), claims)


def _check_versions(claims: Claims, shared: SharedTable, named: ObjectKey) -> None:
    """Refuse what is shared no longer, or is of a version beyond the keys."""
    is_alone = claims.first_version == claims.last_version
    first = shared.first_offered(claims.last_version)
    if not is_alone and claims.first_version < first:
        raise KeysRefusedError(reason="these versions are no longer shared")
    version = named.version
    if version is not None and not (
        claims.first_version <= version <= claims.last_version
    ):
        raise KeysRefusedError(reason="they are for other versions")


def _signed_request(request: HttpRequest) -> SignedRequest:
    """Return a request as its client has signed it, at this server's public address."""
    public = urlsplit(settings.PUBLIC_URL)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return SignedRequest(
        method=request.method or "",
        path=f"{public.path.rstrip('/')}{request.path_info}",
        query=request.META.get("QUERY_STRING", ""),
        headers={**headers, "host": host_header(settings.PUBLIC_URL)},
    )


def _find(named: ObjectKey, caller: ObjectCaller, *, now: datetime) -> StoredObject:
    """Find an object, or make it."""
    if named.version is None:
        sealer = PathSealer(object_keys(), caller.scope)

        def read_ids(digest: str) -> FieldIds | None:
            return field_ids(
                caller.shared,
                caller.rule,
                keys=object_keys(),
                now=now,
                last_version=caller.claims.last_version,
                digest=digest,
            )

        found = open_stored(caller.shared, named, sealer, read_ids)
    else:
        found = _metadata_object(named, caller, now=now)
    if found is None:
        raise ObjectMissingError
    return found


def _metadata_object(
    named: ObjectKey, caller: ObjectCaller, *, now: datetime
) -> StoredObject | None:
    version = named.version or 0
    kept = kept_objects(caller.scope, version, named.mark)
    if kept is None or named.part == METADATA:
        table = open_iceberg_table(
            caller.shared,
            caller.rule,
            keys=object_keys(),
            now=now,
            last_version=caller.claims.last_version,
        )
        is_offered = any(one.version == version for one in table.versions)
        if not is_offered or table.mark(version) != named.mark:
            return None
        if named.part == METADATA:
            return stored_bytes(json_bytes(table.metadata()))
        kept = objects_of(table, version, now=now)
    data = kept.objects.get(named.part)
    return None if data is None else stored_bytes(data)


def _answer(
    request: Request, found: StoredObject, caller: ObjectCaller
) -> HttpResponseBase:
    """Answer with an object, or with a part of it."""
    etag = f'"{found.etag}"'
    is_head = request.method == "HEAD"
    whole = ByteRange(0, found.size_bytes)
    with ExitStack() as opening:
        opening.callback(found.close)
        _check_same(request.headers.get("If-Match"), etag)
        part = asked_part(request, size=found.size_bytes, etag=etag)
        if is_head:
            answer: Answer = WholeAnswer(content_type=OCTETS)
        else:
            answer = _body(found, part or whole, part, caller)
            opening.pop_all()
    say_part(answer, part, size_bytes=found.size_bytes, etag=etag)
    answer["Last-Modified"] = http_date(0)
    return answer


def _check_same(wanted: str | None, etag: str) -> None:
    if wanted not in {None, "*", etag}:
        raise ObjectChangedError


def _body(
    found: StoredObject, wanted: ByteRange, part: ByteRange | None, caller: ObjectCaller
) -> Answer:
    status = PARTIAL_CONTENT if part else OK
    pieces = found.pieces(wanted.first, wanted.length)
    match pieces:
        case [bytes() as data]:
            found.close()
            return WholeAnswer(data, content_type=OCTETS, status=status)
        case [range() as places] if found.file is not None:
            stored = ByteRange(places.start, len(places))
            download = Download(caller.token.id)
            return FileAnswer(FilePart(found.file, stored, download), status=status)
    parts = _Parts(found, pieces, Download(caller.token.id))
    return StreamedAnswer(parts, content_type=OCTETS, status=status)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts of an object that are read while they are sent."""

    found: StoredObject
    pieces: Sequence[Piece]
    download: Download

    def __iter__(self) -> Iterator[bytes]:
        return self.found.blocks(self.pieces)

    def close(self) -> None:
        """Close the object."""
        self.download.end()
        self.found.close()
