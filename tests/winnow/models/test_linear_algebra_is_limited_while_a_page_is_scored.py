"""The linear algebra of a program keeps its threads: only while a page is scored there is one."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import ThreadpoolController

from winnow import clean
from winnow.models import one_thread as one_thread_module
from winnow.models.one_thread import one_thread

HTML = "<h1>A story</h1><p>Wind and river, stone and glass."


def threads() -> set[int]:
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.fixture(autouse=True)
def libraries_of_other_tests():
    """Other tests may have loaded further libraries since the first page of this process."""
    one_thread_module._libraries.cache_clear()


def test_there_is_one_thread_inside_and_as_many_as_before_outside():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        with one_thread():
            assert threads() == {1}
        assert threads() == {2}


def test_pages_that_are_cleaned_in_threads_leave_no_limit_behind():
    with ThreadpoolController().limit(limits=2, user_api="blas"), ThreadPoolExecutor(4) as pool:
        texts = pool.map(lambda _: clean(HTML).text, range(40))
        own = [clean(HTML).text for _ in range(40)]
        assert own == list(texts)
        assert threads() == {2}
