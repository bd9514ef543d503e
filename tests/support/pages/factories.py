"""Rows for tests: one function for each model, keyword overrides."""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone

from apps.accounts import services
from apps.accounts.lifetimes.sessions import BEGAN_AT
from apps.accounts.models import Group, User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.sharing.issuing.tokens import new_prefix, new_secret
from apps.sharing.models import (
    Grant,
    Recipient,
    RecipientToken,
    Share,
    SharedTable,
)
from apps.tables import models as tables
from apps.tables.models import (
    ColumnWords,
    Commit,
    MetadataVersion,
    ProtocolVersion,
    Table,
    TableColumn,
)
from apps.tables.models.words import words_of

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FAR_AHEAD = NOW + timedelta(days=36_500)  # of the clock, whenever tests run


def new_user(username: str = "vera", **fields: Any) -> User:  # noqa: ANN401 (columns)
    """A viewer, unless `role` says otherwise."""
    user = User(username=username, **{"last_seen_at": timezone.now(), **fields})
    user.set_unusable_password()
    user.save()
    return user


def signed_in(username: str = "vera", **fields: Any) -> Client:  # noqa: ANN401 (columns)
    """The browser of a new user, who has signed in."""
    user = new_user(username, **fields)
    session = SessionStore()  # by `Client.force_login` it takes nine queries more
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session[BEGAN_AT] = timezone.now().timestamp()
    session.create()
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    return client


def new_api_key(user: User, scopes: Iterable[str] = ()) -> dict[str, str]:
    """The header of a request that a script makes with a key of `user`."""
    issued = services.issue_api_key(
        user=user, name="script", scopes=scopes, stamp=command_stamp()
    )
    return {"Authorization": f"Bearer {issued.secret}"}


def new_table(name: str = "orders", **fields: Any) -> Table:  # noqa: ANN401 (columns)
    """A table of three versions that has been indexed; `namespace.table` is split."""
    namespace, _, bare = name.rpartition(".")
    defaults = {
        "namespace": namespace or "default",
        "name": bare,
        "location": f"/lake/{namespace or 'default'}/{bare}",
        "created_at": NOW,
        "probe_due_at": NOW,
        "state": Table.State.INDEXED,
        "version": 2,
        "latest_version_seen": 2,
        "committed_at": NOW - timedelta(minutes=6),
        "indexed_at": NOW,
        "num_files": 12,
        "size_bytes": 4096,
        "num_records": 300,
        "num_columns": 2,
        "summary": {
            "readable_runs": [[0, 2, "READABLE", ""]],
            "commits_30d": [0] * 27 + [1, 1, 1],
        },
    }
    return Table.objects.create(**(defaults | fields))


def new_grant_of_right(
    right: str,
    on: Table | str,
    to: User | Group,
    **fields: Any,  # noqa: ANN401 (columns)
) -> tables.Grant:
    """A right on a table, or on the namespace of a name, of a person or a group."""
    about: dict[str, Any] = {"table": on}
    if isinstance(on, str):
        space, _ = tables.Namespace.objects.get_or_create(
            name=on, defaults={"created_at": NOW}
        )
        about = {"namespace": space}
    about |= {"user" if isinstance(to, User) else "group": to}
    given = {"given_by": "ada", "given_at": NOW}
    return tables.Grant.objects.create(right=right, **(about | given | fields))


def new_unindexed_table(name: str = "orders", **fields: Any) -> Table:  # noqa: ANN401
    """A table that has just been registered."""
    empty: dict[str, Any] = dict.fromkeys(
        (
            "version",
            "latest_version_seen",
            "committed_at",
            "indexed_at",
            "num_files",
            "size_bytes",
            "num_records",
            "num_columns",
        )
    )
    fields = {"state": Table.State.NEW, "summary": {}, **empty, **fields}
    return new_table(name, **fields)


def new_commit(table: Table, version: int = 0, **fields: Any) -> Commit:  # noqa: ANN401
    """A commit that added one file; the table has its writer if it is the newest."""
    defaults = {
        "committed_at": NOW - timedelta(days=1) + timedelta(minutes=version),
        "operation": "WRITE",
        "user_name": "etl-nightly",
        "num_added_files": 1,
        "added_bytes": 1024,
    }
    values = defaults | fields
    if version == table.version:
        table.last_writer = str(values["user_name"])
        table.save(update_fields=["last_writer"])
    return Commit.objects.create(table=table, version=version, **values)


def new_column(table: Table, path: str, **fields: Any) -> TableColumn:  # noqa: ANN401
    """A column of the table's newest schema."""
    defaults = {"position": table.columns.count(), "type_text": "string"}
    column = TableColumn.objects.create(table=table, path=path, **(defaults | fields))
    paths = words_of(table.columns.values_list("path", flat=True))
    ColumnWords.objects.update_or_create(table=table, defaults={"paths": paths})
    return column


def new_job(**fields: Any) -> Job:  # noqa: ANN401 (columns)
    """A queued job that nobody was woken for."""
    defaults = {"kind": "test.nothing", "title": "Do nothing", "created_at": NOW}
    return Job.objects.create(**(defaults | fields))


def new_call(**fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    """A query of the sharing server, just now."""
    query = {"kind": AuditEvent.Kind.CALL, "action": "table.query"}
    return AuditEvent.objects.create(**{"at": timezone.now(), **query, **fields})


def new_metadata(table: Table, version: int = 0, **fields: Any) -> MetadataVersion:  # noqa: ANN401
    """The metadata from a version on: `id` long and `note` string, not partitioned."""
    columns = [("id", "long"), ("note", "string")]
    defaults = {
        "metadata_id": "5fba94ed",
        "format_provider": "parquet",
        "schema_string": json.dumps(
            {
                "type": "struct",
                "fields": [
                    {"name": name, "type": kind, "nullable": True, "metadata": {}}
                    for name, kind in columns
                ],
            }
        ),
    }
    return MetadataVersion.objects.create(
        table=table, version=version, **(defaults | fields)
    )


def new_protocol(table: Table, version: int = 0, **fields: Any) -> ProtocolVersion:  # noqa: ANN401
    """The protocol from a version on: reader 1, writer 2."""
    defaults = {"min_reader_version": 1, "min_writer_version": 2}
    protocol = ProtocolVersion.objects.create(
        table=table, version=version, **(defaults | fields)
    )
    if protocol == table.protocol_versions.first():
        table.features = protocol.writer_features or []
        table.save(update_fields=["features"])
    return protocol


# === Sharing ===


def new_share(name: str = "sales", **fields: Any) -> Share:  # noqa: ANN401 (columns)
    """An empty share."""
    defaults = {"name": name, "name_key": name.casefold(), "created_at": NOW}
    return Share.objects.create(**(defaults | fields))


def new_shared_table(
    share: Share | None = None,
    name: str = "crm.orders",
    **fields: Any,  # noqa: ANN401 (columns)
) -> SharedTable:
    """A table of a share; one of that name is registered if none is given."""
    schema, _, bare = name.rpartition(".")
    defaults = {
        "share": share or new_share(),
        "table": fields.get("table") or new_table(f"{schema or 'default'}.{bare}"),
        "schema": schema or "default",
        "schema_key": (schema or "default").casefold(),
        "name": bare,
        "name_key": bare.casefold(),
        "added_at": NOW,
    }
    return SharedTable.objects.create(**(defaults | fields))


def new_recipient(name: str = "acme", **fields: Any) -> Recipient:  # noqa: ANN401
    """A recipient that may read nothing."""
    defaults = {"name": name, "name_key": name.casefold(), "created_at": NOW}
    return Recipient.objects.create(**(defaults | fields))


def new_grant(
    share: Share,
    recipient: Recipient,
    **fields: Any,  # noqa: ANN401 (columns)
) -> Grant:
    """A share that a recipient may read."""
    defaults = {"share": share, "recipient": recipient, "granted_at": NOW}
    return Grant.objects.create(**(defaults | fields))


def new_token(
    recipient: Recipient | None = None,
    **fields: Any,  # noqa: ANN401 (columns)
) -> tuple[RecipientToken, str]:
    """An active token that outlasts this code, and its secret."""
    prefix = new_prefix()
    secret = new_secret(prefix)
    defaults = {
        "recipient": recipient or new_recipient(),
        "prefix": prefix,
        "token_sha256": hashlib.sha256(secret.encode()).hexdigest(),
        "created_at": NOW,
        "activated_at": NOW,
        "expires_at": FAR_AHEAD,
    }
    return RecipientToken.objects.create(**(defaults | fields)), secret
