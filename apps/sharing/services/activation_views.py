"""Looking at an activation link, and the record of it, which never holds the nonce."""

from datetime import datetime

from apps.accounts.tokens import sha256
from apps.audit.models import AuditEvent
from apps.audit.services import record
from apps.sharing.errors import SharingStateError
from apps.sharing.models import ActivationLink
from apps.sharing.services.activation import Activation, look_up

ACTION = "activation.view"


def view_activation(
    nonce: str, *, address: str, user_agent: str, request_id: str, now: datetime
) -> Activation:
    """Return what a link would open, without spending it, and record the look.

    A link that was never issued leaves no record: anybody could fill it with those.

    Raises:
        SharingStateError: As `look_up`.
    """
    status, code = 200, ""
    try:
        return look_up(nonce, address=address, now=now)
    except SharingStateError as error:
        status, code = error.status, error.code
        raise
    finally:
        _record(
            nonce,
            AuditEvent(
                at=now,
                kind=AuditEvent.Kind.ACTIVATION,
                action=ACTION,
                request_id=request_id[:64],
                address=address[:64],
                user_agent=user_agent[:300],
                status=status,
                error_code=code,
            ),
        )


def _record(nonce: str, event: AuditEvent) -> None:
    links = ActivationLink.objects.select_related("token__recipient")
    link = links.filter(nonce_sha256=sha256(nonce)).first()
    if link is None:
        return
    event.recipient = link.token.recipient.name
    event.recipient_id = link.token.recipient_id
    event.token_id = link.token_id
    event.token_prefix = link.token.prefix
    record(event)
