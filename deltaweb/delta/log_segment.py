"""Which files hold the log of one version."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VersionRun:
    """Versions `first` to `last`, both included, that the log can build."""

    first: int
    last: int
