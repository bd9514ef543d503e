"""The checks of single sign-on for the doctor of a set-up."""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.utils import timezone

from apps.accounts.sign_on.check import check_set_up
from apps.operate.doctor.checks import (
    FAIL,
    OK,
    WARN,
    Found,
    SetupCheck,
    SetupOptions,
    setup_checks,
)

_STATES: Final = {"ok": OK, "note": WARN, "problem": FAIL}


def look_at_sign_on(_: SetupOptions) -> Iterator[Found]:
    """Look at the provider, the proxy, the rules and the local administrator."""
    if not settings.HAS_SIGN_ON:
        yield OK, "Single sign-on is not set up: people have local accounts.", ""
        return
    for one in check_set_up(timezone.now()).findings:
        more = "" if one.state == "ok" else "deltaweb sso check says more."
        yield _STATES[one.state], f"{one.name}: {one.text}", more


setup_checks.register(SetupCheck(name="sign-on", look=look_at_sign_on))
