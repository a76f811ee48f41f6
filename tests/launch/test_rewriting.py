"""Which remedies are applied, and how the changed text looks."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from logdoctor.launch import LaunchError, Rewritten, apply
from logdoctor.model import Fact, Remedy

OFFICIAL = "vllm/vllm-openai:v0.17.1"


def remedy(kind: str, command: str, finding: str = "f", condition: str = "") -> Remedy:
    return Remedy("summary", kind, command, condition, finding)


def corrected(text: str, *remedies: tuple[str, str], version: str = "0.24.0") -> str:
    chosen = [remedy(kind, command, f"f{n}") for n, (kind, command) in enumerate(remedies)]
    return apply(text, chosen, {"vllm.version": Fact("vllm.version", version)}).corrected


# -- which remedies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "command", "condition", "reason"),
    [
        ("flag", "--seed 1", "if the GPU is GB10", "it holds only if the GPU is GB10"),
        ("host", "--ipc=host", "", "no argument of vLLM; to be changed by hand"),
        ("config", "x: y", "", "no argument of vLLM; to be changed by hand"),
        ("advice", "", "", "advice"),
        ("env", "HF_TOKEN=hf_...", "", "a value is to be filled in"),
        ("env", "VLLM_API_KEY=KEY", "", "a value is to be filled in"),
        ("env", "HF_ENDPOINT=https://MIRROR", "", "a value is to be filled in"),
        ("flag", "--max-model-len <length>", "", "a value is to be filled in"),
        ("flag", "--reasoning-parser-plugin FILE", "", "a value is to be filled in"),
        ("flag", '--hf-overrides \'{"architectures": ["NAME"]}\'', "", "a value is to be filled in"),
        ("flag", '--speculative-config \'{"model": "DRAFT"}\'', "", "a value is to be filled in"),
        ("flag", "--tokenizer OWNER/ORIGINAL-MODEL", "", "a value is to be filled in"),
        ("env", "PATH=/path/to/venv/bin:$PATH", "", "a value is to be filled in"),
        ("image", "vllm/vllm-openai:X.Y.Z", "", "a value is to be filled in"),
        ("flag", "--max-model-len", "", "its value is to be filled in"),
        (
            "env",
            "HF_ENDPOINT=https://x.example",
            "",
            "another host would serve the model: decide by hand",
        ),
        ("flag", "--reasoning-parser-plugin /models/x.py", "", "a value is to be filled in"),
        ("env", "CUDA_LAUNCH_BLOCKING=1", "", "it makes the log say more and mends nothing"),
        ("env", "PYTHONFAULTHANDLER=1", "", "it makes the log say more and mends nothing"),
        ("image", "RUN pip install -U transformers", "", "it belongs into the build of the image"),
        ("image", "acme/vllm:v1.0", "", f"the launch uses another image, {OFFICIAL}"),
    ],
)
def test_what_is_not_applied(kind: str, command: str, condition: str, reason: str) -> None:
    text = f"docker run {OFFICIAL} m\n"
    rewritten = apply(text, [remedy(kind, command, condition=condition)], {})
    assert rewritten.corrected == text
    assert [one.reason for one in rewritten.skipped] == [reason]
    assert rewritten.applied == ()


def part(kind: str, command: str, finding: str = "f") -> Remedy:
    """A remedy that belongs to the one before it."""
    return replace(remedy(kind, command, finding), with_previous=True)


def test_of_the_ways_of_a_finding_only_the_first_with_its_parts() -> None:
    remedies = [
        remedy("flag", "--max-model-len 8192", "a"),
        part("remove", "--seed", "a"),
        part("env", "A=1", "a"),
        remedy("flag", "--kv-cache-dtype fp8", "a"),
        part("remove", "--dtype", "a"),
        remedy("flag", "--enforce-eager", "b"),
    ]
    rewritten = apply("vllm serve m --seed 1 --dtype half", remedies, {})
    assert rewritten.corrected == "A=1 vllm serve m --dtype half --max-model-len 8192 --enforce-eager"
    assert {one.command for one in rewritten.applied} == {"--max-model-len 8192", "A=1", "--enforce-eager", "--seed"}
    assert {one.reason for one in rewritten.skipped} == {"another remedy of this finding comes first"}


@pytest.mark.parametrize(
    ("kind", "command", "condition"),
    [
        ("host", "nvidia-smi; docker ps", ""),
        ("advice", "", ""),
        ("image", "vllm/vllm-openai:latest", ""),
        ("flag", "--max-num-seqs <n>", ""),
        ("flag", "--max-num-seqs 4", "if the model is large"),
    ],
)
def test_where_the_first_way_cannot_be_applied_no_other_is(kind: str, command: str, condition: str) -> None:
    remedies = [
        remedy(kind, command, "a", condition),
        remedy("flag", "--gpu-memory-utilization 0.09", "a"),
        remedy("remove", "--seed", "a"),
    ]
    assert apply("vllm serve m --seed 1", remedies, {}).corrected == "vllm serve m --seed 1"


def test_what_is_already_so_counts_as_applied() -> None:
    remedies = [remedy("flag", "--max-model-len 8192"), remedy("flag", "--enforce-eager")]
    assert apply("vllm serve m --max_model_len=8192", remedies, {}).corrected == "vllm serve m --max_model_len=8192"


def test_what_was_set_is_not_removed_again() -> None:
    remedies = [remedy("flag", "--max-model-len 8192", "a"), remedy("remove", "--max-model-len", "b")]
    assert apply("vllm serve m --max-model-len 1", remedies, {}).corrected == "vllm serve m --max-model-len 8192"


# -- flags ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        ("--max-model-len 1 --seed 2", "--max-model-len 8", "--max-model-len 8 --seed 2"),
        ("--max-model-len=1", "--max-model-len 8", "--max-model-len=8"),
        ("--max_model_len 1", "--max-model-len 8", "--max_model_len 8"),
        ("--max-model-len '1'", "--max-model-len 8", "--max-model-len '8'"),
        ('--max-model-len "$L"', "--max-model-len 8", '--max-model-len "8"'),
        ("-tp 2", "--tensor-parallel-size 4", "-tp 4"),
        ("-tp=2", "--tensor-parallel-size 4", "-tp=4"),
        ("--gpu-memory-utilization 0.90", "--gpu-memory-utilization 0.9", "--gpu-memory-utilization 0.90"),
        ("--seed 1 --seed 2", "--seed 3", "--seed 1 --seed 3"),
        ("--enable-prefix-caching", "--no-enable-prefix-caching", "--no-enable-prefix-caching"),
        ("--no-enable-prefix-caching", "--enable-prefix-caching", "--enable-prefix-caching"),
        ("--enforce-eager", "--enforce-eager", "--enforce-eager"),
        ("--served-model-name a b --seed 1", "--served-model-name c", "--served-model-name c --seed 1"),
        ("--seed=1 --dtype=half", "--moe-backend marlin", "--seed=1 --dtype=half --moe-backend=marlin"),
        (
            "",
            "--enable-auto-tool-choice --tool-call-parser hermes",
            "--enable-auto-tool-choice --tool-call-parser hermes",
        ),
        ("--seed", "--seed 3", "--seed 3"),
    ],
)
def test_setting_a_flag(before: str, command: str, after: str) -> None:
    assert corrected(f"vllm serve m {before}".strip(), ("flag", command)) == f"vllm serve m {after}"


@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        ("m --seed 1 --dtype half", "--seed", "m --dtype half"),
        ("m --seed=1 --dtype half", "--seed", "m --dtype half"),
        ("m --dtype half --seed -1", "--seed", "m --dtype half"),
        ("m --max_model_len 1", "--max-model-len", "m"),
        ("m -tp 2 --seed 1", "--tensor-parallel-size", "m --seed 1"),
        ("m --enforce-eager --seed 1", "--enforce-eager", "m --seed 1"),
        ("m --no-enable-prefix-caching", "--enable-prefix-caching", "m --no-enable-prefix-caching"),
        ("m --no-enable-prefix-caching --seed 1", "--no-enable-prefix-caching", "m --seed 1"),
        ("m --served-model-name a b --seed 1", "--served-model-name", "m --seed 1"),
        ("m --reasoning-parser a", "--reasoning-parser b", "m --reasoning-parser a"),
        ("m --reasoning-parser a", "--reasoning-parser a", "m"),
        ("m --not-a-flag 7 --seed 1", "--not-a-flag", "m --seed 1"),
        ("m --seed 1 true", "true", "m --seed 1"),
        ("--model m --seed 1", "--model", "m --seed 1"),
        ("--model=m --seed 1", "--model", "m --seed 1"),
        ("--seed 1 --model m", "--model", "m --seed 1"),
        ("n --seed 1 --model m", "--model", "n --seed 1"),
        ("m --seed 1", "--dtype", "m --seed 1"),
    ],
)
def test_removing_words(before: str, command: str, after: str) -> None:
    assert corrected(f"vllm serve {before}", ("remove", command)) == f"vllm serve {after}"


def test_a_flag_takes_the_value_of_the_one_it_replaces() -> None:
    remedies = [remedy("flag", "--max-model-len"), part("remove", "--max-model-length")]
    for old, new in (("--max-model-length 8", "--max-model-len 8"), ("--max-model-length=8", "--max-model-len=8")):
        assert apply(f"vllm serve m {old}", remedies, {}).corrected == f"vllm serve m {new}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--max-model-length=$LEN", "--max-model-len=$LEN"),
        ('"--max-model-length=${LEN}"', '"--max-model-len=${LEN}"'),
        ('--max-model-length="$LEN"', '--max-model-len="$LEN"'),
        ("--max-model-length $LEN", "--max-model-len $LEN"),
        ("--max-model-length='8'", "--max-model-len='8'"),
    ],
)
def test_a_reference_to_a_variable_stays_one(old: str, new: str) -> None:
    remedies = [remedy("flag", "--max-model-len"), part("remove", "--max-model-length")]
    assert apply(f"vllm serve m {old} --seed 1", remedies, {}).corrected == f"vllm serve m {new} --seed 1"


def test_a_flag_takes_the_value_of_the_variable_it_replaces() -> None:
    remedies = [remedy("flag", "--linear-backend"), part("remove", "VLLM_NVFP4_GEMM_BACKEND")]
    facts = {"vllm.version": Fact("vllm.version", "0.24.0")}
    text = "VLLM_NVFP4_GEMM_BACKEND=flashinfer-cutlass vllm serve m"
    assert apply(text, remedies, facts).corrected == "vllm serve m --linear-backend flashinfer_cutlass"
    assert apply(text.replace("flashinfer-cutlass", "x"), remedies, facts).corrected == "vllm serve m"


def test_the_program_is_named_once() -> None:
    for words in ("serve m", "vllm serve m"):
        assert corrected(f"docker run {OFFICIAL} {words}", ("remove", "serve")) == f"docker run {OFFICIAL} m"
    assert corrected("vllm serve m", ("remove", "serve")) == "vllm serve m"


def test_an_option_of_docker_is_removed() -> None:
    text = f"docker run --user 1000:1000 --rm {OFFICIAL} m"
    assert corrected(text, ("remove", "--user")) == f"docker run --rm {OFFICIAL} m"


# -- layout -----------------------------------------------------------------------------------------------------------

SCRIPT = f"""\
#!/bin/bash
# the server
docker run -d \\
  -e VLLM_A=1 -e VLLM_B=2 \\
  -e VLLM_C=3 \\
  --gpus all \\
  {OFFICIAL} \\
  serve m \\
  --seed 1 --dtype half \\
  --max-model-len 4096
# done
"""


def test_lines_of_a_script_stay_lines() -> None:
    after = corrected(
        SCRIPT,
        ("flag", "--moe-backend marlin"),
        ("env", "VLLM_D=4"),
        ("remove", "VLLM_A"),
        ("remove", "VLLM_C"),
        ("remove", "--seed"),
        ("remove", "serve"),
    )
    assert (
        after
        == f"""\
#!/bin/bash
# the server
docker run -d \\
  -e VLLM_B=2 \\
  -e VLLM_D=4 \\
  --gpus all \\
  {OFFICIAL} \\
  m \\
  --dtype half \\
  --max-model-len 4096 \\
  --moe-backend marlin
# done
"""
    )


def test_line_ends_of_windows_stay() -> None:
    text = SCRIPT.replace("\n", "\r\n")
    after = corrected(text, ("flag", "--moe-backend marlin"), ("env", "VLLM_D=4"))
    assert after.count("\r\n") == after.count("\n") == text.count("\n") + 2


def test_words_inside_a_quoted_script() -> None:
    text = "docker run acme/vllm bash -c 'vllm serve m --seed 1'"
    after = corrected(text, ("flag", """--hf-overrides '{"a": 1}'"""), ("remove", "--seed"))
    assert after == "docker run acme/vllm bash -c 'vllm serve m --hf-overrides '\\''{\"a\": 1}'\\'''"
    text = 'docker run acme/vllm bash -c "vllm serve m"'
    after = corrected(text, ("flag", """--hf-overrides '{"a": "$x"}'"""))
    assert after == 'docker run acme/vllm bash -c "vllm serve m --hf-overrides \'{\\"a\\": \\"\\$x\\"}\'"'


def test_a_word_of_several_quotations_is_left_alone() -> None:
    text = "docker run acme/vllm bash -c 'vllm serve '\"m\""
    rewritten = apply(text, [remedy("flag", "--seed 1")], {})
    assert rewritten.corrected == text
    assert "several quotations" in rewritten.skipped[0].reason


def test_arrays_are_changed_where_they_stand() -> None:
    text = 'A=(\n  --seed 1  # fixed\n  --dtype half\n)\nvllm serve m "${A[@]}"\n'
    after = corrected(text, ("flag", "--dtype auto"), ("remove", "--seed"), ("flag", "--enforce-eager"))
    assert after == 'A=(\n  --dtype auto\n  --enforce-eager\n)\nvllm serve m "${A[@]}"\n'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("vllm serve m", "VLLM_X=1 vllm serve m"),
        ("A=1 exec vllm serve m", "VLLM_X=1 A=1 exec vllm serve m"),
        ("sudo vllm serve m", "sudo VLLM_X=1 vllm serve m"),
        ("if a; then vllm serve m; fi", "if a; then VLLM_X=1 vllm serve m; fi"),
        ("VLLM_X=0 vllm serve m", "VLLM_X=1 vllm serve m"),
        ("export VLLM_X='0'\nvllm serve m", "export VLLM_X='1'\nvllm serve m"),
        ("docker exec c vllm serve m", "docker exec c vllm serve m"),
        (f"docker run -it {OFFICIAL} m", f"docker run -it -e VLLM_X=1 {OFFICIAL} m"),
        (f"docker run {OFFICIAL} m", f"docker run -e VLLM_X=1 {OFFICIAL} m"),
        (f"docker run --env=VLLM_X=0 {OFFICIAL}", f"docker run --env=VLLM_X=1 {OFFICIAL}"),
        (f"docker run -e 'VLLM_X=0' {OFFICIAL}", f"docker run -e 'VLLM_X=1' {OFFICIAL}"),
        (f"docker run -e VLLM_X {OFFICIAL}", f"docker run -e VLLM_X=1 {OFFICIAL}"),
    ],
)
def test_setting_a_variable(text: str, after: str) -> None:
    assert corrected(text, ("env", "VLLM_X=1")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("VLLM_X=1 vllm serve m", "vllm serve m"),
        ("A=1 VLLM_X=1 vllm serve m", "A=1 vllm serve m"),
        ("export VLLM_X=1 # why\nvllm serve m", "vllm serve m"),
        ("export A=1 VLLM_X=1\nvllm serve m", "export A=1\nvllm serve m"),
        ("export VLLM_X=1 A=1\nvllm serve m", "export A=1\nvllm serve m"),
        ("export VLLM_X=1; vllm serve m", "vllm serve m"),
        (f"docker run -e VLLM_X=1 --rm {OFFICIAL}", f"docker run --rm {OFFICIAL}"),
        (f"docker run --env=VLLM_X=1 {OFFICIAL}", f"docker run {OFFICIAL}"),
        ("vllm serve m", "vllm serve m"),
    ],
)
def test_removing_a_variable(text: str, after: str) -> None:
    assert corrected(text, ("remove", "VLLM_X")) == after


# -- YAML -------------------------------------------------------------------------------------------------------------


def test_compose_with_comments() -> None:
    text = f"""\
services:
  nemo:   # the server
    image: {OFFICIAL}   # pinned
    environment:
      # tried this
      VLLM_X: marlin
      A: "1"   # keep
    command:
    - m   # model
    # memory
    - --max-model-len
    - "4096"
    - --seed
    - "1"
    restart: always
"""
    after = corrected(
        text,
        ("image", "vllm/vllm-openai:v0.24.0"),
        ("flag", "--max-model-len 8192"),
        ("flag", "--moe-backend marlin"),
        ("env", "VLLM_Y=yes"),
        ("remove", "VLLM_X"),
        ("remove", "--seed"),
    )
    assert (
        after
        == f"""\
services:
  nemo:   # the server
    image: {OFFICIAL.replace("17.1", "24.0")}   # pinned
    environment:
      # tried this
      A: "1"   # keep
      VLLM_Y: "yes"
    command:
    - m   # model
    # memory
    - --max-model-len
    - "8192"
    - --moe-backend
    - marlin
    restart: always
"""
    )


@pytest.mark.parametrize(
    ("command", "after"),
    [
        ("m --seed 1", "m --enforce-eager"),
        ("'m --seed 1'", "'m --enforce-eager'"),
        ('["m", "--seed", "1"]', '["m", "--enforce-eager"]'),
        ("[m, --seed=1]", "[m, --enforce-eager]"),
        (">\n      m\n      --seed 1\n", ">\n      m\n      --enforce-eager\n"),
        ("|\n      m \\\n      --seed 1\n", "|\n      m \\\n      --enforce-eager\n"),
        ("[\n      m,  # a\n      --seed, '1'  # b\n    ]", "[\n      m,  # a\n      --enforce-eager  # b\n    ]"),
    ],
)
def test_commands_of_compose(command: str, after: str) -> None:
    head = f"services:\n  a:\n    image: {OFFICIAL}\n    command: "
    changed = corrected(head + command, ("flag", "--enforce-eager"), ("remove", "--seed"))
    assert changed == head + after


@pytest.mark.parametrize(
    ("environment", "after"),
    [
        ("[A=1, VLLM_X=2]", "[A=1, VLLM_Y=3]"),
        ("{A: 1, VLLM_X: 2}", '{A: 1, VLLM_Y: "3"}'),
        ('{"A": "1", "VLLM_X": "2"}', '{"A": "1", "VLLM_Y": "3"}'),
        ("\n    - A=1\n    - 'VLLM_X=2'", "\n    - A=1\n    - 'VLLM_Y=3'\n"),
        ("\n      A: 1\n      VLLM_X: 2\n", '\n      A: 1\n      VLLM_Y: "3"\n'),
    ],
)
def test_environments_of_compose(environment: str, after: str) -> None:
    head = f"services:\n  a:\n    image: {OFFICIAL}\n    environment: ".rstrip() + (
        "" if environment[0] == "\n" else " "
    )
    assert corrected(head + environment, ("env", "VLLM_Y=3"), ("remove", "VLLM_X")) == head + after


def test_compose_without_a_command_or_environment() -> None:
    text = f"services:\n  a:\n    image: {OFFICIAL}\n    restart: always\n"
    after = corrected(text, ("flag", "--enforce-eager"), ("env", "VLLM_X=1"))
    assert after == (
        f'services:\n  a:\n    image: {OFFICIAL}\n    environment:\n      VLLM_X: "1"\n'
        '    command: ["--enforce-eager"]\n    restart: always\n'
    )
    assert corrected(after, ("remove", "VLLM_X")) == text.replace(
        "    restart", '    command: ["--enforce-eager"]\n    restart'
    )


def test_kubernetes() -> None:
    text = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: nemo
spec:
  containers:
  - name: vllm
    image: {OFFICIAL}
    args: ["m", "--seed=1"]
    env:
      - name: VLLM_X
        value: "1"
"""
    after = corrected(
        text, ("flag", "--enforce-eager"), ("env", "VLLM_Y=true"), ("remove", "VLLM_X"), ("remove", "--seed")
    )
    assert after == text.replace('"--seed=1"', '"--enforce-eager"').replace("VLLM_X", "VLLM_Y").replace(
        'value: "1"', 'value: "true"'
    )
    assert corrected(text, ("remove", "VLLM_X")) == text[: text.index("    env:")]
    without = text[: text.index("    env:")]
    assert 'env:\n    - name: VLLM_Y\n      value: "1"\n' in corrected(without, ("env", "VLLM_Y=1"))


# -- the command to paste ---------------------------------------------------------------------------------------------


def ready(text: str, source: str = "") -> str:
    rewritten: Rewritten = apply(text, [remedy("flag", "--seed 2")], {}, source=source)
    return rewritten.ready_command


def test_the_command_to_paste_is_one_line() -> None:
    assert (
        ready("export A=1 B='x y'\nM=a/b\nvllm serve $M \\\n  --seed 1 > log &")
        == "A=1 B='x y' vllm serve a/b --seed 2"
    )
    assert ready(f'docker run -e T="$T" \\\n {OFFICIAL} m') == f'docker run -e T="$T" {OFFICIAL} m --seed 2'
    compose = f"services: {{nemo: {{image: '{OFFICIAL}', command: [m]}}}}"
    assert ready(compose) == "docker compose up -d --force-recreate nemo"
    assert ready(compose, "my file.yaml") == "docker compose -f 'my file.yaml' up -d --force-recreate nemo"
    pod = (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{image: '{OFFICIAL}', args: [m]}}]}}"
    )
    assert ready(pod, "pod.yaml") == "kubectl apply -f pod.yaml"


def test_the_diff_shows_the_change_only() -> None:
    diff = apply("# a\nvllm serve m --seed 1\n", [remedy("flag", "--seed 2")], {}).diff
    assert diff.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " # a", "-vllm serve m --seed 1", "+vllm serve m --seed 2"]


def test_a_variant_of_the_image_is_told() -> None:
    rewritten = apply(f"docker run {OFFICIAL}-cu130 m", [remedy("image", "vllm/vllm-openai:v0.24.0")], {})
    assert rewritten.unknown == ("whether vllm/vllm-openai:v0.24.0 also exists as the variant -cu130",)


def test_an_image_that_is_new_enough_stays() -> None:
    text = f"docker run {OFFICIAL} m"
    assert corrected(text, ("image", "vllm/vllm-openai:v0.15.0 or newer")) == text
    assert corrected(text, ("image", "vllm/vllm-openai:v0.20.0 or newer")) == text.replace("17.1", "20.0")


def test_a_text_that_is_no_launch_is_refused() -> None:
    with pytest.raises(LaunchError):
        apply("hello", [], {})


SAME = {"model": "a/b", "method": "eagle3"}
ADDED = {**SAME, "n": 1}
EAGLE = json.dumps(SAME)


@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        (f"--speculative-config '{EAGLE}'", "--speculative-config '{\"n\": 1}'", ADDED),
        (f"--speculative-config '{EAGLE}'", "--speculative-config.n 1", ADDED),
        (f"--speculative-config='{EAGLE}'", "--speculative-config.n 1", ADDED),
        (f"--speculative-config '{EAGLE}'", "--speculative-config.method mtp", {"model": "a/b", "method": "mtp"}),
        (f"--speculative-config '{EAGLE}'", "--speculative-config '{\"method\": \"eagle3\"}'", SAME),
        ("--compilation-config '{\"a\": {\"b\": 1}}'", "--compilation-config.a.c true", {"a": {"b": 1, "c": True}}),
        ("--compilation-config 3", "--compilation-config '{\"mode\": 0}'", {"mode": 0}),
    ],
)  # fmt: skip
def test_a_mapping_keeps_the_keys_that_nobody_changes(before: str, command: str, after: object) -> None:
    words = shlex.split(corrected(f"vllm serve m {before}\n", ("flag", command)))
    assert json.loads(words[-1].partition("=")[2] or words[-1]) == after
    assert corrected(" ".join(map(shlex.quote, words)), ("flag", command)) == " ".join(map(shlex.quote, words))


def test_a_mapping_in_a_file_keeps_its_keys() -> None:
    text = f"services: {{a: {{image: vllm/vllm-openai, command: [m, --speculative-config, '{EAGLE}']}}}}"
    after = corrected(text, ("flag", "--speculative-config '{\"n\": 1}'"))
    assert '\'{"model": "a/b", "method": "eagle3", "n": 1}\'' in after
