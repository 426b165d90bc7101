"""GRPO with the installed TRL: the reward function as it is called, its log, outages, the tools of an environment."""

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any, Dict, List

import pytest
import torch
import trl
from datasets import Dataset
from grpo import Curve, rows_of, settings, train
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from transformers.utils import get_json_schema
from trl import GRPOTrainer

from canvas_gym import Client
from canvas_gym.datasets import mixed_tasks, prompt_rows
from canvas_gym.trl import DiagramEnvironment, reward_function

TASK_ID = "train.pipeline.1.3"


def test_a_few_steps(checkpoint: str, url: str) -> None:
    result = train(checkpoint, url, steps=3, tasks=4, group_size=4, evaluated=16)
    assert [row["step"] for row in result.curve] == [1, 2, 3]
    for row in result.curve:
        assert 0 <= row["reward"] <= 1 and row["reward"] == row["rewards/graded_reward/mean"]
        assert 0 <= row["graded_reward/parse"] <= 1 and row["graded_reward/unscored"] == 0
        assert math.isfinite(row["grad_norm"])
    assert len(result.before) == len(result.after) == 16
    assert any(row["grad_norm"] > 0 for row in result.curve), "all answers of every group had the same reward"


def trainer_of(checkpoint: str, folder: Path, reward: Any, **more: Any) -> Any:
    tokenizer = more.pop("tokenizer", None) or AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    kind = more.pop("kind", GRPOTrainer)
    config = settings(str(folder), steps=more.pop("steps", 1), batch_size=4, group_size=2, learning_rate=1e-2, seed=0)
    return kind(model=model, args=config, processing_class=tokenizer, reward_funcs=reward, callbacks=[Curve()], **more)


@pytest.mark.parametrize("is_down", [False, True], ids=["up", "down"])
def test_an_outage_trains_nothing(is_down: bool, checkpoint: str, url: str, tmp_path: Path) -> None:
    reward = reward_function("http://127.0.0.1:9" if is_down else url, "weak", retries=0)
    rows = rows_of(Client(url), "train", 4)
    trainer = trainer_of(checkpoint, tmp_path, reward, train_dataset=Dataset.from_list(rows))
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    scripted = iter(['{"actions":[]}', "no"] * 4)
    trainer._generate_single_turn = (
        lambda prompts, *_, **__: (  # the answers differ, so that there is something to learn
            [trainer._tokenizer(next(scripted), add_special_tokens=False)["input_ids"] + [2] for _ in prompts],
            None,
        )
    )
    trainer.train()
    moved = any(not torch.equal(before[name], weight) for name, weight in trainer.model.named_parameters())
    assert moved is not is_down


def test_the_table_of_completions_after_an_outage(checkpoint: str, url: str, tmp_path: Path) -> None:
    """TRL shows the columns that it was last given beside the newest completions."""
    functions = [reward_function(url, preset, retries=0) for preset in ("weak", "article")]

    class Lost(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            tables.append({name: list(column) for name, column in trainer._logs["extra"].items()})
            for function in functions:
                function.url = "http://127.0.0.1:9"

    tables: List[Dict[str, List[Any]]] = []
    rows = Dataset.from_list(rows_of(Client(url), "train", 8))
    trainer = trainer_of(checkpoint, tmp_path, functions, train_dataset=rows, steps=2)
    trainer.add_callback(Lost())
    trainer.train()
    scored, lost = tables
    assert {name.split("/")[0] for name in scored} == {"weak_reward", "article_reward"}
    assert {"weak_reward/valid", "article_reward/valid"} & set(scored)
    assert all(None not in column and len(column) == 4 for column in scored.values())
    assert lost == {name: [None] * 4 for name in scored}


BOXES = [
    {"id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80, "text": label}
    for i, label in enumerate(["Record", "Review", "Edit Episode"])
]
CALLS = [
    *(("create_shape", box) for box in BOXES),
    ("connect", {"from_id": "Record", "to_id": "Review"}),
    ("connect", {"from_id": "Review", "to_id": "Edit Episode"}),
    ("submit_diagram", {}),
]


def call_text(name: str, arguments: Dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


class Scripted(GRPOTrainer):
    """Its first model calls the tools one by one, its second talks; everything else is TRL's."""

    def _generate_single_turn(self, prompt_ids: List[List[int]], *_: Any, **__: Any) -> Any:
        said = []
        for ids in prompt_ids:
            text = self._tokenizer.decode(ids)
            self.seen.append(text)
            turn = text.count("<tool_response>")
            is_first = text.count("FIRST") > 0
            said.append(call_text(*CALLS[turn]) if is_first and turn < len(CALLS) else "Done.")
        return [self._tokenizer(text + "<|im_end|>", add_special_tokens=False)["input_ids"] for text in said], None

    seen: List[str] = []  # noqa: RUF012


def test_an_environment_plays_through_trl(checkpoint: str, url: str, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates/qwen3.jinja").read_text()
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>"})
    task = Client(url).task(task_id=TASK_ID)
    row = {"prompt": [{"role": "user", "content": task["prompt"]}], "task_id": TASK_ID}
    first = {"prompt": [{"role": "user", "content": "FIRST " + task["prompt"]}], "task_id": TASK_ID}
    trainer = trainer_of(
        checkpoint,
        tmp_path,
        [],
        kind=Scripted,
        tokenizer=tokenizer,
        train_dataset=Dataset.from_list([first, row]),
        environment_factory=partial(DiagramEnvironment, url),
    )
    trainer.model.resize_token_embeddings(len(tokenizer))
    trainer.max_completion_length = 4000
    trainer.model.config.max_position_embeddings = 8000
    trainer.train()
    (curve,) = [callback for callback in trainer.callback_handler.callbacks if isinstance(callback, Curve)]
    solution = {"actions": [{"type": "create_shape", **box} for box in BOXES]}
    solution["actions"] += [{"type": "connect", "from": a["id"], "to": b["id"]} for a, b in zip(BOXES, BOXES[1:])]
    expected = Client(url).reward(task_id=TASK_ID, completion=solution)["reward"]
    (logged,) = curve.rows
    assert expected > 0.9
    assert logged["rewards/DiagramEnvironment/mean"] == pytest.approx(expected / 2), "half of the rollouts talked"
    assert logged["tools/call_frequency"] == len(CALLS) / 2 and logged["tools/failure_frequency"] == 0
    told = "\n".join(trainer.seen)
    assert "Draw it with the tools on a canvas of 1200 x 800 pixels" in told
    assert "The canvas holds 3 shape(s) and 2 arrow(s)." in told and re.search(r"Reward: 0\.9", told)


def test_transformers_makes_schemas_of_the_tools(url: str) -> None:
    environment = DiagramEnvironment(url)
    for tool in Client(url).tools()["tools"]:
        made = get_json_schema(getattr(environment, tool["name"]))["function"]
        given: Any = tool["input_schema"]
        assert made["description"] == tool["description"]
        assert set(made["parameters"]["properties"]) == set(given["properties"])
        assert made["parameters"].get("required", []) == given.get("required", [])
        for name, field in given["properties"].items():
            assert made["parameters"]["properties"][name]["type"] == field["type"], name
            assert made["parameters"]["properties"][name].get("enum") == field.get("enum"), name


def test_rows_are_a_data_set(url: str) -> None:
    rows = Dataset.from_list(list(prompt_rows(mixed_tasks(Client(url), level=1, count=16), system="")))
    assert rows.column_names == ["prompt", "task_id", "split"] and len(rows) == 16
