"""V2 checkpoints: a manifest, with files in sidecars.

Source: delta_protocol.md, "V2 Spec".
"""

from collections.abc import Mapping
from typing import Final

from deltaweb.delta.features.feature import Feature, LogWriting
from deltaweb.delta.protocol.table_properties import CHECKPOINT_POLICY

V2_CHECKPOINT: Final = "v2Checkpoint"
CLASSIC_POLICY: Final = "classic"
SECOND_POLICY: Final = "v2"


def wants_second_spec(configuration: Mapping[str, str]) -> bool:
    """Return whether checkpoints of the table are to be of the second specification."""
    return configuration.get(CHECKPOINT_POLICY, CLASSIC_POLICY) == SECOND_POLICY


def wants_other_checkpoints(configuration: Mapping[str, str]) -> bool:
    """Return whether checkpoints of the table are to be of a kind that is not known."""
    policy = configuration.get(CHECKPOINT_POLICY, CLASSIC_POLICY)
    return policy not in {CLASSIC_POLICY, SECOND_POLICY}


FEATURE: Final = Feature(
    V2_CHECKPOINT,
    log_writing=LogWriting.CARRIED,
    claims_log=wants_other_checkpoints,
    is_written=True,
)
