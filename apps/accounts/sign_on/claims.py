"""Claims of a provider, read as a person."""

from django.conf import settings

from apps.accounts.sign_on.admission import MAX_GROUPS, Person
from deltaweb.sharing.oauth.signed_claims import Claims


def person_of(claims: Claims, said: Claims) -> Person:
    """Return the person of an id token and of userinfo; the id token comes first.

    An e-mail address counts as verified if the same document says so.
    """
    both = {**said, **claims}
    emails = [one for one in (claims, said) if is_text(one.get("email"))]
    verified = [one for one in emails if is_true(one.get("email_verified"))]
    chosen = next(iter(verified or emails), {})
    name = both.get(settings.OIDC_NAME_CLAIM)
    return Person(
        issuer=settings.OIDC_ISSUER,
        subject=str(both.get("sub") or ""),
        name=name if isinstance(name, str) else "",
        email=str(chosen.get("email", "")),
        is_email_verified=bool(verified),
        groups=groups_of_claim(both.get(settings.OIDC_GROUPS_CLAIM)),
        claims=both,
    )


def is_text(claim: object) -> bool:
    """Whether a claim is a text that every database keeps: no NUL, no half letters."""
    return isinstance(claim, str) and claim.isprintable()


def is_true(claim: object) -> bool:
    """Whether a claim is true; some providers write it as text."""
    return claim is True or claim == "true"


def groups_of_claim(claim: object) -> list[str]:
    """Return the groups of a claim: a list of names, or one name; else none."""
    names = claim if isinstance(claim, list) else [claim]
    return [one for one in names[:MAX_GROUPS] if isinstance(one, str)]
