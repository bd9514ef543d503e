from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier, Event

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.test import RequestFactory
from pytest_django import Settings

from apps.accounts import errors, services
from apps.accounts.models import FailedSignIn, User
from apps.accounts.services import hashing, passwords
from apps.accounts.services.hashing import (
    AddressSlots,
    BoundedPBKDF2PasswordHasher,
    HashSlots,
)
from apps.pages.actions import COMMAND_LINE, Actor, Stamp
from apps.pages.errors import PageError

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PASSWORD = "a long enough phrase"
GUESS = "wrong"
HERE = Actor(name="anonymous", address="192.0.2.1")
ELSEWHERE = Actor(name="anonymous", address="198.51.100.1")
BOUNDED = "apps.accounts.services.hashing.BoundedPBKDF2PasswordHasher"


@pytest.fixture(autouse=True)
def _no_failures(settings: Settings, tmp_path: Path) -> None:
    """No failure has been counted yet."""
    settings.HOME = tmp_path


@pytest.fixture
def vera() -> User:
    return services.create_user(
        name="vera", role="viewer", password=PASSWORD, stamp=Stamp(COMMAND_LINE, NOW)
    )


def attempt(name="vera", password=GUESS, *, actor=HERE, now=NOW):
    """Try to sign in."""
    request = RequestFactory().post("/")
    return services.sign_in(
        request, name=name, password=password, stamp=Stamp(actor, now)
    )


def outcome(name: str = "vera", password: str = GUESS) -> str:
    """Return what becomes of a try: "in", or the code of the refusal."""
    try:
        attempt(name, password)
    except PageError as error:
        return error.code
    else:
        return "in"


@pytest.mark.django_db
class TestSignIn:
    def test_takes_the_name_in_any_capitals(self, vera: User) -> None:
        assert attempt("VERA", PASSWORD) == vera

    @pytest.mark.usefixtures("vera")
    @pytest.mark.parametrize("name", ["vera", "nobody"])
    def test_does_not_say_what_was_wrong(self, name: str) -> None:
        with pytest.raises(
            errors.SignInError, match="name or the password is not correct"
        ):
            attempt(name)

    def test_too_many_failures_make_the_door_wait(self, vera: User) -> None:
        for _ in range(passwords.FAILURES_ALLOWED):
            assert outcome("Vera") == "sign-in-failed"

        assert outcome(password=PASSWORD) == "too-many-sign-ins"
        later = NOW + passwords.FAILURE_WINDOW + timedelta(seconds=1)
        assert attempt(password=PASSWORD, now=later) == vera
        assert not FailedSignIn.objects.exists()

    def test_a_refused_try_does_not_lengthen_the_wait(self, vera: User) -> None:
        for _ in range(passwords.FAILURES_ALLOWED + 5):
            outcome()

        assert vera.username == "vera"
        assert FailedSignIn.objects.count() == passwords.FAILURES_ALLOWED

    def test_strangers_elsewhere_do_not_lock_the_owner_out(self, vera: User) -> None:
        for number in range(200):
            FailedSignIn.objects.create(
                name="vera", address=f"198.51.100.{number}", failed_at=NOW
            )
        for _ in range(50):
            with pytest.raises(PageError):
                attempt(actor=ELSEWHERE)

        assert attempt(password=PASSWORD) == vera

    @pytest.mark.usefixtures("vera")
    def test_one_network_of_ipv6_counts_as_one_address(self) -> None:
        codes = []
        for number in range(1, passwords.FAILURES_ALLOWED + 2):
            actor = Actor(name="anonymous", address=f"2001:db8::{number:x}")
            with pytest.raises(PageError) as caught:
                attempt(actor=actor)
            codes.append(caught.value.code)

        assert codes[-1] == "too-many-sign-ins"

    def test_many_names_from_one_address_are_refused_before_a_hash(self) -> None:
        codes = Counter(outcome(f"name{number}") for number in range(60))

        allowed = passwords.FAILURES_OF_AN_ADDRESS
        assert codes == {"sign-in-failed": allowed, "too-many-sign-ins": 60 - allowed}

    def test_an_address_may_go_on_little_by_little(self) -> None:
        for number in range(passwords.FAILURES_OF_AN_ADDRESS):
            outcome(f"name{number}")
        with pytest.raises(errors.TooManySignInsError, match="Wait 1 minute,"):
            attempt("another")

        with pytest.raises(errors.SignInError):
            attempt("another", now=NOW + timedelta(minutes=1))

    def test_right_passwords_do_not_count(self, vera: User) -> None:
        for _ in range(passwords.FAILURES_OF_AN_ADDRESS * 2):
            assert attempt(password=PASSWORD) == vera


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("vera")
def test_guesses_at_once_do_not_pass_the_limit_together() -> None:
    barrier = Barrier(8)

    def guess() -> str:
        barrier.wait()
        try:
            return outcome()
        finally:
            connection.close()

    codes: Counter[str] = Counter()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            codes.update(pool.map(lambda _: guess(), range(8)))

    assert codes["sign-in-failed"] <= passwords.FAILURES_ALLOWED
    assert sum(codes.values()) == 16


class TestHashSlots:
    def test_refuse_who_finds_no_place(self) -> None:
        slots = HashSlots(at_once=1, waiting=0)

        with slots.taken(), pytest.raises(errors.PasswordsBusyError), slots.taken():
            pass
        with slots.taken():
            pass

    def test_let_wait_for_a_while(self) -> None:
        slots = HashSlots(at_once=1, waiting=1, max_wait_s=0.01)

        with slots.taken(), pytest.raises(errors.PasswordsBusyError), slots.taken():
            pass


class TestAddressSlots:
    def test_are_one_for_each_address(self) -> None:
        slots = AddressSlots(waiting=0)

        with (
            slots.taken("here"),
            slots.taken("elsewhere"),
            pytest.raises(errors.PasswordsBusyError),
            slots.taken("here"),
        ):
            pass
        with slots.taken("here"):
            pass

    def test_let_one_wait_for_a_while(self) -> None:
        slots = AddressSlots(max_wait_s=0.01)

        with slots.taken("here"):
            for _ in range(2):
                with pytest.raises(errors.PasswordsBusyError), slots.taken("here"):
                    pass

    def test_go_to_who_waits(self) -> None:
        slots = AddressSlots()
        arrived = Event()

        def take() -> str:
            arrived.set()
            with slots.taken("here"):
                return "taken"

        with ThreadPoolExecutor(1) as pool:
            with slots.taken("here"):
                waiting = pool.submit(take)
                assert arrived.wait(60)
            assert waiting.result(60) == "taken"


@pytest.mark.django_db
def test_an_address_whose_password_is_checked_holds_up_no_other(vera, monkeypatch):
    slots = AddressSlots(waiting=0)
    monkeypatch.setattr(passwords, "address_slots", slots)

    with slots.taken(HERE.address):
        assert outcome(password=PASSWORD) == "passwords-busy"
        assert attempt(password=PASSWORD, actor=ELSEWHERE) == vera
    assert attempt(password=PASSWORD) == vera


class TestHasher:
    def test_is_that_of_the_server(self) -> None:
        from deltaweb import settings as settings_of_server

        assert settings_of_server.PASSWORD_HASHERS == [BOUNDED]

    def test_reads_what_was_hashed_before(self) -> None:
        stored = PBKDF2PasswordHasher().encode(PASSWORD, "salt" * 6, 2)

        assert BoundedPBKDF2PasswordHasher().verify(PASSWORD, stored)
        assert not BoundedPBKDF2PasswordHasher().verify("wrong", stored)

    @pytest.mark.django_db
    def test_that_is_busy_costs_the_address_a_try_and_no_name(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.PASSWORD_HASHERS = [BOUNDED]
        monkeypatch.setattr(BoundedPBKDF2PasswordHasher, "iterations", 2)
        slots = HashSlots(at_once=1, waiting=0)
        monkeypatch.setattr(hashing, "slots_of_process", lambda _: slots)

        allowed = passwords.FAILURES_OF_AN_ADDRESS
        with slots.taken():
            codes = Counter(outcome() for _ in range(allowed + 1))

        assert codes == {"passwords-busy": allowed, "too-many-sign-ins": 1}
        assert not FailedSignIn.objects.exists()
        with pytest.raises(errors.SignInError):
            attempt(actor=ELSEWHERE)
