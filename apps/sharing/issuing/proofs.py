"""What a recipient proves itself by: a secret, a key of its own, an issuer's word."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from apps.sharing.access.errors import ClientInvalidError, ClientTakenError
from apps.sharing.models import Recipient, RecipientToken
from deltaweb.sharing.oauth.issuer_documents import check_issuer
from deltaweb.sharing.oauth.public_key import parse_public_key

MAX_CLAIM_CHARACTERS: Final = 400

Kind = RecipientToken.Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One kind of proof with what it is checked by; the last four are of an issuer.

    Attributes:
        public_key: PEM, of a client that signs.
        issuer: Whose tokens are taken, as they spell it.
        subject: About whom; or else
        group: which group that has to be in.
    """

    kind: RecipientToken.Kind
    public_key: str = ""
    issuer: str = ""
    audience: str = ""
    subject: str = ""
    group: str = ""

    @property
    def has_secret(self) -> bool:
        """Whether a secret is made for the recipient, once it fetches its profile."""
        return self.kind not in RecipientToken.OPEN_KINDS

    def columns(self) -> dict[str, str]:
        """Return what the row of a token says of it."""
        return asdict(self)

    def describe(self) -> dict[str, str]:
        """Return what the record says of it: nothing of a plain token."""
        if self.kind == Kind.BEARER:
            return {}
        shown = {k: v for k, v in self.columns().items() if k != "public_key" and v}
        return shown | {"kind": self.kind.lower()}


BEARER: Final = Proof(kind=Kind.BEARER)
CLIENT_SECRET: Final = Proof(kind=Kind.CLIENT_SECRET)


def by_key(text: str) -> Proof:
    """Return the proof of a client that signs by the private key of a public one."""
    return Proof(kind=Kind.PRIVATE_KEY, public_key=parse_public_key(text).pem)


def by_issuer(
    *, issuer: str, audience: str, subject: str = "", group: str = ""
) -> Proof:
    """Return the proof of those whom an OIDC issuer vouches for."""
    texts = {"audience": audience, "subject": subject, "group": group}
    texts = {name: text.strip() for name, text in texts.items()}
    if not texts["audience"]:
        raise ClientInvalidError(reason="it has no audience")
    if bool(texts["subject"]) == bool(texts["group"]):
        reason = "it needs either a subject or a group"
        raise ClientInvalidError(reason=reason)
    if any(len(text) > MAX_CLAIM_CHARACTERS for text in texts.values()):
        raise ClientInvalidError(
            reason=f"a value is longer than {MAX_CLAIM_CHARACTERS} characters"
        )
    return Proof(kind=Kind.FEDERATED, issuer=check_issuer(issuer), **texts)


def of_kind(kind: str, *, public_key: str = "", **claims: str) -> Proof:
    """Return the proof of a client of a kind, `client_secret` for all that is unknown.

    Args:
        kind: `client_secret`, `private_key` or `federated`.
        public_key: PEM, of one that signs.
        claims: `issuer`, `audience`, `subject` and `group`, of one that is federated.
    """
    if kind == Kind.PRIVATE_KEY.lower():
        return by_key(public_key)
    if kind == Kind.FEDERATED.lower():
        return by_issuer(**claims)
    return CLIENT_SECRET


def check_free(proof: Proof, recipient: Recipient, *, now: datetime) -> None:
    """Refuse an identity by which another recipient is known."""
    if proof.kind != Kind.FEDERATED:
        return
    same = RecipientToken.objects.unended(now).filter(**proof.columns())
    other = same.exclude(recipient=recipient).select_related("recipient").first()
    if other is not None:
        raise ClientTakenError(name=other.recipient.name)
