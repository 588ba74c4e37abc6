"""Routes whose prefix is in another file, which is not called like the prefix either."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

EXPRESS = "const router = require('express').Router()\nrouter.get('/:id', show)\nmodule.exports = router\n"
FASTAPI = (
    "from fastapi import APIRouter\n\nrouter = APIRouter()\n\n\n@router.get('/{id}')\ndef show(id):\n    return id\n"
)
FLASK = (
    "from flask import Blueprint\n\npeople = Blueprint('x', __name__)\n\n\n"
    "@people.route('/<int:id>')\ndef show(id):\n    pass\n"
)
DJANGO = "from django.urls import path\n\nurlpatterns = [path('<int:id>/', views.show)]\n"
AXUM = 'pub fn routes() -> Router {\n    Router::new().route("/{id}", get(show))\n}\n'
GIN = 'package people\n\nfunc Register(g *gin.RouterGroup) {\n\tg.GET("/:id", show)\n}\n'
PHOENIX = 'defmodule Shop.People do\n  use Plug.Router\n\n  get "/:id" do\n    show(conn)\n  end\nend\n'

PROJECTS: dict[str, tuple[dict[str, str], str]] = {
    "Express, required in place": (
        {"app.js": "app.use('/users', require('./web/people'))\n", "web/people.js": EXPRESS},
        "web/people.js",
    ),
    "Express, imported before": (
        {
            "src/app.ts": "import people from './web/people'\n\nconst app = express()\napp.use('/api/users', people)\n",
            "src/web/people/index.ts": EXPRESS,
        },
        "src/web/people/index.ts",
    ),
    "Express, in a table": (
        {
            "src/index.js": "const people = require('./people.route')\nconst all = [\n  {\n    path: '/users',\n"
            "    route: people,\n  },\n]\nall.forEach((one) => router.use(one.path, one.route))\n",
            "src/people.route.js": EXPRESS,
        },
        "src/people.route.js",
    ),
    "FastAPI": (
        {
            "app/main.py": "from app.web import people\n\napp.include_router(people.router, prefix='/users')\n",
            "app/web/__init__.py": "",
            "app/web/people.py": FASTAPI,
        },
        "app/web/people.py",
    ),
    "FastAPI, in several lines": (
        {
            "app/main.py": "from .web.people import router as people_router\n\napp.include_router(\n"
            "    people_router,\n    prefix='/users',\n    tags=['people'],\n)\n",
            "app/web/people.py": FASTAPI,
        },
        "app/web/people.py",
    ),
    "Flask, a blueprint of a package": (
        {
            "app/__init__.py": "def create_app():\n    from app.web import people as people_bp\n"
            "    app.register_blueprint(people_bp, url_prefix='/users')\n",
            "app/web/__init__.py": "from flask import Blueprint\n\npeople = Blueprint('x', __name__)\n\n"
            "from app.web import pages\n",
            "app/web/pages.py": "from app.web import people\n\n\n@people.route('/<int:id>')\ndef show(id):\n    pass\n",
        },
        "app/web/pages.py",
    ),
    "Flask, a blueprint by its name": (
        {
            "app.py": "from people import people\napp.register_blueprint(people, url_prefix='/users')\n",
            "people.py": FLASK,
        },
        "people.py",
    ),
    "Django": (
        {
            "shop/urls.py": "urlpatterns = [\n    path('users/', include('people.urls')),\n]\n",
            "people/urls.py": DJANGO,
            "orders/urls.py": DJANGO,
        },
        "people/urls.py",
    ),
    "Axum": (
        {
            "src/main.rs": "mod people;\n\nfn app() -> Router {\n"
            '    Router::new().nest("/users", people::routes())\n}\n',
            "src/people.rs": AXUM,
        },
        "src/people.rs",
    ),
    "Gin": (
        {
            "main.go": 'package main\n\nimport "example.com/shop/people"\n\n'
            'func main() {\n\tpeople.Register(r.Group("/users"))\n}\n',
            "people/web.go": GIN,
        },
        "people/web.go",
    ),
    "Plug": (
        {
            "lib/router.ex": 'defmodule Shop.Router do\n  forward "/users", to: Shop.People\nend\n',
            "lib/people.ex": PHOENIX,
        },
        "lib/people.ex",
    ),
    "a mount in a mount": (
        {
            "app.js": "app.use('/admin', require('./back'))\n",
            "back.js": "const router = require('express').Router()\nrouter.use('/users', require('./people'))\n",
            "people.js": EXPRESS,
        },
        "people.js",
    ),
}


@pytest.mark.parametrize("framework", PROJECTS)
@pytest.mark.parametrize("text", ["GET /users/12", "/users/:id"])
def test_the_routes_of_a_file_begin_with_what_another_file_puts_before_them(
    tmp_path: Path, framework: str, text: str
) -> None:
    files, path = PROJECTS[framework]
    write_files(tmp_path, {**files, "tools/load.py": "def users(id):\n    return f'{id}'\n"})
    text = text.replace("/users", "/admin/users") if "admin" in "".join(files.values()) else text
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first = workspace.search(text).code[0]
    assert (first.path, first.confidence) == (path, "high")


def test_what_is_mounted_elsewhere_answers_no_request_below_a_prefix(tmp_path: Path) -> None:
    files = {
        "app.js": "app.use('/users', require('./people'))\napp.use('/orders', require('./sales'))\n",
        "people.js": EXPRESS,
        "sales.js": EXPRESS,
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.search("GET /orders/12")
    assert [hit.path for hit in answer.code if hit.confidence == "high"] == ["sales.js"]


def test_files_that_mount_each_other_are_read_once(tmp_path: Path) -> None:
    files = {f"web{n}.js": f"app.use('/users', require('./web{(n + 1) % 4}'))\n" for n in range(4)}
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("GET /users/users/users/12").code
