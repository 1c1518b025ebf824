"""BLAS has one thread while a search thinks, whichever thread of the process it thinks in."""

from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from satisfice.blas import one_blas_thread

CONTROLLER = ThreadpoolController().select(user_api="blas")


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in CONTROLLER.info()]


@pytest.fixture
def two_threads():
    """Whatever the environment says, two BLAS threads outside."""
    np.zeros((2, 2)) @ np.zeros((2, 2))
    with CONTROLLER.limit(limits=2):
        if blas_threads() != [2] * len(blas_threads()):
            pytest.skip("this BLAS has one thread only")
        yield


def in_a_thread(work):
    seen = []
    thread = Thread(target=lambda: seen.append(work()))
    thread.start()
    thread.join()
    return seen[0]


def limited() -> list[int]:
    with one_blas_thread():
        return blas_threads()


def test_one_thread_in_any_thread_of_the_process(two_threads):
    outside = blas_threads()
    for where in (lambda work: work(), in_a_thread, in_a_thread, lambda work: work()):
        assert set(where(limited)) == {1}
        assert blas_threads() == outside


def test_the_last_to_leave_restores_what_the_first_found(two_threads):
    outside, entered, leave = blas_threads(), Event(), Event()

    def stay():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    thread = Thread(target=stay)
    with one_blas_thread():
        thread.start()
        assert entered.wait(10)
    assert set(blas_threads()) == {1}
    leave.set()
    thread.join()
    assert blas_threads() == outside
