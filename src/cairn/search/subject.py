"""Whether a project is about tests or documentation, as a test framework is: then these words say nothing of where."""

from __future__ import annotations

import re
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.kernels.grouping import distinct
from cairn.search.query import Query
from cairn.source.languages import BY_NAME
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import term_hash, terms_of

NAME_BIT = 1  # of a posting's fields: the term is in a definition's name
_ASIDE = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.CONFIG | FOREIGN
_LEAST_FILES = 5
_MOST_SPELLED = 5  # words of a query that may be a name in words
_INLINE_TESTS = frozenset({"rust", "zig"})  # whose tests stand beside the code


class _Vocabulary(NamedTuple):
    """Words of a subject, and which share of the implementation's files have one, in `names` of definitions too."""

    words: tuple[str, ...]
    share: float
    share_of_names: float


class _Subject(NamedTuple):
    """What a project about a role looks like.

    Attributes:
        vocabularies: one of them is that of such a project.
        folders: names of well-known tools, one of which is in most paths.
        asked: how a query asks for files of the role even there.
    """

    vocabularies: tuple[_Vocabulary, ...]
    folders: str
    asked: str


# The shares lie between those of pytest, jest, bats, Mockito and Sphinx, and those of libraries that offer helpers for
# tests.
_SUBJECTS = {
    Role.TEST: _Subject(
        (_Vocabulary(("test", "tests", "testing"), 0.45, 0.15), _Vocabulary(("mock", "spy", "stub"), 0.3, 0.15)),
        r"(^|[/_-])(pytest|unittest|jest|vitest|mocha|jasmine|rspec|minitest|cucumber|behave|junit|testng|spock|kotest"
        r"|scalatest|specs2|munit|phpunit|pest|bats|catch2|gtest|googletest|nunit|xunit|ginkgo|testify|exunit|hspec|quick"
        r"|nimble|busted|selenium|cypress|playwright|hypothesis|robot)([/_.-]|$)",
        r"(?i)^((unit|integration|e2e|the|all|existing) )*tests? (for|of|that|which|covering)\b"
        r"|\b(tested|covered by tests)\b|\btests? (cases?|files?|suites?)? ?(for|of|that cover)\b"
        r"|\b(own|our|its) tests?\b",
    ),
    Role.DOCS: _Subject(
        (_Vocabulary(("doc", "docs", "docstring", "document", "documentation"), 0.5, 0.1),),
        r"(^|[/_-])(sphinx|mkdocs|docusaurus|typedoc|jsdoc|doxygen|rustdoc|javadoc|pdoc|vitepress|yard|dokka|docsify)"
        r"([/_.-]|$)",
        r"(?i)\b(readme|changelog|licen[cs]e|release notes?|guides?|tutorials?|quick ?start|getting started"
        r"|contribut\w*|troubleshoot\w*|documented)\b|^(the )?(docs|documentation) (for|of|on|about)\b",
    ),
}
# In such a project a file may be called after tests and be no test; a folder may not.
_TEST_FOLDER = re.compile(r"(^|/)(tests?|testing|specs?|__tests__|__mocks__|testdata|fixtures?|e2e)/|[.]test[.]")
_known: WeakKeyDictionary[Snapshot, tuple[Role, npt.NDArray[np.bool_]]] = WeakKeyDictionary()


def asked_roles(snapshot: Snapshot, query: Query) -> Role:
    """Return the roles of files that a query asks for, without those that only its subject seems to name."""
    wants = query.wants
    if not wants & (Role.TEST | Role.DOCS):
        return wants
    for role in subjects_of(snapshot)[0]:
        if wants & role and not re.search(_SUBJECTS[role].asked, query.text):
            wants &= ~role
    is_asked = re.search(_SUBJECTS[Role.TEST].asked, query.text)
    if wants & Role.TEST and not is_asked and _spells_name(snapshot, query):
        wants &= ~Role.TEST
    return wants


def _spells_name(snapshot: Snapshot, query: Query) -> bool:
    """Tell whether names in one chunk outside of tests have all words of a query: "set test now" is `setTestNow`."""
    hashes = {term.hashed for term in query.terms}
    if not 1 < len(hashes) <= _MOST_SPELLED:
        return False
    roles = snapshot.files.roles
    is_own = ((roles & int(_ASIDE)) == 0) | subjects_of(snapshot)[1]
    common: set[int] | None = None
    for hashed in hashes:
        found = snapshot.term_rows([hashed])
        rows = found.rows[(found.fields & NAME_BIT) > 0]
        numbers = snapshot.file_of_row[rows]
        named = set(rows[(numbers >= 0) & is_own[numbers]].tolist())
        common = named if common is None else common & named
        if not common:
            return False
    return True


def subjects_of(snapshot: Snapshot) -> tuple[Role, npt.NDArray[np.bool_]]:
    """Return the roles that a project is about, and which files are tests by their name alone, shape (n_files,)."""
    if (found := _known.get(snapshot)) is None:
        role = Role(sum(int(role) for role, subject in _SUBJECTS.items() if _is_about(snapshot, subject)))
        named = (snapshot.files.roles & int(Role.TEST)) > 0
        for number in np.flatnonzero(named).tolist():
            named[number] = not _TEST_FOLDER.search(snapshot.files.paths[number])
        found = _known[snapshot] = role, named
    return found


def _is_about(snapshot: Snapshot, subject: _Subject) -> bool:
    files = snapshot.files
    names = enumerate(files.language_names)
    code = [number for number, name in names if BY_NAME[name].group == "code" and name not in _INLINE_TESTS]
    own = ((files.roles & int(_ASIDE)) == 0) & np.isin(files.languages, code)
    n_own = int(own.sum())
    if n_own < _LEAST_FILES:
        return False
    for vocabulary in subject.vocabularies:
        rows = snapshot.term_rows(sorted({term_hash(terms_of(word, (word,))[-1]) for word in vocabulary.words}))
        numbers = snapshot.file_of_row[rows.rows]
        is_shown, is_name = numbers >= 0, (rows.fields & NAME_BIT) > 0
        anywhere, in_names = own[distinct(numbers[is_shown])].sum(), own[distinct(numbers[is_shown & is_name])].sum()
        if anywhere >= vocabulary.share * n_own and in_names >= vocabulary.share_of_names * n_own:
            return True
    folder = re.compile(subject.folders)
    return sum(folder.search(files.paths[number]) is not None for number in np.flatnonzero(own)) > n_own / 2
