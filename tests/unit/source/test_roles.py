from __future__ import annotations

import pytest

from cairn.source.roles import FOREIGN, Role, RoledFile, is_changelog, own_role, role_of, roles_of


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("api/user.pb.go", Role.GENERATED),
        ("api/user_pb2_grpc.py", Role.GENERATED),
        ("api/user_grpc_pb.js", Role.GENERATED),
        ("lib/user.freezed.dart", Role.GENERATED),
        ("Forms/Main.Designer.cs", Role.GENERATED),
        ("pkg/apis/zz_generated.deepcopy.go", Role.GENERATED),
        ("web/__generated__/query.ts", Role.GENERATED),
        ("schema.generated.ts", Role.GENERATED),
        ("monster_generated.h", Role.GENERATED),
        ("packages/ui/dist/index.js", Role.GENERATED),
        ("_site/readme/index.html", Role.GENERATED),
        ("src/y.tab.c", Role.GENERATED),
        ("extras/catch_amalgamated.cpp", Role.GENERATED),
        ("sqlite3-amalgamation.c", Role.GENERATED),
        ("single_include/catch2/catch.hpp", Role.GENERATED),
        ("src/amalgamate.py", Role(0)),
        ("package-lock.json", Role.GENERATED),
        ("phpstan-baseline.neon", Role.GENERATED),
        ("app/lint-baseline.xml", Role.GENERATED),
        ("core/db/schemas/com.example.shop.ShopDatabase/12.json", Role.GENERATED),
        ("api/schemas/v1.order/12.json", Role(0)),
        ("api/schemas/12.json", Role(0)),
        ("vendor/a/b.go", Role.VENDORED),
        ("src/third_party/zlib/inflate.c", Role.VENDORED),
        ("deps/lua/lua.c", Role.VENDORED),
        ("gradlew", Role.VENDORED),
        ("lib/gtest/src/gtest.cc", Role.VENDORED),
        ("googletest/src/gtest.cc", Role(0)),
        ("include/json.hpp", Role.VENDORED),
        ("static/jquery.js", Role.VENDORED),
        ("web/jquery-3.6.0.js", Role.VENDORED),
        ("src/generate.py", Role(0)),
        ("tools/code_gen.py", Role(0)),
        ("tests/test_generated.py", Role(0)),
        ("best_generated.go", Role.GENERATED),
        ("mytest_generated.go", Role(0)),
        ("nest_generated.go", Role.GENERATED),
        ("vendor/odd\udcff.go", Role.VENDORED),
        ("distribution/index.js", Role(0)),
        ("cmd/dist/build.go", Role(0)),
        ("_site/build.go", Role(0)),
        ("src/jquery.js", Role(0)),
        ("include/nlohmann/json.hpp", Role(0)),
        ("packages/server/src/vendor/a/index.ts", Role.VENDORED),
        ("src/vendor.py", Role(0)),
        ("core/vendors/H2.kt", Role(0)),
        ("app/models/vendor/invoice.rb", Role(0)),
        ("lib/tasks/phx.gen.ex", Role(0)),
        ("dependencies/utils.py", Role(0)),
        ("src/deps/graph.py", Role(0)),
        ("public/js/plugins/select2/select2.full.js", Role.VENDORED),
        ("wwwroot/lib/bootstrap/js/bootstrap.js", Role.VENDORED),
        ("public/js/bootstrap-datepicker.js", Role.VENDORED),
        ("resources/js/bootstrap.js", Role(0)),
        ("static/js/chart.js", Role(0)),
        ("static/js/bootstrap-app.js", Role(0)),
        ("src/public/select.js", Role(0)),
    ],
)
def test_paths_tell_what_people_of_the_project_did_not_write(path: str, role: Role) -> None:
    assert role_of(path, "") & FOREIGN == role


def test_a_file_whose_content_says_so_is_generated_whatever_its_path() -> None:
    assert own_role(RoledFile("src/a.go", "go", is_generated=True)) & FOREIGN == Role.GENERATED


def roles_among(*paths: str, language: str = "python") -> dict[str, Role]:
    files = [RoledFile(path, language) for path in paths]
    first = roles_of(files)
    assert roles_of(files, known=dict(zip(files, first, strict=True))) == first
    return dict(zip(paths, first, strict=True))


def test_a_version_beside_the_same_files_without_one_is_old() -> None:
    roles = roles_among("app/v1/models.py", "app/v1/fields.py", "app/models.py", "app/fields.py", "api/v1/users.py")
    assert {path for path, role in roles.items() if role & Role.OLD_VERSION} == {"app/v1/models.py", "app/v1/fields.py"}


def test_a_version_whose_files_are_nowhere_else_is_current() -> None:
    roles = roles_among("api/v1/users.py", "api/v1/orders.py", "api/users.py", "api/v1/carts.py", "api/v1/items.py")
    assert not any(role & Role.OLD_VERSION for role in roles.values())


def test_a_c_header_beside_its_bodies_declares_them() -> None:
    roles = roles_among("src/dict.c", "src/dict.h", "include/list.h", "src/tree.hpp", "src/tree.cc", language="c")
    assert {path for path, role in roles.items() if role & Role.DECLARATION} == {"src/dict.h"}


@pytest.mark.parametrize("path", ["CHANGES", "src/changes/changes.xml", "Changelog.yml", "release-notes/VERSION-2.x"])
def test_a_list_of_changes_is_documentation(path: str) -> None:
    assert role_of(path, "xml") & Role.DOCS


def test_a_module_about_changes_is_code() -> None:
    assert not role_of("src/changes.py", "python") & Role.DOCS
    assert not role_of("src/release_notes.rs", "rust") & Role.DOCS


def test_code_about_licences_is_code_and_a_licence_is_none() -> None:
    assert not role_of("app/Models/License.php", "php") & Role.DOCS
    assert not role_of("app/licenses/seats.py", "python") & Role.DOCS
    assert role_of("LICENSE-MIT", "text") & role_of("README.en", "text") & role_of("License.html", "html") & Role.DOCS


def test_a_translation_is_one_as_long_as_what_it_translates_is_there() -> None:
    roles = roles_among("lang/en.json", "lang/de.json", "lang/fr.json", language="json")
    assert [path for path, role in roles.items() if role & Role.TRANSLATION] == ["lang/de.json", "lang/fr.json"]
    german = RoledFile("lang/de.json", "json")
    assert roles_of([german], known={german: roles["lang/de.json"]}) == [Role.CONFIG]


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("xmonad.cabal", Role.CONFIG),
        ("phpstan.neon.dist", Role.CONFIG),
        ("translations/messages.en.xlf", Role.CONFIG),
        ("data/releases.csv", Role.CONFIG),
        ("src/csv.py", Role(0)),
        ("libuv-static.pc.in", Role.CONFIG),
        (".github/CODEOWNERS", Role.CONFIG),
        ("go.mod", Role.CONFIG),
        ("src/build", Role(0)),
        ("extras/scrapy.1", Role.DOCS),
        ("guides/associations.cheatmd", Role.DOCS),
        ("MIT-LICENSE", Role.DOCS),
        ("lib/app.so.1", Role(0)),
    ],
)
def test_manifests_and_pages_are_told_by_their_names(path: str, role: Role) -> None:
    assert role_of(path, "text") == role


def test_documents_of_former_versions_are_old() -> None:
    roles = roles_among("www/docs/a.md", "www/versioned_docs/version-9.x/a.md", language="markdown")
    assert [path for path, role in roles.items() if role & Role.OLD_VERSION] == ["www/versioned_docs/version-9.x/a.md"]


@pytest.mark.parametrize("path", ["regress/session.sh", "src/test/regress/sql/join.sql", "usr.bin/regress/a.c"])
def test_what_is_in_a_folder_for_regression_tests_is_a_test(path: str) -> None:
    assert role_of(path, "bash") & Role.TEST
    assert not role_of("src/regression/linear.py", "python") & Role.TEST


@pytest.mark.parametrize("path", [".env.example", "deploy/.env.production", "example.env", "app/.env", ".env-sample"])
def test_examples_of_an_environment_are_settings(path: str) -> None:
    assert role_of(path, "text") & Role.CONFIG
    assert not role_of("src/env.ts", "typescript") & Role.CONFIG


def test_tests_of_types_are_tests() -> None:
    assert role_of("test-dts/store.ts", "typescript") & Role.TEST
    assert role_of("src/store.test-d.ts", "typescript") & Role.TEST


@pytest.mark.parametrize(
    ("path", "lists_changes"),
    [
        ("CHANGES.md", True),
        ("ChangeLog", True),
        ("docs/news.rst", True),
        ("packages/cart/CHANGELOG.md", True),
        ("docs/history/whatsnew-5.0.rst", True),
        ("changelog.d/12.md", True),
        ("src/changes.py", False),
        ("templates/news.html", False),
        ("app/history.ts", False),
        ("docs/change-a-password.md", False),
    ],
)
def test_a_list_of_former_changes_is_told_by_its_path(path: str, lists_changes: bool) -> None:
    assert is_changelog(path) == lists_changes
