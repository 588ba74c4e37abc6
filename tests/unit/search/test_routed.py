"""Tests of reading requests, and of the templates that they fit."""

from __future__ import annotations

import time

import pytest

from cairn.search.request_text import RequestLine, read_requests
from cairn.search.route_files import ASKED_BEFORE, MAX_KEPT_BYTES, KeptRoutes
from cairn.search.route_templates import FileTemplates, fitting_once
from cairn.search.routed import _routes_in  # what a file declares is told from its text alone

CARTS = ("api", "carts", "12", "items")
ROUTE_OF_EXPRESS = "router\n  .route('/carts/:id')\n  .get(auth(), show)\n  .patch(change);\n\nrouter.put('/x', put);\n"
COMBO = 'm.Combo("/carts/:id").\n\tGet(show).\n\tPatch(change)\nm.Put("/x", put)\n'


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("POST /api/carts/12/items", "POST"),
        ("why does POST /api/carts/12/items return 500?", "POST"),
        ('127.0.0.1 - - [03/Mar/2025 10:00:00] "POST /api/carts/12/items?x=1 HTTP/1.1" 500 -', "POST"),
        ("POST https://shop.example.com/api/carts/12/items 500 (Internal Server Error)", "POST"),
        ("curl -X POST -d '{}' http://localhost:8000/api/carts/12/items", "POST"),
        ("curl localhost:8000/api/carts/12/items", ""),
        ("https://shop.example.com/api/carts/12/items?limit=20#first", ""),
        ("/api/carts/12/items", ""),
    ],
)
def test_a_request_is_read_as_logs_browsers_shells_and_people_say_it(text: str, method: str) -> None:
    assert read_requests(text) == [RequestLine(method, CARTS)]


def test_the_first_page_is_asked_for_with_a_method_and_comes_last() -> None:
    assert read_requests("POST /") == [RequestLine("POST", ())]
    assert read_requests('"GET / HTTP/1.1" 200\n"GET /shop/carts/12 HTTP/1.1" 200')[-1] == RequestLine("GET", ())


@pytest.mark.parametrize(
    "text",
    [
        "how are carts read from src/shop/cart.py",
        "see https://example.com/docs/carts for what a cart is",
        "read and/or write",
        "GET the carts / items",
        "/",
        "/" + "a/" * 40,
    ],
)
def test_other_texts_with_slashes_are_no_requests(text: str) -> None:
    assert read_requests(text) == []


@pytest.mark.parametrize(
    "source",
    [
        '@app.post("/api/carts/{cart_id}/items")\ndef add(cart_id):\n    pass\n',
        "@blueprint.route('/api/carts/<int:cart>/items', methods=('POST',))\ndef add(cart):\n    pass\n",
        "router.post(\n  '/carts/:id/items',\n  add,\n)\n",
        'r.POST("/carts/:id/items", add)\n',
        '.route("/api/carts/{id}/items", post(add_item).get(items))\n',
        "    url(r'^carts/(?P<cart>[-\\w]+)/items/?$', Items.as_view()),\n",
        "Route::post('carts/{cart}/items', 'ItemController@add');\n",
        "@Controller('carts')\nclass Carts {\n  @Post(':id/items')\n  async add() {}\n}\n",
        '@RequestMapping("/carts")\nclass Carts {\n  @PostMapping("/{id}/items")\n  void add() {}\n}\n',
        '[Route("carts")]\nclass Carts {\n  [HttpPost("{id}/items")]\n  void Add() {}\n}\n',
        "resources :carts do\n  resources :items, only: [:create]\nend\n",
        "  post '/carts/:id/items' do\n    add\n  end\n",
        'mux.HandleFunc("POST /carts/{id}/items", add)\n',
    ],
)
def test_the_route_of_a_request_is_told_by_its_template_in_every_framework(source: str) -> None:
    found = list(_routes_in(KeptRoutes(), 0, "src/shop.x", source.encode(), RequestLine("POST", CARTS)))
    assert found
    assert "items" in max(found, key=lambda one: one.share).line.text.decode()


def best_of(source: str, method: str, *segments: str) -> tuple[str, float]:
    found = _routes_in(KeptRoutes(), 0, "src/shop.x", source.encode(), RequestLine(method, segments))
    best = max(found, key=lambda one: one.share, default=None)
    return (best.line.text.decode().strip(), best.share) if best else ("", 0.0)


@pytest.mark.parametrize(
    "call",
    [
        'req, err := client.NewRequest("POST", "/carts")',
        'req, err := http.NewRequestWithContext(ctx, "POST", "/carts", body)',
        "const made = await this.send('/carts', { method: 'post' })",
        'new HttpRequestMessage(HttpMethod.Post, "/carts")',
        'await http.PostAsJsonAsync("/carts", cart)',
        "do_request('POST', '/carts')",
    ],
)
def test_what_sends_a_request_declares_no_route_of_it(call: str) -> None:
    line, share = best_of(f"{call}\n", "POST", "carts")
    assert share <= 0.5, line


@pytest.mark.parametrize(
    "line",
    ["router.post('/carts', async (req, res) => res.json(await add(req)))", "app.post('/carts', handleRequest)"],
)
def test_what_answers_a_request_may_wait_for_something_in_its_line(line: str) -> None:
    assert best_of(f"{line}\n", "POST", "carts") == (line, 1.0)


def test_a_word_beside_a_name_with_route_is_no_route() -> None:
    assert best_of('view.Set("nextRoute", nextRoute)\nview.Set("menu", "carts")\n', "", "carts") == ("", 0.0)
    assert best_of('api.add_resource(Carts, "/all/<id>", endpoint="carts")\n', "GET", "carts") == ("", 0.0)
    assert best_of('@RequestMapping(\n  value = "carts")\n', "GET", "carts")[0] == 'value = "carts")'


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize("source", [ROUTE_OF_EXPRESS, COMBO])
def test_a_route_is_for_the_methods_below_it(source: str, method: str) -> None:
    assert best_of(source, method, "carts", "12")[1] == pytest.approx(0.95)
    assert best_of(source, "PUT", "carts", "12")[1] < 0.6


def test_a_route_of_the_next_line_says_nothing_of_the_methods_of_one() -> None:
    source = '.route("/carts", get().to(all))\n.route("/carts", post().to(add))\n'
    assert best_of(source, "POST", "carts") == ('.route("/carts", post().to(add))', 1.0)


def test_who_asks_for_a_route_may_leave_out_its_version_and_name_its_placeholders() -> None:
    line = 'app.get("/api/v2/carts/{cart_id}/items", items)'
    assert best_of(f"{line}\n", "GET", "carts", ":id", "items")[1] > 0.9


def test_what_maps_something_else_declares_no_route() -> None:
    assert best_of('err = file.Section("carts").MapTo(&Carts)\n', "", "carts") == ("", 0.0)


def test_a_version_that_is_asked_for_tells_groups_apart() -> None:
    source = 'm.Group("/v1", func() {\n\tm.Group("/carts", func() {\n\t\tm.Get("/:id", one)\n\t})\n})\n'
    with_version = best_of(source, "GET", "v1", "carts", "12")[1]
    assert with_version > best_of(source, "GET", "v2", "carts", "12")[1]


def test_a_resource_of_laravel_may_be_in_another() -> None:
    line = "Route::apiResource('carts.items', ItemController::class);"
    assert best_of(f"{line}\n", "GET", "carts", "12", "items")[0] == line


def test_an_empty_template_is_where_its_group_ends() -> None:
    source = 'm.Group("/carts", func() {\n\tm.Get("", list)\n\tm.Post("", add)\n})\n'
    assert best_of(source, "POST", "carts")[0] == 'm.Post("", add)'


def test_the_method_tells_routes_of_one_path_apart() -> None:
    source = b'@app.get("/carts/{id}")\ndef show(id): ...\n\n\n@app.delete("/carts/{id}")\ndef close(id): ...\n'
    shares = {
        one.line.start_line: one.share
        for one in _routes_in(KeptRoutes(), 0, "src/shop.x", source, RequestLine("DELETE", ("carts", "12")))
    }
    assert shares[5] > shares.get(1, 0.0)


def test_what_is_the_same_counts_more_than_a_placeholder() -> None:
    source = b'@app.get("/carts/{id}")\ndef show(id): ...\n\n\n@app.get("/carts/open")\ndef all(): ...\n'
    shares = {
        one.line.start_line: one.share
        for one in _routes_in(KeptRoutes(), 0, "src/shop.x", source, RequestLine("GET", ("carts", "open")))
    }
    assert shares[5] > shares[1]


def test_the_line_of_a_decorator_is_shown_to_where_its_function_begins() -> None:
    source = b'@app.get(\n    "/carts/{id}",\n    name="cart",\n)\nasync def show(id):\n    pass\n'
    (route,) = _routes_in(KeptRoutes(), 0, "src/shop.x", source, RequestLine("GET", ("carts", "12")))
    assert (route.line.start_line, route.line.end_line) == (2, 5)


@pytest.mark.parametrize(
    "source",
    [
        "carts = load('carts')\n",
        'raise ValueError("no such cart: /carts/{id}")\n',
        "",
        "\x00\xff",
        '@Table(name = "carts")\n',
    ],
)
def test_other_texts_of_code_are_no_routes(source: str) -> None:
    assert (
        list(
            _routes_in(KeptRoutes(), 0, "src/shop.x", source.encode("utf-8", "replace"), RequestLine("GET", ("carts",)))
        )
        == []
    )


@pytest.mark.parametrize(
    "block",
    [
        "curl ",
        "curl-",
        "GET ",
        "GET /",
        "/",
        "a.",
        "http://",
        '"/',
        "{",
        "curl a/",
        "await a(",
        '=" ',
        "newRequest(",
        ".getAsync<",
        '("",',
    ],
)
def test_texts_that_are_made_to_be_slow_are_read_in_linear_time(block: str) -> None:
    started = time.process_time()
    text = block * (40_000 // len(block))
    read_requests(text)
    list(_routes_in(KeptRoutes(), 0, "src/shop.x", text.encode(), RequestLine("GET", ("a", "b"))))
    assert time.process_time() - started < 5  # linear: some milliseconds


def test_many_groups_in_a_file_take_little_time() -> None:
    source = '@Path("{a}")\nclass A {}\n' * 400 + '@Path("/x/{b}")\nclass B {}\n'
    started = time.process_time()
    list(_routes_in(KeptRoutes(), 0, "src/a.java", source.encode(), RequestLine("GET", tuple("abcdefghixy"))))
    assert time.process_time() - started < 5  # bounded: some milliseconds


OTHER_ROUTES = "".join(f'app.get("/other{number}/{{id}}", other{number})\n' for number in range(900))


def templates_in(source: str, *telling: str) -> list[tuple[str, int]]:
    found = FileTemplates(source.encode()).fitting(CARTS, frozenset(telling))
    return [(one.text, one.number) for one in found]


def test_only_templates_that_fit_segments_in_a_row_are_read() -> None:
    source = OTHER_ROUTES + 'app.post("/carts/{id}/items", add)\napp.get("/carts/{id}/lines", lines)\n'
    assert templates_in(source) == [("/carts/{id}/items", 901)]


def test_a_file_without_a_telling_segment_in_a_template_has_none() -> None:
    placeholders = 'app.get("/{cart}", show)\n\n\nprint("/carts")\n# "/carts/{id}"\n\n'
    assert templates_in(placeholders, "carts", "items") == []
    assert templates_in(f"{placeholders}app.use('/carts', router)\n", "carts", "items") == [
        ("/{cart}", 1),
        ("/carts", 7),
    ]


def test_a_controller_has_the_segment_of_its_name_in_its_template() -> None:
    source = '[Route("api/[controller]")]\npublic class CartsController : ControllerBase\n{\n}\n'
    assert templates_in(source, "carts") == [("api/Carts", 1)]


def test_a_route_of_another_group_by_name_is_not_one_of_this_group() -> None:
    source = (
        'carts = Blueprint("carts", url_prefix="/carts")\nother = make_group()\n'
        '@other.get("/{id}/items")\ndef a(): ...\n@carts.get("/{id}/items")\ndef b(): ...\n'
    )
    found = _routes_in(KeptRoutes(), 0, "src/shop.py", source.encode(), RequestLine("GET", CARTS[1:]))
    shares = {route.line.start_line: route.share for route in found}
    assert max(shares, key=lambda number: shares[number]) == 5


def test_the_lines_of_routes_are_where_they_begin_in_the_file() -> None:
    source = '# \u00e9\u00e9\napp.post("/api/carts/{id}/items", add)\n'.encode()
    (route,) = _routes_in(KeptRoutes(), 0, "src/shop.py", source, RequestLine("POST", CARTS))
    assert route.line.text.startswith(b"app.post")
    assert source[route.line.start_byte :].startswith(route.line.text)


def test_of_a_file_of_many_routes_only_what_fits_is_looked_at_closely() -> None:
    file = FileTemplates((OTHER_ROUTES + 'app.post("/carts/{id}/items", add)\n').encode())
    assert [one.number for one in file.fitting(CARTS, frozenset({"carts"}))] == [901]
    assert file.n_read == 1
    assert file.fitting(("users", "7"), frozenset({"users"})) == []
    assert file.n_read == 1


SOURCES = (
    OTHER_ROUTES + 'app.post("/carts/{id}/items", add)\n',
    'Route.resource("carts", Carts)\nresources :carts do\n  get :items\nend\n',
    "@Controller('api')\nclass A {\n  @Get()\n  all() {}\n  @Post('carts/:id/items')\n  add() {}\n}\n",
    '[Route("[controller]")]\npublic class CartsController {\n  [HttpPost("{id}/items")]\n  void Add() {}\n}\n',
    'x = "it\'s {a} `b`"\n# app.get("/carts/{id}")\napp.get("/carts/{id?}", show)\r\n"*"\n"' + "y" * 2_000 + '"\n',
    'package main\n\nr.POST("/carts/:id/items", add) // "/carts"\ng := r.Group("/api")',
    "no route",
)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("telling", [frozenset[str](), frozenset({"carts", "items"})])
def test_a_file_says_the_same_to_one_request_and_to_all(source: str, telling: frozenset[str]) -> None:
    data, requests = source.encode(), (CARTS, CARTS[1:], ("carts", "12"), ("carts",))
    whole = FileTemplates(data)
    for segments in requests:
        once = fitting_once(data, segments, telling)
        assert (once.fitting(segments, telling) if once else []) == whole.fitting(segments, telling)


@pytest.mark.parametrize("segments", [("carts", "{id}"), ("api", "{id}"), (":id",), ("a:b", "7")])
def test_a_request_may_be_written_like_a_template(segments: tuple[str, ...]) -> None:
    source = 'app.get("/carts/{id}", show)\n@Get("{id}")\nvoid one();\napp.put("/:id", put)\napp.get("/a:b/{id}", x)\n'
    telling = frozenset(one for one in segments if one != "api" and not one.isdigit())
    once = fitting_once(source.encode(), segments, telling)
    assert once is not None
    assert once.fitting(segments, telling) == FileTemplates(source.encode()).fitting(segments, telling) != []


def test_a_file_that_is_asked_for_often_is_read_whole_and_kept_until_it_changes() -> None:
    kept, data = KeptRoutes(), b'app.post("/carts/{id}/items", add)\n'
    for _ in range(ASKED_BEFORE):
        assert kept.read(7, data, CARTS, frozenset()) is not None
        assert kept.get(7, data) is None
    read = kept.read(7, data, CARTS, frozenset())
    assert kept.get(7, data) is read is not None
    assert kept.get(7, data + b"\n") is None


def test_no_more_of_files_is_kept_than_there_is_room_for() -> None:
    kept, large = KeptRoutes(), b"app.get('/carts')\n" + b"x" * (MAX_KEPT_BYTES // 2)
    for file in range(4):
        for _ in range(ASKED_BEFORE + 1):
            assert kept.read(file, large, CARTS, frozenset()) is not None
    assert [kept.get(file, large) is not None for file in range(4)] == [True, False, False, False]
