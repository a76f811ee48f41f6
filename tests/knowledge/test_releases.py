"""Version numbers: what is read, what is refused, and that the order is PEP 440's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version as Pep440

from logdoctor.knowledge.releases import Version, parse_range, parse_version


def version(text: str) -> Version:
    parsed = parse_version(text)
    assert parsed is not None, text
    return parsed


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("0.9.0.1", "0.9.0.1"),
        ("v0.17.1", "0.17.1"),
        ("0.17.1+cpu", "0.17.1"),
        ("0.21.0rc1", "0.21.0rc1"),
        ("0.8.5.post1", "0.8.5.post1"),
        (" 0.24.0\n", "0.24.0"),
        ("v0.17.1-cu130", "0.17.1"),
        ("0.10.1.1+381074ae.nv25.09", "0.10.1.1"),
        ("0.19.1rc1.dev12+g752a3a504.d20260714", "0.19.1rc1.dev12"),
        ("12.1", "12.1"),
        ("2.10.0+CU130", "2.10.0"),
    ],
)
def test_reads(text: str, public: str) -> None:
    assert str(version(text)) == public


@pytest.mark.parametrize(
    "text",
    [
        "0.1.dev1+g4f0e9a1b2",
        "v0.1.dev16260+g388fd5153.d20260430",
        "26.01-py3",
        "25.12.post1-py3",
        "26.01",
        "0.17.1-py3",
        "dev",
        "latest",
        "nightly",
        "17",
        "",
        None,
        "0.17.1 and more",
        "1" * 5000,
    ],
)
def test_says_nothing_about_the_order(text: str | None) -> None:
    assert parse_version(text) is None


def test_local_part_and_trailing_zeros_do_not_count() -> None:
    assert version("0.17.1+cpu") == version("v0.17.1") and version("0.17") == version("0.17.0")
    assert hash(version("0.17+cu130")) == hash(version("0.17.0"))
    assert version("0.17.1+CPU").local == "cpu"


def test_dev_and_prerelease() -> None:
    assert version("0.19.1rc1.dev2").is_dev and version("0.19.1rc1.dev2").is_prerelease
    assert version("0.19.1rc1").is_prerelease and not version("0.19.1rc1").is_dev
    assert not version("0.19.1.post1").is_prerelease
    assert version("0.19.1").minor == (0, 19) and version("1.0").minor == (1, 0)


RELEASES = st.lists(st.integers(0, 40), min_size=2, max_size=4).filter(lambda n: tuple(n) >= (0, 2) and n[0] < 20)
SUFFIXES = st.sampled_from(
    ["", "a1", "b2", "rc1", "rc2", ".post1", ".post2", ".dev1", ".dev7", "rc1.dev3", ".post1.dev2"]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    return ".".join(map(str, draw(RELEASES))) + draw(SUFFIXES)


@given(texts(), texts())
def test_order_is_that_of_pep_440(left: str, right: str) -> None:
    ours, theirs = (version(left), version(right)), (Pep440(left), Pep440(right))
    assert (ours[0] < ours[1], ours[0] == ours[1]) == (theirs[0] < theirs[1], theirs[0] == theirs[1])


@given(texts(), st.sampled_from(["", "+cpu", "+g12ab"]), st.sampled_from(["", "v"]))
def test_what_is_printed_reads_back(text: str, local: str, prefix: str) -> None:
    parsed = version(prefix + text + local)
    assert version(str(parsed)) == parsed and str(version(str(parsed))) == str(parsed)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed = parse_version(text)
    assert parsed is None or parse_version(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=0.15.1,<0.20", ["0.15.1", "0.19.1", "0.20.0rc1"], ["0.15.0", "0.20.0"]),
        ("==0.17.*", ["0.17.0", "0.17.1", "0.17.1rc1"], ["0.18.0", "0.1.0.17", "0.16.0"]),
        ("!=0.17.*, >0.16", ["0.16.1", "0.18.0"], ["0.17.1", "0.16.0"]),
        ("==0.9.0.1", ["0.9.0.1"], ["0.9.0", "0.9.1"]),
        ("<=0.9.2", ["0.9.2", "0.8.5"], ["0.10.0"]),
        ("", ["0.8.5", "0.33.0"], []),
    ],
)
def test_ranges(text: str, inside: list[str], outside: list[str]) -> None:
    chosen = parse_range(text)
    assert all(chosen.contains(version(item)) for item in inside)
    assert not any(chosen.contains(item) for text in outside if (item := parse_version(text)))


@pytest.mark.parametrize("text", ["0.17", ">=", ">=latest", "~=0.17", ">=0.17.*", ">=0.1.dev1"])
def test_a_range_that_cannot_be_read_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ValueError, match="not a version range"):
        parse_range(text)


def test_select_keeps_the_order() -> None:
    known = [version(text) for text in ("0.15.0", "0.16.0", "0.17.1")]
    assert parse_range(">0.15").select(known) == tuple(known[1:])
