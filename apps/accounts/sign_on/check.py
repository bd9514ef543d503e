"""`deltaweb sso check`: whether sign-on can work, and who would be admitted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_network
from typing import Final, Literal

from django.conf import settings

from apps.accounts.lifetimes.local_accounts import emergency_admin
from apps.accounts.models import Group
from apps.accounts.sign_on.admission import (
    MAX_GROUPS,
    Person,
    rules_of_settings,
    verdict_of,
)
from apps.accounts.sign_on.claims import person_of
from apps.accounts.sign_on.people import check_person, known
from apps.accounts.sign_on.provider import (
    date_of,
    discovered,
    issuer_keys,
    redirect_uri,
)
from apps.pages.actions import Stamp
from apps.pages.errors import PageError
from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.oauth.signed_claims import ASYMMETRIC, Claims

MAX_SKEW_S: Final = 30
State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOnFinding:
    """One thing that was looked at.

    Attributes:
        state: `ok`, `note` (know this) or `problem` (sign-on does not work).
        text: What was found, and what to do.
    """

    name: str
    state: State
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOnCheck:
    """The state of the set-up of sign-on."""

    findings: list[SignOnFinding]
    problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCheck:
    """The answer to a person of some claims.

    Attributes:
        account: The name of the account that the person has; empty for a new one.
        role: The role that the person would have.
        groups: The groups that the person would be in by claims.
        left_out: Groups of the claim that the person would not be in, and why.
        reasons: A sentence for each rule.
    """

    admitted: bool
    account: str
    role: str
    groups: list[str]
    left_out: list[str]
    reasons: list[str]


def check_set_up(now: datetime) -> SignOnCheck:
    """Look at the settings, the provider and the local administrator."""
    found = [*_ways(), *_provider(now), *_rules(), *_local()]
    return SignOnCheck(
        findings=found, problems=sum(one.state == "problem" for one in found)
    )


def check_claims(claims: Claims, stamp: Stamp) -> AdmissionCheck:
    """Say whether a person of some claims would be admitted; nothing is changed."""
    person = person_of(claims, {})
    reasons = [*_about_claims(claims)]
    try:
        check_person(person)
    except PageError:
        reasons.append("The claim 'sub' is missing, or cannot be used.")
        return _answer(person, reasons, admitted=False)
    identity, invitation = known(person, stamp)
    invited = invitation is not None or (identity is not None and identity.is_invited)
    verdict = verdict_of(person, rules_of_settings(), invited=invited)
    reasons += verdict.reasons
    admitted, account, role = verdict.admitted, "", verdict.role or "VIEWER"
    if identity is not None:
        account = identity.user.username
        role = verdict.role or identity.user.role
        if not identity.user.is_active:
            admitted = False
            reasons.append(f"The account {account!r} is disabled.")
    elif invitation is not None:
        role = verdict.role or invitation.role
    return _answer(person, reasons, admitted=admitted, account=account, role=role)


def _answer(
    person: Person,
    reasons: list[str],
    *,
    admitted: bool,
    account: str = "",
    role: str = "",
) -> AdmissionCheck:
    local = {
        group.name.lower() for group in Group.objects.filter(source=Group.Source.LOCAL)
    }
    left_out = [name for name in person.groups if name.lower() in local]
    return AdmissionCheck(
        admitted=admitted,
        account=account,
        role=role.lower() if admitted else "",
        groups=[one for one in person.groups if one not in left_out]
        if admitted
        else [],
        left_out=[
            f"{one}: an administrator made a group of this name" for one in left_out
        ],
        reasons=reasons,
    )


def _about_claims(claims: Claims) -> Iterator[str]:
    name = settings.OIDC_GROUPS_CLAIM
    if name in claims:
        if isinstance(claims[name], list) and len(claims[name]) > MAX_GROUPS:
            yield f"Only the first {MAX_GROUPS} groups count."
        return
    overage = claims.get("_claim_names")
    if claims.get("hasgroups") or (isinstance(overage, dict) and name in overage):
        yield (
            "The provider left the groups out, because there are too many. In Entra, "
            "choose 'Groups assigned to the application'."
        )
    yield f"There is no claim {name!r}, so the person has no groups."


def _ways() -> Iterator[SignOnFinding]:
    if not settings.HAS_SIGN_ON:
        text = "Neither DELTAWEB_OIDC_ISSUER nor DELTAWEB_REMOTE_USER_HEADER is set."
        yield SignOnFinding(name="sign-on", state="problem", text=text)
    if not settings.REMOTE_USER_HEADER:
        return
    wide = [one for one in settings.REMOTE_USER_PROXIES if _is_wide(one)]
    proxies = ", ".join(settings.REMOTE_USER_PROXIES)
    text = f"{settings.REMOTE_USER_HEADER} counts from {proxies}."
    if wide:
        text = f"Name the proxy alone: {', '.join(wide)} has many other addresses."
    yield SignOnFinding(name="proxy", state="note" if wide else "ok", text=text)


def _is_wide(network: str) -> bool:
    return ip_network(network).num_addresses > 1 << 16


def _provider(now: datetime) -> Iterator[SignOnFinding]:
    if not settings.OIDC_ISSUER:
        return
    try:
        found = discovered()
        keys = issuer_keys().get(settings.OIDC_ISSUER, now=now)
    except (DeltaError, PageError) as error:
        text = f"{error.message} Check DELTAWEB_OIDC_ISSUER and the network."
        yield SignOnFinding(name="discovery", state="problem", text=text)
        return
    yield SignOnFinding(
        name="discovery", state="ok", text=f"{settings.OIDC_ISSUER} describes itself."
    )
    yield SignOnFinding(name="keys", state="ok", text=f"It has {len(keys.keys)} keys.")
    yield _clock(now)
    uri = redirect_uri()
    is_plain = not uri.startswith("https:")
    yield SignOnFinding(
        name="redirect URI",
        state="note" if is_plain else "ok",
        text=f"Register {uri} at the provider, exactly."
        + " Use https outside of this machine." * is_plain,
    )
    yield from _abilities(found)


def _abilities(found: Claims) -> Iterator[SignOnFinding]:
    """Compare what the provider says that it can with what sign-on uses."""
    for name, wanted, state in (
        ("code_challenge_methods_supported", "S256", "note"),
        ("response_types_supported", "code", "problem"),
        *(("scopes_supported", one, "note") for one in settings.OIDC_SCOPES.split()),
    ):
        offered = found.get(name)
        if isinstance(offered, list) and wanted not in offered:
            text = f"{name} of the provider does not have {wanted!r}."
            yield SignOnFinding(name=name, state=state, text=text)  # type: ignore[arg-type]  # as in the table
    algorithms = found.get("id_token_signing_alg_values_supported")
    if isinstance(algorithms, list) and not {*map(str, algorithms)} & {*ASYMMETRIC}:
        text = f"The provider signs by none of {', '.join(ASYMMETRIC)}."
        yield SignOnFinding(name="signature", state="problem", text=text)
    if not found.get("backchannel_logout_supported"):
        text = "The provider does not end sessions by back-channel logout."
        yield SignOnFinding(name="back-channel logout", state="note", text=text)


def _clock(now: datetime) -> SignOnFinding:
    try:
        theirs = parsedate_to_datetime(date_of(settings.OIDC_ISSUER))
        skew_s = abs((theirs - now).total_seconds())
    except (ValueError, TypeError, PageError):
        text = "The provider does not say what time it is."
        return SignOnFinding(name="clock", state="note", text=text)
    if skew_s > MAX_SKEW_S:
        text = f"The clocks differ by {skew_s:.0f} s. Set the clock of this server."
        return SignOnFinding(name="clock", state="problem", text=text)
    return SignOnFinding(name="clock", state="ok", text="The clocks agree.")


def _rules() -> Iterator[SignOnFinding]:
    rules = rules_of_settings()
    if rules.is_empty:
        text = (
            "No rule admits people: only those who are invited or linked get in. Set "
            "DELTAWEB_SSO_REQUIRED_GROUPS, _REQUIRED_CLAIMS or DELTAWEB_SSO_DOMAINS."
        )
        yield SignOnFinding(name="admission", state="note", text=text)
        return
    parts = (
        ("in one of the groups", ", ".join(rules.groups)),
        ("with the claims", ", ".join(f"{n}={v}" for n, v in rules.claims)),
        ("with a verified address in", ", ".join(rules.domains)),
    )
    said = " and ".join(f"{words} {values}" for words, values in parts if values)
    yield SignOnFinding(name="admission", state="ok", text=f"People {said} get in.")


def _local() -> Iterator[SignOnFinding]:
    admin = emergency_admin()
    if admin is None:
        text = (
            "No local administrator is left for the day when the provider is down. "
            "Add one: deltaweb user add NAME --role admin"
        )
        yield SignOnFinding(name="local administrator", state="problem", text=text)
        return
    text = f"{admin.username!r} can sign in by 'deltaweb user link {admin.username}'."
    yield SignOnFinding(name="local administrator", state="ok", text=text)
