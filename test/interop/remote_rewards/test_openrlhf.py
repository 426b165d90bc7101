"""OpenRLHF's own rollout of one turn (`SingleTurnAgentExecutor`) with this server as `--reward.remote_url`.

The tokenizer and the engine stand in for a model; everything from the decoded text to the reward is OpenRLHF's.
"""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import GOOD, PROSE, TASK_ID, load
from faulty_server import FaultyServer, json_answer, refusal

agent = load("openrlhf", "openrlhf.utils.agent")

PROMPT = "<|im_start|>user\nDraw a pipeline.<|im_end|>\n<|im_start|>assistant\n"


class Tokenizer:
    """Code points as tokens."""

    def __call__(self, text: str, **_: Any) -> dict[str, Any]:
        return {"input_ids": [SimpleNamespace(tolist=lambda: [ord(char) for char in text])]}

    def decode(self, tokens: list[int], **_: Any) -> str:
        return "".join(map(chr, tokens))


class Engine:
    """Says what it is told to."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    async def generate(self, *_: Any, **__: Any) -> Any:
        token_ids = [ord(char) for char in f"{self.answer}<|im_end|>"]
        output = SimpleNamespace(token_ids=token_ids, text=self.answer, logprobs=None, finish_reason="stop")
        return SimpleNamespace(outputs=[output])


async def roll_out(executor: Any, answer: str, label: Any) -> dict[str, Any]:
    sampling = SimpleNamespace(max_tokens=100, logprobs=None)
    return await executor.execute(PROMPT, label, sampling, 100_000, Tokenizer(), Engine(answer))


@pytest.mark.parametrize("label", [TASK_ID, json.dumps({"task_id": TASK_ID})], ids=["a task id", "JSON text"])
@pytest.mark.parametrize("answer", [GOOD, PROSE], ids=["good", "prose"])
def test_a_rollout_has_the_reward_of_the_environment(url, reward_of, answer, label):
    executor = agent.SingleTurnAgentExecutor(f"{url}/get_reward")
    output = asyncio.run(roll_out(executor, answer, label))
    assert output["reward"] == output["scores"] == [reward_of(answer)]
    logs = output["extra_logs"]
    assert len(logs) > 5
    assert all(isinstance(value, (int, float)) for (value,) in logs.values())


def test_two_hundred_rollouts_at_once_over_two_addresses(url, reward_of):
    async def run() -> list[dict[str, Any]]:
        executor = agent.SingleTurnAgentExecutor([f"{url}/get_reward", f"{url}/get_reward?reward=graded"])
        answers = [GOOD, PROSE] * 100
        return await asyncio.gather(*(roll_out(executor, answer, TASK_ID) for answer in answers))

    outputs = asyncio.run(run())
    assert [output["reward"] for output in outputs] == [[reward_of(GOOD)], [reward_of(PROSE)]] * 100


@pytest.fixture
def no_pauses(monkeypatch):
    """Between its five tries."""

    async def sleep(_: float) -> None:
        pass

    monkeypatch.setattr(agent.asyncio, "sleep", sleep)


BUSY = refusal(503, "overloaded", retry_after="1")


@pytest.mark.parametrize(("failures", "reward"), [(1, [0.5]), (4, [0.5]), (5, None)])
def test_a_busy_server_is_asked_five_times(no_pauses, failures, reward):
    answer = json_answer({"rewards": [0.5], "scores": [0.5]}, content_type="application/json")
    with FaultyServer(*[BUSY] * failures, answer) as server:
        output = asyncio.run(roll_out(agent.SingleTurnAgentExecutor(f"{server.url}/get_reward"), GOOD, TASK_ID))
        assert output["reward"] == reward
        assert server.requests == [("POST", "/get_reward")] * min(5, failures + 1)


def test_a_label_without_a_task_leaves_no_reward(url, no_pauses):
    executor = agent.SingleTurnAgentExecutor(f"{url}/get_reward")
    output = asyncio.run(roll_out(executor, GOOD, "no.such.task.1"))
    assert output["reward"] is None
