"""The code of HEEx in files of Elixir, as the grammar of Elixir is shown it."""

from __future__ import annotations

import pytest

from cairn.source.definitions import first_error_line, parse
from cairn.source.languages import BY_NAME
from cairn.source.languages.heex_code import code_of_elixir


def code_of(template: str) -> str:
    """Return what is left of a template, without blanks."""
    data = f'def show(assigns) do\n  ~H"""\n{template}\n  """\nend\n'.encode()
    code = code_of_elixir(data)
    assert len(code) == len(data)
    assert code.count(b"\n") == data.count(b"\n")
    assert first_error_line(parse(data, BY_NAME["elixir"])) == 0
    return "".join(code.decode().split("(  ")[-1].rsplit(")", 1)[0].split())


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("<.card title={@title} />", "&card;@title"),
        ("<Shop.Card.show\n  :if={open?(@card)}\n/>", "Shop.Card.showopen?(@card)"),
        ("<.list :for={row <- rows(@cart)}>{row}</.list>", "&list;row=rows(@cart);row"),
        ("<%= if paid?(@cart) do %><.paid /><% else %>{@due}<% end %>", "ifpaid?(@cart)do&paid;else@due;end"),
        ("<%!-- old(@cart) --%><!-- {older(@cart)} --><b>{new(%{a: 1})}</b>", "new(%{a:1})"),
        ("<script>let a = {b}</script><p title='{'>text</p>", ""),
        ("<%= case @state do %>\n<% :a -> %>\n<.a b={c(1)} />\n<.d />\n<% end %>", "case@statedo:a->&a;c(1)&dend"),
    ],
)
def test_the_markup_of_a_template_is_blank(template: str, code: str) -> None:
    assert code_of(template) == code


def test_sigils_may_stand_in_arguments_and_have_other_marks() -> None:
    data = b'def show(x), do: wrap(~H"<.card a={b} />", ~H[<.row />]noformat, ~H"")\n'
    code = code_of_elixir(data)
    assert code == b"def show(x), do: wrap((   &card;   b;   ), (   &row;  )        , (  ))\n"
    assert first_error_line(parse(data, BY_NAME["elixir"])) == 0


def test_a_template_without_an_end_stays_as_it_is() -> None:
    data = b'x = ~H"""\n<.card />\n'
    assert code_of_elixir(data) == data
