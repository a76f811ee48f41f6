"""The tolerant reader of Python reprs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.facts.pyrepr import Opaque, as_text, read_keywords, read_mapping, read_value

SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_a_dict_repr_comes_back(mapping: dict[str, Any]) -> None:
    assert read_mapping(repr(mapping)) == mapping


@given(st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True), VALUES, max_size=6))
def test_keyword_pairs_come_back(mapping: dict[str, Any]) -> None:
    text = ", ".join(f"{name}={value!r}" for name, value in mapping.items())
    assert read_keywords(text) == mapping


@given(st.dictionaries(st.text(min_size=1), VALUES, min_size=1, max_size=6), st.data())
def test_a_cut_dict_keeps_only_whole_entries(mapping: dict[str, Any], data: st.DataObject) -> None:
    text = repr(mapping)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    read = read_mapping(cut)
    assert all(mapping[name] == value for name, value in read.items())


@given(st.text(st.sampled_from("{}[]()<>'\"\\,:= =aN1.-_x\n"), max_size=300))
def test_garbage_never_raises(text: str) -> None:
    read_mapping(text)
    read_keywords(text)
    as_text(read_value(text))


@given(st.text(max_size=200))
def test_any_text_never_raises(text: str) -> None:
    read_mapping("{" + text)
    read_keywords("a=" + text)
    as_text(read_value(text))


@pytest.mark.parametrize(
    "unit", ["{", "[", "(", "{'a':", "a(", "<", "{{", "'a', ", "{1:[", "<a", "a=b(", "{}", "((()))"]
)
def test_long_and_deep_text_is_read_to_the_end(unit: str) -> None:
    # With quadratic or exponential work this would not come back.
    text = unit * (200_000 // len(unit))
    assert isinstance(read_mapping(text), dict)
    assert read_keywords("first=1, a=" + text)["first"] == 1
    assert isinstance(as_text(read_value("{" + text + "}" * 50)), str)


def test_huge_digits_stay_text() -> None:
    assert read_mapping("{'n': " + "9" * 5000 + "}") == {"n": "9" * 5000}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<CompilationMode.VLLM_COMPILE: 3>", "VLLM_COMPILE"),
        ("<CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>", "FULL_AND_PIECEWISE"),
        ("<ConfigFormat.AUTO: 'auto'>", "auto"),
        ("<DynamicShapesType.BACKED: 'backed'>", "backed"),
        ("<function cmd at 0x7f3a>", Opaque("<function cmd at 0x7f3a>")),
        ("<class 'a.b'>", Opaque("<class 'a.b'>")),
        ("('a', 2)", ["a", 2]),
        ("{'a', 'b'}", ["a", "b"]),
        ("set()", Opaque("set()")),
        ("1e-05", 1e-05),
        ("-inf", -math.inf),
        ("tcp://10.0.0.1:29500", "tcp://10.0.0.1:29500"),
    ],
)
def test_values_inside_brackets(text: str, value: object) -> None:
    assert read_mapping(f"{{'key': {text}, 'next': 1}}") == {"key": value, "next": 1}


def test_objects_keep_their_text_and_their_fields() -> None:
    text = "LoRAModulePath(name='sql', path='/m/a, b', base=None, inner=Inner(x=[1, 2]))"
    value = read_mapping(f"{{'lora_modules': [{text}], 'port': 8000}}")
    assert value["port"] == 8000
    modules = value["lora_modules"]
    assert isinstance(modules, list)
    (module,) = modules
    assert isinstance(module, Opaque)
    assert module.text == text
    assert module.fields["path"] == "/m/a, b"
    assert module.fields["inner"] == Opaque("Inner(x=[1, 2])", {"x": [1, 2]})


def test_unquoted_words_run_to_the_next_keyword() -> None:
    text = "model='m', dtype=torch.bfloat16, served_model_name=a, b c (v1), path=/x/y:z, device_config=cuda, seed=0"
    assert read_keywords(text) == {
        "model": "m",
        "dtype": "torch.bfloat16",
        "served_model_name": "a, b c (v1)",
        "path": "/x/y:z",
        "device_config": "cuda",
        "seed": 0,
    }


def test_keywords_end_at_the_closing_bracket_of_a_namespace() -> None:
    assert read_keywords("Namespace(a=1, b='x')", len("Namespace(")) == {"a": 1, "b": "x"}


def test_a_cut_line_gives_no_half_values() -> None:
    assert read_mapping("{'max_model_len': 4096, 'max_num_seqs': 12") == {"max_model_len": 4096}
    assert read_mapping("{'max_model_len': 4096, 'model': '/mod") == {"max_model_len": 4096}
    assert read_keywords("a=1, kernel_config=KernelConfig(moe_backend='aut") == {"a": 1}
    assert read_keywords("a=1, compilation_config={'mode': 3, 'back") == {"a": 1}


def test_json_inside_a_config_line() -> None:
    text = 'a=None, compilation_config={"level":3,"sizes":[1,2],"debug":null,"on":true}, '
    config = read_keywords(text)["compilation_config"]
    assert config == {"level": 3, "sizes": [1, 2], "debug": None, "on": True}
    assert as_text(config) == '{"level": 3, "sizes": [1, 2], "debug": null, "on": true}'
