"""The field's words for what people read, in the place of words that only we know.

Whoever reads a page, a message or the manual comes from Delta Lake, Spark or SQL: what
these call a thing, deltaweb calls it too. A word that is plain English elsewhere is
allowed there, by what stands around it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entry:
    """A word of ours that people do not read, and what they read instead.

    Attributes:
        pattern: A regular expression of the word, upper and lower case alike.
        instead: The field's word.
        allowed: A regular expression of what around it makes it plain English.
    """

    pattern: str
    instead: str
    allowed: str = r"(?!)"

    def found_in(self, text: str) -> Iterator[str]:
        """Yield each use of the word in a text, with a little around it."""
        for use in re.finditer(self.pattern, text, flags=re.IGNORECASE):
            start, end = use.span()
            plain = re.finditer(self.allowed, text, flags=re.IGNORECASE)
            if not any(one.start() <= start and end <= one.end() for one in plain):
                yield text[max(0, start - 30) : end + 30]


GLOSSARY: Final = (
    Entry(r"\buntold\b", "files_without_statistics, without a row count"),
    Entry(r"\bnot told\b", "unknown"),
    Entry(r"\b(does|do) not tell\b", "does not say"),
    Entry(r"\bno longer tells?\b", "no longer in the log"),
    Entry(r"\b(history|log|commit|files?) tells?\b", "says, lists, mentions"),
    Entry(r"\basked for\b", "requested"),
    Entry(r"\basks (for|of)\b", "requires, needs"),
    Entry(r"\bin so many words\b", "explicitly"),
    Entry(r"\b(a table of|at most) so many\b", "this many"),
    Entry(r"\b(the|each|next|a|one) looks?\b", "preview, check"),
    Entry(r"\b(are|is|was|were) looked at\b", "is checked, read"),
    Entry(r"\b(look|looks|looking|looked) into\b", "inspect"),
    Entry(r"\blook whether\b", "check whether"),
    Entry(r"\b(goes|go|going) on (from|behind|with)\b", "continues, is incremental"),
    Entry(r"\banew\b", "again, re-"),
    Entry(r"\bfor the hand\b", "for local runs"),
    Entry(r"\bnew ?born\b", "new table"),
    Entry(r"\bupkeep\b", "maintenance"),
    Entry(r"\bwill not do\b", "is not valid"),
    Entry(r"\b(is|are) none (of|that)\b", "is not"),
    Entry(
        r"\bis no (?!longer\b|more\b)",
        "is not a",
        allowed=r"\b(there|here|nor|yet) is no ",
    ),
    Entry(r"\bno way back\b", "cannot be undone"),
    Entry(r"\b(gave|gives?) way to\b", "conflicts with"),
    Entry(r"\b(speaks?|spoken) of\b", "names"),
    Entry(r"\b(spoilt|spoiled)\b", "corrupt"),
    Entry(r"\bin tow\b", "pipelined"),
    Entry(r"\b(commit|change|take) the words\b", "the comment"),
    Entry(r"\b(passe[sd]|pass) over\b", "skip, ignore"),
    Entry(r"\bturns? it round\b", "reverses it"),
    Entry(r"\bdeals? rows out\b", "redistributes rows"),
    Entry(r"\bpack(s|ed)? (small )?files\b", "compact"),
    Entry(r"\bshuts? out\b|\bshut a \w+ out\b", "locked out, disabled"),
    Entry(r"\b(handed|hands|hand) out\b", "served"),
    Entry(r"\b(takes?|took|taken) out\b", "removed"),
    Entry(r"\b(stays?|that (is|are)|is|was) good until\b|\bstay good\b", "valid"),
    Entry(r"\b(commit|log|file|version|it) does not read\b", "cannot be read"),
    Entry(r"\bopens? nothing\b", "no longer works"),
    Entry(r"\b(people|recipients|administrators) read of\b", "description, comment"),
    Entry(
        r"\b(newest version|format|numbers|statistics|administrators) alone\b", "only"
    ),
    Entry(r"\bfound out\b", "inferred"),
    Entry(r"\bcalled so\b", "of that name"),
    # One term for each thing: grant, revoke, hold, refresh, remove, verify, expire,
    # encrypt, catalog.
    Entry(
        r"\b(tak(e|es|en|ing)|took) ((it|them|the|an?|access|shares?) ){0,2}back\b",
        "revoke; access was removed",
    ),
    Entry(r"\b(are|is|were) held for\b", "a hold keeps them for"),
    Entry(r"\bspared? by vacuums?\b|\bvacuums? \w*( \w+)? ?spares?\b", "a hold keeps"),
    Entry(r"\blook(s|ed)? again\b", "refresh"),
    Entry(r"\bforg[eo]t(s|ten)? (the|a|this) (profile|provider)\b", "remove"),
    Entry(r"\b(token|link|key|client|URL)s? live[sd]?\b", "is valid for"),
    Entry(r"\b(key|certificate)s? (has |have )?ended\b|\bends soon\b", "expired"),
    Entry(r"\btime is over\b", "has expired"),
    Entry(r"\b(stored|kept) sealed\b|\btoken is sealed\b", "stored encrypted"),
    Entry(r"\bshare it whole\b|\bas a whole schema\b", "share the namespace"),
    Entry(r"\bcheck (the files now|of the files)\b|\bfiles checked\b", "verify files"),
    Entry(
        r"\bcatalogue\b",
        "catalog",
        allowed=r"[\w.-]*/catalogue[\w./-]*|catalogue-light|catalogue/_\w+",
    ),
    # Sentences that had to be read twice.
    Entry(r"\bheld against\b", "compared with"),
    Entry(r"\bwhatever\b", "any"),
    Entry(r"\b(came|comes?) of\b", "follows from"),
    Entry(r"\bgoes? on\b", "continues"),
    Entry(r"\btells? of\b", "shows, names"),
    Entry(r"\bwhose clocks\b", "time zone of"),
    Entry(r"\bdead rows\b", "deleted rows"),
    Entry(r"\b(have|has|must) to know\b|\bmust know\b", "must support"),
    Entry(r"\bmay lie below\b", "allowed locations"),
    Entry(r"\bsomebody\b", "someone, a user, a recipient"),
    Entry(
        r"\bno(body| one) (may|can|reads?|sees?|will|lists?|outside)\b", "no recipient"
    ),
    Entry(r"\bcan do without\b", "does not need"),
    Entry(r"\bkept nowhere\b", "not stored"),
    Entry(r"\bhand(s|ed|ing)? (\w+ ){0,3}over\b", "send"),
    Entry(r"\bturn(s|ed)? (\w+ ){0,2}away\b", "refuse"),
    Entry(r"\bjust now\b", "at the moment", allowed=r"(?m:^just now$)"),
    Entry(r"\bif it stays( so)?,|\bif it stays;", "if the problem persists"),
    Entry(r"\b(is|are) the most\b", "the limit is"),
    Entry(r"\bcomes? (in )?by (OAuth|a (token|secret|key))\b", "uses"),
    Entry(
        r"\b(a|the|each|every) tables? that comes?\b|\bthose that come\b", "added later"
    ),
    Entry(r"\bby the clocks? of\b", "in the time zone"),
    Entry(r"\bone a line\b", "one per line"),
    Entry(r"\b(of|for) minutes\b", "short-lived"),
    Entry(r"\bbroke off\b", "failed, was cut off"),
    Entry(r"\b(given|gave|gives|give) out\b", "issued, sent"),
    Entry(r"\bdo(es)? not go together\b|\bdo(es)? not belong together\b", "is wrong"),
    Entry(r"\bdo(es)? not add up\b", "is not valid"),
    Entry(r"\bworks? one time\b", "works once"),
    Entry(r"\bas (far|long) as you may\b", "within your role"),
    Entry(r"\bwhat (it|they|one) comes? in by\b", "its proof"),
    Entry(r"\bwhat becomes of\b", "what to do with; what happens to"),
    Entry(r"\bare to be told\b|\bhas to be told\b", "reminders"),
    Entry(r"\bof (this|that|its|their) own kind\b", "of its kind"),
)
"""Some eighty pairs. One more is a line here, and the sentences that it names."""
