"""Writing the record."""

from apps.audit.models import AuditEvent
from apps.pages.actions import Action


def record_action(action: Action) -> None:
    """Record a change that a person made."""
    actor = action.stamp.actor
    AuditEvent.objects.create(
        at=action.stamp.at,
        kind=AuditEvent.Kind.CHANGE,
        action=action.name,
        actor=actor.name,
        actor_id=actor.user_id,
        address=actor.address,
        user_agent=actor.user_agent,
        share=action.share,
        recipient=action.recipient,
        recipient_id=action.recipient_id,
        token_id=action.token_id,
        token_prefix=action.token_prefix,
        table=action.table,
        table_id=action.table_id,
        detail=dict(action.detail),
        status=action.status,
        error_code=action.error_code,
    )


def record(event: AuditEvent) -> None:
    """Record a call or an activation."""
    event.save()
