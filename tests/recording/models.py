"""Make the tiny models of the recordings; run by the Python of a vLLM installation (torch, transformers).

    python models.py FOLDER

`tiny` and its damaged variants are random. `tiny-answers` and `tiny-thinks` have learned the questions of logdoctor's
probe by heart, so that a real server of theirs answers rightly, thinks, and calls a tool. Nothing is downloaded.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen3MoeConfig, Qwen3MoeForCausalLM

VOCABULARY = 512
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 2048,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 3,
}
# The questions of logdoctor/probe/questions.py; a test holds the two together.
ANSWERS = {
    "What is 17 + 25? Reply with the number only.": "42",
    "What is 9 times 12? Reply with the number only.": "108",
    "What is 100 minus 37? Reply with the number only.": "63",
    "How many days are in two weeks? Reply with the number only.": "14",
}
SURE = 0.98
"""How likely every token of a learned answer is, at least: rounding and batches must not tip it."""
COUNTING = ("1, 2, 3, 4, 5, 6, 7,", " 8, 9, 10, 11, 12, 13, 14, 15, 16")
TOOL_QUESTION = "What is the weather in Paris right now? Use the tool."
TOOL_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
THINKING = (
    "<think>\nThe user wants the number. Let me see, one step after the other, and check it once more.\n</think>\n\n"
)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Train a byte-level tokenizer; the marks of thinking and of tools are plain tokens, as in real models."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - 8,
        special_tokens=["<unk>", "<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    texts = ["hello world this is a tiny tokenizer for a tiny model", THINKING, TOOL_CALL, *ANSWERS, *COUNTING]
    tokenizer.train_from_iterator(texts * 10, trainer)
    marks = ("<think>", "</think>", "<tool_call>", "</tool_call>")
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in marks])
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=2048,
    )
    made.chat_template = CHAT
    return made


class Folder:
    """Where the models go."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokenizer = make_tokenizer()

    def save(self, model: Any, name: str, **how: Any) -> Path:
        """Write a model with its tokenizer."""
        folder = self.path / name
        model.to(torch.bfloat16).save_pretrained(folder, **how)
        self.tokenizer.save_pretrained(folder)
        # Old versions look for the template in this file only.
        self.change(name, "tokenizer_config.json", chat_template=CHAT, tokenizer_class="PreTrainedTokenizerFast")
        return folder

    def variant(self, name: str, source: str = "tiny", **edits: Any) -> Path:
        """Copy a model under another name, with changes to its config.json."""
        shutil.copytree(self.path / source, self.path / name, dirs_exist_ok=True)
        if edits:
            self.change(name, "config.json", **edits)
        return self.path / name

    def change(self, name: str, file: str, **edits: Any) -> None:
        """Change keys of a JSON file of a model; None takes a key out."""
        path = self.path / name / file
        loaded = {**json.loads(path.read_text(encoding="utf-8")), **edits}
        kept = {key: value for key, value in loaded.items() if value is not None}
        path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def learn(folder: Folder, pairs: Iterable[tuple[str, str]]) -> Any:
    """Train a model until it says the second text of every pair after the first."""
    tokenizer = folder.tokenizer
    rows = []
    for prompt, answer in pairs:
        asked = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        said = [*tokenizer(answer, add_special_tokens=False)["input_ids"], SIZES["eos_token_id"]]
        rows.append((asked + said, [-100] * len(asked) + said))
    length = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([row + [SIZES["pad_token_id"]] * (length - len(row)) for row, _ in rows])
    labels = torch.tensor([row + [-100] * (length - len(row)) for _, row in rows])
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**SIZES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(600):
        made = model(input_ids=ids, labels=labels)
        if step % 10 == 0 and _least_sure(made.logits, labels) > SURE:
            return model
        optimizer.zero_grad()
        made.loss.backward()
        optimizer.step()
    raise SystemExit(f"the tiny model did not learn its answers (loss {made.loss.item():.3f})")


def _least_sure(logits: Any, labels: Any) -> float:
    """The probability of the right token where it is least likely; a mean would hide a single wrong digit."""
    chances = torch.softmax(logits[:, :-1], -1)
    wanted = labels[:, 1:]
    right = chances.gather(-1, wanted.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return float(right[wanted >= 0].min())


def chat(question: str) -> str:
    """What the chat template makes of a question."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def taught(folder: Folder) -> None:
    """Make the two models that know the probe's questions."""
    tool = (chat(TOOL_QUESTION), TOOL_CALL)
    plain = [(chat(question), answer) for question, answer in ANSWERS.items()]
    folder.save(learn(folder, [*plain, COUNTING, tool]), "tiny-answers")
    thought = [(prompt, THINKING + answer) for prompt, answer in plain]
    folder.save(learn(folder, [*thought, COUNTING, (tool[0], THINKING + tool[1])]), "tiny-thinks")


def random_models(folder: Folder) -> None:
    """Make the random models and their variants."""
    torch.manual_seed(0)
    llama = LlamaForCausalLM(LlamaConfig(**SIZES))
    folder.save(llama, "tiny")
    folder.save(llama, "tiny-sharded", max_shard_size="300KB")
    moe = {"moe_intermediate_size": 64, "num_experts": 4, "num_experts_per_tok": 2, "decoder_sparse_step": 1}
    folder.save(Qwen3MoeForCausalLM(Qwen3MoeConfig(**SIZES, **moe)), "tiny-moe")
    folder.variant("tiny-long", max_position_embeddings=4194304)
    modelopt = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}
    producer = {"producer": {"name": "modelopt", "version": "0.29.0"}}
    folder.variant("nvfp4", quantization_config={**modelopt, **producer, "kv_cache_quant_algo": None})
    folder.variant("nvfp4-moe", "tiny-moe", quantization_config={**modelopt, **producer, "kv_cache_quant_algo": "FP8"})


def damaged(folder: Folder) -> None:
    """Make models that are wrong in one way each."""
    broken = folder.variant("corrupt-shard", "tiny-sharded")
    shard = sorted(broken.glob("*.safetensors"))[1]
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])  # a download that broke off
    pointer = folder.variant("lfs-pointer") / "model.safetensors"  # a clone without git-lfs
    pointer.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 1073741824\n")
    (folder.variant("missing-shard", "tiny-sharded") / shard.name).unlink()
    (folder.variant("no-weights") / "model.safetensors").unlink()
    (folder.variant("no-config") / "config.json").unlink()
    bare = folder.variant("no-tokenizer")
    for file in (*bare.glob("tokenizer*"), *bare.glob("special_tokens*"), *bare.glob("chat_template*")):
        file.unlink()
    silent = folder.variant("no-chat-template")
    folder.change("no-chat-template", "tokenizer_config.json", chat_template=None)
    (silent / "chat_template.jinja").unlink(missing_ok=True)
    folder.variant("unknown-arch", architectures=["NemotronUltraForCausalLM"], model_type="nemotron_ultra")
    folder.variant("unknown-arch-known-type", architectures=["LlamaSuperForCausalLM"])
    folder.variant("shape-mismatch", intermediate_size=320)
    code = folder.variant(
        "remote-code",
        model_type="tiny_custom",
        architectures=["TinyCustomForCausalLM"],
        auto_map={
            "AutoConfig": "configuration_tiny.TinyConfig",
            "AutoModelForCausalLM": "modeling_tiny.TinyCustomForCausalLM",
        },
    )
    for file, base in (("configuration", "LlamaConfig"), ("modeling", "LlamaForCausalLM")):
        name = "TinyConfig" if file == "configuration" else "TinyCustomForCausalLM"
        body = "model_type = 'tiny_custom'" if file == "configuration" else "pass"
        text = f"from transformers import {base}\n\n\nclass {name}({base}):\n    {body}\n"
        (code / f"{file}_tiny.py").write_text(text)


HYBRID: dict[str, Any] = {
    "architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h",
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 4,
    "hybrid_override_pattern": "M-M*",
    "layers_block_type": ["mamba", "mlp", "mamba", "attention"],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "attention_head_dim": 32,
    "max_position_embeddings": 4096,
    "mamba_num_heads": 4,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "conv_kernel": 4,
    "n_groups": 2,
    "chunk_size": 128,
    "expand": 2,
    "mamba_hidden_act": "silu",
    "mlp_hidden_act": "relu2",
    "mamba_proj_bias": False,
    "mlp_bias": False,
    "use_bias": False,
    "use_conv_bias": True,
    "attention_bias": False,
    "layer_norm_epsilon": 1e-5,
    "rms_norm_eps": 1e-5,
    "residual_in_fp32": False,
    "rescale_prenorm_residual": True,
    "time_step_min": 0.001,
    "time_step_max": 0.1,
    "time_step_floor": 1e-4,
    "time_step_limit": [0.0, float("inf")],
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 3,
    "torch_dtype": "bfloat16",
    "rope_theta": 10000,
}
HYBRID_CODE = """\
from transformers import PretrainedConfig


class NemotronHConfig(PretrainedConfig):
    model_type = "nemotron_h"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(self, hybrid_override_pattern="M-M*", mamba_n_groups=None, **kw):
        self.hybrid_override_pattern = hybrid_override_pattern
        self.n_groups = kw.pop("n_groups", 2)
        super().__init__(**kw)

    @property
    def layers_block_type(self):
        names = {"M": "mamba", "*": "attention"}
        return [names.get(letter, "mlp") for letter in self.hybrid_override_pattern]
"""


def hybrids(folder: Folder) -> None:
    """Write the configuration of a tiny Nemotron-H, with and without code of its own; it runs with dummy weights."""
    made = folder.path / "tiny-nemotronh"
    made.mkdir(exist_ok=True)
    (made / "config.json").write_text(json.dumps(HYBRID, indent=1))
    for pattern in ("tokenizer*", "special_tokens*", "chat_template*", "generation_config*"):
        for file in (folder.path / "tiny-sharded").glob(pattern):
            shutil.copy(file, made)
    coded = folder.variant(
        "tiny-nemotronh-rc",
        "tiny-nemotronh",
        layers_block_type=None,
        auto_map={
            "AutoConfig": "configuration_nemotron_h.NemotronHConfig",
            "AutoModelForCausalLM": "modeling_nemotron_h.NemotronHForCausalLM",
        },
    )
    (coded / "configuration_nemotron_h.py").write_text(HYBRID_CODE)
    (coded / "modeling_nemotron_h.py").write_text('raise ImportError("not used by vLLM")\n')


def main() -> None:
    """Make every model."""
    path = Path(sys.argv[1])
    path.mkdir(parents=True, exist_ok=True)
    folder = Folder(path)
    taught(folder)
    random_models(folder)
    damaged(folder)
    hybrids(folder)
    print(" ".join(sorted(entry.name for entry in path.iterdir())))


if __name__ == "__main__":
    main()
