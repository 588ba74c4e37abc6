"""What people type of messages, variables of the environment, options and routes, as they remember them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import Answer
from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "src/shop/client.ts": (
        "export class CartClient {\n  reasons = {\n    0: 'Cart ID unknown',\n    1: 'Bad cart method',\n  }\n\n"
        "  open(name: string) {\n    throw new Error(`can't open cart: ${name}`)\n  }\n}\n"
    ),
    "src/shop/cart.ts": (
        "import { CartClient } from './client'\n\n// The cart is lost when the server was lost, see lost cart.\n"
        "export function copyOf(client: CartClient) {\n  const note = 'a duplicate cart is no error here'\n"
        "  return note\n}\n\nexport function addCart(name: string) {\n  throw new Error('duplicate cart: ' + name)\n}\n"
    ),
    "src/shop/unknown-error.ts": "export class UnknownError extends Error {\n  reason = 'Unknown error'\n}\n",
    "test/cart.test.ts": "it('says it', () => {\n  expect(open()).toThrow('Cart ID unknown')\n})\n",
    "src/shop/settings.ts": (
        "export const page = Number(process.env.SHOP_PAGE_SIZE ?? 20)\n\n"
        "export const kinds = { CART_ERROR: 4 }\n\nexport const home = process.env.SHOPPING\n"
    ),
    "scripts/start.sh": '#!/bin/bash\nSHOP_PAGE_SIZE=50\nSHOP_PAGE_SIZE="$SHOP_PAGE_SIZE" node src/index.js\n',
    "test/run.sh": "#!/bin/bash\nSHOP_HOME=/tmp/shop\nexport SHOP_HOME\nnode test/run.js\n",
    "src/native/home.c": '#define SHOP_SOCKET "$SHOP_HOME:" PATH_TMP\n\nint home(void)\n{\n\treturn 0;\n}\n',
    "src/shop/events.ts": "export interface Events {\n  cart_error: (reason: string) => void\n}\n",
    "src/native/options.c": (
        "static const struct entry options[] = {\n\t{ .name = \"colour\",\n\t  .type = FLAG,\n\t},\n};\n\n"
        "int colour_of(int kind)\n{\n\treturn kind == 1;\n}\n\n"
        "int\nread_options(const char *arg)\n{\n\tif (arg == \"--verbose\")\n\t\treturn 1;\n\treturn 0;\n}\n"
    ),
    "src/shop/commands.py": (
        "class PayCommand(Command):\n    options = [\n        option(\"dry-run\", None, \"Pay nothing.\"),\n    ]\n\n"
        "    def handle(self):\n        self.payer.pay(self.option(\"dry-run\"))\n"
        "        return self.option(\"dry-run\", False)\n"
    ),
    "web/app.rb": (
        "class App\n  get \"/metrics\" do\n    show(:metrics)\n  end\n\n"
        "  post \"/carts/:id\" do\n    pay(params)\n  end\nend\n"
    ),
    "web/router.rb": (
        "module Router\n  def get(path, &block) = route(:get, path, &block)\n\n"
        "  def post(path, &block) = route(:post, path, &block)\nend\n"
    ),
    "config/application.yml": (
        "server:\n  port: 8080\nshop:\n  # Of the database.\n  cart:\n    - kind: plain\n    max-items: 30\n"
        "    store:\n      \"timeout\": 5s\nother:\n  timeout: 1s\n"
    ),
    "config/shop.toml": "name = \"shop\"\n\n[payment.retries]\nmost = 3\n",
    "config/web.json": "{\n  \"pages\": {\n    \"size\": 20\n  }\n}\n",
    "src/server/Limits.java": (
        "package server;\n\nclass Limits {\n  int port;\n\n"
        "  int most(@Value(\"${shop.cart.max-items:30}\") int most) {\n"
        "    return most;\n  }\n}\n"
    ),
    "docker/Dockerfile": "FROM alpine\nRUN true\n",
    "scripts/arguments.sh": "#!/bin/bash\ndocker_file=docker/Dockerfile\necho $docker_file\n",
    "shop.xml": "<shop>\n  <name>shop</name>\n</shop>\n",
    "test/other/shop.xml": "<shop>\n  <name>other</name>\n</shop>\n",
    "src/shop/Formats.java": (
        "class Formats {\n  String xml() {\n    return \"xml\";\n  }\n\n  int ts() {\n    return 1;\n  }\n}\n"
    ),
    "src/shop/Installer.java": (
        "interface Installer {\n  void install();\n}\n\nclass Installs {\n  void interfaceOfInstaller() {}\n}\n"
    ),
    "src/shop/IPayer.cs": "namespace Shop;\n\npublic interface IPayer\n{\n    void Pay(int cents);\n}\n",
    "app/models/buyer.rb": "class Buyer < Record\n  has_many :carts\nend\n",
    "app/views/buyer_model.rb": "module BuyerModelViews\n  def buyer_model(model)\n    model\n  end\nend\n",
    "src/shop/token.go": "package shop\n\nconst help = `Set SHOP_TOKEN to sign in.`\n",
    ".github/workflows/shop.yml": (
        "jobs:\n  test:\n    env:\n      SHOP_TOKEN: a\n    steps:\n      - run: echo SHOP_TOKEN\n"
    ),
    "src/shop/total.h": "#define SHOP_TOTAL(cart) total_of(cart)\n",
    "test/total.h": "#define SHOP_TOTAL(cart) 1\n",
    "test/other/total.h": "#define SHOP_TOTAL(cart) 2\n",
    "src/shop/tests.ts": "export function report() {\n  return 'No tests of carts ran'\n}\n",
    "test/report.txt": "No tests of carts ran\n",
    "test/report.test.ts": "it('says', () => {\n  expect(out).toBe('No tests of carts ran')\n})\n",
    "test/fixtures/plugins.json": "{\n  \"options\": {\n    \"plugins\": {\n      \"legend\": 1\n    }\n  }\n}\n",
    "test/fixtures.py": "def resolver():\n    return 1\n\n\ndef test_resolver():\n    assert resolver()\n",
    "src/shop/resolver.py": "class Resolver:\n    def resolve(self, cart):\n        return cart\n",
    "src/shop/plugins.py": "class Plugin:\n    def legend(self):\n        return 'legend'\n",
    "web/metrics.js": "export class MetricsChart {\n  metric(route) {\n    return route\n  }\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("everyday")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def first(answer: Answer) -> tuple[str, int, str]:
    hit = answer.code[0]
    return hit.path, hit.start_line, hit.confidence


def line_of(path: str, text: str) -> int:
    return next(number for number, line in enumerate(FILES[path].split("\n"), start=1) if text in line)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("cart id unknown", "src/shop/client.ts", "Cart ID unknown"),
        ("Cart ID unknown", "src/shop/client.ts", "Cart ID unknown"),
        ("bad cart method", "src/shop/client.ts", "Bad cart method"),
        ("can't open cart", "src/shop/client.ts", "can't open cart"),
        ("duplicate cart", "src/shop/cart.ts", "duplicate cart: "),
    ],
)
def test_a_message_of_two_or_three_words_is_found_where_it_is_made(
    workspace: Workspace, text: str, path: str, line: str
) -> None:
    answer = workspace.search(text)
    assert first(answer) == (path, line_of(path, line), "high")


def test_a_few_words_that_are_only_a_part_of_a_message_are_prose(workspace: Workspace) -> None:
    answer = workspace.search("lost cart")
    assert not any("What comes first holds" in str(note) for note in answer.notes)


def test_the_class_that_has_the_words_for_its_name_comes_before_the_message(workspace: Workspace) -> None:
    assert workspace.search("unknown error").code[0].name == "UnknownError"


@pytest.mark.parametrize(
    "text",
    [
        "SHOP_PAGE_SIZE",
        "where is SHOP_PAGE_SIZE read",
        "what does SHOP_PAGE_SIZE do",
        "the SHOP_PAGE_SIZE environment variable",
    ],
)
def test_a_variable_of_the_environment_leads_to_the_code_that_reads_it(workspace: Workspace, text: str) -> None:
    answer = workspace.search(text)
    assert first(answer) == ("src/shop/settings.ts", 1, "high")
    assert "What comes first reads 'SHOP_PAGE_SIZE' from the environment." in map(str, answer.notes)


def test_one_word_in_capitals_is_a_variable_if_the_question_says_so(workspace: Workspace) -> None:
    assert first(workspace.search("where is the env var SHOPPING read"))[:2] == ("src/shop/settings.ts", 5)


def test_a_variable_that_only_scripts_of_tests_set_is_found_in_the_code_first(workspace: Workspace) -> None:
    assert workspace.search("SHOP_HOME").code[0].path == "src/native/home.c"


def test_a_name_in_capitals_is_not_taken_for_a_name_in_small_letters(workspace: Workspace) -> None:
    assert first(workspace.search("CART_ERROR"))[:2] == ("src/shop/settings.ts", 3)


@pytest.mark.parametrize("text", ["where is the colour option defined", "colour option", "the colour flag"])
def test_an_option_that_is_asked_for_without_dashes_leads_to_its_declaration(workspace: Workspace, text: str) -> None:
    answer = workspace.search(text)
    assert first(answer) == ("src/native/options.c", 2, "high")
    assert "Lines that declare the option 'colour' come first." in map(str, answer.notes)


def test_a_comparison_with_an_argument_declares_an_option(workspace: Workspace) -> None:
    assert first(workspace.search("--verbose"))[:2] == (
        "src/native/options.c",
        line_of("src/native/options.c", "--verbose"),
    )


def test_a_line_that_asks_for_the_value_of_an_option_does_not_declare_it(workspace: Workspace) -> None:
    sure = [hit for hit in workspace.search("--dry-run").code if hit.confidence == "high"]
    assert [(hit.path, hit.start_line) for hit in sure] == [("src/shop/commands.py", 3)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/metrics route", 2),
        ("where is /metrics handled", 2),
        ("the /metrics endpoint?", 2),
        ("POST to /carts/12", 6),
        ("what handles POST requests to /carts/12", 6),
    ],
)
def test_a_question_for_a_route_is_one_for_a_request(workspace: Workspace, text: str, line: int) -> None:
    assert first(workspace.search(text)) == ("web/app.rb", line, "high")


def test_a_function_that_declares_routes_is_not_taken_for_their_handler(workspace: Workspace) -> None:
    answer = workspace.search("GET /metrics")
    assert not any(hit.path == "web/router.rb" and hit.confidence == "high" for hit in answer.code)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("shop.cart.store.timeout", "config/application.yml", '"timeout"'),
        ("where is shop.cart.store.timeout set", "config/application.yml", '"timeout"'),
        ("shop.cart.maxItems", "config/application.yml", "max-items"),
        ("server.port", "config/application.yml", "port"),
        ("payment.retries.most", "config/shop.toml", "most"),
        ("what is pages.size", "config/web.json", "size"),
    ],
)
def test_a_dotted_key_leads_to_the_line_that_nests_it(workspace: Workspace, text: str, path: str, line: str) -> None:
    assert first(workspace.search(text)) == (path, line_of(path, line), "high")


def test_code_that_says_a_dotted_key_comes_before_the_line_that_nests_it(workspace: Workspace) -> None:
    answer = workspace.search("shop.cart.max-items")
    assert [hit.path for hit in answer.code[:2]] == ["src/server/Limits.java", "config/application.yml"]
    assert "Lines that set 'shop.cart.max-items' below the keys that it names come then." in map(str, answer.notes)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Dockerfile", "docker/Dockerfile"),
        ("where is the Dockerfile", "docker/Dockerfile"),
        ("shop.xml", "shop.xml"),
        ("cart.ts", "src/shop/cart.ts"),
    ],
)
def test_the_name_of_a_file_leads_surely_to_it(workspace: Workspace, text: str, path: str) -> None:
    answer = workspace.search(text)
    assert (answer.code[0].path, answer.code[0].confidence) == (path, "high")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("installer interface", "Installer"),
        ("the payer interface", "IPayer"),
        ("the buyer model", "Buyer"),
        ("buyer model", "Buyer"),
        ("Buyer entity", "Buyer"),
    ],
)
def test_a_word_with_the_kind_of_a_type_leads_to_the_type(workspace: Workspace, text: str, name: str) -> None:
    assert workspace.search(text).code[0].name == name


def test_code_that_says_a_name_comes_before_workflows_that_do(workspace: Workspace) -> None:
    assert [hit.path for hit in workspace.search("SHOP_TOKEN").code][:2] == [
        "src/shop/token.go",
        ".github/workflows/shop.yml",
    ]


def test_definitions_in_tests_do_not_make_the_one_in_the_code_doubtful(workspace: Workspace) -> None:
    assert first(workspace.search("SHOP_TOTAL")) == ("src/shop/total.h", 1, "high")


def test_a_message_that_speaks_of_tests_is_found_in_the_code_first(workspace: Workspace) -> None:
    assert first(workspace.search("No tests of carts ran")) == ("src/shop/tests.ts", 2, "high")


def test_a_nested_key_of_a_fixture_is_no_sure_answer(workspace: Workspace) -> None:
    hits = workspace.search("options.plugins.legend").code
    assert "test/fixtures/plugins.json" in [hit.path for hit in hits]
    assert all(hit.confidence != "high" for hit in hits if hit.path.startswith("test/"))


def test_a_function_of_a_test_does_not_hide_the_class_that_a_word_means(workspace: Workspace) -> None:
    assert first(workspace.search("resolver")) == ("src/shop/resolver.py", 1, "high")


def test_a_word_that_only_sounds_like_a_name_is_not_taken_for_it(workspace: Workspace) -> None:
    answer = workspace.search("login")
    assert not any("Plugin" in str(note) for note in answer.notes)


MOUNTED = {
    "server/app.js": (
        "const users = require('./routes/users')\nconst carts = require('./routes/carts')\n"
        "app.use('/api/users', users)\napp.use('/api/carts', carts)\n"
    ),
    "server/routes/users.js": (
        "router.get('/', (req, res) => res.json([]))\nrouter.get('/:id', (req, res) => res.json({ id: 1 }))\n"
        "router.post('/', (req, res) => res.end())\n"
    ),
    "server/routes/carts.js": (
        "router.get('/', (req, res) => res.json([]))\nrouter.get('/:id', (req, res) => res.json({ id: 2 }))\n"
        "router.get('/:id/items', (req, res) => res.json([]))\n"
    ),
    "service/main.py": 'app.include_router(items.router, prefix="/v1/items")\n',
    "service/routers/items.py": (
        '@router.get("/")\ndef every():\n    return []\n\n\n@router.get("/{key}")\ndef one(key: int):\n    return key\n'
    ),
}


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("GET /api/users/12", "server/routes/users.js", 2),
        ("GET /api/carts/12", "server/routes/carts.js", 2),
        ("POST /api/users", "server/routes/users.js", 3),
        ("GET /v1/items/3", "service/routers/items.py", 6),
        ("GET /v1/items", "service/routers/items.py", 1),
        ("GET /api/carts/3/items", "server/routes/carts.js", 3),
    ],
)
def test_a_route_whose_prefix_another_file_has_is_found_by_the_name_of_its_file(
    tmp_path: Path, text: str, path: str, line: int
) -> None:
    write_files(tmp_path, MOUNTED)
    with Workspace.open(tmp_path) as opened:
        opened.index()
        assert first(opened.search(text))[:2] == (path, line)
