"""Rewards and turns for OpenRLHF.

By URL no Python is needed: `--reward.remote_url http://127.0.0.1:8000/get_reward`. As a file, with retries over an
outage and several servers, a file that holds

    from canvas_gym.openrlhf import reward_func

goes to `--reward.remote_url`; for several turns, one with `from canvas_gym.openrlhf_agent import AgentExecutor` to
`--train.agent_func_path`. Labels are tasks: an id, or `{"task_id": ...}`, `{"task": ...}` as JSON text; `reward_func`
takes the prompt for the task where the label is empty. Settings are the variables CANVAS_GYM_URL, CANVAS_GYM_PRESET
and CANVAS_GYM_MAX_TURNS. A failure of the server raises, after 9 tries of up to a
minute each, and is never a reward.
"""

from __future__ import annotations

import asyncio
import os
import re
from typing import Any, Dict, NamedTuple, Optional, Sequence

# OpenRLHF may load this file by its path, so nothing is imported by a dot.
from canvas_gym._episode import TextEpisode, parse_task
from canvas_gym._remote import get_rewards, shared_client

__all__ = ["DiagramAgent", "reward_func"]

MAX_TURNS = 3


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Optional[Sequence[Any]] = None, **_: Any
) -> Dict[str, Any]:
    """Score a batch.

    Args:
        queries: Prompt and response as one text, with special tokens.
        prompts: What each query begins with.
        labels: See above.

    Returns:
        `rewards` and `scores`, [B] each, in [0, 1], and every component in `extra_logs`; torch tensors of float32.
    """
    answer = get_rewards(
        shared_client(None),
        query=queries,
        prompts=prompts,
        labels=labels,
        preset=os.environ.get("CANVAS_GYM_PRESET") or None,
    )
    return {
        "rewards": _to_tensor(answer["rewards"]),
        "scores": _to_tensor(answer["scores"]),
        "extra_logs": {name: _to_tensor(column) for name, column in answer["extra_logs"].items()},
    }


class Chat(NamedTuple):
    """How a chat template writes the user's next turn, the beginning of the answer to it, and the end of that."""

    user: str
    assistant: str
    end: str

    @property
    def seam(self) -> str:
        """What stands between the user's turn and the answer to it."""
        return (self.user + self.assistant).split("{}")[1].strip()


CHATS = {
    "ChatML (Qwen)": Chat("\n<|im_start|>user\n{}<|im_end|>\n", "<|im_start|>assistant\n", "<|im_end|>"),
    "Llama 3": Chat(
        "<|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<|eot_id|>",
    ),
    "Llama 4": Chat(
        "<|header_start|>user<|header_end|>\n\n{}<|eot|>", "<|header_start|>assistant<|header_end|>\n\n", "<|eot|>"
    ),
    "Gemma": Chat("\n<start_of_turn>user\n{}<end_of_turn>\n", "<start_of_turn>model\n", "<end_of_turn>"),
    "Mistral": Chat("[INST] {} [/INST]", "", "</s>"),
    "Phi 3": Chat("\n<|user|>\n{}<|end|>\n", "<|assistant|>\n", "<|end|>"),
    "Phi 4 mini": Chat("<|user|>{}<|end|>", "<|assistant|>", "<|end|>"),
    "Phi 4": Chat("<|im_start|>user<|im_sep|>{}<|im_end|>", "<|im_start|>assistant<|im_sep|>", "<|im_end|>"),
    "Zephyr": Chat("\n<|user|>\n{}</s>\n", "<|assistant|>\n", "</s>"),
    "DeepSeek": Chat("<\uff5cUser\uff5c>{}", "<\uff5cAssistant\uff5c>", "<\uff5cend▁of▁sentence\uff5c>"),
    "gpt-oss": Chat("<|start|>user<|message|>{}<|end|>", "<|start|>assistant", "<|end|>"),
}
PLAIN = Chat("\n\nUser: {}\n", "\nAssistant: ", "")
FOREIGN = ("<|", "<\uff5c")  # what the tokens of templates begin with; DeepSeek's bar is a wide one
THOUGHTS = re.compile(r"\s*(<think>\s*(</think>\s*)?)?")  # what a template may let an answer begin with


class DiagramAgent:
    """An episode of several turns, as OpenRLHF's AgentInstanceBase plays it.

    The rewards of the turns add up to the reward of the drawing less 0.01 a turn. The feedback is written in the chat
    template that the prompt ends in, one of CHATS, or as plain text where it has none.
    """

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self._episode = TextEpisode(
            shared_client(None),
            preset=os.environ.get("CANVAS_GYM_PRESET") or None,
            max_turns=int(os.environ.get("CANVAS_GYM_MAX_TURNS") or MAX_TURNS),
            action_set="editor",
        )
        self._chat = PLAIN

    async def reset(self, states: Dict[str, Any], **_: Any) -> Dict[str, Any]:
        """Begin; the observation stays the prompt that it was."""
        task = parse_task(states.get("label"))
        if not task:
            raise ValueError('the label must name a task: an id, or {"task_id": ...} or {"task": ...} as JSON text')
        self._chat = chat_of(states["observation"])
        await asyncio.to_thread(self._episode.start, task)
        return {"observation": states["observation"]}

    async def step(self, states: Dict[str, Any], **_: Any) -> Dict[str, Any]:
        """Play an answer.

        Returns:
            `rewards` and `scores` (tensors without dimensions), `environment_feedback` with the tokens of the chat
            template, `done`, and `extra_logs` with the same keys each turn.
        """
        text = states["action_text"]
        answer = await asyncio.to_thread(self._episode.play, strip_end(text))
        feedback = "" if answer["done"] else to_next_turn(self._chat, text, self._episode.next_message(answer))
        return {
            "rewards": _to_tensor(answer["reward"]),
            "scores": _to_tensor(self._episode.drawing_reward),
            "environment_feedback": feedback,
            "done": answer["done"],
            "sampling_params": states.get("sampling_params"),
            "extra_logs": {name: _to_tensor(value) for name, value in self._episode.metrics.items()},
        }


def chat_of(prompt: str) -> Chat:
    """Tell the chat template that a prompt ends in. It is asked once: what a model writes may hold any token.

    Raises:
        ValueError: The prompt has the tokens of another template.
    """
    found = [chat for chat in CHATS.values() if chat.seam in prompt]
    if found:
        chat = max(found, key=lambda each: prompt.rfind(each.seam))
        begun = prompt[prompt.rfind(chat.seam) + len(chat.seam) :]
        return chat._replace(assistant=chat.assistant.strip() + begun) if THOUGHTS.fullmatch(begun) else chat
    if any(token in prompt for token in FOREIGN):
        raise ValueError(
            f"the prompt is in a chat template that is not known; turns can be written in {', '.join(CHATS)}. "
            "Use one of these (--data.apply_chat_template with the tokenizer's chat_template set), or a single turn"
        )
    return PLAIN


def to_next_turn(chat: Chat, answer: str, feedback: str) -> str:
    r"""Write what follows an answer: its end where it is missing, the user's turn, the beginning of the next answer.

    >>> to_next_turn(CHATS["ChatML (Qwen)"], "{}<|im_end|>", "Look.")
    '\n<|im_start|>user\nLook.<|im_end|>\n<|im_start|>assistant\n'
    """
    end = "" if answer.rstrip().endswith(ENDS) else chat.end
    return end + chat.user.replace("{}", feedback) + chat.assistant


ENDS = (
    *dict.fromkeys(chat.end for chat in CHATS.values()),
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eom_id|>",
    "<eos>",
)


def strip_end(answer: str) -> str:
    """Take the tokens off that end an answer.

    >>> strip_end("{}<|im_end|>")
    '{}'
    """
    stripped = answer.rstrip()
    end = next((each for each in ENDS if stripped.endswith(each)), None)
    return answer if end is None else stripped[: -len(end)].rstrip()


def _to_tensor(value: Any) -> Any:
    """Make a tensor, which is all that OpenRLHF takes; where there is no torch, the number or list itself."""
    try:
        import torch  # noqa: PLC0415 -- what OpenRLHF brings, and tests without it do not have
    except ImportError:
        return value
    return torch.tensor(value, dtype=torch.float32)
