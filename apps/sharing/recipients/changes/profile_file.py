"""The profile file that a command writes, in the place of a link to it."""

import os
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from apps.pages.changes.parameters import parameter
from apps.sharing.issuing.credentials import Deliver
from apps.sharing.issuing.profile import ProfileFile

_MODE: Final = 0o600


def profile_parameter() -> Any:  # noqa: ANN401 (of a field)
    """Return the field of the file that a command writes instead of a link."""
    return parameter(
        None,
        "--profile",
        metavar="FILE",
        help="write the profile file here, readable only by its owner, instead of a "
        "link",
    )


def force_parameter() -> Any:  # noqa: ANN401 (of a field)
    """Return the field that lets a command replace a file."""
    return parameter(
        default=False,
        option="--force",
        action="store_true",
        help="replace FILE if it exists",
    )


def delivery(path: Path, *, force: bool) -> Deliver:
    """Return what writes a profile to a file, unless that cannot be written."""
    check_free(path, force=force)
    return partial(write_profile, path=path, force=force)


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
