"""Which addresses a probe takes, and how it writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.probe import ProbeError, parse_address


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("http://localhost:8000", "http://localhost:8000"),
        ("localhost:8000", "http://localhost:8000"),
        ("127.0.0.1:8000/v1/", "http://127.0.0.1:8000"),
        ("https://vllm.example/models/a/v1", "https://vllm.example/models/a"),
        ("HTTP://[::1]:8000/", "http://[::1]:8000"),
        ("http://localhost", "http://localhost"),
        ("https://localhost:443", "https://localhost"),
    ],
)
def test_an_address_is_read_as_clients_write_it(text: str, written: str) -> None:
    assert str(parse_address(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "ftp://localhost",
        "file:///etc/passwd",
        "http://user:secret@localhost:8000",
        "http://localhost:8000/?key=secret",
        "http://localhost:99999",
        "http://localhost:8000/a b",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_secrets(text: str) -> None:
    with pytest.raises(ProbeError) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except ProbeError:
        return
    assert parse_address(str(address)) == address
