import re
from pathlib import Path

from apps.sharing.action_words import WORDS, action_words

APPS = Path(__file__).resolve().parents[4] / "apps"
NOUNS = "share|recipient|grant|token|link|table|key|user|storage|activation"
ACTION = re.compile(rf'"((?:{NOUNS})\.[a-z_]+)"')


def test_every_change_that_a_service_reports_has_words() -> None:
    sources = [*APPS.glob("*/services/*.py"), APPS / "tables/storage_connections.py"]
    reported = {name for path in sources for name in ACTION.findall(path.read_text())}

    assert len(reported) > 30
    assert reported - WORDS.keys() == set()


def test_an_unknown_action_is_spelled_out() -> None:
    assert action_words("moon.land_on") == "land on (moon)"
