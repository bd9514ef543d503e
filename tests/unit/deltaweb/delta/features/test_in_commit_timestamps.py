"""Which commits carry their own times."""

import pytest

from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times_of

ON = {"delta.enableInCommitTimestamps": "true"}
AT = "delta.inCommitTimestampEnablementVersion"
SINCE = "delta.inCommitTimestampEnablementTimestamp"
FEATURES = ["inCommitTimestamp"]


@pytest.mark.parametrize(
    ("features", "configuration", "expected"),
    [
        pytest.param([], ON, None, id="no feature"),
        pytest.param(FEATURES, {}, None, id="not turned on"),
        pytest.param(FEATURES, ON, OwnTimes(), id="from the start"),
        pytest.param(
            FEATURES, {**ON, AT: "4", SINCE: "99"}, OwnTimes(4, 99), id="from later on"
        ),
        pytest.param(FEATURES, {**ON, AT: "4"}, OwnTimes(4), id="without its time"),
        pytest.param(FEATURES, {**ON, AT: "x", SINCE: "9"}, OwnTimes(), id="odd"),
        pytest.param(FEATURES, {**ON, AT: "9" * 99}, OwnTimes(), id="beyond a long"),
    ],
)
def test_say_the_feature_and_the_properties(features, configuration, expected):
    assert own_times_of(features, configuration) == expected
