"""Users, their roles, one-time sign-in links and API keys."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models


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

    # === Queries ===

    @property
    def is_editor(self) -> bool:
        """Whether the user may register and change tables."""
        return self.role in {self.Role.EDITOR, self.Role.ADMIN}

    @property
    def is_admin(self) -> bool:
        """Whether the user may manage users, storage and shares."""
        return self.role == self.Role.ADMIN


class SignInLink(models.Model):
    """A one-time link that signs a user in; only its hash is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="sign_in_links")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        """Name the link by its user."""
        return f"sign-in link of {self.user_id}"


class APIKey(models.Model):
    """A key that a script sends as a bearer token; only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)  # shown, so that a key can be recognised
    key_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        """Name the key by its visible prefix."""
        return f"{self.prefix}… ({self.name})"
