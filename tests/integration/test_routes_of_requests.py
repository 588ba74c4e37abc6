"""Requests in questions and texts: the route that they fit comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "shop/views.py": (
        '"""What the shop answers."""\n\nfrom shop import app\n\n\n'
        '@app.get("/carts/{cart_id}/items")\ndef list_items(cart_id):\n    return load(cart_id).items\n\n\n'
        '@app.post("/carts/{cart_id}/items")\ndef add_item(cart_id):\n    return load(cart_id).add()\n'
    ),
    "shop/errors.py": (
        '"""Errors 500 of the server: what went wrong with a cart or its items."""\n\nclass ServerError(Exception):\n'
        "    pass\n"
    ),
    "web/client.js": "export const add = (id) => fetch(`/carts/${id}/items`, { method: 'POST' });\n",
    "tests/test_views.py": 'def test_add():\n    assert client.post("/carts/12/items").status_code == 200\n',
    "docs/api.md": "# API\n\n`POST /carts/12/items` adds an item.\n",
}
ADD = ("shop/views.py", 11, "add_item")
REPORT = "Items are not added\n\nWhen I call `POST /carts/12/items` I get an error 500. It worked last week.\n"
LOG = (
    '10.0.0.1 - - [03/Mar/2025 10:00:00] "GET /health HTTP/1.1" 200 -\n'
    '10.0.0.1 - - [03/Mar/2025 10:00:01] "POST /carts/12/items HTTP/1.1" 500 -\n'
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("routes")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    "text",
    [
        "POST /carts/12/items",
        "POST /carts/12/items returns 500",
        "where is POST /api/v1/carts/12/items handled",
        "curl -X POST http://localhost:8000/carts/12/items",
        REPORT,
        LOG,
    ],
    ids=["request", "failure", "question", "curl", "report", "log"],
)
def test_the_route_of_a_request_comes_first(shop: Workspace, text: str) -> None:
    first = shop.search(text).code[0]
    assert (first.path, first.start_line, first.name) == ADD
    assert first.confidence == "high"


def test_of_many_requests_the_one_that_the_server_failed_to_answer_counts(shop: Workspace) -> None:
    fine = '10.0.0.1 - - [03/Mar/2025 10:00:00] "GET /carts/12/items HTTP/1.1" 200 512 -\n'
    failed = '10.0.0.1 - - [03/Mar/2025 10:00:01] "POST /carts/12/items HTTP/1.1" 500 31 -\n'
    first = shop.search(fine + fine.replace("12", "x") + fine.replace("12", "y") + failed + fine).code[0]
    assert (first.path, first.start_line, first.name) == ADD


def test_a_route_of_another_method_is_no_sure_answer(shop: Workspace) -> None:
    first = shop.search("DELETE /carts/12/items").code[0]
    assert first.path == "shop/views.py"
    assert first.confidence != "high"
    assert any("for other methods" in str(note) for note in shop.search("DELETE /carts/12/items").notes)


def test_a_note_says_which_route_comes_first_and_a_text_which_part_it_answers(shop: Workspace) -> None:
    assert any("'/carts/{cart_id}/items'" in str(note) for note in shop.search("POST /carts/12/items").notes)
    assert shop.search(REPORT).code[0].part == "route of the request"


def test_filters_hold_for_routes(shop: Workspace) -> None:
    found = shop.search("POST /carts/12/items", globs=["web/**"]).code
    assert {hit.path for hit in found} == {"web/client.js"}


def test_that_no_route_fits_a_request_is_said_and_no_hit_is_a_sure_answer(shop: Workspace) -> None:
    answer = shop.search("POST /tills/open")
    assert [str(note) for note in answer.notes] == [
        "No route that fits POST /tills/open was found in the files that say most of its path; "
        "routes that only a framework knows are not read."
    ]
    assert all(hit.confidence != "high" for hit in answer.code)


HANDLED = {
    "djangoish/urls.py": (
        "urlpatterns = [\n    path('invoices/<int:id>/', views.invoice_detail),\n"
        "    path('invoices/<int:id>/lines/',\n         InvoiceLines.as_view()),\n"
        "    path('invoices/', views.all_invoices),\n]\n"
    ),
    "djangoish/views.py": (
        "def invoice_detail(request, id):\n    return show(id)\n\n\ndef all_invoices(request):\n    return []\n\n\n"
        "class InvoiceLines(View):\n    pass\n"
    ),
    "config/routes.rb": (
        "Rails.application.routes.draw do\n  resources :parcels do\n    resource :label, only: [:create]\n  end\n"
        "  get 'depots/near', to: 'depots#closest'\nend\n"
    ),
    "app/controllers/parcels_controller.rb": "class ParcelsController\n  def index\n  end\n\n  def show\n  end\nend\n",
    "app/controllers/labels_controller.rb": "class LabelsController\n  def create\n  end\nend\n",
    "app/controllers/depots_controller.rb": "class DepotsController\n  def closest\n  end\nend\n",
    "routes/api.php": (
        "<?php\nRoute::apiResource('tours', TourController::class);\n"
        "Route::post('tours/{tour}/seats', [SeatController::class, 'book']);\n"
    ),
    "app/Http/TourController.php": "<?php\nclass TourController {\n  public function destroy() {\n  }\n}\n",
    "app/Http/SeatController.php": "<?php\nclass SeatController {\n  public function book() {\n  }\n}\n",
    "cmd/routes.go": 'package cmd\n\nfunc routes(r *Router) {\n\tr.GET("/ships/:id", s.showShip)\n}\n',
    "cmd/groups.go": (
        "package cmd\n\nfunc groups(g *Engine) {\n"
        '\tclient := g.Group("/client")\n\t{\n\t\tclient.GET("", listClients)\n'
        '\t}\n\tmessage := g.Group("/message")\n\t{\n\t\tmessage.DELETE("/:id", deleteMessage)\n\t}\n'
        '\televated := g.Group("")\n\televated.DELETE("/client/:id", deleteClient)\n}\n\n'
        "func deleteMessage(c *Context) {\n}\n\nfunc deleteClient(c *Context) {\n}\n"
    ),
    "rest/urls.py": "router = DefaultRouter()\nrouter.register(r'berths', BerthViewSet)\n",
    "rest/berths.py": "class BerthViewSet(ModelViewSet):\n    def retrieve(self, request, pk):\n        return pk\n",
    "web/app-routing.ts": "const routes = [\n  { path: 'ships/:id', component: ShipComponent },\n]\n",
    "cmd/ships.go": "package cmd\n\nfunc (s *Server) showShip(c *Context) {\n}\n",
    "src/main.rs": (
        'fn router() -> Router {\n    Router::new()\n        .route(\n            "/docks/:id",\n'
        "            get(show_dock).put(change_dock),\n        )\n}\n\nfn show_dock() {}\n\nfn change_dock() {}\n"
    ),
    "server/app.js": (
        "app.get('/piers/:id', signedIn, piers.show)\napp.post('/piers', (req, res) => {\n  makePier(req)\n})\n"
        "function signedIn() {}\nfunction makePier() {}\n"
    ),
    "server/piers.js": "export function show(req, res) {\n}\n",
}


@pytest.fixture(scope="module")
def named_handlers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("handlers")
    write_files(root, HANDLED)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("request_line", "declared", "handler"),
    [
        ("GET /invoices/12/", ("djangoish/urls.py", 2), ("djangoish/views.py", "invoice_detail")),
        ("GET /invoices/12/lines/", ("djangoish/urls.py", 3), ("djangoish/views.py", "InvoiceLines")),
        ("GET /invoices/", ("djangoish/urls.py", 5), ("djangoish/views.py", "all_invoices")),
        ("GET /parcels", ("config/routes.rb", 2), ("app/controllers/parcels_controller.rb", "index")),
        ("GET /parcels/12", ("config/routes.rb", 2), ("app/controllers/parcels_controller.rb", "show")),
        ("POST /parcels/12/label", ("config/routes.rb", 3), ("app/controllers/labels_controller.rb", "create")),
        ("GET /depots/near", ("config/routes.rb", 5), ("app/controllers/depots_controller.rb", "closest")),
        ("DELETE /tours/7", ("routes/api.php", 2), ("app/Http/TourController.php", "destroy")),
        ("POST /tours/7/seats", ("routes/api.php", 3), ("app/Http/SeatController.php", "book")),
        ("GET /ships/3", ("cmd/routes.go", 4), ("cmd/ships.go", "showShip")),
        ("DELETE /client/3", ("cmd/groups.go", 13), ("cmd/groups.go", "deleteClient")),
        ("DELETE /message/3", ("cmd/groups.go", 10), ("cmd/groups.go", "deleteMessage")),
        ("GET /berths/3/", ("rest/urls.py", 2), ("rest/berths.py", "retrieve")),
        ("DELETE /berths/3/", ("rest/urls.py", 2), ("rest/berths.py", "BerthViewSet")),
        ("PUT /docks/3", ("src/main.rs", 4), ("src/main.rs", "change_dock")),
        ("GET /piers/3", ("server/app.js", 1), ("server/piers.js", "show")),
    ],
)
def test_what_a_route_names_as_its_handler_comes_second(
    named_handlers: Workspace, request_line: str, declared: tuple[str, int], handler: tuple[str, str]
) -> None:
    first, second = named_handlers.search(request_line).code[:2]
    assert (first.path, first.start_line) == declared
    assert (second.path, second.name, second.confidence) == (*handler, first.confidence)


def test_what_a_handler_within_the_route_calls_is_not_taken_for_it(named_handlers: Workspace) -> None:
    answer = named_handlers.search("POST /piers")
    assert (answer.code[0].path, answer.code[0].start_line) == ("server/app.js", 2)
    assert all(hit.confidence != "high" for hit in answer.code[1:])


def test_filters_hold_for_handlers(named_handlers: Workspace) -> None:
    found = named_handlers.search("GET /invoices/12/", globs=["**/urls.py"]).code
    assert found[0].path == "djangoish/urls.py"
    assert "djangoish/views.py" not in {hit.path for hit in found}


def test_a_line_that_declares_a_route_and_holds_the_request_is_shown_once(tmp_path: Path) -> None:
    code = 'package cmd\n\nfunc routes(mux *Mux) {\n\tmux.HandleFunc("POST /v1/feeds", h.createFeed)\n}\n'
    write_files(tmp_path, {"cmd/api.go": code})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.search("POST /v1/feeds")
    places = [(hit.path, hit.start_line, hit.end_line) for hit in answer.code]
    assert places[0] == ("cmd/api.go", 4, 4)
    assert len(places) == len(set(places))
    assert not any("holds" in str(note) for note in answer.notes)


ENDPOINT = (
    "class PostEndpoint {\n  RouterFunction endpoint() {\n    return route()\n        .GET(\n"
    '            "posts/{name}/content",\n            this::content)\n        .POST(\n            "posts",\n'
    "            this::draft)\n        .build();\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("request_line", "line"),
    [
        ("GET /apis/console.shop.example/v1alpha1/posts/welcome/content", 5),
        ("POST /apis/console.shop.example/v1alpha1/posts", 8),
        ("POST /api/v1beta/posts", 8),
    ],
)
def test_a_path_may_begin_with_a_group_and_a_version_that_the_template_lacks(
    request_line: str, line: int, tmp_path: Path
) -> None:
    write_files(tmp_path, {"app/PostEndpoint.java": ENDPOINT, "app/Post.java": 'class Post { String of = "posts"; }\n'})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first = workspace.search(request_line).code[0]
    assert (first.path, first.start_line) == ("app/PostEndpoint.java", line)
