"""Which commits carry their own times."""

from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times_of
from tests.support import cases

ON = {"delta.enableInCommitTimestamps": "true"}
AT = "delta.inCommitTimestampEnablementVersion"
SINCE = "delta.inCommitTimestampEnablementTimestamp"
FEATURES = ["inCommitTimestamp"]


@cases(
    "features, configuration, expected",
    {
        "no feature": ([], ON, None),
        "not turned on": (FEATURES, {}, None),
        "from the start": (FEATURES, ON, OwnTimes()),
        "from later on": (FEATURES, {**ON, AT: "4", SINCE: "99"}, OwnTimes(4, 99)),
        "without its time": (FEATURES, {**ON, AT: "4"}, OwnTimes(4)),
        "odd": (FEATURES, {**ON, AT: "x", SINCE: "9"}, OwnTimes()),
        "beyond a long": (FEATURES, {**ON, AT: "9" * 99}, OwnTimes()),
    },
)
def test_say_the_feature_and_the_properties(features, configuration, expected):
    assert own_times_of(features, configuration) == expected
