"""Admission: which people get in, with which role and groups, and why.

Every rule that is set has to hold. Without a rule, only people whom an administrator
invited or linked get in. A claim that is missing never admits anybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from apps.accounts.models import User

MAX_NAME: Final = 150
MAX_SUBJECT: Final = 255
MAX_GROUPS: Final = 1000
_RANKS: Final = tuple(User.Role.values)  # from the least


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person as a provider or a proxy describes them.

    Attributes:
        name: The name that the person would like; it never finds an account.
        email: Empty if there is none.
        is_email_verified: Whether the provider says so; False if it says nothing.
        groups: Empty if the provider names none.
    """

    issuer: str
    subject: str
    name: str = ""
    email: str = ""
    is_email_verified: bool = False
    groups: Sequence[str] = ()
    claims: Mapping[str, object] = field(default_factory=dict)

    @property
    def verified_email(self) -> str:
        """The address in small letters; empty if it is not verified."""
        return self.email.lower() if self.is_email_verified else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that admit people, and the roles of groups.

    Attributes:
        groups: A person is in one of these.
        claims: Names and values; each has to be so.
        domains: A verified e-mail address ends with one of these.
        roles: By group; None if administrators give roles here.
    """

    groups: Sequence[str] = ()
    claims: Sequence[tuple[str, str]] = ()
    domains: Sequence[str] = ()
    roles: Sequence[tuple[str, str]] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no rule admits anybody."""
        return not (self.groups or self.claims or self.domains)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to one person.

    Attributes:
        reasons: A sentence for each rule: why it holds or does not.
        role: The role by the groups; empty if administrators give roles here.
    """

    admitted: bool
    reasons: Sequence[str]
    role: str
    groups: Sequence[str]


def rules_of_settings() -> Rules:
    """Return the rules that the settings state."""
    return Rules(
        groups=settings.SSO_REQUIRED_GROUPS,
        claims=settings.SSO_REQUIRED_CLAIMS,
        domains=settings.SSO_DOMAINS,
        roles=settings.SSO_ROLES,
    )


def verdict_of(person: Person, rules: Rules, *, invited: bool) -> Verdict:
    """Decide whether a person gets in.

    Args:
        invited: Whether an administrator admitted this person.
    """
    held = [(holds, said) for holds, said in _checked(person, rules)]
    if rules.is_empty:
        held = [(False, "No rule admits people: only those who are invited get in.")]
    reasons = [said for _, said in held]
    if invited:
        reasons.append("An administrator admitted this person.")
    return Verdict(
        admitted=invited or all(holds for holds, _ in held),
        reasons=reasons,
        role=role_of(person.groups, rules),
        groups=person.groups,
    )


def role_of(groups: Sequence[str], rules: Rules) -> str:
    """Return the highest role of some groups; empty if groups give no roles here."""
    if not rules.roles:
        return ""
    found = [role.upper() for group, role in rules.roles if group in groups]
    return max(found, key=_RANKS.index, default=_RANKS[0])


def _checked(person: Person, rules: Rules) -> list[tuple[bool, str]]:
    found = []
    if rules.groups:
        common = sorted(set(rules.groups) & set(person.groups))
        said = f"In the required group {common[0]!r}." if common else ""
        missing = f"Not in a required group ({', '.join(rules.groups)})."
        found.append((bool(common), said or missing))
    for name, value in rules.claims:
        holds = _has(person.claims.get(name), value)
        verb = "is" if holds else "is not"
        found.append((holds, f"The claim {name!r} {verb} {value!r}."))
    if rules.domains:
        found.append(_in_domain(person, rules.domains))
    return found


def _has(claim: object, value: str) -> bool:
    values = claim if isinstance(claim, list) else [claim]
    return any(
        one is True and value == "true" if isinstance(one, bool) else one == value
        for one in values
    )


def _in_domain(person: Person, domains: Sequence[str]) -> tuple[bool, str]:
    if not person.email:
        return False, "There is no e-mail address."
    if not person.is_email_verified:
        return False, "The provider does not say that the e-mail address is verified."
    domain = person.verified_email.rpartition("@")[2]
    holds = domain in {one.lower().removeprefix("@") for one in domains}
    where = "in" if holds else "not in"
    return holds, f"The domain {domain!r} is {where} the list of domains."
