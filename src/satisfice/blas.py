"""One BLAS thread while a search thinks: the matrices are small, and results must not depend on the number of cores."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

_lock = Lock()
_users = 0
_limiter: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside; the last one to leave restores what the first one found."""
    global _users, _limiter
    with _lock:
        _users += 1
        if _users == 1:
            _let_go()
            _limiter = _controller().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _let_go()
                _limiter.restore_original_limits()
                _let_go()


def _let_go() -> None:
    """Take the say over OpenBLAS from whichever thread has it: in newer versions the first one to set a limit keeps it."""
    openblas: Any = threadpoolctl.OpenBLASController
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)
