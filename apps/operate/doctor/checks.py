"""The checks of a set-up: each app adds its own.

    loading.modules.register("apps.jobs.listing.setup_checks")

Such a module calls `setup_checks.register`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from apps.operate.loading import load
from apps.pages.registry import Registry

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFinding:
    """The finding of a check.

    Attributes:
        check: The name of the check.
        state: `ok`, `warn` or `fail`.
        says: What was found, in a sentence without secrets.
        todo: What to do about it; "" if nothing.
    """

    check: str
    state: str
    says: str
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOptions:
    """The options of the doctor.

    Attributes:
        url: The public address that is requested as users do; "" for none.
        mail_to: The address that a mail is sent to; "" for none.
    """

    url: str = ""
    mail_to: str = ""


Found: TypeAlias = tuple[str, str, str]
"""A state, a sentence, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupCheck:
    """A check of a part of the set-up.

    Attributes:
        look: Yields what it finds. An error of the part is a finding.
    """

    name: str
    look: Callable[[SetupOptions], Iterable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupReport:
    """The findings of all checks.

    Attributes:
        state: The worst state of all findings.
    """

    state: str
    findings: list[SetupFinding]


setup_checks: Final[Registry[SetupCheck]] = Registry(key=lambda one: one.name)


def examine(options: SetupOptions) -> SetupReport:
    """Run all checks. One that fails in an unexpected way does not stop the others."""
    load()
    findings = [one for check in setup_checks for one in _findings(check, options)]
    states = {one.state for one in findings}
    worst = next((one for one in (FAIL, WARN) if one in states), OK)
    return SetupReport(state=worst, findings=findings)


def _findings(check: SetupCheck, options: SetupOptions) -> Iterator[SetupFinding]:
    try:
        for state, says, todo in check.look(options):
            yield SetupFinding(check=check.name, state=state, says=says, todo=todo)
    except Exception as error:  # noqa: BLE001 (the doctor says what is broken, whatever it is)
        reason = str(error).partition("\n")[0][:300]
        says = f"The check failed: {type(error).__name__}: {reason}"
        yield SetupFinding(check=check.name, state=FAIL, says=says)
