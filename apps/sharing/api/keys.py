"""The keys by which this server knows its own tokens, URLs and vended keys again."""

from datetime import datetime
from functools import cache

from django.conf import settings

from apps.sharing.answers.signed_lines import SigningPlan
from apps.sharing.models import RecipientToken
from deltaweb.storage.signing.derived_keys import derive_keys

PAGE_TOKENS = "page tokens"
FILE_URLS = "file urls"
ACCESS_TOKENS = "access tokens"
PREPARED_URLS = "urls of rewritten files"


def page_token_keys() -> list[bytes]:
    """Return the keys of page tokens; the first signs, all are accepted."""
    return keys_for(PAGE_TOKENS)


def file_url_keys() -> list[bytes]:
    """Return the keys of file URLs; the first signs, all are accepted."""
    return keys_for(FILE_URLS)


def keys_for(purpose: str) -> list[bytes]:
    """Return the server's keys for a purpose; the first signs, all are accepted."""
    return _keys(settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS), purpose)


def prepared_url_keys() -> list[bytes]:
    """Return the keys of URLs of rewritten files, which open no other file."""
    return _keys(
        settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS), PREPARED_URLS
    )


def access_token_keys() -> list[bytes]:
    """Return the keys of OAuth's access tokens; the first signs, all are accepted."""
    return _keys(
        settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS), ACCESS_TOKENS
    )


def signing_plan(token: RecipientToken, *, now: datetime) -> SigningPlan:
    """Return what the answers to a token are made from."""
    return SigningPlan(
        base_url=settings.PUBLIC_URL,
        keys=file_url_keys(),
        prepared_keys=prepared_url_keys(),
        lifetime_s=settings.FILE_URL_LIFETIME_S,
        part_lifetime_s=settings.PART_URL_LIFETIME_S,
        now=now,
        token=token,
        token_keys=page_token_keys(),
    )


@cache
def _keys(secret_key: str, fallbacks: tuple[str, ...], purpose: str) -> list[bytes]:
    return derive_keys(secret_key, fallbacks, purpose)


SESSIONS = "iceberg sessions"
OBJECTS = "iceberg objects"
ENTITY_TAGS = "iceberg entity tags"


def session_keys() -> list[bytes]:
    """Return the keys of vended keys; the first signs, all are accepted."""
    return keys_for(SESSIONS)


def object_keys() -> list[bytes]:
    """Return the keys of names of objects; the first seals, all are accepted."""
    return keys_for(OBJECTS)


def entity_tag_keys() -> list[bytes]:
    """Return the keys of tags of loaded tables; the first makes, all are accepted."""
    return keys_for(ENTITY_TAGS)
