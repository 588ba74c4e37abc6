from __future__ import annotations

import pytest

from cairn.source.attributes import GitAttributes
from cairn.source.roles import FOREIGN, Role, RoledFile, own_role

TOP = b"""# who wrote what
*.go text eol=lf

  \t
*.gen.go linguist-generated
docs/api/** linguist-generated=true
libs/ linguist-vendored
src/*.pb.go -linguist-generated
dist/app.js linguist-generated=false
"""
INNER = b"hand.gen.go linguist-generated=false\n"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("a.go", Role(0)),
        ("deep/a.gen.go", Role.GENERATED),
        ("docs/api/v1/user.ts", Role.GENERATED),
        ("docs/user.ts", Role(0)),
        ("libs/a/b.c", Role.VENDORED),
        ("src/user.pb.go", Role(0)),
        ("api/user.pb.go", Role.GENERATED),
        ("dist/app.js", Role(0)),
        ("dist/other.js", Role.GENERATED),
        ("inner/hand.gen.go", Role(0)),
        ("inner/other.gen.go", Role.GENERATED),
    ],
)
def test_gitattributes_decide_who_wrote_a_file(path: str, role: Role) -> None:
    attributes = GitAttributes([(".gitattributes", TOP), ("inner/.gitattributes", INNER)])
    assert own_role(RoledFile(path, ""), attributes) & FOREIGN == role


def test_gitattributes_that_say_a_file_is_written_by_people_outweigh_its_content() -> None:
    attributes = GitAttributes([(".gitattributes", b"a.go -linguist-generated\n")])
    assert not own_role(RoledFile("a.go", "go", is_generated=True), attributes) & FOREIGN
