import re
from pathlib import Path

import apps
from apps.notices.events.kind import event_kinds
from apps.sharing.activity.action_words import WORDS, action_words

APPS = Path(apps.__file__).parent
NOUNS = "share|recipient|grant|token|link|table|key|user|storage|activation"
ACTION = re.compile(rf'"((?:{NOUNS})\.[a-z_]+)"')


def test_every_change_that_a_service_reports_has_words() -> None:
    sources = (path.read_text() for path in APPS.rglob("*.py"))
    named = {name for text in sources for name in ACTION.findall(text)}
    reported = named - event_kinds().keys()

    assert len(reported) > 30
    assert reported - WORDS.keys() == set()


def test_an_unknown_action_is_spelled_out() -> None:
    assert action_words("moon.land_on") == "land on (moon)"
