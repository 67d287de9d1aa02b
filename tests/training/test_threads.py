import subprocess
import sys
import threading

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from complabel._training import one_thread

CHILD = """
import os, sys
import torch
from complabel.datasets import make_synthetic
from complabel.methods import MLCLClassifier

data = make_synthetic(600, n_features=60, n_labels=8, random_state=0)
torch.set_num_threads(2)

def fit():
    MLCLClassifier(epochs=3, device="cpu", random_state=0).fit(data.X, 1 - data.Y).predict(data.X)
    (torch.ones(500, 500) @ torch.ones(500, 500)).exp().sum()

fit()
child = os.fork()
if not child:
    fit()
    os._exit(7)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_child_fits_after_its_parent_did():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CHILD], timeout=60)
    assert done.returncode == 7


@pytest.fixture
def two_threads():
    """Let torch and BLAS have two threads, whatever the tests run with."""
    limits = []

    def limit():  # in a thread that ends: threadpoolctl 3.8 lets no other thread set them
        limits.append(threadpool_limits(limits=2, user_api="blas"))

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    in_a_thread(limit)
    yield
    in_a_thread(limits[0].restore_original_limits)
    torch.set_num_threads(before)


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def numbers():
    return {(each["filepath"], each["num_threads"]) for each in threadpool_info()}


def blas():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


class Fit(threading.Thread):
    """A thread that enters the block and leaves it when it is told to."""

    def __init__(self):
        super().__init__(daemon=True)
        self.inside, self.leave, self.seen = threading.Event(), threading.Event(), []

    def run(self):
        with one_thread():
            self.inside.set()
            self.leave.wait(20)
            self.seen = torch.get_num_threads()


def test_threads_that_overlap_give_back_what_was_there_before_the_first(two_threads):
    before, (first, second) = numbers(), (Fit(), Fit())
    for fit in (first, second):
        fit.start()
        assert fit.inside.wait(20)
    first.leave.set()
    first.join()
    assert blas() <= {1}  # the second one still needs it
    second.leave.set()
    second.join()
    assert numbers() == before
    assert (first.seen, second.seen, torch.get_num_threads()) == (1, 1, 2)
    later = []
    in_a_thread(lambda: later.append(torch.get_num_threads()))
    assert later == [2]


def test_a_block_in_a_block_changes_nothing(two_threads):
    before = numbers()
    with one_thread():
        with one_thread():
            pass
        assert blas() <= {1}
        assert torch.get_num_threads() == 1
    assert (numbers(), torch.get_num_threads()) == (before, 2)
