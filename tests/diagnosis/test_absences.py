"""What argparse refused, told by the version knowledge: which versions have it, and what to type."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from logdoctor.database import load_database
from logdoctor.diagnosis.absences import absences
from logdoctor.diagnosis.refused import listed_values, typed_values
from logdoctor.knowledge.successors import all_successors
from logdoctor.launch.flags import flag_words, is_switch
from logdoctor.model import Fact
from tests.running import run

NO_FLAG = b"vllm: error: unrecognized arguments: --mamba-ssu-algorithm horizontal\n"
NO_VALUE = b"vllm serve: error: argument --dtype: invalid choice: 'fp4' (choose from 'auto', 'bfloat16', 'float16')\n"


def root(text: bytes, *facts: str) -> dict[str, Any]:
    findings = json.loads(run(text, facts=facts).text)["boots"][-1]["findings"]
    return dict(next(finding for finding in findings if finding["role"] == "root_cause"))


def test_a_flag_of_a_newer_version_is_named_with_it() -> None:
    found = root(NO_FLAG, "vllm.version=0.26.0")
    assert found["id"] == "unknown-flag"
    assert found["title"] == "vLLM 0.26.0 has no flag --mamba-ssu-algorithm"
    assert [r["command"] for r in found["remedies"] if r["kind"] == "remove"] == ["--mamba-ssu-algorithm"]
    assert any("0.27.0 or newer" in remedy["summary"] for remedy in found["remedies"])


def test_without_a_version_the_range_is_told() -> None:
    found = root(NO_FLAG)
    assert found["title"] == "This vLLM has no flag --mamba-ssu-algorithm"
    assert "0.27.0" in found["cause"]
    assert any("0.27.0 to " in remedy["summary"] for remedy in found["remedies"])


def test_the_list_of_valid_values_is_kept() -> None:
    found = root(NO_VALUE)
    assert found["id"] == "unknown-value"
    assert "'bfloat16'" in found["cause"]
    assert {"kind": "remove", "command": "--dtype fp4"}.items() <= found["remedies"][-1].items()


def test_an_entry_about_the_name_is_left_alone() -> None:
    text = b"vllm serve: error: argument --quantization/-q: invalid choice: 'gguf' (choose from awq, fp8)\n"
    assert root(text)["id"] == "quant-choice-invalid"


def refused(words: str) -> bytes:
    return f"usage: vllm [-h] ...\nvllm: error: unrecognized arguments: {words}\n".encode()


def typed(found: dict[str, Any]) -> list[str]:
    return [remedy["command"] for remedy in found["remedies"] if not remedy["condition"]]


def test_every_flag_that_was_refused_is_named_and_corrected_at_once() -> None:
    found = root(refused("--tensor-paralel-size 2 --max-num-seq 32"))
    assert found["title"] == "This vLLM has no flags --tensor-paralel-size and --max-num-seq"
    assert "the nearest name is --tensor-parallel-size." in found["cause"]
    assert "the nearest name is --max-num-seqs." in found["cause"]
    assert typed(found) == ["--tensor-parallel-size 2 --max-num-seqs 32", "--tensor-paralel-size --max-num-seq"]


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("--gpu-memory-utilisation=0.85", "--gpu-memory-utilization 0.85"),
        ("--enforce-egaer --dtyp half", "--enforce-eager --dtype half"),
        ('--speculatve-config {"method": "ngram", "n": 3}', """--speculative-config '{"method": "ngram", "n": 3}'"""),
        ("-max-num-seqs 4", "--max-num-seqs 4"),
        ("--max-model-lenn -1", "--max-model-len -1"),
        ("--num-gpus 4 --enable-tools", "--tensor-parallel-size 4 --enable-auto-tool-choice"),
        ("--tokeniser-mode it's", """--tokenizer-mode 'it'"'"'s'"""),
    ],
)
def test_what_was_typed_behind_a_wrong_name_is_carried_over(words: str, new: str) -> None:
    assert typed(root(refused(words)))[0] == new


def test_each_flag_has_its_own_fate() -> None:
    found = root(
        refused("--stream-interval 4 --max-num-sequences 8 --mamba-ssu-algorithm horizontal"), "vllm.version=0.9.0"
    )
    assert "--stream-interval comes with vLLM" in found["cause"]
    assert "--mamba-ssu-algorithm comes with vLLM 0.27.0" in found["cause"]
    assert "the nearest name is --max-num-seqs" in found["cause"]
    assert not any(remedy["kind"] == "advice" and "version" in remedy["summary"] for remedy in found["remedies"])


def test_one_version_that_has_all_is_told_once() -> None:
    found = root(refused("--stream-interval 4 --mamba-ssu-algorithm horizontal"), "vllm.version=0.9.0")
    assert [r["summary"] for r in found["remedies"] if "use vLLM" in r["summary"]] == [
        "Or use vLLM 0.27.0 or newer, which has them all"
    ]


def test_a_flag_beside_one_that_has_an_entry_is_named_too() -> None:
    findings = json.loads(run(refused("--swap-space 4 --max_model_length 8192 --tensor-paralel-size 2")).text)["boots"][
        0
    ]
    told = {finding["id"]: finding for finding in findings["findings"]}
    assert {"flag-removed-swap-space", "context-length-flag-misnamed", "unknown-flag"} <= set(told)
    assert told["unknown-flag"]["title"] == "This vLLM has no flag --tensor-paralel-size"
    assert typed(told["unknown-flag"])[0] == "--tensor-parallel-size 2"
    assert sum(finding["role"] == "root_cause" for finding in findings["findings"]) == 1


def test_the_corrected_command_corrects_all(tmp_path: Path) -> None:
    launch = (
        "vllm serve m --tensor-paralel-size 2 --swap-space 4 --max-model-length=8192 --gpu-memory-utilisation 0.9\n"
    )
    log = refused("--tensor-paralel-size 2 --swap-space 4 --max-model-length=8192 --gpu-memory-utilisation 0.9")
    (tmp_path / "run.sh").write_text(launch, encoding="utf-8")
    made = json.loads(run(log, launch=str(tmp_path / "run.sh")).text)
    assert made["launch"]["corrected"] == (
        "vllm serve m --tensor-parallel-size 2 --max-model-len=8192 --gpu-memory-utilization 0.9\n"
    )


def choice(flag: str, value: str, *listed: str) -> bytes:
    names = ", ".join(f"'{name}'" for name in listed)
    return f"vllm serve: error: argument {flag}: invalid choice: '{value}' (choose from {names})\n".encode()


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (
            choice("--moe-backend", "flashinfer-cutlass", "auto", "flashinfer_cutlass"),
            "--moe-backend flashinfer_cutlass",
        ),
        (choice("--attention-backend", "FLASH", "FLASH_ATTN", "FLASHINFER"), "--attention-backend FLASH_ATTN"),
        (choice("--kv-cache-dtype", "fp8_e4m33", "auto", "fp8", "fp8_e4m3"), "--kv-cache-dtype fp8_e4m3"),
        (choice("--quantization/-q", "nvfp4", "awq", "modelopt_fp4"), "--quantization modelopt_fp4"),
        (
            choice("--quantization/-q", "compresed-tensors", "awq", "compressed-tensors"),
            "--quantization compressed-tensors",
        ),
        (choice("--dtype", "BFloat16", "auto", "bfloat16", "float16"), "--dtype bfloat16"),
        (choice("--load-format", "safetensor", "auto", "pt", "safetensors"), "--load-format safetensors"),
        (choice("--distributed-executor-backend", "Ray", "ray", "mp", "uni"), "--distributed-executor-backend ray"),
    ],
)
def test_the_nearest_value_of_the_list_is_named(text: bytes, new: str) -> None:
    assert typed(root(text))[0] == new


def test_a_value_that_only_is_spelled_otherwise_is_not_of_another_version() -> None:
    found = root(choice("--moe-backend", "flashinfer-cutlass", "auto", "flashinfer_cutlass"))
    assert found["cause"].startswith("--moe-backend takes the value as flashinfer_cutlass;")
    assert "0.17" not in found["cause"]
    assert not any("use v" in remedy["summary"] for remedy in found["remedies"])


def test_a_value_of_another_versions_list_is_named_with_it() -> None:
    found = root(choice("--kv-cache-dtype", "nvfp4", "auto", "bfloat16", "fp8"))
    assert "nvfp4 is a value of --kv-cache-dtype from vLLM 0.20.0 on" in found["cause"]
    assert any("0.20.0 or newer" in remedy["summary"] for remedy in found["remedies"])


def test_a_parser_that_does_not_exist_has_a_nearest_one() -> None:
    log = (
        "INFO 11-30 09:22:42 [utils.py:238] non-default args: "
        "{'model_tag': 'Qwen/Qwen3-8B', 'enable_auto_tool_choice': True, 'tool_call_parser': 'qwen3_xm'}\n"
        "Traceback (most recent call last):\n"
        '  File "/vllm/entrypoints/openai/api_server.py", line 1, in run\n'
        "KeyError: 'invalid tool call parser: qwen3_xm (chose from { hermes,qwen3_coder,qwen3_xml })'\n"
    )
    assert typed(root(log.encode()))[0] == "--tool-call-parser qwen3_xml"


def test_words_behind_flags_are_read_as_argparse_prints_them() -> None:
    line = 'x: error: unrecognized arguments: --a 1 --b=2 --c -3 --d {"k": [1, 2]} --e --f {broken json -g h i'
    assert typed_values([line]) == {
        "--a": "1", "--b": "2", "--c": "-3", "--d": '{"k": [1, 2]}', "--e": "", "--f": "{broken", "-g": "h",
    }  # fmt: skip
    assert typed_values(["nothing refused"]) == {}
    assert listed_values(["invalid choice: 'x' (choose from 'a', b, None, 'c-d')"]) == ("a", "b", "c-d")


def joints(text: bytes, *facts: str) -> list[tuple[str, bool]]:
    return [(remedy["kind"], remedy["with_previous"]) for remedy in root(text, *facts)["remedies"]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (refused("--tensor-paralel-size 2 --max-num-seq 32"), [("flag", False), ("remove", True)]),
        (
            refused("--moe-backend marlin --linear-backend marlin"),
            [("env", False), ("env", True), ("remove", True), ("advice", False)],
        ),
        (refused("--max_model_length 8192"), [("flag", False), ("remove", True)]),
        (refused("--mamba-ssu-algorithm horizontal"), [("remove", False), ("advice", False)]),
        (NO_VALUE.replace(b"fp4", b"bfloat61"), [("flag", False), ("remove", False)]),
    ],
)
def test_parts_of_one_correction_are_told_from_other_ways(text: bytes, told: list[tuple[str, bool]]) -> None:
    assert joints(text)[: len(told)] == told


VARIABLES = ("VLLM_USE_V1", "VLLM_FOO_BAR", "VLLM_ATTENTION_BACKEND", "VLLM_TORCH_PROFILER_DIR")


def test_every_unknown_variable_points_to_its_own_line() -> None:
    said = "(APIServer pid=1) WARNING 03-04 08:15:08 [envs.py:2010] Unknown vLLM environment variable detected: "
    banner = "(APIServer pid=1) INFO 03-04 08:15:07 [utils.py:1] vLLM API server version 0.26.0\n"
    log = banner + "".join(f"{said}{name}\n" for name in VARIABLES)
    found = json.loads(run(log.encode()).text)["boots"][-1]["findings"]
    shown = [one["evidence"][0] for one in found if one["id"] == "unknown-variable"]
    evidence = {one["line"]: one["text"] for one in shown}
    text = "Unknown vLLM environment variable detected: "
    assert evidence == {place: text + name for place, name in enumerate(VARIABLES, 2)}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("--moe-backend marlin", "VLLM_USE_FLASHINFER_MOE_FP4=0"),
        ("--moe-backend flashinfer_trtllm", "VLLM_USE_FLASHINFER_MOE_FP4=1"),
        ("--moe-backend=cutlass", "VLLM_USE_FLASHINFER_MOE_FP4=0"),
        ("--moe-backend auto", None),
        ("--moe-backend", None),
        ("--linear-backend marlin", "VLLM_NVFP4_GEMM_BACKEND=marlin"),
    ],
)
def test_a_variable_in_place_of_a_flag_has_the_value_that_means_it(words: str, command: str | None) -> None:
    found = root(refused(words), "vllm.version=0.16.0")
    assert [r["command"] for r in found["remedies"] if r["kind"] == "env"] == ([command] if command else [])


def _value_is_missing(command: str) -> bool:
    if not command.startswith("-"):
        return re.fullmatch(r"[A-Z][A-Z0-9_]*", command) is not None
    return any(value is None and is_switch(name) is False for name, value in flag_words(command))


def test_what_is_to_be_typed_has_its_value() -> None:
    for signature in load_database(environ={}).signatures:
        for remedy in signature.remedies:
            # A switch whose name the launch tells.
            if remedy.kind in ("flag", "env") and not remedy.value.startswith("--{"):
                assert not _value_is_missing(remedy.value), (signature.id, remedy.value)


@pytest.mark.parametrize("typed_value", ["", "1", "marlin", "a/b"])
def test_what_replaces_a_name_is_typed_with_its_value(typed_value: str) -> None:
    given = [(kind, name) for kind, _, name, row in all_successors() if kind in ("env", "flag") and row.use]
    assert len(given) > 60
    for version in ("0.9.2", "0.16.0", "0.24.0", "0.33.0"):
        stated = {"vllm.version": Fact("vllm.version", version, 1)}
        for kind, name in given:
            fact = Fact(f"env.{name}", typed_value, 1) if kind == "env" else Fact("cli.unrecognized", (name,), 1)
            for finding in absences({**stated, fact.key: fact}, [], (), typed={name: typed_value}):
                for remedy in finding.remedies:
                    if remedy.kind in ("flag", "env"):
                        assert not _value_is_missing(remedy.command), (version, name, remedy)
