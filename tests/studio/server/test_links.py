"""A link holds the state itself, and what is no link is refused before anything is served."""

import base64
import json

import pytest

from mercer._errors import ParameterError
from mercer.studio.server.links import fragment_of
from mercer.studio.server.server import serve

STATE = base64.urlsafe_b64encode(json.dumps({"s": {"points": [[0, 0, 1]]}}).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "form",
    [
        "mercer:play={}",
        "play={}",
        "#play={}",
        "http://127.0.0.1:8765/?token=of-another-run#play={}",
        "https://example.org/lessons/#play={}",
        "  mercer:play={}\n",
    ],
)
def test_every_form_of_a_link_brings_the_same(form):
    assert fragment_of(form.format(STATE)) == f"play={STATE}"


@pytest.mark.parametrize(
    "link",
    [
        "",
        "flowers.csv",
        "http://127.0.0.1:8765/",
        "mercer:play=",
        "mercer:play=%%%",
        "mercer:other=e30",
        "mercer:play=bm9wZQ",  # no JSON
        "mercer:play=W10",  # a list
        "mercer:play=e30 --port 1",
        "mercer:play=" + "A" * 2_000_000,
        "mercer:play=" + base64.urlsafe_b64encode(b"[" * 90_000).decode().rstrip("="),
    ],
)
def test_what_is_no_link_is_one_short_sentence(link):
    with pytest.raises(ParameterError, match="LINK must be what Link copies") as caught:
        fragment_of(link)
    assert len(str(caught.value)) < 300


def test_a_broken_link_is_refused_before_a_port_is_bound():
    with pytest.raises(ParameterError, match="LINK"):
        serve(0, browser=False, link="mercer:play=%%%", announce=lambda _: pytest.fail("it was served"))
