"""The models of sharing: shares, tables in them, recipients, grants, tokens, holds.

Names are found in any case: the columns `*_key` hold them case-folded.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Least

from apps.pages.lists.links import address_of
from apps.sharing.models.browser_sessions import BrowserSession as BrowserSession
from apps.sharing.models.prepared import PreparedChanges as PreparedChanges
from apps.sharing.models.prepared import PreparedFile as PreparedFile
from apps.sharing.models.prepared import PreparedVersion as PreparedVersion
from apps.sharing.models.recipient_records import Certificate as Certificate
from apps.sharing.models.recipient_records import ToldReminder as ToldReminder
from apps.sharing.models.recipient_records import UsedAssertion as UsedAssertion
from apps.tables.models import Table

MAX_NAME_LENGTH = 255


class Share(models.Model):
    """A named group of tables that is granted as one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    name_key = models.CharField(max_length=MAX_NAME_LENGTH * 3, unique=True)
    comment = models.TextField(blank=True)
    description = models.TextField(blank=True)
    is_listed = models.BooleanField(default=False)
    # A share that is off is read by nobody, whatever is granted.
    off_since = models.DateTimeField(null=True, blank=True)
    # Whether its recipients can also read it in the browser.
    in_browser = models.BooleanField(default=False)
    # Whether Iceberg clients get data files with field ids, or else as stored.
    with_field_ids = models.BooleanField(default=True)
    plain = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    class Meta:
        ordering = ["name_key"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the share's page."""
        return address_of("shares", self.name)


class SharedSchema(models.Model):
    """A namespace of the catalogue that a share has whole, under a name of its own."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    share = models.ForeignKey(Share, models.CASCADE, related_name="shared_schemas")
    schema = models.CharField(max_length=MAX_NAME_LENGTH)
    schema_key = models.CharField(max_length=MAX_NAME_LENGTH * 3)
    namespace = models.CharField(max_length=200)
    with_history = models.BooleanField(default=True)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    class Meta:
        ordering = ["schema_key"]
        constraints = [
            models.UniqueConstraint(
                fields=["share", "schema_key"], name="shared_schema_unique_name"
            )
        ]

    def __str__(self) -> str:
        return self.schema

    @property
    def terms(self) -> dict[str, Any]:
        """The terms on which its tables are offered."""
        return {"with_history": self.with_history}


class SharedTableQuerySet(models.QuerySet["SharedTable"]):
    """Queries over shared tables."""

    def with_their_history(self) -> "SharedTableQuerySet":
        """Tables of which older versions than the newest are offered."""
        return self.filter(with_history=True)


class SharedTable(models.Model):
    """A table as a share shows it.

    `id` is stable for as long as the table stays in the share. `condition` is a
    condition in SQL: only rows that it is true for are offered, and where it cannot be
    evaluated nothing is; "" is every row. `columns` are those that are offered, by
    their names; none is every column.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    share = models.ForeignKey(Share, models.CASCADE, related_name="shared_tables")
    table = models.ForeignKey(Table, models.PROTECT, related_name="shared_tables")
    from_schema = models.ForeignKey(
        SharedSchema, models.CASCADE, null=True, blank=True, related_name="tables"
    )
    schema = models.CharField(max_length=MAX_NAME_LENGTH)
    schema_key = models.CharField(max_length=MAX_NAME_LENGTH * 3)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    name_key = models.CharField(max_length=MAX_NAME_LENGTH * 3)
    comment = models.TextField(blank=True)
    with_history = models.BooleanField(default=True)
    start_version = models.BigIntegerField(null=True, blank=True)
    with_directory = models.BooleanField(default=False)
    # Plain files for every recipient; a share or recipient can ask for them, too.
    plain = models.BooleanField(default=False)
    condition = models.TextField(blank=True)
    columns = models.JSONField(default=list, blank=True)
    # When the last URL of an object store ends that was issued on earlier terms.
    earlier_urls_end_at = models.DateTimeField(null=True, blank=True)
    # Why its newest version cannot be prepared, and since when; "" if it can.
    preparation_problem = models.TextField(blank=True)
    preparation_failed_at = models.DateTimeField(null=True, blank=True)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    objects = models.Manager.from_queryset(SharedTableQuerySet)()

    class Meta:
        ordering = ["schema_key", "name_key"]
        constraints = [
            models.UniqueConstraint(
                fields=["share", "schema_key", "name_key"],
                name="shared_table_unique_name",
            )
        ]

    def __str__(self) -> str:
        return self.full_name

    @property
    def full_name(self) -> str:
        """`schema.table`, as recipients write it."""
        return f"{self.schema}.{self.name}"

    @property
    def terms(self) -> dict[str, Any]:
        """The terms that URLs of files are issued on; others end them."""
        names = ("with_history", "start_version", "condition", "columns")
        return {name: getattr(self, name) for name in names}

    @property
    def offer(self) -> dict[str, Any]:
        """All that is set of it."""
        names = ("with_directory", "plain", "comment")
        return {**self.terms, **{name: getattr(self, name) for name in names}}

    @property
    def is_whole(self) -> bool:
        """Whether it offers every row and column, unless a recipient has a rule."""
        return not (self.condition or self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether it is offered as plain files to every recipient."""
        return self.plain or self.share.plain

    @property
    def first_version(self) -> int:
        """The oldest version that can be read where the history is shared."""
        return self.start_version or 0

    @property
    def has_start(self) -> bool:
        """Whether the provider chose the oldest version, even if that is the first."""
        return self.start_version is not None

    @property
    def history_start(self) -> int | None:
        """The oldest version that is offered; None if only the newest one is."""
        return self.first_version if self.with_history else None

    def first_offered(self, newest: int) -> int:
        """Return the oldest version that is offered while `newest` is the newest."""
        return newest if self.history_start is None else self.history_start

    @property
    def versions(self) -> str:
        """The versions that recipients can read, in words."""
        if self.history_start is None:
            return "the newest version only"
        start = self.start_version
        return "all versions" if start is None else f"versions from v{start} on"


class Recipient(models.Model):
    """Somebody outside who reads shares by a token."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    name_key = models.CharField(max_length=MAX_NAME_LENGTH * 3, unique=True)
    contact = models.EmailField(blank=True)
    comment = models.TextField(blank=True)
    # CIDR texts such as 10.1.4.0/24; empty allows every address.
    allowed_networks = models.JSONField(default=list, blank=True)
    # What conditions call recipient.<name>: texts, whole numbers, and booleans.
    properties = models.JSONField(default=dict, blank=True)
    # When the last URL of an object store ends that was issued for earlier properties.
    earlier_urls_end_at = models.DateTimeField(null=True, blank=True)
    # What it may be offered in a month: where it is said, and where reads are refused.
    soft_limit_bytes = models.BigIntegerField(null=True, blank=True)
    hard_limit_bytes = models.BigIntegerField(null=True, blank=True)
    # Whether it can also read its shares in the browser, all of them.
    in_browser = models.BooleanField(default=False)
    plain = models.BooleanField(default=False)
    may_rotate = models.BooleanField(default=False)
    # Since when it can sign in there by a mail to `contact`; a new contact ends that.
    mail_sign_in_since = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    shares = models.ManyToManyField(Share, through="Grant", related_name="recipients")

    class Meta:
        ordering = ["name_key"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the recipient's page."""
        return address_of("recipients", self.name)

    @property
    def mail_address(self) -> str:
        """The address of its contact; empty without one."""
        return self.contact

    @property
    def about(self) -> str:
        """Its contact and comment, for a list."""
        return ", ".join(text for text in (self.contact, self.comment) if text)


class Grant(models.Model):
    """A share that a recipient may read."""

    share = models.ForeignKey(Share, models.CASCADE, related_name="grants")
    recipient = models.ForeignKey(Recipient, models.CASCADE, related_name="grants")
    granted_at = models.DateTimeField()
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    class Meta:
        ordering = ["share__name_key", "recipient__name_key"]
        constraints = [
            models.UniqueConstraint(fields=["share", "recipient"], name="grant_unique")
        ]

    def __str__(self) -> str:
        return f"{self.share} to {self.recipient}"


class RecipientRule(models.Model):
    """What of a shared table one recipient sees: never more than the table's own rule.

    `condition` and `columns` are as those of `SharedTable`, and hold beside them.
    """

    shared_table = models.ForeignKey(SharedTable, models.CASCADE, related_name="rules")
    recipient = models.ForeignKey(Recipient, models.CASCADE, related_name="rules")
    condition = models.TextField(blank=True)
    columns = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shared_table", "recipient"], name="recipient_rule_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.shared_table} for {self.recipient}"

    @property
    def terms(self) -> dict[str, object]:
        """What it leaves to the recipient."""
        return {"condition": self.condition, "columns": self.columns}


class RecipientTokenQuerySet(models.QuerySet["RecipientToken"]):
    """Queries over tokens."""

    def unended(self, now: datetime) -> "RecipientTokenQuerySet":
        """Tokens that are good at `now`, or that could still become so."""
        return self.filter(
            Q(retires_at__isnull=True) | Q(retires_at__gt=now),
            revoked_at__isnull=True,
            expires_at__gt=now,
        )

    def with_end(self) -> Any:  # noqa: ANN401 (annotated rows)
        """Add `end`, which is `ends_at` of each token."""
        end = Least("expires_at", Coalesce("retires_at", "expires_at"))
        return self.annotate(end=end)

    def bearers(self) -> "RecipientTokenQuerySet":
        """Tokens that are sent with each request, and no OAuth clients."""
        return self.filter(kind=RecipientToken.Kind.BEARER)

    def live(self, now: datetime) -> "RecipientTokenQuerySet":
        """Tokens that open the door at `now`."""
        return self.unended(now).filter(activated_at__isnull=False)

    def waiting(self, now: datetime) -> "RecipientTokenQuerySet":
        """Tokens that wait for their activation at `now`."""
        return self.unended(now).filter(activated_at__isnull=True)


RecipientTokenManager = models.Manager.from_queryset(RecipientTokenQuerySet)


class OwnTokenManager(RecipientTokenManager["RecipientToken"]):
    """The tokens that recipients hold, without those of their stand-ins."""

    def get_queryset(self) -> models.QuerySet["RecipientToken"]:
        """Return the tokens that recipients hold."""
        return super().get_queryset().filter(is_throw_away=False)


class RecipientToken(models.Model):
    """What a recipient proves itself by.

    OAuth clients trade theirs for tokens of an hour; `prefix` is their client_id.
    A secret is `prefix` and 256 random bits, made when the profile is fetched: before
    that nothing could leak. Who signs, or is vouched for, has none, and begins active.
    """

    class Kind(models.TextChoices):
        """What the proof is."""

        BEARER = "BEARER", "bearer token"
        CLIENT_SECRET = "CLIENT_SECRET", "OAuth client, by a secret"
        PRIVATE_KEY = "PRIVATE_KEY", "OAuth client, by a private key"
        FEDERATED = "FEDERATED", "tokens of an OIDC issuer"

    class State(models.TextChoices):
        """What a token is good for, at a moment."""

        WAITING = "WAITING", "never activated"
        ACTIVE = "ACTIVE", "active"
        RETIRING = "RETIRING", "retiring"  # replaced, and still good for a while
        EXPIRED = "EXPIRED", "expired"
        REVOKED = "REVOKED", "revoked"

    OPEN_KINDS = frozenset({Kind.PRIVATE_KEY, Kind.FEDERATED})  # no secret is made
    LIVE = frozenset({State.ACTIVE, State.RETIRING})  # it opens the door

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    recipient = models.ForeignKey(Recipient, models.CASCADE, related_name="tokens")
    prefix = models.CharField(max_length=32, unique=True)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.BEARER)
    token_sha256 = models.CharField(max_length=64, unique=True, null=True, blank=True)
    # It reads for its recipient, whose use and list of tokens leave it out.
    is_throw_away = models.BooleanField(default=False)
    public_key = models.TextField(blank=True)  # PEM, of a client that signs
    issuer = models.CharField(max_length=400, blank=True, db_index=True)
    audience = models.CharField(max_length=400, blank=True)
    subject = models.CharField(max_length=400, blank=True)
    group = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )
    created_by_name = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField()
    # Set by a rotation: the token it replaces ends then, which may be moved.
    retires_at = models.DateTimeField(null=True, blank=True)
    replaced_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="replaces"
    )
    activated_at = models.DateTimeField(null=True, blank=True)
    activated_from = models.CharField(max_length=64, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=64, blank=True)
    last_used_agent = models.CharField(max_length=300, blank=True)

    objects = OwnTokenManager()
    all_tokens = RecipientTokenManager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.prefix}..."

    @property
    def ends_at(self) -> datetime:
        """When the token ends by itself: its expiry, or its retirement before that."""
        return min(self.expires_at, self.retires_at or self.expires_at)

    @property
    def lifetime(self) -> timedelta:
        """How long the token was made for."""
        return self.expires_at - self.created_at

    def state(self, now: datetime) -> State:
        """Return what the token is good for at `now`."""
        if self.revoked_at is not None:
            return self.State.REVOKED
        if self.ends_at <= now:
            return self.State.EXPIRED
        if self.activated_at is None:
            return self.State.WAITING
        return self.State.RETIRING if self.retires_at else self.State.ACTIVE

    def expires_within(self, span: timedelta, *, now: datetime) -> bool:
        """Whether the token still lives at `now` and ends within `span`."""
        return now < self.ends_at <= now + span


class ActivationLink(models.Model):
    """A one-time way to fetch a token as a profile file; only its hash is kept."""

    token = models.ForeignKey(
        RecipientToken, models.CASCADE, related_name="activation_links"
    )
    nonce_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_from = models.CharField(max_length=64, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)  # a newer one is out
    opened_at = models.DateTimeField(null=True, blank=True)  # a session in the browser

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"link of {self.token}"

    @property
    def ends_at(self) -> datetime:
        """When the link ends: by itself, or with its token before that."""
        return min(self.expires_at, self.token.ends_at)


class LastRead(models.Model):
    """The version of a shared table that was last read by a token."""

    token = models.ForeignKey(RecipientToken, models.CASCADE, related_name="reads")
    shared_table = models.ForeignKey(SharedTable, models.CASCADE, related_name="reads")
    version = models.BigIntegerField()
    read_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["token", "shared_table"], name="last_read_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.shared_table_id}@{self.version}"


class Hold(models.Model):
    """Versions of a shared table that stay readable for a recipient until a moment.

    They are `version` and all later ones: no vacuum and no clean-up of the log from
    here takes what they need.
    """

    recipient = models.ForeignKey(Recipient, models.CASCADE, related_name="holds")
    shared_table = models.ForeignKey(SharedTable, models.CASCADE, related_name="holds")
    version = models.BigIntegerField()
    ends_at = models.DateTimeField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "shared_table"], name="hold_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.shared_table_id}@{self.version} until {self.ends_at}"
