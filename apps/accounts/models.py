"""Users, their roles and groups, one-time sign-in links and API keys."""

import uuid
from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

KEY_EXPIRES_SOON: Final = timedelta(days=14)  # time to give scripts another key


class UserQuerySet(models.QuerySet["User"]):
    """Queries over users."""

    def active_admins(self) -> "UserQuerySet":
        """Administrators who can sign in, the oldest account first."""
        admins = self.filter(role=User.Role.ADMIN, is_active=True)
        return admins.order_by("id")

    def named(self, name: str) -> "UserQuerySet":
        """The user of that name, whatever its capitals."""
        return self.filter(username__iexact=name)


class Users(UserManager["User"]):
    """Makes users as Django does, and answers the queries above."""

    def get_queryset(self) -> UserQuerySet:
        """Start every query as a `UserQuerySet`."""
        return UserQuerySet(self.model, using=self._db)

    def active_admins(self) -> UserQuerySet:
        """Administrators who can sign in, the oldest account first."""
        return self.get_queryset().active_admins()

    def named(self, name: str) -> UserQuerySet:
        """The user of that name, whatever its capitals."""
        return self.get_queryset().named(name)


class User(AbstractUser):
    """Someone who signs in: a viewer browses, an editor registers, an admin shares."""

    class Role(models.TextChoices):
        """What a user may do; each role includes those before it."""

        VIEWER = "VIEWER", "viewer"
        EDITOR = "EDITOR", "editor"
        ADMIN = "ADMIN", "admin"

    class Theme(models.TextChoices):
        """Which of the two themes pages use."""

        SYSTEM = "SYSTEM", "as the system"
        LIGHT = "LIGHT", "light"
        DARK = "DARK", "dark"

    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)
    theme = models.CharField(max_length=16, choices=Theme, default=Theme.SYSTEM)
    time_zone = models.CharField(max_length=64, default="UTC")
    last_seen_at = models.DateTimeField(null=True, blank=True)  # by a page
    # The last sign-on through a provider or proxy; None: a local account.
    signed_on_at = models.DateTimeField(null=True, blank=True)
    # Whether the provider ended every session: keys are suspended until a sign-on.
    is_signed_out = models.BooleanField(default=False)
    # None: nobody has shown that mail to `email` reaches this user.
    email_confirmed_at = models.DateTimeField(null=True, blank=True)
    # Kept by `apps.notices`, so that the bell of a page costs no query.
    num_new = models.PositiveIntegerField(default=0)
    # Part of what a session is checked against: raising it signs the user out.
    session_generation = models.PositiveIntegerField(default=0)

    objects: ClassVar[Users] = Users()

    # === Queries ===

    def get_session_auth_hash(self) -> str:
        """Return what a session must carry to count: password and generation."""
        salt = f"deltaweb.accounts.session.{self.session_generation}"
        return salted_hmac(salt, self.password, algorithm="sha256").hexdigest()

    @property
    def mail_address(self) -> str:
        """The e-mail address that mails may be sent to; "" if none is confirmed."""
        return "" if self.email_confirmed_at is None else self.email

    @property
    def is_editor(self) -> bool:
        """Whether the user may register and change tables."""
        return self.role in {self.Role.EDITOR, self.Role.ADMIN}

    @property
    def is_admin(self) -> bool:
        """Whether the user may manage users, storage and shares."""
        return self.role == self.Role.ADMIN


class GroupQuerySet(models.QuerySet["Group"]):
    """Queries over groups."""

    def named(self, name: str) -> "GroupQuerySet":
        """The group of that name, regardless of case."""
        return self.filter(name__iexact=name)

    def of(self, user: User) -> "GroupQuerySet":
        """The groups that a user is in, each once, in the order of their names."""
        mine = Membership.objects.filter(user=user).values("group")
        return self.filter(id__in=mine).order_by("name")


GroupManager = models.Manager.from_queryset(GroupQuerySet)


class Group(models.Model):
    """A set of users that gets permissions together.

    Attributes:
        source: How the group was made: by an administrator, or at a sign-in whose
            claims name it.
    """

    class Source(models.TextChoices):
        """Where a group or a membership comes from."""

        LOCAL = "local", "local"
        CLAIM = "claim", "claim"

    name = models.CharField(max_length=150)
    description = models.CharField(max_length=500, blank=True, default="")
    source = models.CharField(max_length=8, choices=Source, default=Source.LOCAL)
    created_at = models.DateTimeField()

    objects = GroupManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("name"), name="group_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user in a group.

    A user has one membership for each source. Each sign-in replaces those from claims;
    only an administrator adds or removes a local one.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    source = models.CharField(max_length=8, choices=Group.Source)
    since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "group", "source"], name="membership_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.group_id} ({self.source})"


def groups_of(user: User) -> GroupQuerySet:
    """Return the groups that a user is in, each once, in the order of their names."""
    return Group.objects.of(user)


class SignInLink(models.Model):
    """A one-time link that signs a user in; only its hash is kept.

    Attributes:
        is_one_click: Whether GET may spend it, for a request from this machine.
        mailed_to: The address that it was mailed to, and nowhere else; "" for a link
            that was shown to an administrator.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="sign_in_links")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    is_one_click = models.BooleanField(default=False)
    mailed_to = models.EmailField(blank=True, default="")

    def __str__(self) -> str:
        return f"sign-in link of {self.user_id}"


class AddressLink(models.Model):
    """The one-time link that confirms an e-mail address; only its hash is kept.

    A user has one at most: the last one that was sent.
    """

    user = models.OneToOneField(User, models.CASCADE, related_name="address_link")
    address = models.EmailField()
    token_sha256 = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"address link of {self.user_id}"


class Scope(models.TextChoices):
    """What a key may be used for, of that which its user may do."""

    READ = "read", "see everything that its user can see"
    WRITE = "write", "change tables, start jobs"
    SHARE = "share", "change shares, recipients and tokens"
    ADMIN = "admin", "change accounts, keys, storages and rights"


def usual_scopes() -> list[str]:
    """Return what a key is for where nothing is said: all but accounts and keys."""
    return [Scope.READ.value, Scope.WRITE.value, Scope.SHARE.value]


class APIKeyQuerySet(models.QuerySet["APIKey"]):
    """Queries over API keys."""

    def live(self, now: datetime) -> "APIKeyQuerySet":
        """Keys that are neither revoked nor past their end."""
        endless = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
        return self.filter(endless, revoked_at__isnull=True)

    def expiring(self, now: datetime) -> "APIKeyQuerySet":
        """Live keys that end soon, the next one first."""
        soon = self.live(now).filter(expires_at__lte=now + KEY_EXPIRES_SOON)
        return soon.order_by("expires_at")


APIKeyManager = models.Manager.from_queryset(APIKeyQuerySet)


class APIKey(models.Model):
    """A key that a script sends as a bearer token; only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)  # shown, so that a key can be recognised
    key_sha256 = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=usual_scopes)  # values of `Scope`
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)  # None: it has no end
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = APIKeyManager()

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    # === Queries ===

    def state(self, now: datetime) -> str:
        """Return `active`, `expiring` (soon), `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is None or self.expires_at > now + KEY_EXPIRES_SOON:
            return "active"
        return "expiring" if self.expires_at > now else "expired"


class FailedSignInQuerySet(models.QuerySet["FailedSignIn"]):
    """Queries over failed sign-ins."""

    def against(self, name: str, *, since: datetime) -> "FailedSignInQuerySet":
        """Failures for one account name since a moment."""
        return self.filter(name=name, failed_at__gte=since)


FailedSignInManager = models.Manager.from_queryset(FailedSignInQuerySet)


class FailedSignIn(models.Model):
    """A sign-in with a wrong password: too many of them make the door wait."""

    name = models.CharField(max_length=150)  # lower case, whether it exists or not
    address = models.CharField(max_length=64)
    failed_at = models.DateTimeField()

    objects = FailedSignInManager()

    class Meta:
        indexes = [models.Index(fields=["name", "failed_at"], name="failed_by_name")]

    def __str__(self) -> str:
        return f"{self.name} from {self.address}"


class Identity(models.Model):
    """A person as a provider knows them, and the account that this person has here.

    Attributes:
        issuer: The address of an OpenID Connect provider, or `proxy`.
        subject: The `sub` of the provider, or the name in the proxy's header.
        email: The e-mail address of the last sign-on if the provider verified it.
        is_invited: Whether an administrator admitted the person: the rules for others
            do not apply.
        last_signed_in_at: None for a person who has not signed in yet.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=400)
    subject = models.CharField(max_length=255)
    email = models.CharField(max_length=254, blank=True)
    is_invited = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    last_signed_in_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_identity")
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class SignOnSession(models.Model):
    """A session that a provider began, so that the provider can end it.

    Attributes:
        sid: The provider's name of its own session; empty if it gave none.
    """

    identity = models.ForeignKey(Identity, models.CASCADE, related_name="sessions")
    session_key = models.CharField(max_length=40, unique=True)
    sid = models.CharField(max_length=255, blank=True)
    began_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"session of {self.identity_id}"


class SpentLogoutToken(models.Model):
    """A logout token that was used; it is refused a second time."""

    jti_sha256 = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.jti_sha256[:12]


class Invitation(models.Model):
    """A person who is admitted by a verified e-mail address, once.

    Attributes:
        email: In small letters.
    """

    email = models.CharField(max_length=254, unique=True)
    role = models.CharField(max_length=16, choices=User.Role, default=User.Role.VIEWER)
    invited_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"invitation of {self.email}"
