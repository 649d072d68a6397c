"""An invented software project: the names that a synthetic session talks about.

Real sessions repeat names, and unevenly: some files are opened all the time and most once. So a
project has a fixed stock of paths, symbols and services, and `pick` prefers the first ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

NOUNS = """
account address agenda alert archive artifact asset badge balance batch billing bracket branch
bucket budget cache calendar campaign cargo carrier catalog channel charge checkout cipher client
cluster cohort column comment contract coupon courier credit cursor dashboard delivery deposit
digest discount dispatch docket document draft editor email entry event exchange export feature
feed filter folder forecast gateway gauge graph grant header hook identity import index invoice
journal kernel label lease ledger license listing locale locker lookup mailbox manifest marker
member merchant metric migration mirror model module monitor notice offer order outbox owner packet
page parcel partner patch payload payment peer permit pipeline planner policy pool portal product
profile project prompt quota query queue quote receipt record refund region registry release
reminder replica report reservation resource retry review roster route rule sample schedule schema
scope secret segment sensor session shard shipment signal snapshot source spool stage statement
station stock stream subscriber summary supplier survey switch tariff task tenant ticket timer
topic trace transfer trigger upload usage vault vendor version voucher wallet warehouse webhook
window worker workflow zone
""".split()
VERBS = """
accept adjust allocate append apply archive assign attach audit await balance bind block build
cancel check claim clean clear clone close collect commit compare compute confirm connect convert
copy count create decode defer delete deliver detect diff discard dispatch drain drop emit encode
enqueue escape evict expand expire export extract fetch filter find flush fold format gather group
hash hydrate import index infer insert inspect invalidate issue join load lock log lookup map mark
match measure merge migrate normalize notify open pack parse patch pause persist poll prepare probe
promote prune publish pull purge push read rebuild reconcile record redact reduce refresh reject
release reload render replace replay report reserve reset resolve restore resume retry revoke
rotate route sample save scan schedule seal select send serialize settle shard sign skip sort split
start stop store stream submit sum sync tag take track transform trim unlock unpack update upload
validate verify wait watch wrap write yield
""".split()
SERVICES = """
api gateway scheduler ingest mailer worker indexer auth proxy exporter renderer watcher archiver
""".split()
FOLDERS = """
src/core src/api src/storage src/billing src/auth src/jobs src/http src/search src/mail tests
tests/integration web/src/components web/src/hooks web/src/pages scripts deploy migrations docs
""".split()
SUFFIXES = {"web": ".ts", "scripts": ".sh", "deploy": ".yaml", "migrations": ".sql", "docs": ".md"}


class Dice(Random):
    """Seeded chance; the methods that a generator of text calls a million times are short."""

    def pick(self, stock: Sequence[T]) -> T:
        """Return one of the stock, the first ones more often."""
        draw = self.random()
        return stock[int(draw * draw * len(stock))]

    def any(self, stock: Sequence[T]) -> T:
        """Return one of the stock, all alike."""
        return stock[int(self.random() * len(stock))]

    def below(self, limit: int) -> int:
        """Return a whole number from 0 up to the limit."""
        return int(self.random() * limit)

    def hex(self, digits: int) -> str:
        """Return a hexadecimal name, such as a commit."""
        return f"{self.getrandbits(4 * digits):0{digits}x}"


@dataclass(frozen=True, slots=True)
class Project:
    """The stock of names, and how much is said about them."""

    paths: list[str]
    functions: list[str]
    classes: list[str]
    settings: list[str]
    commits: list[str]
    services: Sequence[str]
    verbosity: float = 1.0
    """The length of tools' output against that of real sessions."""


def project(dice: Dice, files: int) -> Project:
    """Invent a project with about this many files."""
    paths = list(dict.fromkeys(_path(dice) for _ in range(files)))
    functions = [f"{dice.any(VERBS)}_{dice.any(NOUNS)}" for _ in range(files * 3)]
    classes = [f"{dice.any(NOUNS).title()}{dice.any(NOUNS).title()}" for _ in range(files)]
    settings = [f"{dice.any(NOUNS)}_{dice.any(NOUNS)}".upper() for _ in range(40)]
    commits = [dice.hex(9) for _ in range(200)]
    return Project(paths, functions, classes, settings, commits, SERVICES)


def _path(dice: Dice) -> str:
    folder = dice.any(FOLDERS)
    suffix = SUFFIXES.get(folder.partition("/")[0], ".py")
    name = f"{dice.any(NOUNS)}_{dice.any(NOUNS)}" if dice.random() < 0.6 else dice.any(NOUNS)
    return f"{folder}/{'test_' if folder.startswith('tests') else ''}{name}{suffix}"
