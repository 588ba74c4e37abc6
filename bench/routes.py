"""Is the file that declares a route found by a request to it?

    python bench/routes.py --repos REPOS --state INDEXES --misses

REPOS holds clones of servers that all have the interface of RealWorld, in eleven frameworks, each under its name at
GitHub (see `RIGHT`). Thirteen requests are put to each in eight forms: alone, in a line of a log, in a report.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from cairn.answers import CodeHit
from cairn.workspace import Workspace
from metrics import count_place, print_places

SLUG = "/api/articles/how-to-train-your-dragon"
REQUESTS = (
    ("login", "POST", "/api/users/login"),
    ("profile", "GET", "/api/profiles/jake"),
    ("follow", "POST", "/api/profiles/jake/follow"),
    ("follow", "DELETE", "/api/profiles/jake/follow"),
    ("feed", "GET", "/api/articles/feed"),
    ("article", "GET", SLUG),
    ("article", "DELETE", SLUG),
    ("comments", "POST", f"{SLUG}/comments"),
    ("comments", "GET", f"{SLUG}/comments"),
    ("comment", "DELETE", f"{SLUG}/comments/12"),
    ("favorite", "POST", f"{SLUG}/favorite"),
    ("favorite", "DELETE", f"{SLUG}/favorite"),
    ("tags", "GET", "/api/tags"),
)
_LOGGED = '127.0.0.1 - - [03/Mar/2025 10:00:01] "{0} {1} HTTP/1.1" {2} -'
FORMS: dict[str, Callable[[str, str], str]] = {
    "alone": lambda method, path: f"{method} {path}",
    "failure": lambda method, path: f"{method} {path} returns 500",
    "line of a log": lambda method, path: _LOGGED.format(method, path, 500),
    "curl": lambda method, path: f"curl -X {method} http://localhost:8000{path}",
    "question": lambda method, path: f"where is {method} {path} handled",
    "address": lambda _, path: f"https://api.example.com{path}?limit=20",
    "report": lambda method, path: (
        f"Something is wrong with the server\n\nWhen I call `{method} {path}` I get an error 500.\n"
        "It worked last week, on the staging server as well.\n"
    ),
    "log": lambda method, path: (
        f"{_LOGGED.format('GET', '/static/app.css', 200)}\n{_LOGGED.format(method, path, 500)}\n"
    ),
}
_ARTICLES = ("feed", "article", "comments", "comment", "favorite", "tags")
# By repository, and by what is asked for: the files that are right, as a pattern.
RIGHT: dict[str, dict[str, str]] = {
    "aspnetcore-realworld-example-app": {
        "login": "UsersController", "profile": "ProfilesController", "follow": "FollowersController",
        "feed": "ArticlesController", "article": "ArticlesController", "comments": "CommentsController",
        "comment": "CommentsController", "favorite": "FavoritesController", "tags": "TagsController",
    },
    "django-realworld-example-app": {
        "login": "authentication/(urls|views)", "profile": "profiles/(urls|views)", "follow": "profiles/(urls|views)",
        **dict.fromkeys(_ARTICLES, "articles/(urls|views)"),
    },
    "fastapi-realworld-example-app": {
        "login": "routes/authentication", "profile": "routes/profiles", "follow": "routes/profiles",
        "feed": "articles_common", "article": "articles_resource", "comments": "routes/(comments|api)",
        "comment": "routes/comments", "favorite": "articles_common", "tags": "routes/(tags|api)",
    },
    "flask-realworld-example-app": {
        "login": "user/views", "profile": "profile/views", "follow": "profile/views",
        **dict.fromkeys(_ARTICLES, "articles/views"),
    },
    "golang-gin-realworld-example-app": {
        "login": "users/routers", "profile": "users/routers", "follow": "users/routers",
        **dict.fromkeys(_ARTICLES, "articles/routers"), "tags": "articles/routers|hello",
    },
    "laravel-realworld-example-app": {
        "login": "routes/api|AuthController", "profile": "routes/api|ProfileController",
        "follow": "routes/api|ProfileController", "feed": "routes/api|FeedController",
        "article": "routes/api|ArticleController", "comments": "routes/api|CommentController",
        "comment": "routes/api|CommentController", "favorite": "routes/api|FavoriteController",
        "tags": "routes/api|TagController",
    },
    "nestjs-realworld-example-app": {
        "login": "user.controller", "profile": "profile.controller", "follow": "profile.controller",
        **dict.fromkeys(_ARTICLES, "article.controller"), "tags": "tag.controller",
    },
    "node-express-realworld-example-app": {
        "login": "auth.controller", "profile": "profile.controller", "follow": "profile.controller",
        **dict.fromkeys(_ARTICLES, "article.controller"), "tags": "tag.controller",
    },
    "rails-realworld-example-app": {
        "login": "config/routes|controllers/(sessions|users)", "profile": "config/routes|profiles_controller",
        "follow": "config/routes|follows_controller", "feed": "config/routes|articles_controller",
        "article": "config/routes|articles_controller", "comments": "config/routes|comments_controller",
        "comment": "config/routes|comments_controller", "favorite": "config/routes|favorites_controller",
        "tags": "config/routes|tags_controller",
    },
    "realworld-axum-sqlx": {
        "login": "http/users", "profile": "http/profiles", "follow": "http/profiles", "feed": "articles/(mod|listing)",
        "article": "articles/mod", "comments": "articles/comments", "comment": "articles/comments",
        "favorite": "articles/mod", "tags": "articles/mod",
    },
    "spring-boot-realworld-example-app": {
        "login": "UsersApi", "profile": "ProfileApi", "follow": "ProfileApi", "feed": "ArticlesApi",
        "article": "ArticleApi", "comments": "CommentsApi", "comment": "CommentsApi", "favorite": "ArticleFavoriteApi",
        "tags": "TagsApi",
    },
}  # fmt: skip


def place_of(hits: tuple[CodeHit, ...], right: str) -> int:
    """Return the place of the first right file among those of an answer, 0 for none; tests are never right."""
    files = dict.fromkeys(hit.path for hit in hits)
    places = (place for place, path in enumerate(files, 1) if re.search(right, path) and "test" not in path.lower())
    return next(places, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER", help="the clones, side by side")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keep the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what comes first instead")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        state = options.state or Path(temporary)
        for name, files in RIGHT.items():
            if not (options.repos / name).is_dir():
                print(f"{name} is not there")
                continue
            with Workspace.open(options.repos / name, state_dir=state / name) as workspace:
                if not workspace.is_indexed:
                    workspace.index()
                for form, text_of in FORMS.items():
                    for what, method, path in REQUESTS:
                        hits = workspace.search(text_of(method, path), type="code").code
                        place = place_of(hits, files[what])
                        count_place(counts, form, place, hits[0].confidence if hits else None)
                        if options.misses and place != 1:
                            print(f"{name}  {form}  {method} {path}: {hits[0].path if hits else 'nothing'}")
    print_places(counts, FORMS)


if __name__ == "__main__":
    main()
