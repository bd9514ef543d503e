"""The zone that a time says itself, as Spark reads it: `+5:3`, `PST`, `Asia/Tokyo`.

Source: Spark, `DateTimeUtils.getZoneId`; Java, `ZoneId.SHORT_IDS`.
"""

import re
from functools import lru_cache
from typing import Final

from deltaweb.delta.values.time_zones.known import is_known, zone_rules
from deltaweb.delta.values.time_zones.rules import ZoneRules

_ONE_DIGIT_MINUTE: Final = re.compile(r"([+-][0-9]{1,2}):([0-9])")
_SHORT_NAMES: Final = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


@lru_cache(maxsize=128)
def written_zone(text: str) -> ZoneRules:
    """Return the rules of the zone that a time says; raise ValueError for none."""
    name = _SHORT_NAMES.get(text, text)
    if match := _ONE_DIGIT_MINUTE.fullmatch(name.removeprefix("UTC")):
        name = f"{match[1]}:0{match[2]}"
    if not is_known(name):
        raise ValueError(text[:80])
    return zone_rules(name)
