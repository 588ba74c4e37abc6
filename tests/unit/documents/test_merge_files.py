import pytest

from merge_files import Result, check
from user_files import UserFile, user_files

FILES = [file for file in user_files()[::7] if "long line" not in file.name]


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_what_agents_need_goes_into_a_users_file_and_out_again_without_a_trace(file: UserFile) -> None:
    assert check(file) == Result()


def test_there_are_over_two_hundred_different_files() -> None:
    assert len({(file.format, file.content) for file in user_files()}) > 200
