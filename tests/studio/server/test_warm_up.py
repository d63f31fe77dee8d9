"""What is compiled before somebody waits for it, and what the log says of it."""

import logging

import pytest

from mercer._errors import TimeLimitError
from mercer.studio.server import warm_up


def failing(error):
    def action(request, job):
        raise error
        yield

    return action


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, logger="mercer.studio")
    return caplog


def test_compiling_for_longer_than_a_fit_may_take_is_no_failure(said):
    warm_up._try(failing(TimeLimitError("the fit took longer than 10 s")), {})
    (record,) = said.records
    assert record.levelno == logging.INFO
    assert record.exc_info is None
    assert "quick" in record.getMessage()


def test_a_failure_is_logged_and_ends_nothing(said):
    warm_up._try(failing(ValueError("no such method")), {})
    (record,) = said.records
    assert record.levelno == logging.ERROR
    assert record.exc_info[0] is ValueError
