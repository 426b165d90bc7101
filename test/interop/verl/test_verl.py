"""canvas_gym.verl, found by verl's own loaders, and played as its agent loop plays an interaction."""

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import load

import canvas_gym.verl
from canvas_gym import Client

import_utils = load("verl.utils.import_utils")
registry = load("verl.interactions.utils.interaction_registry")
base = load("verl.interactions.base")

TASK_ID = "train.pipeline.1.3"
FILE = str(Path(canvas_gym.verl.__file__))
LABELS = ["Record", "Review", "Edit Episode"]
BOXES = [
    {"type": "create_shape", "id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80}
    | {"text": label}
    for i, label in enumerate(LABELS)
]
ARROWS = [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]
SOLUTION = json.dumps({"actions": [*BOXES, *ARROWS]})


@pytest.mark.parametrize("path", ["pkg://canvas_gym.verl", FILE, f"file://{FILE}"], ids=["package", "path", "file"])
@pytest.mark.parametrize("name", ["compute_score", "compute_score_sync", "compute_score_batch"])
def test_reward_functions_are_found_and_score(path: str, name: str, url: str) -> None:
    function = import_utils.load_extern_object(path, name)
    truth = json.dumps({"task_id": TASK_ID})
    one: Dict[str, Any] = {
        "data_source": "d",
        "solution_str": SOLUTION,
        "ground_truth": truth,
        "extra_info": {"index": 0},
    }
    if name == "compute_score_batch":
        (result,) = function(**{f"{key}s": [value] for key, value in one.items()}, url=url)
    elif inspect.iscoroutinefunction(function):
        result = asyncio.run(function(**one, url=url))
    else:
        result = function(**one, url=url)
    expected = Client(url).reward(task_id=TASK_ID, completion=SOLUTION)
    assert result == {**expected["components"], "score": expected["reward"]} and result["score"] > 0.9


def test_only_the_plain_name_is_async() -> None:
    kinds = [inspect.iscoroutinefunction(getattr(canvas_gym.verl, name)) for name in canvas_gym.verl.__all__[1:]]
    assert kinds == [True, False, False]


@pytest.fixture
def interaction(url: str, tmp_path: Path) -> Any:
    config = tmp_path / "interaction.yaml"
    config.write_text(
        "interaction:\n"
        "  - name: diagram\n"
        "    class_name: canvas_gym.verl.DiagramInteraction\n"
        f"    config: {{url: '{url}', preset: article, max_turns: 4}}\n"
    )
    return registry.initialize_interactions_from_config(str(config))["diagram"]


def test_the_interaction_is_one_of_verls(interaction: Any) -> None:
    assert isinstance(interaction, base.BaseInteraction) and interaction.name == "diagram"
    for name in ("start_interaction", "generate_response", "calculate_score", "finalize_interaction"):
        assert inspect.iscoroutinefunction(getattr(interaction, name))


def test_many_interactions_at_once(interaction: Any, url: str) -> None:
    async def play(request_id: str) -> float:
        kwargs = {"name": "diagram", "task_id": TASK_ID}
        await interaction.start_interaction(request_id, **kwargs)
        messages = [{"role": "user", "content": "Draw."}]
        scores = []
        for actions in (BOXES, [*ARROWS, {"type": "done"}]):
            messages.append({"role": "assistant", "content": json.dumps({"actions": actions})})
            over, said, score, metrics = await interaction.generate_response(request_id, messages, **kwargs)
            assert all(type(value) is float for value in [score, *metrics.values()])
            messages.append({"role": "user", "content": said})
            scores.append(score)
        assert over
        return sum(scores)

    async def play_all() -> Any:
        return await asyncio.gather(*(play(str(i)) for i in range(100)))

    expected = Client(url).reward(task_id=TASK_ID, completion=SOLUTION, reward="article")["reward"] - 0.02
    assert asyncio.run(play_all()) == pytest.approx([expected] * 100)
