"""A company on one machine, from its set-up to the kill of each of its processes."""

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import requests
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate
from playwright.sync_api import Browser, Page, Playwright, expect

from deltaweb import DeltaTable
from tests.browser.conftest import PATIENCE_MS, WINDOW, chromium
from tests.browser.test_sign_on import sign_in_there
from tests.support.company.receiver import ReceiverProcess
from tests.support.company.running import Company, running_company
from tests.support.processes.installation import wait_for
from tests.support.tables.table_builder import ROWS, TableBuilder

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.timeout(3000)]
DELIVERED_S: Final = 420  # a mail that a relay refused is sent again after 5 minutes
KILLED: Final = (
    "deltaweb:web-1",
    "deltaweb:web-2",
    "deltaweb:worker-1",
    "deltaweb:worker-2",
    "deltaweb:beat",
    "redis",
    "postgresql",
    "proxy",
    "provider",
    "mail",
    "prometheus",
)
VERSION: Final = re.compile(r"sales\.orders has version (\d+)")
PURPOSE: Final = "Delivery times per region"


@dataclass
class Walk:
    """People who walk through the company, and what they have done so far.

    Attributes:
        versions: Of the table, since somebody follows it.
    """

    company: Company
    browser: Browser
    receiver: ReceiverProcess
    orders: DeltaTable
    salaries: DeltaTable
    secret: str = ""
    versions: list[int] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)

    def sign_in(self, name: str) -> Page:
        """Sign in at the provider, in a browser of the person's own."""
        page = self.visitor()
        page.goto(f"{self.company.url}/me/")
        page.get_by_role("link", name="Sign in with the company").click()
        sign_in_there(page, name)
        page.wait_for_url(f"{self.company.url}/me/")
        self.pages[name] = page
        return page

    def visitor(self) -> Page:
        """A page of a browser that is signed in nowhere."""
        context = self.browser.new_context(viewport=WINDOW)
        context.set_default_timeout(PATIENCE_MS)
        return context.new_page()

    def shown(self, name: str, path: str) -> Any:  # noqa: ANN401 (JSON)
        """Return the status and the JSON that a person gets."""
        return self.pages[name].evaluate(
            "path => fetch(path).then(async one => [one.status, await one.json()])",
            path,
        )

    def commit(self) -> None:
        """Write a version of the table, and one of a table that only owners see."""
        self.salaries.append(ROWS)
        self.orders.append(ROWS)
        self.versions.append(self.orders.latest_version())

    def notices(self, name: str) -> list[str]:
        """Return what the bell of a person has, one line for each notification."""
        read = "path => fetch(path).then(async one => [one.status, await one.text()])"
        status, text = self.pages[name].evaluate(read, "/notifications.csv")
        return list(text.splitlines()[1:]) if status == 200 else [f"{status}"]

    def rung(self, name: str) -> list[int]:
        """Return the versions that the bell of a person has."""
        found = VERSION.findall("\n".join(self.notices(name)))
        return sorted(int(one) for one in found)

    def mailed(self, name: str) -> set[int]:
        """Return the versions that somebody was mailed about."""
        texts = self.company.mails(f"{name}@example.com")
        return {int(one) for text in texts for one in VERSION.findall(text)}

    def expect_all_arrived(self) -> None:
        """Wait until each version has come by webhook, by mail and to the bell."""
        wanted = {*self.versions}
        arrived = self.receiver.waits_for(self.secret, wanted, timeout_s=DELIVERED_S)
        assert arrived, self.company.log()
        mailed = wait_for(lambda: wanted <= self.mailed("anna"), timeout_s=DELIVERED_S)
        assert mailed, (wanted - self.mailed("anna"), self.company.log())
        rung = wait_for(lambda: self.rung("anna") == self.versions)
        assert rung, (self.versions, self.notices("anna"))


@pytest.fixture
def walk(playwright: Playwright) -> Iterator[Walk]:
    with ExitStack() as stack:
        company = stack.enter_context(running_company())
        flag = f"--ignore-certificate-errors-spki-list={pin(company.certificate)}"
        browser = stack.enter_context(chromium(playwright, flag))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        receiver = ReceiverProcess(company.address, folder / "received")
        receiver.start()
        stack.callback(receiver.kill)
        orders, salaries = (
            TableBuilder(company.folder / "tables" / name).rows(ROWS).build()
            for name in ("orders", "salaries")
        )
        yield Walk(company, browser, receiver, orders, salaries)


def pin(certificate: Path) -> str:
    """Return the hash by which Chromium trusts the key of one certificate."""
    key = load_pem_x509_certificate(certificate.read_bytes()).public_key()
    spki = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(spki).digest()).decode()


def test_loses_no_notification_whichever_process_is_killed(walk: Walk) -> None:
    the_checks_say_who_is_admitted(walk)
    people_of_two_groups_sign_in(walk)
    the_owner_lists_a_private_table(walk)
    an_analyst_requests_it(walk)
    the_owner_approves(walk)
    the_analyst_follows_it(walk)
    another_analyst_had_access_and_has_none(walk)
    a_commit_arrives_by_each_channel(walk)
    prometheus_sees_both_web_servers(walk)
    for name in KILLED:
        a_kill_loses_nothing(walk, name)
    a_kill_of_the_receiver_loses_nothing(walk)
    versions_arrived_in_order(walk)
    prometheus_sees_both_web_servers(walk)
    the_others_have_seen_nothing(walk)


def the_checks_say_who_is_admitted(walk: Walk) -> None:
    assert "problem" not in walk.company.command("sso", "check")
    assert "fail " not in walk.company.command("doctor")
    for groups, admitted in ((["analysts"], True), (["others"], False), (None, False)):
        claims = {"sub": "x"} | ({"groups": groups} if groups else {})
        said = walk.company.command(
            *("sso", "check", "--json", "--claims", json.dumps(claims)),
            ends_with=int(not admitted),
        )
        assert json.loads(said)["admitted"] is admitted


def people_of_two_groups_sign_in(walk: Walk) -> None:
    for name, role in (("olga", "editor"), ("anna", "viewer"), ("tom", "viewer")):
        walk.sign_in(name)
        assert walk.shown(name, "/me.json")[1]["role"] == role
    stranger = walk.visitor()
    stranger.goto(f"{walk.company.url}/sign-in/sso/")
    sign_in_there(stranger, "zoe")
    expect(stranger.get_by_text("has no access here")).to_be_visible()


def the_owner_lists_a_private_table(walk: Walk) -> None:
    for name in ("orders", "salaries"):
        folder = str(walk.company.folder / "tables" / name)
        walk.company.command("table", "add", f"sales.{name}", folder)
        walk.company.command("grant", "own", "owners", f"sales.{name}")
    olga = walk.pages["olga"]
    for name in ("orders", "salaries"):
        olga.goto(f"{walk.company.url}/t/sales/{name}/access")
        privacy = olga.locator("section", has=olga.locator("#privacy"))
        privacy.get_by_role("radio", name=re.compile("^Private")).check()
        privacy.get_by_label("List it for requests").set_checked(name == "orders")
        privacy.get_by_role("button", name="Save").click()
        expect(privacy.get_by_text(re.compile("finds? its name"))).to_be_visible()
    assert walk.shown("anna", "/t/sales/salaries.json")[0] == 404


def an_analyst_requests_it(walk: Walk) -> None:
    anna = walk.pages["anna"]
    anna.goto(f"{walk.company.url}/requests/listed")
    expect(anna.get_by_text("sales.salaries")).to_have_count(0)
    anna.get_by_role("link", name="Request access to sales.orders").click()
    anna.get_by_label("For how long").fill("30d")
    anna.get_by_label("What for").fill(PURPOSE)
    anna.get_by_role("button", name="Request access").click()
    expect(anna.get_by_text(PURPOSE).first).to_be_visible()


def the_owner_approves(walk: Walk) -> None:
    olga = walk.pages["olga"]
    bell = olga.get_by_label(re.compile(r"Notifications, \d+ new"))
    expect(bell).not_to_have_accessible_name("Notifications, 0 new")
    bell.click()
    olga.get_by_role("link", name=re.compile("anna requests")).first.click()
    expect(olga.get_by_text(PURPOSE).first).to_be_visible()
    olga.get_by_role("button", name="Approve the request of anna").click()
    expect(olga.get_by_text("none", exact=True).first).to_be_visible()
    assert wait_for(lambda: bool(walk.company.mails("olga@example.com")))
    anna = walk.pages["anna"]
    anna.goto(f"{walk.company.url}/t/sales/orders/access")
    expect(anna.get_by_text(re.compile("Yes, anna can view it until"))).to_be_visible()


def the_analyst_follows_it(walk: Walk) -> None:
    anna = walk.pages["anna"]
    anna.goto(f"{walk.company.url}/notifications/webhooks/?new=on")
    anna.get_by_label("Address", exact=True).fill(walk.receiver.url)
    anna.get_by_role("button", name="Add").click()
    walk.secret = anna.locator("#webhook-secret").inner_text()

    anna.goto(f"{walk.company.url}/notifications/following/?new=on")
    anna.get_by_label("What it is").select_option("namespace")
    anna.get_by_label("Name", exact=True).fill("sales.*")
    anna.get_by_role("button", name="Follow", exact=True).click()
    anna.get_by_role("link", name=re.compile("Change what you follow")).click()
    form = anna.get_by_role("form", name=re.compile("Change what you follow"))
    form.get_by_role("checkbox", name="only if they break readers").uncheck()
    for name in ("New version", "Mail", "Webhook", "Bell"):
        form.get_by_role("checkbox", name=re.compile(f"^{name}")).check()
    form.get_by_role("button", name="Save", exact=True).click()
    expect(anna.get_by_text("webhook", exact=True).first).to_be_visible()


def another_analyst_had_access_and_has_none(walk: Walk) -> None:
    walk.company.command("grant", "view", "tom", "sales.orders")
    walk.company.command(
        *("follow", "sales.orders", "--user", "tom", "--kind", "table.version"),
        "--mail",
    )
    grants = json.loads(walk.company.command("grant", "list", "--json"))
    number = next(one["id"] for one in grants if one["holder"] == "tom")
    walk.company.command("grant", "end", str(number))


def a_commit_arrives_by_each_channel(walk: Walk) -> None:
    anna = walk.pages["anna"]
    anna.goto(f"{walk.company.url}/notifications/")
    bell = anna.get_by_label(re.compile(r"Notifications, \d+ new"))
    before = bell.get_attribute("aria-label") or ""
    walk.commit()
    expect(bell).not_to_have_attribute("aria-label", before)  # without a new page
    walk.expect_all_arrived()


def a_kill_loses_nothing(walk: Walk, name: str) -> None:
    walk.commit()
    killed = walk.company.kill(name)
    walk.commit()
    again = wait_for(lambda: walk.company.has_again(name, killed), timeout_s=120)
    assert again, (name, walk.company.log())
    # One web server has to serve again before the other one is killed.
    assert wait_for(walk.company.serves, timeout_s=240), (name, walk.company.log())
    walk.expect_all_arrived()


def a_kill_of_the_receiver_loses_nothing(walk: Walk) -> None:
    walk.receiver.kill()
    walk.commit()
    assert wait_for(
        lambda: walk.versions[-1] in walk.mailed("anna"), timeout_s=DELIVERED_S
    )
    walk.receiver.start()
    walk.expect_all_arrived()


def versions_arrived_in_order(walk: Walk) -> None:
    events = walk.receiver.verified(walk.secret)
    assert {one["data"]["table"] for one in events} == {"sales.orders"}
    found = [one["data"]["version"] for one in events if "version" in one["data"]]
    assert list(dict.fromkeys(found)) == walk.versions
    ids = {(one["id"], one["data"].get("version")) for one in events}
    assert len(ids) == len({one["id"] for one in events}) == len(walk.versions)


def prometheus_sees_both_web_servers(walk: Walk) -> None:
    def values(query: str) -> list[str]:
        url = f"http://{walk.company.address}:9090/api/v1/query"
        answer = requests.get(url, params={"query": query}, timeout=30).json()
        return [one["value"][1] for one in answer["data"]["result"]]

    assert wait_for(lambda: values("up") == ["1", "1"], timeout_s=120)
    ended = values("sum by (instance) (deltaweb_jobs_ended_last_hour)")
    assert len(ended) == 2
    assert all(float(one) > 0 for one in ended)


def the_others_have_seen_nothing(walk: Walk) -> None:
    assert walk.shown("tom", "/t/sales/orders.json")[0] == 404
    assert walk.notices("tom") == []
    assert walk.mailed("tom") == set()
    assert "sales.salaries" not in "".join(walk.notices("anna"))
    mails = walk.company.mails("@example.com")
    assert not [text for text in mails if "sales.salaries" in text]
    status, found = walk.shown("tom", "/tables.json")
    assert (status, found["tables"]) == (200, [])
