"""What the command line exports and what canvas_gym.datasets makes, loaded by the real `datasets`."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pandas as pd
import pytest
from datasets import Dataset, Features, Value, load_dataset
from datasets import List as ListOf

from canvas_gym import Client
from canvas_gym import datasets as rows
from canvas_gym.datasets import INSTRUCTIONS, Sample

URL = os.environ["CANVAS_GYM_URL"]
CLI = shlex.split(os.environ["CANVAS_GYM_CLI"])
TASKS = 40

TEXT = Value("string")
MESSAGES = ListOf({"role": TEXT, "content": TEXT})
FEATURES = {
    "prompt_completion": {"prompt": MESSAGES, "completion": MESSAGES},
    "messages": {"messages": MESSAGES},
    "unpaired": {"prompt": MESSAGES, "completion": MESSAGES, "label": Value("bool")},
    "preference": {"prompt": MESSAGES, "chosen": MESSAGES, "rejected": MESSAGES},
    "prompts": {"prompt": MESSAGES, "task_id": TEXT, "split": TEXT},
    "verl": {
        "data_source": TEXT,
        "prompt": MESSAGES,
        "ability": TEXT,
        "reward_model": {"style": TEXT, "ground_truth": TEXT},
        "extra_info": {
            "split": TEXT,
            "index": Value("int64"),
            "task_id": TEXT,
            "interaction_kwargs": {"name": TEXT, "task_id": TEXT},
        },
    },
}


def cli(folder: Path, *arguments: str) -> str:
    command = [*CLI, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the log of a run in which the teacher answered some tasks."""
    folder = tmp_path_factory.mktemp("run")
    cli(folder, "teach", "--url", URL, "--tasks", str(TASKS), "--levels", "1,2")
    return folder


SMALL = (
    "--tasks 40 --max-tokens 6000 --validation 4 --steps 3 --tasks-per-step 2 --group-size 2 --max-new-tokens 24"
    " --eval-tasks 4 --eval-max-new-tokens 24"
)


def test_pandas_reads_the_metrics_of_a_run_in_a_line(tmp_path: Path) -> None:
    cli(tmp_path, "quickstart", *SMALL.split(), "--run-id", "small")
    cli(tmp_path, "export", "small", "--dataset", "metrics_wide", "--format", "csv", "--out", "metrics.csv")
    cli(tmp_path, "export", "small", "--dataset", "metrics_wide", "--out", "metrics.jsonl")
    cli(tmp_path, "export", "small", "--dataset", "metrics_wide", "--format", "parquet", "--out", "metrics.parquet")
    key = ["stage", "optimizer_step"]
    table = pd.read_csv(tmp_path / "metrics.csv", index_col=key, float_precision="round_trip")
    lines = pd.read_json(tmp_path / "metrics.jsonl", lines=True, precise_float=True).set_index(key)
    parquet = pd.read_parquet(tmp_path / "metrics.parquet").set_index(key)
    kind: Dict[str, Any] = {"check_dtype": False, "check_index_type": False, "check_exact": True}
    pd.testing.assert_frame_equal(table, lines[table.columns], **kind)
    pd.testing.assert_frame_equal(table, parquet[table.columns], **kind)
    assert table.index.is_unique and list(table.loc["reinforce"].index) == [0, 1, 2, 3]
    assert table.loc["reinforce"]["episode/return"].between(0, 1).sum() == 3
    assert table.loc["sft"]["loss/sft"].dropna().iloc[0] > 1
    rows_ = [json.loads(line) for line in cli(tmp_path, "export", "small", "--dataset", "metrics").splitlines()]
    assert len(rows_) == int(table.notna().sum().sum())
    for row in rows_:
        assert table.loc[(row["stage"], row["optimizer_step"]), row["name"]] == row["value"]


def load(path: Path, tmp_path: Path) -> Dataset:
    return load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))


@pytest.mark.parametrize("name", list(FEATURES))
def test_every_export_has_the_features_of_its_trainer(name: str, run_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.json"
    cli(run_folder, "export", "--dataset", name, "--out", str(path))
    loaded = load(path, tmp_path)
    assert loaded.features == Features(FEATURES[name])
    assert len(loaded) >= TASKS / 2
    written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert loaded.to_list() == written, "Arrow adds no key and drops none"
    loaded.to_parquet(tmp_path / "rows.parquet")
    assert Dataset.from_parquet(str(tmp_path / "rows.parquet"), cache_dir=str(tmp_path)).to_list() == written


def test_conversations_begin_with_how_to_answer_and_how_large_the_canvas_is(run_folder: Path) -> None:
    for name, column in [("prompt_completion", "prompt"), ("messages", "messages"), ("preference", "prompt")]:
        row = json.loads(cli(run_folder, "export", "--dataset", name).splitlines()[0])
        assert row[column][0] == {"role": "system", "content": f"{INSTRUCTIONS}\nThe canvas is 1200 x 800 pixels."}
        assert row[column][1]["role"] == "user"


def test_both_languages_say_the_same_for_every_canvas(tmp_path: Path) -> None:
    cli(tmp_path, "teach", "--url", URL, "--tasks", "30", "--levels", "3,4,5")
    exported = [json.loads(line) for line in cli(tmp_path, "export", "--dataset", "prompts").splitlines()]
    client = Client(URL)
    assert exported == list(rows.prompt_rows(client.task(task_id=row["task_id"]) for row in exported))
    assert len({row["prompt"][0]["content"] for row in exported}) > 3


def test_the_kept_answers_and_the_chosen_ones_are_the_good_ones(run_folder: Path) -> None:
    client = Client(URL)
    pairs = [json.loads(line) for line in cli(run_folder, "export", "--dataset", "preference").splitlines()]
    tasks = {
        row["prompt"][-1]["content"]: row["task_id"]
        for row in map(json.loads, cli(run_folder, "export", "--dataset", "prompts").splitlines())
    }
    ids = [tasks[pair["prompt"][-1]["content"]] for pair in pairs]
    chosen, rejected = (
        client.score(completions=[pair[side] for pair in pairs], context={"task_id": ids})["rewards"]
        for side in ("chosen", "rejected")
    )
    assert all(good > bad for good, bad in zip(chosen, rejected))


@pytest.fixture(scope="session")
def samples() -> List[Sample]:
    """Two answers to each of some tasks, scored: a drawing of its first label, and no drawing."""
    client = Client(URL)
    tasks = list(rows.suite_tasks(client, split="val", level=1, count=20))
    box = {"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 200, "h": 80, "text": "A"}
    answers = [json.dumps({"actions": [box]}), "I cannot draw."]
    pairs = [(task, answer) for task in tasks for answer in answers]
    rewards = client.score(
        completions=[answer for _, answer in pairs], context={"task_id": [task["task_id"] for task, _ in pairs]}
    )["rewards"]
    scored: List[Sample] = [
        {"task_id": task["task_id"], "prompt": task["prompt"], "completion": answer, "reward": reward}
        for (task, answer), reward in zip(pairs, rewards)
    ]
    return [*scored, {**scored[0], "completion": "lost", "reward": None}]


def python_rows(samples: List[Sample]) -> Dict[str, List[Dict[str, Any]]]:
    tasks = list(rows.suite_tasks(Client(URL), split="train", count=1200))
    return {
        "prompt_completion": list(rows.prompt_completion_rows(samples, threshold=0.01)),
        "messages": list(rows.message_rows(samples, threshold=0.01)),
        "unpaired": list(rows.unpaired_rows(samples, threshold=0.01)),
        "preference": list(rows.preference_rows(samples)),
        "prompts": list(rows.prompt_rows(tasks)),
        "verl": list(rows.verl_rows(tasks)),
    }


@pytest.mark.parametrize("name", list(FEATURES))
def test_python_makes_the_same_shapes(name: str, samples: List[Sample], tmp_path: Path) -> None:
    made = python_rows(samples)[name]
    assert Dataset.from_list(made).features == Features(FEATURES[name])
    path = tmp_path / f"{name}.json"
    assert rows.write_jsonl(path, made) == len(made)
    loaded = load(path, tmp_path)
    assert loaded.features == Features(FEATURES[name]) and loaded.to_list() == made
    wanted = {"prompt_completion": 20, "messages": 20, "unpaired": 40, "preference": 20, "prompts": 1200, "verl": 1200}
    assert len(made) == wanted[name]


def test_unpaired_rows_leave_out_what_has_no_reward(samples: List[Sample]) -> None:
    made = list(rows.unpaired_rows(samples, threshold=0.01))
    assert [row["label"] for row in made] == [True, False] * 20
    assert all(row["completion"][0]["content"] != "lost" for row in made)
    assert not list(rows.preference_rows(samples, margin=1.0))


def test_tasks_come_page_by_page_in_the_order_of_the_suite() -> None:
    client = Client(URL)
    listed = list(rows.suite_tasks(client, split="test_real"))
    assert len(listed) == client.tasks(split="test_real")["total"] == len({task["task_id"] for task in listed})
    some = list(rows.suite_tasks(client, split="train", family="er", level=2, count=700, offset=3))
    assert [task["task_id"] for task in some] == [f"train.er.2.{i}" for i in range(3, 703)]
    assert list(rows.suite_tasks(client, split="train", count=0)) == []


def test_the_ground_truth_of_verl_is_what_the_server_scores_against() -> None:
    client = Client(URL)
    row = next(iter(rows.verl_rows(rows.suite_tasks(client, split="val", count=1))))
    task_id = json.loads(row["reward_model"]["ground_truth"])["task_id"]
    assert client.task(task_id=task_id)["prompt"] == row["prompt"][-1]["content"]


def test_the_example_of_the_instructions_is_a_good_answer() -> None:
    example = next(line for line in INSTRUCTIONS.splitlines() if line.startswith("{"))
    answer = Client(URL).reward(prompt="Draw a client that sends a request to a server.", completion=example)
    assert answer["components"]["parse"] == 1 and answer["errors"] == [] and answer["rejected"] == 0
    assert answer["reward"] > 0.5
