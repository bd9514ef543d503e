"""Checkpoint protection: the log before a version is not for every writer.

Older versions may use features that the newest one has dropped. A checkpoint of one of
these, or a clean-up among them, is for writers that know all of these features.

Source: the RFC checkpointProtection of delta-io/delta.
"""

import re
from typing import Final

from deltaweb.delta.features.feature import Configuration, Feature, LogWriting

CHECKPOINT_PROTECTION: Final = "checkpointProtection"
PROTECTED_BEFORE: Final = "delta.requireCheckpointProtectionBeforeVersion"
_LONG = re.compile(r"[0-9]{1,18}", re.ASCII)


def is_protected(configuration: Configuration, version: int) -> bool:
    """Return whether a version of the log is protected; without a bound, every one."""
    bound = configuration.get(PROTECTED_BEFORE, "")
    return not _LONG.fullmatch(bound) or version < int(bound)


FEATURE: Final = Feature(
    CHECKPOINT_PROTECTION,
    log_writing=LogWriting.CARRIED,
    protects_log=is_protected,
    is_written=True,
)
