from __future__ import annotations

import resource

import pytest

from cairn.errors import resource_error


@pytest.mark.parametrize(("limit", "said"), [(resource.RLIM_INFINITY, "ulimit -u"), (1 << 40, "ulimit -v")])
def test_a_thread_that_cannot_start_is_explained_by_the_limit_that_there_is(
    limit: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit) if kind == resource.RLIMIT_AS else (0, 0))
    shortage = resource_error(RuntimeError("can't start new thread"))
    assert shortage is not None
    assert said in str(shortage.hint)
