"""Arguments that the commands of recipients have in common; profiles and clients."""

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from apps.pages.command import argument
from apps.sharing.issuing import proofs
from apps.sharing.issuing.credentials import Deliver
from apps.sharing.issuing.lifetimes import default_lifetime, max_lifetime
from apps.sharing.issuing.profile import ProfileFile, profile_of
from apps.sharing.issuing.proofs import Proof
from apps.sharing.models import RecipientToken
from apps.tables.management.text_output import time_text

Kind = RecipientToken.Kind
# What a client proves itself by; without any, it is a secret.
PROOF: Final = (
    argument(
        "--public-key",
        metavar="FILE",
        help=("public key (PEM) of a client that signs with its private key"),
    ),
    argument(
        "--issuer",
        default="",
        metavar="URL",
        help=("OIDC issuer whose tokens the client sends"),
    ),
    argument("--audience", default="", help="audience of these tokens"),
    argument("--subject", default="", help="subject of these tokens"),
    argument("--group", default="", help="group in these tokens, instead of a subject"),
)


def proof_of(
    *,
    public_key: str | None,
    issuer: str,
    audience: str,
    subject: str,
    group: str,
) -> Proof:
    """Return the proof that the options describe."""
    if not issuer and (audience or subject or group):
        message = "--audience, --subject and --group go with --issuer."
        raise CommandError(message, returncode=2)
    if issuer and public_key:
        message = "Give either --public-key or --issuer."
        raise CommandError(message, returncode=2)
    if issuer:
        return proofs.by_issuer(
            issuer=issuer, audience=audience, subject=subject, group=group
        )
    if public_key is None:
        return proofs.CLIENT_SECRET
    path = Path(public_key).expanduser()
    try:
        return proofs.by_key(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        message = f"{path} cannot be read: {reason}."
        raise CommandError(message) from error


def open_profile(token: RecipientToken) -> dict[str, Any]:
    """Return the profile of a client that has no secret here."""
    document: dict[str, Any] = json.loads(profile_of(token).to_json())
    return document


def client_lines(token: RecipientToken) -> tuple[str, list[str]]:
    """Return what is said of a client that has no secret here."""
    name, ends = token.recipient.name, time_text(token.ends_at)
    text = f"{name} comes in as {token.prefix} until {ends}."
    if token.kind == Kind.FEDERATED:
        note = f"Its profile, once it has filled in what {token.issuer} gave it:"
    else:
        note = "Its profile, with the path of its private key; nothing in it is secret:"
    return text, ["", note, "", *profile_of(token).to_json().splitlines()]


_MODE: Final = 0o600


def check_free(path: Path, *, force: bool) -> None:
    """Refuse a place where no profile can be written, before anything is changed."""
    if not path.parent.is_dir():
        message = f"{path.parent} is not a folder. Make it first."
        raise CommandError(message)
    if path.is_dir():
        message = f"{path} is a folder. Name a file, such as {path / 'profile.share'}."
        raise CommandError(message)
    if not force and (path.exists() or path.is_symlink()):
        message = f"{path} exists already. Name another file, or pass --force."
        raise CommandError(message)


def write_profile(profile: ProfileFile, path: Path, *, force: bool) -> None:
    """Write a profile; with `force` in the place of what is there."""
    try:
        if force:
            _replace(path, profile.to_json())
        else:
            _create(path, profile.to_json())
    except FileExistsError as error:
        message = f"{path} exists already. Name another file, or pass --force."
        raise CommandError(message) from error
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or 'an error'}."
        raise CommandError(message) from error


def _create(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), _MODE)  # whatever the umask
            file.write(text)
    except BaseException:
        path.unlink()
        raise


def _replace(path: Path, text: str) -> None:
    """Put a new file into the place of the old one, whose mode is left behind."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".profile-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def add_token_options(parser: CommandParser) -> None:
    """Declare how long a new token lives, and where its profile goes."""
    days = default_lifetime().days
    parser.add_argument(
        "--expires",
        default=f"{days}d",
        metavar="SPAN",
        help=f"{days}d (the default), 24h or a date; {max_lifetime().days}d at most",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help="write the profile file here, readable only by its owner, instead of a "
        "link",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace FILE if it exists"
    )


def named(shares: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return the shares that are named, by position or by option."""
    named = [*shares, *more]
    if not named:
        message = "Name a share."
        raise CommandError(message, returncode=2)
    return named


def delivery(profile: str | None, *, force: bool) -> Deliver | None:
    """Return what writes the profile to a file; None where a link is asked for."""
    if profile is None:
        return None
    path = Path(profile).expanduser()
    check_free(path, force=force)
    return partial(write_profile, path=path, force=force)
