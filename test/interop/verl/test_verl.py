"""canvas_gym.verl, found by verl's own loaders, and played as its agent loop plays an interaction."""

import asyncio
import inspect
import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Dict, Tuple

import pytest
from overrides import apply, readme_overrides
from partial_import import load

import canvas_gym.verl
from canvas_gym import Client

import_utils = load("verl", "verl.utils.import_utils")
registry = load("verl", "verl.interactions.utils.interaction_registry")
base = load("verl", "verl.interactions.base")

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


def play(interaction: Any, request_id: str) -> Any:
    """An episode of two turns as verl's agent loop plays it: the conversation as it is decoded, and `turn_scores`."""

    async def turns() -> Tuple[str, Any]:
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
        return "\n".join(f"{message['role']}\n{message['content']}" for message in messages[1:]), scores

    return turns()


def test_many_interactions_at_once(interaction: Any, url: str) -> None:
    async def play_all() -> Any:
        return await asyncio.gather(*(play(interaction, str(i)) for i in range(100)))

    expected = Client(url).reward(task_id=TASK_ID, completion=SOLUTION, reward="article")["reward"] - 0.02
    totals = [sum(scores) for _, scores in asyncio.run(play_all())]
    assert totals == pytest.approx([expected] * 100)


def test_the_turns_are_what_verl_trains_on(interaction: Any, url: str) -> None:
    """The reward is compute_score's, of the whole conversation; its own last JSON is an example in the feedback."""
    written, scores = asyncio.run(play(interaction, "0"))
    extra_info = {"index": 0, "turn_scores": scores, "tool_rewards": [], "num_turns": 5, "rollout_reward_scores": {}}
    function = import_utils.load_extern_object("pkg://canvas_gym.verl", "compute_score")
    result = asyncio.run(function("d", written, TASK_ID, extra_info, url=url, preset="article"))
    assert result["score"] == sum(scores) > 0.7


@pytest.mark.parametrize(
    ("manager", "hands_on"),
    [("naive", True), ("remote", True), ("limited", True), ("dapo", False), ("gdpo", False)],
)
def test_which_managers_hand_on_what_turns_were_worth(manager: str, hands_on: bool) -> None:
    """The docstring of canvas_gym.verl says so; the managers themselves need torch."""
    read = {
        name: Path(str(distribution("verl").locate_file(f"verl/experimental/{name}.py"))).read_text()
        for name in ("agent_loop/tool_agent_loop", "agent_loop/agent_loop", f"reward_loop/reward_manager/{manager}")
    }
    assert '"turn_scores": agent_data.turn_scores' in read["agent_loop/tool_agent_loop"]
    assert '"tool_extra_fields": np.array([output.extra_fields]' in read["agent_loop/agent_loop"]
    handed_on = "extra_info.update(tool_extra_fields.items())" in read[f"reward_loop/reward_manager/{manager}"]
    assert handed_on is hands_on


def test_the_overrides_of_the_readme_are_verls() -> None:
    overrides = readme_overrides()
    assert [key for key, _ in overrides if key.endswith("custom_reward_function.path")]
    apply(overrides)
    for wrong in (("reward.custom_reward_function.url", "x"), ("+reward.custom_reward_function.name", "x")):
        with pytest.raises(Exception, match="url|leave the"):
            apply([wrong])
