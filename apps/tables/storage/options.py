"""Options of storage connections: as people write them, and for drivers.

An option is `KEY=VALUE`. A dot in the key leads into an inner mapping
(`client_kwargs.endpoint_url`), and a value `env:VARIABLE` or `file:PATH` is kept as it
is and looked up at each use.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from apps.tables.storage.errors import StorageOptionError, StorageReferenceError
from deltaweb.environment.bounded_json import parse_json

MAX_VALUE_BYTES: Final = 64 << 10
VARIABLE: Final = "env:"
FILE: Final = "file:"
WORDS: Final[Mapping[str, bool]] = {"true": True, "false": False}
_KEY: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,4}", re.ASCII)
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Numbers are told from texts only here: elsewhere digits alone may be a password.
_NUMERIC: Final = re.compile(r"config_kwargs\.\w+", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


def parse_options(texts: Iterable[str], *, base: Path) -> dict[str, str]:
    """Return the values by key, in the order of the texts.

    Args:
        texts: Each `KEY=VALUE`.
        base: Folder that relative paths after `file:` start from.
    """
    options: dict[str, str] = {}
    for position, text in enumerate(texts, start=1):
        key, separator, value = text.partition("=")
        if not separator or _KEY.fullmatch(key) is None:
            # Whatever it is may be a secret that lost its key.
            raise StorageOptionError(reason=f"number {position} is not KEY=VALUE")
        if key in options:
            raise StorageOptionError(reason=f"{key} is given twice")
        options[key] = _checked(key, value, base)
    for key in options:
        for other in options:
            if other.startswith(f"{key}."):
                reason = f"{key} is given as a value and as a mapping"
                raise StorageOptionError(reason=reason)
    return options


def sent_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return options that somebody sends who may not read the server's own files."""
    texts = [f"{key}={value}" for key, value in options.items()]
    parsed = parse_options(texts, base=Path("/"))
    for key, value in parsed.items():
        if value.startswith((VARIABLE, FILE)):
            reason = f"{key} names a variable or file of the server"
            raise StorageOptionError(reason=reason)
    return parsed


def resolve(options: Mapping[str, str], *, storage: str) -> dict[str, Any]:
    """Return the options as a driver takes them: looked up, typed and nested.

    Args:
        options: From `parse_options`.
        storage: The connection's name, for errors.
    """
    resolved: dict[str, Any] = {}
    for key, value in options.items():
        *outer, name = key.split(".")
        inner = resolved
        for part in outer:
            inner = inner.setdefault(part, {})
        text = _look_up(value, option=key, storage=storage)
        inner[name] = _typed(text, option=key)
    return resolved


# === One option ===


def _checked(key: str, value: str, base: Path) -> str:
    """Return the value to keep: a path after `file:` becomes absolute."""
    if len(value.encode(errors="surrogateescape")) > MAX_VALUE_BYTES or "\0" in value:
        raise StorageOptionError(
            reason=f"the value of {key} is too long or holds a NUL"
        )
    if value.startswith(VARIABLE):
        if _VARIABLE_NAME.fullmatch(value.removeprefix(VARIABLE)) is None:
            raise StorageOptionError(
                reason=f"{key} does not name a variable after env:"
            )
    elif value.startswith(FILE):
        path = value.removeprefix(FILE)
        if not path:
            raise StorageOptionError(reason=f"{key} does not name a file after file:")
        return f"{FILE}{base / Path(path).expanduser()}"
    return value


def _look_up(value: str, *, option: str, storage: str) -> str:
    if value.startswith(VARIABLE):
        name = value.removeprefix(VARIABLE)
        if not os.environ.get(name):
            raise StorageReferenceError(
                storage=storage,
                option=option,
                source=f"the variable {name}",
                reason="is not set",
            )
        return os.environ[name]
    if value.startswith(FILE):
        path = value.removeprefix(FILE)
        try:
            return _read_text(Path(path))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "is not a short text"
            raise StorageReferenceError(
                storage=storage,
                option=option,
                source=f"the file {path}",
                reason=f"cannot be read ({reason})",
            ) from None
    return value


def _read_text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_VALUE_BYTES + 1)
    if len(data) > MAX_VALUE_BYTES:
        message = "it is too long"
        raise ValueError(message)
    return data.decode().strip()


def _typed(text: str, *, option: str) -> Any:  # noqa: ANN401 (what a driver takes)
    """Return true and false as such, a JSON object as a mapping, else the text."""
    if text in WORDS:
        return WORDS[text]
    if _NUMERIC.match(option) and _NUMBER.fullmatch(text):
        return int(text)
    if text.startswith("{"):
        try:
            return parse_json(text)
        except (ValueError, RecursionError):
            return text
    return text
