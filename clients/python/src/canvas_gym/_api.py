"""The server's routes as methods, and what they take and answer as types.

Made from the OpenAPI document by test/tools/python-api.ts; a test keeps the two in step. Do not edit.
"""

from __future__ import annotations

from types import TracebackType
from typing import (
    Any,
    Dict,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypedDict,
    TypeVar,
    Union,
    cast,
)

__all__ = [
    "INSTRUCTIONS",
    "OPERATIONS",
    "Action",
    "ActionError",
    "ActionSet",
    "Api",
    "Arrow",
    "Canvas",
    "CanvasSize",
    "Components",
    "Connect",
    "CreateShape",
    "DeleteShape",
    "Direction",
    "Disconnect",
    "Done",
    "Expectation",
    "ExpectedEdge",
    "ExpectedNode",
    "Family",
    "HealthResponse",
    "HeldOut",
    "Info",
    "InlineTask",
    "Level",
    "Lint",
    "MetadataResponse",
    "MoveShape",
    "Observation",
    "OpenApiResponse",
    "Operation",
    "ParseInfo",
    "Preset",
    "PresetRef",
    "PublicTask",
    "Reason",
    "RejectedAction",
    "RenderFormat",
    "ResetResponse",
    "ResizeShape",
    "RewardResponse",
    "RootResponse",
    "RootResponseRoutes",
    "SchemaResponse",
    "ScoreResponse",
    "Select",
    "SetText",
    "Shape",
    "Split",
    "State",
    "StepResponse",
    "StopReason",
    "TaskFacts",
    "TasksResponse",
    "ToolsResponse",
    "ToolsResponseOpenai",
    "ToolsResponseOpenaiFunction",
    "ToolsResponseTerminalTool",
    "ToolsResponseTools",
]
# How a model is told to answer.
INSTRUCTIONS = (
    "You draw diagrams on a canvas. Answer with one JSON object and nothing else:\n"
    '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "Client"}, {"type": "create_shape", "id": "b", "shape": "rectangle", "x": 360, "y": 80, "w": 160, "h": 80, "text": "Server"}, {"type": "connect", "from": "a", "to": "b", "text": "request"}]}\n'
    'create_shape: "id" is new, "shape" is one of "rectangle", "ellipse", "diamond", "text", "x" and "y" are its top left corner in pixels (x grows to the right, y downwards), "w" and "h" are at most 1000.\n'
    'connect: an arrow from the shape "from" to the shape "to"; both exist already. "text" is the label, and may be left out.\n'
    "Shapes do not overlap, lie within the canvas, and have room for their labels."
)

Split = Literal[
    "train",
    "val",
    "test_iid",
    "test_vocab",
    "test_template",
    "test_family",
    "test_level",
    "test_real",
    "test_adversarial",
]

Family = Literal[
    "architecture",
    "flowchart",
    "pipeline",
    "org_tree",
    "state_machine",
    "er",
    "network",
    "cycle",
    "timeline",
    "comparison",
]

Level = Literal[1, 2, 3, 4, 5]


class _ExpectedNode(TypedDict):
    # At most 200 characters
    id: str
    # At most 500 characters
    label: str


class ExpectedNode(_ExpectedNode, total=False):
    # Other labels that count as equal; at most 20 items, each at most 500 characters
    aliases: List[str]
    # Only where the task asks for one
    shape: Literal["rectangle", "ellipse", "diamond", "text"]


_ExpectedEdge = TypedDict(
    "_ExpectedEdge",
    {
        # Node id; at most 200 characters
        "from": str,
        # Node id; at most 200 characters
        "to": str,
    },
)


class ExpectedEdge(_ExpectedEdge, total=False):
    # At most 500 characters
    label: str
    # Default true
    directed: bool


class Expectation(TypedDict):
    # Labels and aliases of an inline task hold at most 20000 characters together; at most 200 items
    nodes: List[ExpectedNode]
    # At most 1000 items
    edges: List[ExpectedEdge]


class CanvasSize(TypedDict):
    # Over 0 and at most 100000
    w: float
    # Over 0 and at most 100000
    h: float


Direction = Literal["right", "left", "down", "up"]


class _InlineTask(TypedDict):
    # At most 32768 characters
    prompt: str


class InlineTask(_InlineTask, total=False):
    expect: Expectation
    # Default 1200 x 800
    canvas: CanvasSize
    direction: Direction
    # Labels of extra shapes that cost nothing; at most 100 items, each at most 500 characters
    allowed_extras: List[str]


Preset = Literal["weak", "article", "stronger", "graded"]

ActionSet = Literal["core", "editor"]


class Shape(TypedDict):
    id: str
    shape: Literal["rectangle", "ellipse", "diamond", "text"]
    # Left edge, canvas pixels
    x: float
    # Top edge, canvas pixels
    y: float
    # Width, canvas pixels; over 0
    w: float
    # Height, canvas pixels; over 0
    h: float
    # Label, "" for none
    text: str


Arrow = TypedDict(
    "Arrow",
    {
        # Id of the shape it starts at
        "from": str,
        # Id of the shape it ends at
        "to": str,
        # Label, "" for none
        "text": str,
    },
)


class Canvas(TypedDict):
    # At most 1000 items
    shapes: List[Shape]
    # At most 1000 items
    arrows: List[Arrow]


class _ActionError(TypedDict):
    # Stable code, for programs
    code: str
    # Text for the model
    message: str


class ActionError(_ActionError, total=False):
    # Position in the list of actions; at least 0
    index: int


class _Lint(TypedDict):
    code: str
    message: str


class Lint(_Lint, total=False):
    # Id of the shape it is about
    shape: str


Components = Dict[str, float]


class Observation(TypedDict):
    prompt: str
    # null for an inline task
    task_id: Optional[str]
    # Turns taken so far; at least 0
    turn: int
    # At least 1
    max_turns: int
    # Drawing area, canvas pixels
    canvas_size: CanvasSize
    canvas: Canvas
    # Ids of the selected shapes
    selected: List[str]
    # Faults of the last action
    errors: List[ActionError]
    # At least 0
    applied: int
    # At least 0
    rejected: int
    lints: List[Lint]
    # Components of the canvas so far; empty before the first turn
    reward_components: Components
    # Sum of the rewards of this episode so far
    total_reward: float


class TaskFacts(TypedDict):
    task_id: str
    split: Split
    family: Family
    level: Level
    # Seed of the task itself, a 64-bit decimal string
    seed: str


class PresetRef(TypedDict):
    name: Literal["weak", "article", "stronger", "graded"]
    version: int


class ParseInfo(TypedDict):
    # How the JSON was found in the text
    outcome: Literal["strict", "extracted", "repaired", "none"]
    # Complete JSON objects in the text; the last with actions counts; at least 0
    candidates: int
    # The text ends inside the JSON, or finish_reason was length
    truncated: bool
    # A key occurs twice in one object; the last one counts
    duplicate_keys: bool


class Reason(TypedDict):
    # Name of the component that lost points
    component: str
    # Stable code, for programs
    code: str
    # What to change
    message: str
    # Reward lost to it, estimated with everything else kept; 0 to 1
    lost: float


class _CreateShape(TypedDict):
    type: Literal["create_shape"]
    # Shape id: any non-empty string, case-sensitive
    id: str
    # Kind of shape: rectangle, ellipse, diamond, or text (a label without an outline)
    shape: Literal["rectangle", "ellipse", "diamond", "text"]
    # Canvas pixels; x grows to the right, y grows downwards
    x: float
    # Canvas pixels; x grows to the right, y grows downwards
    y: float
    # Canvas pixels, over 0 and at most 1000
    w: float
    # Canvas pixels, over 0 and at most 1000
    h: float


class CreateShape(_CreateShape, total=False):
    # Label text
    text: str


_Connect = TypedDict(
    "_Connect",
    {
        "type": Literal["connect"],
        # Shape id: any non-empty string, case-sensitive
        "from": str,
        # Shape id: any non-empty string, case-sensitive
        "to": str,
    },
)


class Connect(_Connect, total=False):
    # Label text
    text: str


class MoveShape(TypedDict):
    type: Literal["move_shape"]
    # Shape id: any non-empty string, case-sensitive
    id: str
    # Canvas pixels; x grows to the right, y grows downwards
    x: float
    # Canvas pixels; x grows to the right, y grows downwards
    y: float


class ResizeShape(TypedDict):
    type: Literal["resize_shape"]
    # Shape id: any non-empty string, case-sensitive
    id: str
    # Canvas pixels, over 0 and at most 1000
    w: float
    # Canvas pixels, over 0 and at most 1000
    h: float


class SetText(TypedDict):
    type: Literal["set_text"]
    # Shape id: any non-empty string, case-sensitive
    id: str
    # Label text
    text: str


class DeleteShape(TypedDict):
    type: Literal["delete_shape"]
    # Shape id: any non-empty string, case-sensitive
    id: str


Disconnect = TypedDict(
    "Disconnect",
    {
        "type": Literal["disconnect"],
        # Shape id: any non-empty string, case-sensitive
        "from": str,
        # Shape id: any non-empty string, case-sensitive
        "to": str,
    },
)


class Select(TypedDict):
    type: Literal["select"]
    # Ids of the shapes; an empty list selects none
    ids: List[str]


class Done(TypedDict):
    type: Literal["done"]


Action = Union[CreateShape, Connect, MoveShape, ResizeShape, SetText, DeleteShape, Disconnect, Select, Done]


class RejectedAction(TypedDict):
    # At least 0
    index: int
    # As the model sent it
    action: Dict[str, Any]
    error: ActionError


class Info(TypedDict):
    # Seed that chose the task; null where the request named the task
    seed: Optional[str]
    episode_id: Optional[str]
    # null for an inline task
    task: Optional[TaskFacts]
    suite_version: int
    preset: PresetRef
    # null before the first turn
    expectation: Optional[Literal["task", "none"]]
    # How the action was read; null before the first turn
    parse: Optional[ParseInfo]
    reasons: List[Reason]
    # Actions that changed the canvas
    applied: List[Action]
    rejected: List[RejectedAction]


StopReason = Literal["submitted", "max_steps", "max_tokens", "invalid_action", "timeout", "error"]


class _State(TypedDict):
    version: Literal[1]
    # Version of the task suite the episode began with
    suite_version: int
    # Version of the reward preset the episode began with
    reward_version: int
    reward: Preset
    action_set: ActionSet
    # At least 1
    max_turns: int
    # At least 0
    turn: int
    canvas: Canvas
    # At most 1000 items
    selected: List[str]
    # R after the last turn, less what its faults cost; the next reward is measured against it; 0 to 1
    value: float
    # R less 0.01 for each of at most 1000 turns; -11 to 1
    total_reward: float


class State(_State, total=False):
    task_id: str
    task: InlineTask
    episode_id: str
    # The seed given to reset, as a decimal string
    seed: str
    # Present once the episode has ended
    stop_reason: StopReason
    # HMAC-SHA256 over all other fields with sorted keys, hexadecimal
    sig: str


class ResetResponse(TypedDict):
    observation: Observation
    reward: None
    terminated: bool
    truncated: bool
    done: bool
    info: Info
    state: State


class StepResponse(TypedDict):
    observation: Observation
    # R of the canvas; in an episode of several turns, its change less 0.01 a turn
    reward: float
    # The task's own end was reached
    terminated: bool
    # An outside limit ended the episode
    truncated: bool
    # terminated or truncated
    done: bool
    stop_reason: Optional[StopReason]
    info: Info
    state: State


class HeldOut(TypedDict):
    # Do the arrows lead where they should: F1 over reachable pairs of nodes; 0 to 1
    path_f1: float
    # 1 less the share of the expected graph to be corrected; 0 to 1
    graph_edit_similarity: float
    # The reward after the labels of task and drawing are renamed; 0 to 1
    renamed_reward: float


class _RewardResponse(TypedDict):
    # 0 to 1
    reward: float
    preset: PresetRef
    components: Components
    reasons: List[Reason]
    errors: List[ActionError]
    # Actions that changed the canvas; at least 0
    applied: int
    # Actions that were refused; at least 0
    rejected: int
    expectation: Literal["task", "none"]
    parse: ParseInfo


class RewardResponse(_RewardResponse, total=False):
    # Where asked for; null where the task has no expectation
    held_out: Optional[HeldOut]


class _ScoreResponse(TypedDict):
    # null where the server failed: drop the item or retry; each 0 to 1
    rewards: List[Optional[float]]
    preset: PresetRef
    components: List[Components]
    errors: List[List[ActionError]]


class ScoreResponse(_ScoreResponse, total=False):
    # Where asked for, in order; null where the task has no expectation, or the server failed
    held_out: List[Optional[HeldOut]]


RenderFormat = Literal["svg", "png", "tldraw", "excalidraw", "mermaid"]


class _PublicTask(TypedDict):
    task_id: str
    suite_version: int
    split: Split
    family: Family
    level: Level
    # 64-bit seed as a decimal string
    seed: str
    prompt: str
    canvas: CanvasSize


class PublicTask(_PublicTask, total=False):
    direction: Direction
    # Where a real diagram comes from
    provenance: str


class TasksResponse(TypedDict):
    tasks: List[PublicTask]
    # How many there are without limit and offset; at least 0
    total: int
    limit: int
    offset: int


class ToolsResponseTools(TypedDict):
    name: str
    description: str
    # JSON Schema, draft 2020-12
    input_schema: Dict[str, Any]


class ToolsResponseOpenaiFunction(TypedDict):
    name: str
    description: str
    # JSON Schema, draft 2020-12
    parameters: Dict[str, Any]


class ToolsResponseOpenai(TypedDict):
    type: Literal["function"]
    function: ToolsResponseOpenaiFunction


class ToolsResponseTerminalTool(TypedDict):
    """For ORS harnesses: the tool that takes an answer without a tool call, in the argument `arg`."""

    name: str
    arg: str
    description: str


class ToolsResponse(TypedDict):
    # As Anthropic and ORS clients take them
    tools: List[ToolsResponseTools]
    # The same, as `tools` of an OpenAI-style chat completion
    openai: List[ToolsResponseOpenai]
    # For ORS harnesses: the tool that takes an answer without a tool call, in the argument `arg`
    terminal_tool: ToolsResponseTerminalTool
    # For ORS harnesses: every drawing has a reward of its own
    supports_score_group: Literal[False]
    # For ORS harnesses: what blocks of messages hold
    message_block_types: List[Literal["text"]]


class SchemaResponse(TypedDict):
    # JSON Schema, draft 2020-12
    action: Dict[str, Any]
    # JSON Schema, draft 2020-12
    observation: Dict[str, Any]
    # JSON Schema, draft 2020-12
    state: Dict[str, Any]


class MetadataResponse(TypedDict):
    name: str
    description: str
    version: str
    readme_content: None
    author: None
    documentation_url: Optional[str]
    suite_version: int
    presets: List[PresetRef]
    default_preset: Literal["weak", "article", "stronger", "graded"]
    # What to tell a model that knows nothing of this environment, as a system message
    instructions: str
    # Whether state carries a signature, so that a changed one is refused
    signed_states: bool


class HealthResponse(TypedDict):
    status: Literal["healthy"]
    version: str


class OpenApiResponse(TypedDict):
    openapi: str
    info: Dict[str, Any]
    paths: Dict[str, Any]


class RootResponseRoutes(TypedDict):
    method: str
    path: str
    summary: str


class RootResponse(TypedDict):
    name: str
    version: str
    docs: str
    openapi: str
    routes: List[RootResponseRoutes]


class Operation(NamedTuple):
    """A route: where it is, where its fields go, and what it answers."""

    method: str
    path: str
    path_fields: Tuple[str, ...]
    query_fields: Tuple[str, ...]
    body_fields: Tuple[str, ...]
    required_fields: Tuple[str, ...]
    answer: Literal["json", "text", "bytes"]
    accept: str


OPERATIONS: Dict[str, Operation] = {
    "reset": Operation(
        method="POST",
        path="/reset",
        path_fields=(),
        query_fields=(),
        body_fields=(
            "seed",
            "task_id",
            "split",
            "family",
            "level",
            "index",
            "task",
            "prompt",
            "reward",
            "action_set",
            "max_turns",
            "episode_id",
        ),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "step": Operation(
        method="POST",
        path="/step",
        path_fields=(),
        query_fields=(),
        body_fields=(
            "state",
            "action",
            "task_id",
            "task",
            "prompt",
            "reward",
            "action_set",
            "finish_reason",
            "request_id",
            "timeout_s",
        ),
        required_fields=("action",),
        answer="json",
        accept="application/json",
    ),
    "reward": Operation(
        method="POST",
        path="/reward",
        path_fields=(),
        query_fields=(),
        body_fields=("prompt", "task_id", "task", "completion", "reward", "action_set", "finish_reason", "held_out"),
        required_fields=("completion",),
        answer="json",
        accept="application/json",
    ),
    "score": Operation(
        method="POST",
        path="/score",
        path_fields=(),
        query_fields=(),
        body_fields=("prompts", "completions", "context", "reward", "action_set", "held_out"),
        required_fields=("completions",),
        answer="json",
        accept="application/json",
    ),
    "render": Operation(
        method="POST",
        path="/render",
        path_fields=(),
        query_fields=(),
        body_fields=("state", "canvas", "actions", "completion", "format", "canvas_size"),
        required_fields=(),
        answer="bytes",
        accept="*/*",
    ),
    "tasks": Operation(
        method="GET",
        path="/tasks",
        path_fields=(),
        query_fields=("split", "family", "level", "limit", "offset"),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "task": Operation(
        method="GET",
        path="/tasks/{task_id}",
        path_fields=("task_id",),
        query_fields=(),
        body_fields=(),
        required_fields=("task_id",),
        answer="json",
        accept="application/json",
    ),
    "tools": Operation(
        method="GET",
        path="/tools",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "schema": Operation(
        method="GET",
        path="/schema",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "metadata": Operation(
        method="GET",
        path="/metadata",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "health": Operation(
        method="GET",
        path="/health",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "openapi": Operation(
        method="GET",
        path="/openapi.json",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
    "docs": Operation(
        method="GET",
        path="/docs",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="text",
        accept="*/*",
    ),
    "metrics": Operation(
        method="GET",
        path="/metrics",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="text",
        accept="*/*",
    ),
    "root": Operation(
        method="GET",
        path="/",
        path_fields=(),
        query_fields=(),
        body_fields=(),
        required_fields=(),
        answer="json",
        accept="application/json",
    ),
}


_Self = TypeVar("_Self", bound="Api")


class Api:
    """A method for each route; a field that is None is not sent, unless it must be."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections; the client may be used again."""
        raise NotImplementedError

    def _call(self, operation: Operation, fields: Mapping[str, Any]) -> Any:
        """Send a request and return what was answered."""
        raise NotImplementedError

    def reset(
        self,
        *,
        seed: Optional[Union[int, str]] = None,
        task_id: Optional[str] = None,
        split: Optional[Split] = None,
        family: Optional[Family] = None,
        level: Optional[Level] = None,
        index: Optional[int] = None,
        task: Optional[InlineTask] = None,
        prompt: Optional[str] = None,
        reward: Optional[Preset] = None,
        action_set: Optional[ActionSet] = None,
        max_turns: Optional[int] = None,
        episode_id: Optional[str] = None,
    ) -> ResetResponse:
        """Begin an episode.

        Everything is optional: without a task, `seed` draws one from the suite (filtered by split, family, level,
        index), and without a seed the server picks one and reports it in `info.seed`. Hand `state` back with the next
        action.

        Args:
            seed: Draws the task: an integer up to 2^53 - 1, or a string of digits up to 2^64 - 1 (no leading zeros).
            task_id: A task of the suite, e.g. train.pipeline.1.42; at most 200 characters.
            split: Split of the suite; one of train, val, test_iid, test_vocab, test_template, test_family, test_level,
                test_real, test_adversarial.
            family: Family of tasks; one of architecture, flowchart, pipeline, org_tree, state_machine, er, network,
                cycle, timeline, comparison.
            level: Difficulty; one of 1, 2, 3, 4, 5.
            index: Position in split, family and level; at least 0.
            task: A task that is not of the suite, and what it expects.
            prompt: A free prompt, without an expected answer; at most 32768 characters.
            reward: Reward preset, default graded; one of weak, article, stronger, graded.
            action_set: Which actions there are, default core; one of core, editor.
            max_turns: Turns of the episode, default 1; 1 to 1000.
            episode_id: Handed back in state and info; means nothing to the server; at most 255 characters.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "seed": seed,
            "task_id": task_id,
            "split": split,
            "family": family,
            "level": level,
            "index": index,
            "task": task,
            "prompt": prompt,
            "reward": reward,
            "action_set": action_set,
            "max_turns": max_turns,
            "episode_id": episode_id,
        }
        return cast("ResetResponse", self._call(OPERATIONS["reset"], fields))

    def step(
        self,
        *,
        action: Any,
        state: Optional[State] = None,
        task_id: Optional[str] = None,
        task: Optional[InlineTask] = None,
        prompt: Optional[str] = None,
        reward: Optional[Preset] = None,
        action_set: Optional[ActionSet] = None,
        finish_reason: Optional[str] = None,
        request_id: Optional[str] = None,
        timeout_s: Optional[float] = None,
    ) -> StepResponse:
        """Take a turn.

        Send `state` as it was answered, or, for a single turn, one of `task_id`, `task`, `prompt`. Bad model output is
        graded, never refused.

        Args:
            state: What /reset or the last /step answered.
            action: Model output: a text, {actions: [...]}, a list of actions, or an assistant message of a chat
                completion, whose tool calls count, else its text. Any other value is graded as bad output, never
                refused.
            task_id: A task of the suite, e.g. train.pipeline.1.42; at most 200 characters.
            task: A task that is not of the suite, and what it expects.
            prompt: A free prompt, without an expected answer; at most 32768 characters.
            reward: Reward preset, default graded; one of weak, article, stronger, graded.
            action_set: Which actions there are, default core; one of core, editor.
            finish_reason: Why sampling stopped, as the model server says it; "length" means that the text was cut; at
                most 40 characters.
            request_id: Accepted for OpenEnv clients and ignored: equal requests get equal answers; at most 255
                characters.
            timeout_s: Accepted for OpenEnv clients and ignored: a step takes milliseconds; over 0.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "state": state,
            "action": action,
            "task_id": task_id,
            "task": task,
            "prompt": prompt,
            "reward": reward,
            "action_set": action_set,
            "finish_reason": finish_reason,
            "request_id": request_id,
            "timeout_s": timeout_s,
        }
        return cast("StepResponse", self._call(OPERATIONS["step"], fields))

    def reward(
        self,
        *,
        completion: Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]],
        prompt: Optional[Union[str, Sequence[Mapping[str, Any]]]] = None,
        task_id: Optional[str] = None,
        task: Optional[InlineTask] = None,
        reward: Optional[Preset] = None,
        action_set: Optional[ActionSet] = None,
        finish_reason: Optional[str] = None,
        held_out: Optional[bool] = None,
    ) -> RewardResponse:
        """Score one completion, with reasons.

        Give one of `prompt`, `task_id`, `task`. With `held_out` the answer also holds measures that no reward holds,
        for evaluation.

        Args:
            prompt: The task in words: a text, or chat messages (the last of the user counts).
            task_id: A task of the suite, e.g. train.pipeline.1.42; at most 200 characters.
            task: A task that is not of the suite, and what it expects.
            completion: Model output: a text, chat messages (the last of the assistant counts), or {actions: [...]}.
            reward: Reward preset, default graded; one of weak, article, stronger, graded.
            action_set: Which actions there are, default core; one of core, editor.
            finish_reason: Why sampling stopped, as the model server says it; "length" means that the text was cut; at
                most 40 characters.
            held_out: Also answer the held-out measures, which are for evaluation and not for training; default false.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "prompt": prompt,
            "task_id": task_id,
            "task": task,
            "completion": completion,
            "reward": reward,
            "action_set": action_set,
            "finish_reason": finish_reason,
            "held_out": held_out,
        }
        return cast("RewardResponse", self._call(OPERATIONS["reward"], fields))

    def score(
        self,
        *,
        completions: Sequence[Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]]],
        prompts: Optional[Sequence[Union[str, Sequence[Mapping[str, Any]]]]] = None,
        context: Optional[Mapping[str, Any]] = None,
        reward: Optional[Preset] = None,
        action_set: Optional[ActionSet] = None,
        held_out: Optional[bool] = None,
    ) -> ScoreResponse:
        """Score a batch of completions.

        Columns of equal length. An item is scored against its `context.task_id`, else its `context.task`, else its
        prompt. An empty batch gives empty lists. With `held_out` the answer also holds, for each item, measures that no
        reward holds, for evaluation.

        Args:
            prompts: The task of each completion in words: a text, or chat messages (the last of the user counts); at
                most 4096 items.
            completions: Model outputs, each a text, chat messages (the last of the assistant counts), or {actions:
                [...]}; at most 4096 items.
            context: Columns as long as completions; where a task is null its prompt is used, and finish_reason says
                which texts were cut. Other columns a trainer sends along are ignored.
            reward: Reward preset, default graded; one of weak, article, stronger, graded.
            action_set: Which actions there are, default core; one of core, editor.
            held_out: Also answer the held-out measures, which are for evaluation and not for training; default false.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "prompts": prompts,
            "completions": completions,
            "context": context,
            "reward": reward,
            "action_set": action_set,
            "held_out": held_out,
        }
        return cast("ScoreResponse", self._call(OPERATIONS["score"], fields))

    def render(
        self,
        *,
        state: Optional[State] = None,
        canvas: Optional[Canvas] = None,
        actions: Optional[Sequence[Any]] = None,
        completion: Optional[Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]]] = None,
        format: Optional[RenderFormat] = None,
        canvas_size: Optional[CanvasSize] = None,
    ) -> bytes:
        """Draw a canvas.

        Give one of `state`, `canvas`, `actions`, `completion`.

        Args:
            state: Its canvas is drawn.
            canvas: Shapes and arrows to draw.
            actions: Drawn on an empty canvas; faulty ones are left out; at most 1000 items.
            completion: Model output: a text, chat messages (the last of the assistant counts), or {actions: [...]}.
            format: What the drawing is answered as, default svg; one of svg, png, tldraw, excalidraw, mermaid.
            canvas_size: Drawing area, default 1200 x 800, or that of the task in state.

        Returns:
            image/svg+xml, image/png, application/json, text/plain.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "state": state,
            "canvas": canvas,
            "actions": actions,
            "completion": completion,
            "format": format,
            "canvas_size": canvas_size,
        }
        return cast("bytes", self._call(OPERATIONS["render"], fields))

    def tasks(
        self,
        *,
        split: Optional[Split] = None,
        family: Optional[Family] = None,
        level: Optional[Level] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> TasksResponse:
        """List tasks of the suite.

        Args:
            split: Split of the suite; one of train, val, test_iid, test_vocab, test_template, test_family, test_level,
                test_real, test_adversarial.
            family: Family of tasks; one of architecture, flowchart, pipeline, org_tree, state_machine, er, network,
                cycle, timeline, comparison.
            level: Difficulty; one of 1, 2, 3, 4, 5.
            limit: Most tasks to answer, default 50; 1 to 1000.
            offset: How many tasks to pass over first, default 0; at least 0.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "split": split,
            "family": family,
            "level": level,
            "limit": limit,
            "offset": offset,
        }
        return cast("TasksResponse", self._call(OPERATIONS["tasks"], fields))

    def task(
        self,
        *,
        task_id: str,
    ) -> PublicTask:
        """One task of the suite, without its expected answer.

        Args:
            task_id: A task of the suite, e.g. train.pipeline.1.42; at most 200 characters.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        fields: Dict[str, Any] = {
            "task_id": task_id,
        }
        return cast("PublicTask", self._call(OPERATIONS["task"], fields))

    def tools(self) -> ToolsResponse:
        """The actions as tools, for agents that call functions.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("ToolsResponse", self._call(OPERATIONS["tools"], {}))

    def schema(self) -> SchemaResponse:
        """JSON Schemas of action, observation and state.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("SchemaResponse", self._call(OPERATIONS["schema"], {}))

    def metadata(self) -> MetadataResponse:
        """Name, version and reward presets.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("MetadataResponse", self._call(OPERATIONS["metadata"], {}))

    def health(self) -> HealthResponse:
        """Whether the server takes requests.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("HealthResponse", self._call(OPERATIONS["health"], {}))

    def openapi(self) -> OpenApiResponse:
        """This API as an OpenAPI 3.1 document.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("OpenApiResponse", self._call(OPERATIONS["openapi"], {}))

    def docs(self) -> str:
        """This API as a page to read and try; works offline.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("str", self._call(OPERATIONS["docs"], {}))

    def metrics(self) -> str:
        """Counters in the Prometheus text format, of this process.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("str", self._call(OPERATIONS["metrics"], {}))

    def root(self) -> RootResponse:
        """A page for a browser, the list of routes for everything else.

        Raises:
            ResponseError: The server refuses (4xx) or failed (5xx).
            ConnectionFailed: No answer came, also after the repeats.
        """
        return cast("RootResponse", self._call(OPERATIONS["root"], {}))
