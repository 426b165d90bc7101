"""canvas_gym.openrlhf_agent in OpenRLHF's own loop of several turns, with torch's tensors."""

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any, Dict, List

import jinja2.sandbox
import pytest
import torch
import trl
from partial_import import load
from stand_in import Engine, Tokenizer, sampling

from canvas_gym import Client
from canvas_gym.datasets import prompt_rows
from canvas_gym.openrlhf import CHATS, chat_of, reward_func, strip_end, to_next_turn

agent = load("openrlhf", "openrlhf.utils.agent")
datasets = load("openrlhf", "openrlhf.datasets.prompts_dataset")

TASK_ID = "train.pipeline.1.3"
PROMPT = "<|im_start|>user\nDraw a pipeline.<|im_end|>\n<|im_start|>assistant\n"
LABELS = ["Record", "Review", "Edit Episode"]
BOXES = [
    {"type": "create_shape", "id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80}
    | {"text": label}
    for i, label in enumerate(LABELS)
]
ARROWS = [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]


@pytest.fixture
def executor(tmp_path: Path) -> Any:
    """Loaded from a file of one line, as `--train.agent_func_path` is."""
    path = tmp_path / "agent.py"
    path.write_text("from canvas_gym.openrlhf_agent import AgentExecutor\n")
    spec = importlib.util.spec_from_file_location("agent_module", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert issubclass(module.AgentExecutor, agent.AgentExecutorBase)
    return module.AgentExecutor()


def test_an_episode_of_two_turns(executor: Any, url: str) -> None:
    answers = [json.dumps({"actions": actions}) for actions in (BOXES, [*ARROWS, {"type": "done"}])]
    engine = Engine(*answers)
    output = asyncio.run(executor.execute(PROMPT, TASK_ID, sampling(), 100_000, Tokenizer(), engine))
    expected = Client(url).reward(task_id=TASK_ID, completion=json.dumps({"actions": BOXES + ARROWS}))
    assert output["reward"] == pytest.approx(expected["reward"] - 0.02)
    assert float(output["scores"]) == pytest.approx(expected["reward"])
    assert {name: float(value) for name, value in output["extra_logs"].items()}["turns"] == 2
    text = "".join(map(chr, output["observation_tokens"]))
    written = [text[start:end] for start, end in output["action_ranges"]]
    assert written == [f"{answer}<|im_end|>" for answer in answers]
    assert engine.read[1].endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert 'rectangle Record at 120,360 size 200x80 "Record"' in engine.read[1]


def test_rewards_are_tensors() -> None:
    answer = reward_func([f"{PROMPT}x<|im_end|>"] * 2, [PROMPT] * 2, [TASK_ID] * 2)
    columns = [answer["rewards"], answer["scores"], *answer["extra_logs"].values()]
    assert all(isinstance(column, torch.Tensor) and column.shape == (2,) for column in columns)


def template(name: str) -> Any:
    """A chat template that TRL brings, as a tokenizer applies it."""
    text = (Path(trl.__file__).parent / f"chat_templates/{name}.jinja").read_text(encoding="utf-8")
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"strftime_now": lambda _: "2026-01-01"}
    compiled = environment.from_string(text)

    def apply(messages: List[Dict[str, str]], tokenize: bool = False, add_generation_prompt: bool = True) -> str:
        assert not tokenize
        return compiled.render(
            messages=messages, add_generation_prompt=add_generation_prompt, bos_token="", eos_token=""
        )

    return apply


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("qwen2_5", "ChatML (Qwen)"),
        ("qwen3", "ChatML (Qwen)"),
        ("qwen3_instruct_2507", "ChatML (Qwen)"),
        ("llama3", "Llama 3"),
        ("gemma", "Gemma"),
        ("phi3", "Phi 3"),
        ("deepseekv3", "DeepSeek"),
        ("gptoss", "gpt-oss"),
    ],
)
def test_the_next_turn_is_what_the_template_would_write(name: str, known: str) -> None:
    asked = {"role": "user", "content": "Draw a box."}
    answered, told = {"role": "assistant", "content": "{}"}, {"role": "user", "content": "Look."}
    apply = template(name)
    prompt = apply([asked])
    chat = chat_of(prompt)
    assert chat.end == CHATS[known].end
    whole = apply([asked, answered, told])
    assert whole.endswith(to_next_turn(chat, f"{answered['content']}{chat.end}", told["content"])), whole
    assert strip_end("{}" + chat.end) == "{}"


def test_rows_of_prompts_are_rows_of_openrlhf(url: str) -> None:
    """`--data.input_key prompt --data.label_key task_id --data.apply_chat_template`."""
    row = next(prompt_rows([Client(url).task(task_id=TASK_ID)]))
    apply = template("qwen3")
    prompt, label = datasets.preprocess_data(row, input_key="prompt", label_key="task_id", apply_chat_template=apply)
    assert (prompt, label) == (apply(row["prompt"]), TASK_ID)
    assert "The canvas is 1200 x 800 pixels." in prompt and prompt.endswith("<|im_start|>assistant\n")
