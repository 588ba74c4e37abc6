"""Requests whose routes folders declare, each as a framework has them: the file that handles them comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

_PAGE = "export default function Page() {\n  return null\n}\n"
FILES = {
    # Next.js
    "web/app/(shop)/carts/[cartId]/page.tsx": _PAGE,
    "web/app/(shop)/carts/[cartId]/row.tsx": _PAGE,
    "web/app/(shop)/layout.tsx": _PAGE,
    "web/app/api/carts/[cartId]/route.ts": (
        "import { load } from '@/lib/carts'\n\nexport async function GET(request: Request) {\n"
        "  return load(request)\n}\n\n"
        "export const DELETE = withUser(async () => drop())\n"
    ),
    "web/app/api/carts/helpers.ts": "export const cartsOf = (id: string) => `/api/carts/${id}`\n",
    "web/app/blog/[...slug]/page.tsx": _PAGE,
    "web/app/blog/page.tsx": _PAGE,
    "web/pages/api/orders/[id].ts": (
        "import { orders } from '../../lib'\n\nexport default function handler(req, res) {\n"
        '  if (req.method === "POST") return orders.pay(req)\n  return orders.show(req)\n}\n'
    ),
    # SvelteKit
    "kit/src/routes/articles/[slug]/+page.server.js": (
        "import * as api from '$lib/api'\n\nexport async function load({ params }) {\n"
        "  return api.get(params.slug)\n}\n\n"
        "export const actions = {\n  follow: async () => {}\n}\n"
    ),
    "kit/src/routes/articles/[slug]/+page.svelte": "<h1>An article</h1>\n",
    "kit/src/routes/articles/[slug]/Comment.svelte": "<p>A comment</p>\n",
    # Nuxt
    "nuxt/server/api/tickets/[id].get.ts": "export default defineEventHandler((event) => find(event))\n",
    "nuxt/server/api/tickets/[id].patch.ts": "export default defineEventHandler((event) => change(event))\n",
    "nuxt/pages/tickets/_id.vue": "<template><p>A ticket</p></template>\n",
    "nuxt/pages/@[user]/index.vue": "<template><p>A user</p></template>\n",
    # Remix
    "remix/app/routes/_auth.login.tsx": (
        "export const loader = () => null\n\nexport async function action({ request }) {\n"
        "  return enter(request)\n}\n\n" + _PAGE
    ),
    "remix/app/routes/teams.$teamId_.members.tsx": "export async function loader() {\n  return members()\n}\n",
    "remix/app/routes/feed[.]xml.ts": "export async function loader() {\n  return feed()\n}\n",
    # Fresh and TanStack Start
    "fresh/routes/polls/[id].ts": (
        "export const handler: Handlers = {\n  async GET(req, ctx) {\n    return find(ctx)\n  },\n\n"
        "  async POST(req, ctx) {\n    return vote(ctx)\n  },\n};\n"
    ),
    "start/src/routes/cards.$id.{$size}[.]png.ts": "export const Route = createFileRoute('/cards')({})\n",
    # Expo
    "expo/app/quotes/[id]+api.ts": "export function GET(request: Request) {\n  return quote(request)\n}\n",
    # Files that are served as they are
    "kit/static/sizes.json": '{"small": 1}\n',
    "kit/src/sizes.json.ts": "export const sizes = load('/sizes.json')\n",
    "php/admin/index.php": "<?php\necho list_all();\n",
    # A script is asked for by its name.
    "php/admin/export.php": "<?php\necho export_all();\n",
    "php/src/export.php": "<?php\nfunction export_all() { return 1; }\n",
    "web/components/useTickets.ts": "export const useTickets = (id) => useFetch(`/api/tickets/${id}`)\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("folders")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("request_line", "path", "line"),
    [
        ("GET /api/carts/12", "web/app/api/carts/[cartId]/route.ts", 3),
        ("DELETE /api/carts/12", "web/app/api/carts/[cartId]/route.ts", 7),
        ("GET /carts/12", "web/app/(shop)/carts/[cartId]/page.tsx", 1),
        ("GET /blog", "web/app/blog/page.tsx", 1),
        ("GET /blog/2025/first-steps", "web/app/blog/[...slug]/page.tsx", 1),
        ("POST /api/orders/7", "web/pages/api/orders/[id].ts", 3),
        ("GET /articles/how-to-train", "kit/src/routes/articles/[slug]/+page.server.js", 3),
        ("POST /articles/how-to-train?/follow", "kit/src/routes/articles/[slug]/+page.server.js", 7),
        ("GET /api/tickets/41", "nuxt/server/api/tickets/[id].get.ts", 1),
        ("PATCH /api/tickets/41", "nuxt/server/api/tickets/[id].patch.ts", 1),
        ("GET /tickets/41", "nuxt/pages/tickets/_id.vue", 1),
        ("GET /@jake", "nuxt/pages/@[user]/index.vue", 1),
        ("GET /login", "remix/app/routes/_auth.login.tsx", 1),
        ("POST /login", "remix/app/routes/_auth.login.tsx", 3),
        ("GET /teams/5/members", "remix/app/routes/teams.$teamId_.members.tsx", 1),
        ("GET /feed.xml", "remix/app/routes/feed[.]xml.ts", 1),
        ("POST /polls/7", "fresh/routes/polls/[id].ts", 6),
        ("GET /cards/7/big.png", "start/src/routes/cards.$id.{$size}[.]png.ts", 1),
        ("GET /quotes/7", "expo/app/quotes/[id]+api.ts", 1),
        ("GET /sizes.json", "kit/static/sizes.json", 1),
        ("GET /admin/", "php/admin/index.php", 1),
        ("POST /admin/export.php", "php/admin/export.php", 1),
    ],
)
def test_the_file_that_handles_a_request_comes_first(
    project: Workspace, request_line: str, path: str, line: int
) -> None:
    first = project.search(request_line).code[0]
    assert first.path == path
    assert first.start_line <= line <= first.end_line


@pytest.mark.parametrize("request_line", ["DELETE /api/tickets/41", "PUT /api/carts/12", "POST /carts/12"])
def test_a_file_that_handles_other_methods_is_no_sure_answer(project: Workspace, request_line: str) -> None:
    first = project.search(request_line).code[0]
    assert first.path in FILES
    assert first.confidence != "high"


def test_the_first_page_is_found(project: Workspace) -> None:
    first = project.search("GET /").code[0]
    assert first.path == "php/admin/index.php"
    assert any("the route '/'" in str(note) for note in project.search("GET /").notes)


@pytest.mark.parametrize("request_line", ["GET /carts/12/row", "GET /api/carts/helpers/all", "GET /comment"])
def test_other_files_of_such_folders_declare_no_routes(project: Workspace, request_line: str) -> None:
    answer = project.search(request_line)
    assert any(str(note).startswith(f"No route that fits {request_line} was found") for note in answer.notes)
    assert all(hit.confidence != "high" for hit in answer.code)
