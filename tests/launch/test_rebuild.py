"""The command of a start, rebuilt from the arguments of its log."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from logdoctor.launch import Kind, LaunchError, apply_to, facts, read_launch, rebuild
from logdoctor.model import Fact, FactValue, Remedy
from tests.launch import strategies
from tests.launch.strategies import Content


def known(**values: FactValue) -> dict[str, Fact]:
    return {
        key: Fact(key, value, 7) for key, value in {name.replace("__", "."): v for name, v in values.items()}.items()
    }


def test_the_command_of_a_log() -> None:
    launch = rebuild(
        known(
            args=True,
            args__model_tag="a/b",
            args__model="a/b",
            args__max_model_len=4096,
            args__enforce_eager=True,
            args__enable_prefix_caching=False,
            args__served_model_name='["x", "y z"]',
            args__speculative_config='{"method": "mtp"}',
            args__api_key="***",
            args__no_such_argument=1,
            model__name="a/b",
        )
    )
    assert launch.kind is Kind.REBUILT
    assert launch.text == (
        'vllm serve a/b --api-key "$VLLM_API_KEY" --no-enable-prefix-caching --enforce-eager --max-model-len 4096 '
        "--served-model-name x 'y z' --speculative-config '{\"method\": \"mtp\"}'\n"
    )
    assert launch.unknown[-1] == "the value of --api-key"
    assert any("docker options" in text for text in launch.unknown)


def test_without_an_argument_line_most_is_unknown() -> None:
    launch = rebuild(known(args__enforce_eager=True))
    assert launch.text == "vllm serve MODEL --enforce-eager\n"
    assert "the model" in launch.unknown
    assert any("most arguments" in text for text in launch.unknown)


def test_a_log_without_arguments_gives_no_command() -> None:
    with pytest.raises(LaunchError, match="--launch FILE"):
        rebuild(known(vllm__version="0.17.1"))


def test_remedies_are_applied_to_it() -> None:
    launch = rebuild(known(args=True, args__model="m", args__seed=1))
    rewritten = apply_to(launch, [Remedy("s", "flag", "--max-model-len 8"), Remedy("s", "env", "VLLM_X=1")], {})
    assert rewritten.corrected == "VLLM_X=1 vllm serve m --seed 1 --max-model-len 8\n"
    assert rewritten.ready_command == rewritten.corrected.strip()


def test_hostile_values_stay_words() -> None:
    launch = rebuild(known(args=True, args__model="m; rm -rf / #", args__chat_template="$(id)\n`id`"))
    words = [word.value for word in launch.argv]
    assert words == ["m; rm -rf / #", "--chat-template", "$(id)\n`id`"]
    assert not any(word.expands for word in launch.argv)


@settings(deadline=None)
@given(strategies.serve_scripts())
def test_a_launch_is_rebuilt_from_its_own_facts(launch: tuple[Content, str]) -> None:
    stated = {key: Fact(key, fact.value, 1) for key, fact in facts(read_launch(launch[1])).items()}
    again = facts(rebuild(stated))
    assert {k: f.value for k, f in again.items() if k.startswith(("args", "model"))} == {
        k: f.value for k, f in stated.items() if k.startswith(("args", "model"))
    }


def test_objects_of_a_list_are_written_as_the_command_line_takes_them() -> None:
    adapter = '[["LoRAModulePath(name=\'sql\')", {"name": "sql", "path": "/lora/sql", "base_model_name": null}]]'
    built = rebuild(known(args=True, args__lora_modules=adapter))
    assert "--lora-modules sql=/lora/sql" in built.text
