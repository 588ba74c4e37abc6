from __future__ import annotations

import pytest

from init_files import TEXTS, Result, check
from user_files import UserFile, user_files

FILES = [file for file in user_files()[3::23] if "long line" not in file.name] + TEXTS[::3]


@pytest.mark.parametrize("file", FILES, ids=[f"{file.format}: {file.name}" for file in FILES])
def test_a_users_file_in_the_place_of_any_agents_file_is_restored_byte_for_byte(file: UserFile) -> None:
    assert check(file) == Result()
