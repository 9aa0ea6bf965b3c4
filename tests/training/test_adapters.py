"""Each tuning step on a tiny random model, and the adapter in llama.cpp."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.domain import Intent, TargetGroup
from core.errors import BadInput
from rejoinder.cli import main
from tests.ports import unused_port
from training.adapters.examples import HELD_OUT, asked, imitations, preferences
from training.decisions.records import EXAMPLES, PREFERENCES, Example, Outcome, Preference, write_lines

COMMON: dict[str, Any] = {"language": "en", "groups": (TargetGroup.MIGRANTS,), "intent": Intent.POSITIVE}
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}"
    "{% if message.role == 'assistant' %}</s>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    good, bad = "They build bridges. We all cross them.", "No comment on that at all."
    posts = [f"Zorblaxians ruin thing {number}." for number in range(60)]
    write_lines(
        tmp_path / EXAMPLES,
        [Example(post=post, reply=good, outcome=Outcome.APPROVED, raters=("h1",), **COMMON) for post in posts],
    )
    write_lines(
        tmp_path / PREFERENCES,
        [
            Preference(post=post, chosen=good, rejected=bad, outcome=Outcome.EDITED, raters=("h1",), **COMMON)
            for post in posts
        ],
    )
    return tmp_path


def test_no_held_out_post_is_learned_from(pairs: Path) -> None:
    learned, held_out = imitations(pairs)
    assert not {row["post"] for row in learned} & {row["post"] for row in held_out}
    assert len(learned) + len(held_out) == 60 and len(held_out) < 60 * 2 / HELD_OUT


def test_a_prompt_names_intent_and_group_and_holds_no_reply(pairs: Path) -> None:
    for row in (*preferences(pairs)[0], *imitations(pairs)[0]):
        assert "positive" in row["prompt"] and "migrants" in row["prompt"] and "bridges" not in row["prompt"]
    (message,) = asked(imitations(pairs)[0], talks=True)[0]["prompt"]
    assert message["role"] == "user"


def test_too_few_examples_are_refused(pairs: Path) -> None:
    (pairs / EXAMPLES).write_text("")
    with pytest.raises(BadInput, match="too few"):
        imitations(pairs)


@pytest.mark.parametrize("step", ["sft", "dpo", "ppo"])
def test_without_torch_the_extra_is_named(pairs: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "training.adapters.steps", raising=False)
    result = CliRunner().invoke(main, ["train", step, str(pairs), "--model", "m", "--out", str(pairs / "out")])
    assert result.exit_code == 1 and "rejoinder[train]" in result.output


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Write a random model of the llama family with a tokenizer of words."""
    pytest.importorskip("trl", reason="the `train` extra is not installed")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    text = "They build bridges. We all cross them. No comment on that at all. Zorblaxians ruin thing <post> Reply:"
    words = dict.fromkeys(re.findall(r"\w+|[^\w\s]+", text))
    vocabulary = {word: number for number, word in enumerate(["<unk>", "<s>", "</s>", "<pad>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    fast.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.2,
        bos_token_id=1, eos_token_id=2, pad_token_id=3,
    )  # fmt: skip
    folder = tmp_path / "tiny"
    LlamaForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def invoke(step: str, pairs: Path, model: Path, *options: str) -> Result:
    arguments = ["train", step, str(pairs), "--model", str(model), "--out", str(pairs / step), "--rate", "0.01"]
    return CliRunner().invoke(main, [*arguments, *options], catch_exceptions=False)


def tune(step: str, pairs: Path, model: Path, *options: str) -> dict[str, tuple[float, float]]:
    """Run a step and return the figures of its card, before and after."""
    result = invoke(step, pairs, model, *options)
    assert result.exit_code == 0, result.output
    card = (pairs / step / "card.md").read_text()
    rows = re.findall(r"^\| (\S+) \| (-?[\d.]+) \| (-?[\d.]+) \|$", card, re.MULTILINE)
    return {name: (float(before), float(after)) for name, before, after in rows}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_or_adapter_that_is_not_there_is_named(pairs: Path, tiny: Path) -> None:
    out, missing = str(pairs / "out"), str(pairs / "nowhere")
    tuned = CliRunner().invoke(main, ["train", "sft", str(pairs), "--model", missing, "--out", out])
    exported = CliRunner().invoke(main, ["train", "export-adapter", str(pairs), "--base", str(tiny), "--out", out])
    assert tuned.exit_code == 1 and "nowhere can't be loaded" in tuned.output
    assert exported.exit_code == 1 and "holds no adapter" in exported.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_imitation_lowers_the_loss_on_held_out_replies(pairs: Path, tiny: Path) -> None:
    before, after = tune("sft", pairs, tiny, "--most-steps", "20")["eval_loss"]
    assert after < before / 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_run_that_was_cut_off_goes_on_and_ends_as_if_it_had_not_been(
    pairs: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl import SFTTrainer

    from training.adapters import steps

    whole = tune("sft", pairs, tiny, "--most-steps", "20")
    shutil.rmtree(pairs / "sft")
    monkeypatch.setattr(steps, "SAVED_EVERY", 10)
    taken: list[int] = []
    step = SFTTrainer.training_step

    def cut_off(*given: Any, **named: Any) -> Any:
        taken.append(len(taken) + 1)
        if taken[-1] == 13:
            raise KeyboardInterrupt
        return step(*given, **named)

    monkeypatch.setattr(SFTTrainer, "training_step", cut_off)
    assert invoke("sft", pairs, tiny, "--most-steps", "20").exit_code == 1
    assert tune("sft", pairs, tiny, "--most-steps", "20") == whole
    assert len(taken) == 13 + 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_preferred_replies_become_likelier_on_held_out_pairs(pairs: Path, tiny: Path) -> None:
    figures = tune("dpo", pairs, tiny, "--most-steps", "20")
    assert figures["eval_loss"][1] < figures["eval_loss"][0]
    assert figures["eval_logps/chosen"][1] > figures["eval_logps/chosen"][0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_steps_for_a_reward_run_on_the_metrics_of_score(
    pairs: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.adapters import steps

    monkeypatch.setattr(steps, "REPLY_TOKENS", 12)
    before, after = tune("ppo", pairs, tiny, "--most-steps", "3")["eval_reward"]
    assert 0 <= before <= 1 and 0 <= after <= 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_steps_for_a_reward_raise_it_on_held_out_posts(
    pairs: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a random model writes says little to the metrics of score; a taste for one word tells more."""
    from training.adapters import steps
    from training.adapters.rewards import CoarlRewards

    def likes_bridges(self: CoarlRewards, completions: list[Any], **others: object) -> list[float]:
        return [min(1.0, str(reply).count("bridges") / 4) for reply in completions]

    monkeypatch.setattr(steps, "REPLY_TOKENS", 12)
    monkeypatch.setattr(CoarlRewards, "__call__", likes_bridges)
    before, after = tune("ppo", pairs, tiny, "--most-steps", "30")["eval_reward"]
    assert after > before + 0.3


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_llama_cpp_computes_with_an_exported_adapter_what_transformers_does(smollm2: Path, tmp_path: Path) -> None:
    """Queries and keys alone are changed, at random: rows in a wrong order would give other probabilities."""
    pytest.importorskip("trl", reason="the `train` extra is not installed")
    import torch
    import xllamacpp
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    from training.adapters.gguf_lora import export

    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(smollm2.parent, gguf_file=smollm2.name, dtype=torch.float32)
    prompt = [1, 504, 2365, 6354, 16438, 27003, 690, 260, 23790]
    plain = next_token(base, prompt)
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "k_proj"]))
    for name, weights in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.6)
    tuned = next_token(model, prompt)
    model.save_pretrained(tmp_path / "adapter")
    assert export(tmp_path / "adapter", base.config.to_dict(), tmp_path / "adapter.gguf") == 2 * 2 * 30

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.port = str(smollm2), 256, 1, unused_port()
    params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(tmp_path / "adapter.gguf"), 1.0)]
    server = xllamacpp.Server(params)
    for scale, expected in ((0.0, plain), (1.0, tuned)):
        request = {"prompt": prompt, "n_predict": 1, "n_probs": 5, "temperature": 0, "cache_prompt": False}
        answer = post_json(f"{server.listening_address}/completion", request | {"lora": [{"id": 0, "scale": scale}]})
        top = answer["completion_probabilities"][0]["top_logprobs"]
        served = {each["id"]: each["logprob"] for each in top}
        assert max(served, key=served.__getitem__) == max(expected, key=expected.__getitem__)
        assert all(abs(logprob - expected[token]) < 0.5 for token, logprob in served.items())
    assert max(abs(tuned[token] - plain[token]) for token in served) > 1.5


def next_token(model: Any, prompt: list[int]) -> dict[int, float]:
    """Return the log probability of each token after a prompt."""
    import torch

    with torch.no_grad():
        logits = model(input_ids=torch.tensor([prompt])).logits[0, -1]
    return dict(enumerate(torch.log_softmax(logits, -1).tolist()))


def post_json(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)
