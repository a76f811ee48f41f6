"""Reading and writing back: nothing changes that was not asked for, and asking twice changes nothing more."""

from __future__ import annotations

import json
import shlex
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.launch import LaunchError, apply, read_launch
from logdoctor.launch.flags import read_arguments
from logdoctor.model import Remedy
from tests.launch import strategies
from tests.launch.strategies import Content

COMMANDS = (
    ("flag", "--max-model-len 8192"),
    ("flag", "--moe-backend marlin"),
    ("flag", "--enforce-eager"),
    ("flag", "--enable-prefix-caching"),
    ("flag", """--hf-overrides '{"c": "x y"}'"""),
    ("env", "VLLM_USE_DEEP_GEMM=0"),
    ("env", "NOTE=three more words"),
    ("env", "HF_TOKEN=hf_y"),
    ("remove", "--seed"),
    ("remove", "--enforce-eager"),
    ("remove", "--served-model-name nemo"),
    ("remove", "VLLM_NVFP4_MOE_BACKEND"),
    ("remove", "HF_TOKEN"),
    ("remove", "EMPTY"),
    ("image", "vllm/vllm-openai:v0.24.0"),
)
remedies = st.lists(st.sampled_from(COMMANDS), min_size=2, max_size=5, unique=True).map(
    lambda chosen: [Remedy("s", kind, command, finding=f"f{n}") for n, (kind, command) in enumerate(chosen)]
)


@settings(deadline=None)
@given(strategies.launches)
def test_what_was_written_is_read(launch: tuple[Content, str]) -> None:
    content, text = launch
    found = read_launch(text)
    assert [word.value for word in found.argv] == content.words
    assert {name: variable.value for name, variable in found.env.items()} == dict(content.variables)


@settings(deadline=None)
@given(strategies.launches)
def test_every_word_stands_where_it_says(launch: tuple[Content, str]) -> None:
    _, text = launch
    found = read_launch(text)
    for word in found.argv:
        assert found.text[word.start : word.end] == word.raw


@settings(deadline=None)
@given(strategies.written)
def test_nothing_asked_nothing_changed(launch: tuple[Content, str]) -> None:
    rewritten = apply(launch[1], [], {})
    assert rewritten.corrected == rewritten.original == launch[1]
    assert rewritten.diff == ""


@settings(max_examples=150, deadline=None)
@given(strategies.launches, remedies)
def test_applying_twice_equals_once(launch: tuple[Content, str], chosen: list[Remedy]) -> None:
    once = apply(launch[1], chosen, {})
    again = apply(once.corrected, chosen, {})
    assert again.corrected == once.corrected


@settings(max_examples=250, deadline=None)
@given(strategies.launches, st.sampled_from(COMMANDS))
def test_one_remedy_changes_one_thing(launch: tuple[Content, str], command: tuple[str, str]) -> None:
    content, text = launch
    rewritten = apply(text, [Remedy("s", *command)], {})
    if rewritten.skipped:
        assert rewritten.corrected == rewritten.original
        return
    before, after = read_launch(text), read_launch(rewritten.corrected)
    kind, words = command
    expected_flags = _flags(before)
    expected_env = {name: variable.value for name, variable in before.env.items()}
    image = before.image
    if kind == "env":
        name, _, value = words.partition("=")
        expected_env[name] = value
    elif kind == "image":
        image = words
    elif not words.startswith("--"):
        expected_env.pop(words, None)
    else:
        name, _, value = words.partition(" ")
        value = value.strip("'")
        plain = name.replace("--no-", "--")
        if kind == "remove" and (not value or expected_flags.get(plain) == value):
            expected_flags.pop(plain, None)
        elif kind == "flag":
            stated = expected_flags.get(plain)
            if isinstance(stated, str) and stated.startswith("{") and value.startswith("{"):
                value = json.dumps({**json.loads(stated), **json.loads(value)})
            expected_flags[plain] = value or True
    assert _flags(after) == expected_flags
    assert {name: variable.value for name, variable in after.env.items()} == expected_env
    assert after.image == image
    assert [after.argv[at].value for at in read_arguments(after.argv).positional] == [content.model]


def _flags(launch: object) -> dict[str, object]:
    arguments = read_arguments(launch.argv)  # type: ignore[attr-defined]
    return {use.name: not use.negated if use.value is None else use.value for use in arguments.uses}


@settings(max_examples=200, deadline=None)
@given(st.one_of(strategies.serve_scripts(), strategies.docker_scripts()), remedies)
def test_a_shell_splits_the_words_as_they_are_meant(launch: tuple[Content, str], chosen: list[Remedy]) -> None:
    """`shlex` is asked instead of the reader that the rewriter itself uses."""
    corrected = apply(launch[1], chosen, {}).corrected
    found = read_launch(corrected)
    words = shlex.split(corrected.replace("\\\n", " "), comments=True)
    meant = [word.value for word in found.argv]
    assert any(words[at : at + len(meant)] == meant for at in range(len(words)))
    for name, variable in found.env.items():
        assert f"{name}={variable.value}" in [word.removeprefix("--env=").removeprefix("-e") for word in words]


@settings(max_examples=120, deadline=None)
@given(st.one_of(strategies.compose_files(), strategies.manifests()), remedies)
def test_a_yaml_reader_finds_everything_else_unchanged(launch: tuple[Content, str], chosen: list[Remedy]) -> None:
    """Another reader than the rewriter's own loads both files."""
    corrected = apply(launch[1], chosen, {}).corrected
    before, after = _loaded(launch[1]), _loaded(corrected)
    found = read_launch(corrected)
    for documents in (before, after):
        for container in _servers(documents):
            if "args" in container and "command" not in container:
                assert documents is before or container["args"] == [word.value for word in found.argv]
            for key in ("image", "command", "args", "environment", "env"):
                container.pop(key, None)
    assert before == after


def _loaded(text: str) -> list[Any]:
    import yaml

    return list(yaml.safe_load_all(text))


def _servers(documents: list[Any]) -> list[dict[str, Any]]:
    root = documents[-1]
    if "services" in root:
        return [root["services"]["nemo"]]
    spec = root["spec"].get("template", root)["spec"]
    return [one for one in spec["containers"] if one["name"] == "vllm"]


@settings(max_examples=150, deadline=None)
@given(strategies.written, remedies)
def test_comments_on_lines_that_stay_are_kept(launch: tuple[Content, str], chosen: list[Remedy]) -> None:
    text = launch[1]
    corrected = apply(text, chosen, {}).corrected
    for line in text.splitlines():
        if line.lstrip().startswith("# ") and not line.lstrip().startswith("# about"):
            assert line in corrected.splitlines()
    # What stands above a variable that went may go with the last of them.
    env = read_launch(corrected).env
    kept = [name for name, _ in launch[0].variables if name in env]
    for name in kept:
        if f"# about {name}" in text:
            assert f"# about {name}" in corrected


@settings(deadline=None)
@given(st.one_of(st.text(max_size=400), st.text(alphabet="'\"\\$(){}[]`#&|;<> \n\t-=:vls docker run", max_size=200)))
def test_any_text_is_read_or_refused(text: str) -> None:
    for prefix in ("", "vllm serve ", "docker run -e ", "services:\n  v:\n    image: vllm\n    command: "):
        try:
            launch = read_launch(prefix + text)
        except LaunchError as error:
            assert "\n" not in str(error)
            continue
        assert apply(launch.text, [], {}).corrected == launch.text
        apply(launch.text, [Remedy("s", kind, command) for kind, command in COMMANDS], {})


@settings(deadline=None)
@given(strategies.written, st.data())
def test_a_cut_or_damaged_launch_never_crashes(launch: tuple[Content, str], data: st.DataObject) -> None:
    text = launch[1]
    at = data.draw(st.integers(0, len(text)))
    damage = data.draw(
        st.sampled_from(["", "'", '"', "\\", "\n", "\t", "[", "{", "&a ", "*a", "!x ", "|", "#", "\x00", "$("])
    )
    for damaged in (text[:at], text[:at] + damage + text[at:]):
        try:
            rewritten = apply(damaged, [Remedy("s", kind, command) for kind, command in COMMANDS], {})
        except LaunchError:
            continue
        assert rewritten.original == damaged
