from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from cairn.search.hits import _is_named_in, _terms_of_name
from cairn.types import Definition, Span


# One word and several, in capitals and small letters, of which the stem is not the whole.
@example("PARSING", True)
@example("Parsing", True)
@example("_parsing", True)
@example("getUserSettings", True)
@example("HTTPHeaders", True)
@example("USER_SETTINGS", True)
@example("v2", True)
@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,15}", fullmatch=True), st.booleans())
def test_a_name_is_in_a_question_that_says_all_of_its_terms_and_in_no_other(name: str, says_all: bool) -> None:
    own = _terms_of_name(name)
    said = own if says_all else own - {max(own, default="")}
    definition = Definition("function", name, name, "", "", -1, Span(1, 1, 0, 1))
    assert _is_named_in(definition, said | {"other"}) == (bool(own) and own <= said | {"other"})
