"""Rights and schedules that a restored backup brings back."""

from datetime import datetime

from apps.operate.restored.revivals import (
    AuditLine,
    Revival,
    Withdrawal,
    revivals,
    text_of,
    withdrawals,
)
from apps.tables.models import Grant, RepeatedOperation
from deltaweb.words import counted


def _rights(_: datetime, now: datetime) -> tuple[int, str]:
    count = Grant.objects.active(now).count()
    return count, (
        f"{counted(count, 'right')} on tables and namespaces will count, also those"
        " that were ended after the backup."
    )


def _schedules(_: datetime, __: datetime) -> tuple[int, str]:
    count = RepeatedOperation.objects.count()
    return count, (
        f"{counted(count, 'scheduled operation')} will run when next due, and twice if"
        " the former server still runs."
    )


def _right_is_back(line: AuditLine, now: datetime) -> bool:
    found = Grant.objects.active(now).filter(right=text_of(line, "right"))
    return any(
        one.holder_name == text_of(line, "of")
        and one.subject_name == text_of(line, "on")
        for one in found.select_related("user", "group", "namespace", "table")
    )


revivals.register(
    Revival(name="rights", look=_rights), Revival(name="schedules", look=_schedules)
)
withdrawals.register(
    Withdrawal(
        action="access.end",
        says=lambda line: (
            f"Right {text_of(line, 'right')} of {text_of(line, 'of')} on"
            f" {text_of(line, 'on')}"
        ),
        is_back=_right_is_back,
    )
)
