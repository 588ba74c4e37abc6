from __future__ import annotations

import pytest

from cairn.source.roles import FOREIGN, Role, RoledFile, own_role, role_of


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
        ("src/y.tab.c", Role.GENERATED),
        ("package-lock.json", Role.GENERATED),
        ("vendor/a/b.go", Role.VENDORED),
        ("src/third_party/zlib/inflate.c", Role.VENDORED),
        ("deps/lua/lua.c", Role.VENDORED),
        ("gradlew", Role.VENDORED),
        ("include/json.hpp", Role.VENDORED),
        ("static/jquery.js", Role.VENDORED),
        ("web/jquery-3.6.0.js", Role.VENDORED),
        ("src/generate.py", Role(0)),
        ("tools/code_gen.py", Role(0)),
        ("tests/test_generated.py", Role(0)),
        ("distribution/index.js", Role(0)),
        ("cmd/dist/build.go", Role(0)),
        ("src/jquery.js", Role(0)),
        ("include/nlohmann/json.hpp", Role(0)),
        ("packages/server/src/vendor/a/index.ts", Role.VENDORED),
        ("src/vendor.py", Role(0)),
        ("core/vendors/H2.kt", Role(0)),
        ("app/models/vendor/invoice.rb", Role(0)),
        ("lib/tasks/phx.gen.ex", Role(0)),
        ("dependencies/utils.py", Role(0)),
        ("src/deps/graph.py", Role(0)),
    ],
)
def test_paths_tell_what_people_of_the_project_did_not_write(path: str, role: Role) -> None:
    assert role_of(path, "") & FOREIGN == role


def test_a_file_whose_content_says_so_is_generated_whatever_its_path() -> None:
    assert own_role(RoledFile("src/a.go", "go", is_generated=True)) & FOREIGN == Role.GENERATED
