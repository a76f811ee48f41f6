"""One text, three forms: what stands in one must stand in the others."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from logdoctor.database.explain import HEADINGS, escaped, explain, fenced, find, readable, to_dict, to_markdown, to_text
from logdoctor.database.loading import Database, load_database
from logdoctor.database.schema import Example, Examples, Kind, RemedySpec, Signature
from logdoctor.diagnosis.own_findings import OWN_FINDINGS
from logdoctor.model import Basis
from tests.database.build import signature

RICH = signature(
    title="KV cache needs {need} GiB and has {kv_cache.memory_gib|less}",
    vllm=">=0.9,<0.20",
    when={"gpu.compute_capability": ("12.0", "12.1"), "args.enforce_eager": True, "model.name": "~nano|super"},
    when_known={"vllm.version": ">=0.10,<0.12", "env.VLLM_X": "unset"},
    consequence_of=("first-cause",),
    suppresses=("broad-one",),
    remedies=(
        RemedySpec(
            "Lower the context length",
            "flag",
            "--max-model-len {estimate}",
            vllm=">=0.17",
            when={"model.moe": True},
            not_when={"model.hybrid": True},
            conflicts_with=("--enforce-eager",),
        ),
        RemedySpec("Think about `quotes` and <tags>"),
    ),
    verify="The next start prints: GPU KV cache size",
    wrong_when="Another process takes the memory.",
    basis=Basis.FIELD_REPORT,
    references=("vllm/v1/core/kv_cache_utils.py", "vllm-project/vllm#12345", "https://docs.vllm.ai/x", "a mail"),
    examples=Examples((Example("first line\n  ```second``` \x1b[31mline"), Example("needs 3 GiB of KV cache"))),
)


def database(*signatures: Signature) -> Database:
    return Database.of(signatures, "x")


def test_the_headings_stand_in_their_order_in_text_and_markdown() -> None:
    text, markdown = to_text(explain(RICH)), to_markdown(explain(RICH))
    assert [line for line in text.splitlines() if line in HEADINGS] == list(HEADINGS)
    assert [line[3:] for line in markdown.splitlines() if line.startswith("## ")] == list(HEADINGS)


def test_the_text_form() -> None:
    text = to_text(explain(RICH))
    assert "KV cache needs N GiB and has N" in text
    assert "info · phase kv-cache · certain · basis: field-report · vLLM >=0.9, <0.20" in text
    assert "  first line\n    ```second``` �[31mline\n" in text
    assert "  - if the GPU's compute capability is 12.0 or 12.1\n  - if --enforce-eager is true\n" in text
    assert (
        "  - if the model's name matches nano|super\n  - if the vLLM version >=0.10, <0.12\n"
        "  - if the variable VLLM_X is not known" in text
    )
    assert (
        "  1. Lower the context length\n     add: --max-model-len N\n     (vLLM >=0.17; if model moe is true;" in text
    )
    assert "if model moe is true; not if model hybrid is true; not together with --enforce-eager" in " ".join(
        text.split()
    )
    assert "Explained away by: first-cause." in text
    assert "More specific than: broad-one." in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_json_form_holds_the_same() -> None:
    made = json.loads(json.dumps(to_dict(explain(RICH))))
    assert made["id"] == "kv-too-small"
    assert made["what_you_see"]["examples"][1] == "needs 3 GiB of KV cache"
    assert made["fix"][0]["command"] == "--max-model-len N"
    assert made["fix"][1] == {
        "summary": "Think about `quotes` and <tags>",
        "kind": "advice",
        "command": "",
        "conditions": [],
    }
    assert made["check_that_it_worked"] == "The next start prints: GPU KV cache size"
    assert made["references"] == list(RICH.references)
    text = " ".join(to_text(explain(RICH)).split())
    assert all(paragraph in text for paragraph in made["why"] + made["when_this_is_wrong"])


def test_markdown_shows_what_the_text_says() -> None:
    html = MarkdownIt().render(to_markdown(explain(RICH)))
    assert "Think about `quotes` and &lt;tags&gt;" in html
    assert "KV cache needs N GiB" in html
    assert "```second```" in html
    assert '<a href="https://github.com/vllm-project/vllm/issues/12345">' in html
    assert '<a href="https://docs.vllm.ai/x">' in html
    assert html.count("<h2>") == len(HEADINGS)


def test_what_is_missing_is_said() -> None:
    bare = signature(references=(), examples=Examples(), harmless=True, kind=Kind.CASCADE)
    text = to_text(explain(bare))
    assert "Nothing to change." in text
    assert "The line does not come back on the next start." in text
    assert "No case is known." in text
    assert "Field reports only." in text
    assert "Harmless: it is never the reason" in text
    assert "It follows from another failure" in text


def test_a_long_example_is_cut_in_the_middle() -> None:
    log = "\n".join(f"line {number}" for number in range(50))
    seen = explain(signature(examples=Examples((Example(log),)))).seen[0].splitlines()
    assert (len(seen), seen[0], seen[8], seen[-1]) == (12, "line 0", "…", "line 49")


def test_readable() -> None:
    assert readable('{a} {b|} {gpu.name|this GPU} {"a": {1}} {{.State}}') == 'A  this GPU {"a": {1}} {{.State}}'


# --- find -------------------------------------------------------------------------------------------------------------

KV, KV_LONG, OOM = signature(id="kv"), signature(id="kv-long"), signature(id="oom-in-graphs")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("kv", ["kv"]),
        (" kv-long\n", ["kv-long"]),
        ("kv-", ["kv-long"]),
        ("k", ["kv", "kv-long"]),
        ("oom", ["oom-in-graphs"]),
        ("", []),
    ],
)
def test_an_id_or_its_beginning(query: str, ids: list[str]) -> None:
    assert [found.id for found in find(database(KV, KV_LONG, OOM), query)] == ids


def test_a_line_is_matched_when_it_is_no_id() -> None:
    asked: list[str] = []

    def match_line(line: str) -> list[str]:
        asked.append(line)
        return ["oom-in-graphs", "gone", "oom-in-graphs", "kv"]

    found = find(database(KV, KV_LONG, OOM), "CUDA out of memory.\nsecond", match_line)
    assert [entry.id for entry in found] == ["oom-in-graphs", "kv"]
    assert asked == ["CUDA out of memory.\nsecond"]
    assert [entry.id for entry in find(database(KV), "zzz", match_line)] == ["kv"]
    assert find(database(KV), "zzz") == []


# --- escaping ---------------------------------------------------------------------------------------------------------

_HOSTILE = st.text(alphabet="ab_*`<>[]|~#+-1.) \\&lt;!(", min_size=1, max_size=30).map(
    lambda text: " ".join(text.split())
)


@given(_HOSTILE)
def test_escaped_text_has_no_markup(text: str) -> None:
    tokens = MarkdownIt("js-default").parse(escaped(text))
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}
    shown = "".join(child.content for token in tokens for child in token.children or ())
    assert shown == text.strip()


@given(st.text(alphabet="`~ab\n", max_size=30))
def test_a_fence_holds_any_text(text: str) -> None:
    tokens = MarkdownIt().parse(fenced(text))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == text + "\n"


PLACES = re.compile(r"\{[A-Za-z_][\w.]*(?:\|[^{}]*)?\}|<[a-z]+[_.][a-z_.]+>|none printed|budget\.suggest")


def test_no_page_shows_a_place_that_only_a_log_fills() -> None:
    pages = [explain(entry) for entry in (*load_database(examples=True).signatures, *OWN_FINDINGS)]
    for page in pages:
        told = (page.title, page.check, *page.why, *page.wrong, *page.conditions, *(fix.summary for fix in page.fixes))
        told = (*told, *(fix.command for fix in page.fixes), *(c for fix in page.fixes for c in fix.conditions))
        assert [text for text in told if PLACES.search(text)] == [], page.id
        assert page.seen or page.conditions, f"{page.id}: nothing to see"


@pytest.mark.parametrize(
    ("text", "prose", "command"),
    [
        ("{needed} GiB for {length|none printed} tokens", "N GiB for N tokens", "N GiB for N tokens"),
        ("{budget.suggest.max_model_len|8192}", "the suggested length", "LENGTH"),
        ("at {path}", "at PATH", "at PATH"),
        ("{model.family|this model} {x|}", "this model ", "MODEL "),
        ("--tool-call-parser {model.tool_parser}", "--tool-call-parser TOOL-PARSER", "--tool-call-parser TOOL-PARSER"),
    ],
)
def test_places_are_words_for_people(text: str, prose: str, command: str) -> None:
    assert readable(text) == prose
    assert readable(text, command=True) == command


@pytest.mark.parametrize(
    "line",
    ["ValueError: To serve at least one request with …", "ValueError: To serve at least one request with the ...",
     "… estimated maximum model length is …"],
)  # fmt: skip
def test_a_line_with_dots_finds_its_entry(line: str) -> None:
    found = [entry.id for entry in find(load_database(examples=True), line)]
    assert "kv-cache-one-request" in found
    assert find(database(RICH), "no such … line at all") == []


def test_an_entry_is_explained_in_chinese_where_it_is_translated() -> None:
    chinese = load_database(examples=True, lang="zh")
    page = explain(chinese.by_id["kv-cache-one-request"], chinese.lang_of("kv-cache-one-request"))
    text = to_text(page)
    assert "现象" in text
    assert "修复" in text
    assert "What you see" not in text
    assert re.search(r"\b(?:if|is known|not if)\b", "".join(c for fix in page.fixes for c in fix.conditions)) is None
    other = next(entry for entry in chinese.signatures if chinese.lang_of(entry.id) == "en")
    assert to_text(explain(other, chinese.lang_of(other.id))) == to_text(explain(other))
