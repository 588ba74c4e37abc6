"""References to properties that patterns of TypeScript take out of a value, and that JSX gives to components."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "box.tsx": "interface BoxProps { title: string; text: string }\n"
    "export const Box = React.memo<BoxProps>(({ title, text = 'a' }) => <b>{title}{text}</b>);\n"
    "interface ListProps { items: string[]; spare: number }\n"
    "export const List: React.FC<ListProps> = ({ items: rows }) => <b>{rows}</b>;\n"
    "export interface RowProps { cells: string[] }\n"
    "export function Row({ cells }: RowProps) { return <i>{cells}</i>; }\n",
    "page.tsx": "import { Box, List, Row as Line } from './box';\n"
    "export const Page = () => <Line cells={[]}>\n  <Box title='a' />\n  <List items={[]} />\n"
    "  <p title='b' />\n  <Unknown spare={1} />\n</Line>;\n",
    "auth.ts": "export interface Auth { user: string }\nexport function useAuth(): Auth { return { user: 'a' }; }\n",
    "use.ts": "import { useAuth } from './auth';\n"
    "export function who() {\n  const { user } = useAuth();\n  return user;\n}\n",
    "names.ts": "export function cells() {}\nexport const shown = ({ cells }) => cells;\n",
    "cart.ts": "export class Cart { total(): number { return 1 } }\nexport interface Has { cart: Cart }\n"
    "export function useCart(): Has { return { cart: new Cart() } }\nexport function load() {}\n",
    "show.ts": "import { Cart, Has, useCart } from './cart';\nimport * as shop from './cart';\n"
    "export function one({ cart }: Has) {\n  return cart.total();\n}\n"
    "export function two() {\n  const { cart: own = null } = useCart();\n  return own.total();\n}\n"
    "export function three() {\n  const { load } = shop;\n  load();\n}\n"
    "export function four({ load }) {\n  load();\n}\n",
    "mods.ts": "class Local {}\nclass Remote {}\nconst chosen = isLocal() ? Local : Remote;\n"
    "@Module({\n  imports: [chosen],\n})\nexport class App {}\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("destructured")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("BoxProps.title", [("box.tsx", 2), ("page.tsx", 3)]),
        ("BoxProps.text", [("box.tsx", 2)]),
        ("ListProps.items", [("box.tsx", 4), ("page.tsx", 4)]),
        ("ListProps.spare", []),
        ("RowProps.cells", [("box.tsx", 6), ("page.tsx", 2)]),
        ("Auth.user", [("use.ts", 3)]),
        ("names.ts:cells", []),  # a parameter hides the function
        ("mods.ts:chosen", [("mods.ts", 5)]),  # which holds a class, and is no other name of it
    ],
)
def test_a_property_is_read_where_a_pattern_or_a_component_names_it(
    symbol: str, expected: list[tuple[str, int]], workspace: Workspace
) -> None:
    found = workspace.graph.references(symbol).references
    assert sorted((each.path, each.line) for each in found) == expected


def test_an_attribute_of_an_unknown_component_is_not_denied(workspace: Workspace) -> None:
    unresolved = workspace.graph.references("ListProps.spare").unresolved
    assert unresolved is not None
    assert [(mention.path, mention.line) for mention in unresolved.first] == [("page.tsx", 6)]


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [("Cart.total", [("show.ts", 4), ("show.ts", 8)]), ("cart.ts:load", [("show.ts", 12)]), ("names.ts:cells", [])],
)
def test_what_a_pattern_takes_out_is_called(symbol: str, expected: list[tuple[str, int]], workspace: Workspace) -> None:
    assert [(link.path, link.line) for link in workspace.graph.callers(symbol).links] == expected
