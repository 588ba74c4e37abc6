"""One thread of BLAS for small products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cairn import blas

assert np.ones(1).sum() == 1  # numpy is loaded before its BLAS is asked for


@pytest.fixture
def threads() -> Callable[[], int]:
    functions = blas._functions()
    if functions is None:
        pytest.skip("numpy uses another BLAS")
    return functions[0]


def test_products_are_computed_on_one_thread_and_as_before_afterwards(threads: Callable[[], int]) -> None:
    before = threads()
    with blas.one_thread():
        assert threads() == 1
    assert threads() == before


def test_the_last_one_out_restores_the_threads(threads: Callable[[], int]) -> None:
    before = threads()
    first, second = blas.one_thread(), blas.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == 1
    second.__exit__(None, None, None)
    assert threads() == before


def test_the_threads_are_restored_after_an_error(threads: Callable[[], int]) -> None:
    before = threads()
    with pytest.raises(ValueError, match="broken"), blas.one_thread():
        raise ValueError("broken")
    assert threads() == before
