"""What Ruby loads by itself is imported, and a `using` of C# imports the files whose types are used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "lib/shop.rb": 'module Shop\n  autoload :Cart, "shop/cart"\n  autoload :OldTill\n'
    '  autoload(:Fee, "shop/money")\nend\n',
    "lib/shop/cart.rb": "module Shop\n  class Cart\n  end\nend\n",
    "lib/shop/old_till.rb": "module Shop\n  class OldTill\n  end\nend\n",
    "lib/shop/money.rb": "module Shop\n  class Fee\n  end\nend\n",
    "lib/old_till.rb": "class Another\nend\n",
    "cs/Price.cs": "namespace Shop.Core;\n\npublic class Price { public int Cents; }\n",
    "cs/Rate.cs": "namespace Shop.Core\n{\n    public class Rate { }\n}\n",
    "cs/Spare.cs": "namespace Shop.Core;\n\npublic class Spare { }\n",
    "cs/Till.cs": "using System;\nusing Shop.Core;\n\nnamespace Shop.Web;\nclass Till { Price total = new Price(); }\n",
    "cs/Desk.cs": "using Shop.Core;\n\nnamespace Shop.Web;\n\nclass Desk { Rate a = new Rate(); Price b = null; }\n",
    "java/core/Bill.java": "package core;\n\npublic class Bill { public static int sum() { return 1; } }\n",
    "java/web/Page.java": "package web;\n\nimport core.*;\n\nclass Page { int a = Bill.sum(); }\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("loaded")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("lib/shop/cart.rb", [("lib/shop.rb", 2)]),
        ("lib/shop/old_till.rb", [("lib/shop.rb", 3)]),
        ("lib/shop/money.rb", [("lib/shop.rb", 4)]),
        ("lib/old_till.rb", []),
        ("cs/Price.cs", [("cs/Desk.cs", 1), ("cs/Till.cs", 2)]),
        ("cs/Rate.cs", [("cs/Desk.cs", 1)]),
        ("cs/Spare.cs", []),
        ("java/core/Bill.java", [("java/web/Page.java", 3)]),
    ],
)
def test_files_that_load_another_without_its_path_import_it(
    workspace: Workspace, target: str, expected: list[tuple[str, int]]
) -> None:
    found = workspace.graph.importers(target)
    assert [(each.path, each.line) for each in found.importers] == expected
