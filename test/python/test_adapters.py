"""The adapters for TRL, verl and OpenRLHF, called as those call them, against a running server and faulty ones."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import math
import os
import pickle
import re
import typing
import unittest
from functools import partial
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

from faulty_server import FaultyServer, hang_up, json_answer, refusal

import canvas_gym
from canvas_gym import CanvasGymError, Client, ConnectionFailed, ResponseError, openrlhf, verl
from canvas_gym.datasets import mixed_tasks, prompt_rows, verl_rows
from canvas_gym.trl import (
    DiagramEnvironment,
    DiagramTools,
    RewardFunction,
    environment_reward,
    graded_reward,
    reward_function,
    weak_reward,
)

URL = os.environ["CANVAS_GYM_URL"]
DEAD = "http://127.0.0.1:9"
TASK_ID = "train.pipeline.1.3"
LABELS = ["Record", "Review", "Edit Episode"]
SHAPES = [
    {"id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80, "text": label}
    for i, label in enumerate(LABELS)
]
ACTIONS = [
    *({"type": "create_shape", **shape} for shape in SHAPES),
    *({"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])),
]
SOLUTION = json.dumps({"actions": ACTIONS})
INLINE = {"prompt": "Draw a box: Cat.", "expect": {"nodes": [{"id": "a", "label": "Cat"}], "edges": []}}


def reward_of(completion: str, **task: Any) -> float:
    """What the environment itself gives."""
    return Client(URL).reward(completion=completion, **(task or {"task_id": TASK_ID}))["reward"]


class TrlRewards(unittest.TestCase):
    """Reward functions, called as TRL calls them: all by keyword, with every column of the data set."""

    def call(self, function: Any, completions: List[Any], **columns: Any) -> Any:
        prompts = columns.pop("prompts", ["Draw."] * len(completions))
        ids = [[1, 2]] * len(completions)
        return function(prompts=prompts, completions=completions, completion_ids=ids, trainer_state=object(), **columns)

    def test_texts_and_messages_have_the_rewards_of_the_environment(self) -> None:
        completions = [SOLUTION, "no", f"```json\n{SOLUTION}\n```"]
        expected = [reward_of(text) for text in completions]
        self.assertEqual(self.call(graded_reward, completions, task_id=[TASK_ID] * 3, level=[1] * 3), expected)
        messages = [[{"role": "assistant", "content": text}] for text in completions]
        self.assertEqual(self.call(graded_reward, messages, task_id=[TASK_ID] * 3), expected)
        self.assertGreater(expected[0], 0.9)
        self.assertLess(expected[1], 0.1)

    def test_a_conversation_with_tools_counts_by_its_last_answer(self) -> None:
        calls = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "f", "arguments": object()}}],
        }
        talk = [calls, {"role": "tool", "content": "{}"}, {"role": "assistant", "content": SOLUTION}]
        self.assertEqual(
            self.call(graded_reward, [talk, [calls], []], task_id=[TASK_ID] * 3), [reward_of(SOLUTION), 0, 0]
        )

    def test_what_is_scored_against(self) -> None:
        prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "Draw a cat"}]
        cat = json.dumps({"actions": [{**ACTIONS[0], "text": "Cat"}]})
        rewards = self.call(
            graded_reward,
            [cat, cat, cat, SOLUTION],
            prompts=[prompt, "ignored", "ignored", "Draw a cat"],
            task=[None, json.dumps(INLINE), INLINE, None],
            task_id=[None, None, None, TASK_ID],
        )
        free, inline = reward_of(cat, prompt="Draw a cat"), reward_of(cat, task=INLINE)
        self.assertEqual(rewards, [free, inline, inline, reward_of(SOLUTION)])
        self.assertEqual(len(set(rewards)), 3)

    def test_presets_and_names(self) -> None:
        self.assertEqual(self.call(weak_reward, ["{}", "x"], task_id=[TASK_ID] * 2), [1, 0])
        made = reward_function(URL, "article", name="drawing")
        self.assertEqual((graded_reward.__name__, made.__name__), ("graded_reward", "drawing"))
        self.assertEqual(
            self.call(made, [SOLUTION], task_id=[TASK_ID]),
            [Client(URL).reward(task_id=TASK_ID, completion=SOLUTION, reward="article")["reward"]],
        )
        for make in (RewardFunction, reward_function, DiagramTools):
            with self.assertRaisesRegex(ValueError, "preset must be one of .*graded, and is 'grade'"):
                make(None, "grade")
            with self.assertRaisesRegex(ValueError, "url must begin with http"):
                make("article")
            with self.assertRaises(TypeError):
                make(URL, presett="article")

    def test_the_components_are_logged(self) -> None:
        columns: Dict[str, List[Any]] = {}
        metrics: Dict[str, float] = {}
        self.call(
            graded_reward,
            [SOLUTION, "x"],
            task_id=[TASK_ID] * 2,
            log_extra=columns.__setitem__,
            log_metric=metrics.__setitem__,
        )
        self.assertEqual(columns["graded_reward/parse"], [1, 0])
        self.assertEqual(metrics["graded_reward/parse"], 0.5)
        self.assertEqual(metrics["graded_reward/unscored"], 0)
        self.assertEqual(set(columns), set(metrics) - {"graded_reward/unscored"})
        weak: Dict[str, List[Any]] = {}
        self.call(weak_reward, [SOLUTION], task_id=[TASK_ID], log_extra=weak.__setitem__)
        self.assertEqual([name.split("/")[0] for name in weak], ["weak_reward"] * len(weak))

    def test_an_outage_leaves_gaps_in_the_log(self) -> None:
        """TRL keeps the last columns it was given, so an outage has columns too."""
        answer = {"rewards": [0.5], "preset": {}, "components": [{"valid": 1.0}], "errors": [[]]}
        with (
            FaultyServer(json_answer(answer), hang_up, hang_up) as server,
            self.assertLogs("canvas_gym.trl", "WARNING"),
        ):
            function, columns = RewardFunction(server.url, retries=0), []
            metrics: List[str] = []
            for text in ("x", "y"):
                log = {
                    "log_extra": lambda *pair: columns.append(pair),
                    "log_metric": lambda name, _: metrics.append(name),
                }
                self.call(function, [text], **log)
        self.assertEqual(columns, [("graded_reward/valid", [1.0]), ("graded_reward/valid", [None])])
        self.assertEqual(metrics, ["graded_reward/unscored", "graded_reward/valid", "graded_reward/unscored"])

    def test_it_pickles_before_and_after_use(self) -> None:
        for function in (reward_function(URL), graded_reward):
            copy = pickle.loads(pickle.dumps(function))
            self.assertEqual(copy.__name__, function.__name__)
            self.assertEqual(
                self.call(copy, [SOLUTION], task_id=[TASK_ID]), self.call(function, [SOLUTION], task_id=[TASK_ID])
            )
            pickle.loads(pickle.dumps(function))

    def test_an_empty_and_a_large_batch(self) -> None:
        self.assertEqual(self.call(graded_reward, []), [])
        with mock.patch("canvas_gym.trl.MAX_ITEMS", 3), mock.patch("canvas_gym.trl.MAX_BYTES", 2 * len(SOLUTION)):
            completions = ["no", SOLUTION] * 4
            expected = [reward_of(text) for text in completions]
            self.assertEqual(self.call(graded_reward, completions, task_id=[TASK_ID] * 8), expected)

    def test_large_tasks_and_many_of_them(self) -> None:
        """36 MB, where a request may have 32 MiB: what makes a batch large is the tasks here."""
        task = {"prompt": "Draw a box: Cat. " + "x" * 24_000, "expect": INLINE["expect"]}
        rewards = self.call(weak_reward, [SOLUTION] * 1500, task=[task] * 1500)
        self.assertEqual(rewards, [1.0] * 1500)

    def test_an_outage_is_none_and_never_zero(self) -> None:
        for function in (reward_function(DEAD, retries=0), reward_function([DEAD, DEAD], retries=0)):
            with self.assertLogs("canvas_gym.trl", "WARNING"):
                self.assertEqual(self.call(function, ["x", "y"]), [None, None])
        with FaultyServer(*[refusal(503, "internal")] * 2) as server, self.assertLogs("canvas_gym.trl", "WARNING"):
            self.assertEqual(self.call(reward_function(server.url, retries=1), ["x"]), [None])
            self.assertEqual(len(server.requests), 2)
        with self.assertRaises(ConnectionFailed):
            self.call(reward_function(DEAD, retries=0, on_outage="raise"), ["x"])
        with self.assertRaises(ValueError):
            reward_function(DEAD, on_outage="zero")

    def test_items_that_could_not_be_scored_are_none(self) -> None:
        components = [{"valid": 1.0}, {"valid": 0.0}]
        answer = {"rewards": [0.5, None], "preset": {}, "components": components, "errors": [[], []]}
        metrics: Dict[str, float] = {}
        with FaultyServer(json_answer(answer), json_answer(answer)) as server:
            function = reward_function(server.url)
            self.assertEqual(self.call(function, ["x", "y"], log_metric=metrics.__setitem__), [0.5, None])
            self.assertEqual(metrics, {"graded_reward/unscored": 0.5, "graded_reward/valid": 1.0})
            with self.assertRaises(CanvasGymError):
                self.call(reward_function(server.url, on_outage="raise"), ["x", "y"])

    def test_what_is_no_number_is_an_error(self) -> None:
        """A trainer would train on it."""
        good = {"rewards": [0.5, None], "preset": {}, "components": [{"valid": 1.0}, {}], "errors": [[], []]}
        for bad in (
            {"rewards": [True, None]},
            {"rewards": [0.5]},
            {"rewards": [float("nan"), None]},
            {"components": [{"valid": 1.0}]},
            {"components": [{"valid": True}, {}]},
            {"components": [{"valid": None}, {}]},
        ):
            with FaultyServer(json_answer({**good, **bad})) as server, self.assertRaises(CanvasGymError):
                self.call(RewardFunction(server.url, retries=0), ["x", "y"])

    def test_wrong_columns_are_a_fault_of_the_caller(self) -> None:
        with self.assertRaises(ResponseError) as raised:
            self.call(graded_reward, ["x"], task_id=["nowhere.1"])
        self.assertEqual(raised.exception.code, "unknown_task")
        with self.assertRaisesRegex(TypeError, "task_id must be a list"):
            self.call(graded_reward, ["x"], task_id=TASK_ID)
        with self.assertRaisesRegex(ValueError, "task_id must be as long as the completions, 2"):
            self.call(graded_reward, ["x", "y"], task_id=[TASK_ID])


class TrlEnvironment(unittest.TestCase):
    """The class for environment_factory: made without arguments, reset with rows, its methods the server's tools."""

    def test_its_methods_are_the_tools_of_the_server(self) -> None:
        found = inspect.getmembers(DiagramEnvironment, predicate=inspect.isfunction)
        methods = {name: method for name, method in found if not name.startswith("_")}
        tools = {tool["name"]: tool for tool in Client(URL).tools()["tools"]}
        self.assertEqual(set(methods), {*tools, "reset", "get_reward"})
        older = {name for name, _ in inspect.getmembers(DiagramTools, inspect.isfunction) if not name.startswith("_")}
        self.assertEqual(older, {*tools, "reset"}, "TRL before 1.8 makes a tool of whatever else is public")
        for name, tool in tools.items():
            schema: Any = tool["input_schema"]
            parameters = dict(list(inspect.signature(methods[name]).parameters.items())[1:])
            self.assertEqual(list(parameters), list(schema["properties"]), name)
            required = [key for key, value in parameters.items() if value.default is inspect.Parameter.empty]
            self.assertEqual(required, schema.get("required", []), name)
            described = inspect.getdoc(methods[name]) or ""
            self.assertTrue(described.startswith(tool["description"]), name)
            documented = re.findall(r"^    (\w+): \S", described.split("Args:")[1].split("Returns:")[0], re.MULTILINE)
            self.assertEqual(documented, list(parameters), name)
            self.assertIs(typing.get_type_hints(methods[name])["return"], str)
        shape = typing.get_args(typing.get_type_hints(methods["create_shape"])["shape"])
        self.assertEqual(list(shape), tools["create_shape"]["input_schema"]["properties"]["shape"]["enum"])

    def test_an_episode_of_calls_has_the_reward_of_its_drawing(self) -> None:
        environment = DiagramEnvironment()
        row = next(prompt_rows([Client(URL).task(task_id=TASK_ID)]))
        self.assertTrue(row["prompt"][0]["content"].endswith("\nThe canvas is 1200 x 800 pixels."))
        said = environment.reset(**row)
        self.assertIn("1200 x 800", said)
        self.assertNotIn("Record", said, "the prompt has it already")
        for shape in SHAPES:
            environment.create_shape(**shape)
        self.assertIn("does not exist", environment.connect("Record", "nowhere"))
        self.assertIn("2 arrow(s)", [environment.connect(a, b) for a, b in zip(LABELS, LABELS[1:])][-1])
        self.assertIn("Reward: ", environment.submit_diagram())
        self.assertEqual(environment.get_reward(), reward_of(SOLUTION))
        self.assertIn("over", environment.delete_shape("Record"))
        self.assertEqual(environment.get_reward(), reward_of(SOLUTION))

    def test_every_tool_acts(self) -> None:
        environment = DiagramEnvironment()
        self.assertIn("Draw something.", environment.reset(task={"prompt": "Draw something."}))
        for shape in SHAPES:
            environment.create_shape(**shape)
        environment.connect("Record", "Review", "next")
        for said in (
            environment.move_shape("Record", 10, 20),
            environment.resize_shape("Record", 90, 70),
            environment.set_text("Record", "Tape"),
            environment.select(["Record"]),
            environment.delete_shape("Edit Episode"),
            environment.disconnect("Record", "Review"),
        ):
            self.assertTrue(said.startswith("The canvas holds"), said)
        canvas: Any = environment._episode.observation
        tape = {"id": "Record", "shape": "rectangle", "x": 10, "y": 20, "w": 90, "h": 70, "text": "Tape"}
        self.assertEqual(canvas["canvas"]["shapes"][0], tape)
        self.assertEqual((len(canvas["canvas"]["shapes"]), canvas["canvas"]["arrows"]), (2, []))

    def test_a_diagram_in_one_call_and_bad_ones(self) -> None:
        environment = DiagramEnvironment()
        environment.reset(task_id=TASK_ID)
        self.assertIn("Reward: ", environment.submit_diagram(ACTIONS))
        self.assertEqual(environment.get_reward(), reward_of(SOLUTION))
        for actions in ([{"type": "nope"}], [1, None], [], "text", {"a": 1}, 7):
            environment.reset(task_id=TASK_ID)
            self.assertIn("Reward: ", environment.submit_diagram(actions))
            self.assertEqual(environment.get_reward(), 0.0)

    def test_a_reset_begins_anew(self) -> None:
        environment = DiagramEnvironment()
        environment.reset(task_id=TASK_ID)
        environment.submit_diagram(ACTIONS)
        environment.reset(task_id=TASK_ID)
        self.assertEqual(environment.get_reward(), 0.0)
        self.assertIn("1 shape(s)", environment.create_shape(**SHAPES[0]))

    def test_the_task_of_a_row(self) -> None:
        prompt = [{"role": "user", "content": "Draw a dog."}]
        cases = {
            "task_id": ({"task_id": TASK_ID, "task": INLINE, "prompt": prompt, "split": "val"}, TASK_ID),
            "task as JSON": ({"task": json.dumps(INLINE), "prompt": prompt}, INLINE["prompt"]),
            "task": ({"task": INLINE, "task_id": None}, INLINE["prompt"]),
            "prompt": ({"prompt": prompt, "split": "val"}, "Draw a dog."),
            "suite": ({"prompt": [{"role": "user", "content": ""}], "seed": 3, "family": "cycle"}, "cycle"),
        }
        for name, (row, expected) in cases.items():
            environment = DiagramEnvironment()
            environment.reset(**row)
            seen: Any = environment._episode.observation
            self.assertIn(expected, (seen["task_id"] or "") + seen["prompt"], name)

    def test_a_column_means_the_same_to_every_adapter(self) -> None:
        """Cells may be empty, ids, objects, or JSON text of either; without a task the prompt is it."""
        label = f" {TASK_ID}\n"
        cells: List[Any] = [{"task_id": label}, {"task": label}, {"task": json.dumps({"task_id": TASK_ID})}]
        cells += [{"task_id": "", "task": {"task_id": TASK_ID}}, {"task_id": json.dumps({"task_id": TASK_ID})}]
        inline = [
            {"task": INLINE},
            {"task": json.dumps(INLINE)},
            {"task": {"task": json.dumps(INLINE)}, "task_id": None},
        ]
        empty = [{"task_id": "", "task": ""}, {"task_id": None, "task": None}, {"task": " "}, {}]
        cat = json.dumps({"actions": [{**ACTIONS[0], "text": "Cat"}, ACTIONS[1]]})
        wanted = [({"task_id": TASK_ID}, cells), ({"task": INLINE}, inline), ({"prompt": "Draw a dog."}, empty)]
        rewards = set()
        for task, rows in wanted:
            expected = reward_of(cat, **task)
            rewards.add(expected)
            for row in rows:
                function = RewardFunction(URL)
                columns = {name: [value] for name, value in row.items()}
                self.assertEqual(function(["Draw a dog."], [cat], **columns), [expected], row)
                environment = DiagramEnvironment(URL)
                environment.reset(**row, prompt="Draw a dog.")
                environment.submit_diagram(json.loads(cat)["actions"])
                self.assertEqual(environment.get_reward(), expected, row)
                info = {**row, "prompt": [{"role": "user", "content": "Draw a dog."}]}
                self.assertEqual(verl.compute_score_sync("d", cat, "", info, url=URL)["score"], expected, row)
        self.assertEqual(len(rewards), 3)

    def test_what_a_model_does_is_no_outage(self) -> None:
        """What no request can hold is a bad answer, with its reward, and what was said of it goes to the model."""
        deep: Any = 1
        for _ in range(70):
            deep = [deep]
        for call, said in (
            (lambda tools: tools.submit_diagram(deep), "nested"),
            (lambda tools: tools.submit_diagram([{"type": "create_shape", "id": "x" * 2**20}]), "long"),
            (lambda tools: tools.set_text("Record", "x" * 2**21), "long"),
            (lambda tools: tools.set_text("Record", "\U0001f408" * 2**19), "1 shape(s)"),
            (lambda tools: tools.move_shape("Record", float("nan"), 1), "JSON"),
            (lambda tools: tools.set_text("nobody", "\u4e2d" * 200_000), "1 shape(s)"),
        ):
            environment = DiagramEnvironment(URL, preset="weak")
            environment.reset(task_id=TASK_ID)
            environment.create_shape(**SHAPES[0])
            self.assertIn(said, call(environment))
            self.assertIsInstance(environment.get_reward(), float)
            self.assertEqual(environment._episode.metrics["turns"], 2 if not environment._episode.is_over else 3)

    def test_a_drawing_that_fills_a_request_leaves_room_for_an_answer(self) -> None:
        environment = DiagramEnvironment(URL)
        environment.reset(task_id=TASK_ID)
        for i in range(60):
            environment.create_shape(**{**SHAPES[0], "id": str(i), "text": "\u4e2d" * 9_900})
        self.assertIn("The canvas holds", environment.set_text("1", "\u4e2d" * 250_000))
        self.assertIn("Reward: ", environment.submit_diagram())
        self.assertIsInstance(environment.get_reward(), float)

    def test_rollouts_share_connections(self) -> None:
        one, other = DiagramEnvironment(URL), DiagramEnvironment([URL])
        self.assertIs(one._episode._client, other._episode._client)
        self.assertIsNot(one._episode._client, DiagramEnvironment(URL, retries=1)._episode._client)

    def test_with_arguments(self) -> None:
        article = partial(DiagramEnvironment, URL, preset="article", max_calls=2)()
        article.reset(task_id=TASK_ID)
        article.create_shape(**SHAPES[0])
        article.create_shape(**SHAPES[1])
        self.assertIn("over", article.select([]))
        self.assertIsInstance(article.get_reward(), float)

    def test_older_versions_take_the_rewards_from_a_function(self) -> None:
        environments = [DiagramTools(), DiagramTools(), DiagramTools(DEAD, retries=0)]
        for environment in environments[:2]:
            environment.reset(task_id=TASK_ID)
        environments[0].submit_diagram(ACTIONS)
        with self.assertLogs("canvas_gym.trl", "WARNING"):
            environments[2].reset(task_id=TASK_ID)
        rewards = environment_reward(prompts=[], completions=[], environments=environments, trainer_state=None)
        self.assertEqual(rewards, [reward_of(SOLUTION), 0.0, None])

    def test_a_failing_server_leaves_no_reward(self) -> None:
        lost = DiagramEnvironment(DEAD, retries=0)
        with self.assertLogs("canvas_gym.trl", "WARNING"):
            self.assertEqual(lost.reset(task_id=TASK_ID), "")
        self.assertIsNone(lost.get_reward())
        with self.assertRaises(CanvasGymError):
            lost.submit_diagram()
        started = json_answer(Client(URL).reset(task_id=TASK_ID, max_turns=9))
        with FaultyServer(started, hang_up, hang_up) as server:
            cut = DiagramEnvironment(server.url, retries=0)
            cut.reset(task_id=TASK_ID)
            self.assertEqual(cut.get_reward(), 0.0)
            with self.assertRaises(ConnectionFailed):
                cut.select([])
            self.assertIsNone(cut.get_reward())
        with self.assertRaises(ResponseError):
            DiagramEnvironment().reset(task_id="nowhere.1")


def load_by_path(module: str) -> Any:
    """Load a module as a trainer does that is given a file."""
    path = Path(canvas_gym.__file__).with_name(f"{module}.py")
    spec = importlib.util.spec_from_file_location("custom_module", path)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Verl(unittest.TestCase):
    """compute_score as the reward managers call it, and the interaction as the agent loop does."""

    def setUp(self) -> None:
        self.row = next(verl_rows([Client(URL).task(task_id=TASK_ID)]))

    def arguments(self, text: str) -> Dict[str, Any]:
        extra = {**self.row["extra_info"], "num_turns": 2, "rollout_reward_scores": {}}
        truth = self.row["reward_model"]["ground_truth"]
        return {
            "data_source": self.row["data_source"],
            "solution_str": text,
            "ground_truth": truth,
            "extra_info": extra,
        }

    def test_the_score_is_the_reward_and_the_keys_never_differ(self) -> None:
        module = load_by_path("verl")
        self.assertTrue(inspect.iscoroutinefunction(module.compute_score))
        good = asyncio.run(module.compute_score(**self.arguments(SOLUTION), url=URL, reward_router_address="x"))
        bad = module.compute_score_sync(**self.arguments("no"))
        self.assertEqual((good["score"], bad["score"]), (reward_of(SOLUTION), 0.0))
        self.assertEqual(list(good), list(bad))
        self.assertTrue(all(type(value) is float for value in [*good.values(), *bad.values()]))

    def test_a_batch(self) -> None:
        texts = [SOLUTION, "no", SOLUTION, '{"actions": [1]}']
        truths = [TASK_ID, json.dumps({"task_id": TASK_ID}), json.dumps({"task": INLINE}), ""]
        infos = [{}, None, {}, {"prompt": [{"role": "user", "content": "Draw a cat"}]}]
        batch: Any = verl.compute_score_batch(
            data_sources=["d"] * 4, solution_strs=texts, ground_truths=truths, extra_infos=infos, preset="article"
        )
        client = Client(URL)
        tasks: List[Any] = [{"task_id": TASK_ID}, {"task_id": TASK_ID}, {"task": INLINE}, {"prompt": "Draw a cat"}]
        expected = [client.reward(completion=text, reward="article", **task) for text, task in zip(texts, tasks)]
        self.assertEqual([item["score"] for item in batch], [item["reward"] for item in expected])
        self.assertEqual(set(batch[0]), {"score", *expected[0]["components"]})
        self.assertEqual(verl.compute_score_batch([], [], [], []), [])
        with mock.patch("canvas_gym._remote.MAX_ITEMS", 3):
            again = verl.compute_score_batch(["d"] * 4, texts, truths, infos, preset="article")
        self.assertEqual(again, batch)

    def test_a_failure_is_an_exception_and_never_a_score(self) -> None:
        with mock.patch("canvas_gym._remote.RETRIES", 0):
            with self.assertRaises(ConnectionFailed):
                asyncio.run(verl.compute_score(**self.arguments("x"), url=DEAD))
            with FaultyServer(refusal(503, "internal")) as server, self.assertRaises(ResponseError):
                verl.compute_score_sync(**self.arguments("x"), url=server.url)
        with self.assertRaises(ResponseError) as raised:
            verl.compute_score_sync("d", "x", "nowhere.1")
        self.assertEqual(raised.exception.code, "unknown_task")

    def test_an_interaction_of_two_turns(self) -> None:
        async def play() -> None:
            interaction = verl.DiagramInteraction({"name": "diagram", "url": URL})
            kwargs = self.row["extra_info"]["interaction_kwargs"]
            self.assertEqual(await interaction.start_interaction("request-1", **kwargs), "request-1")
            talk = [*self.row["prompt"], {"role": "assistant", "content": json.dumps({"actions": ACTIONS[:3]})}]
            over, said, first, metrics = await interaction.generate_response("request-1", talk, **kwargs)
            self.assertFalse(over)
            self.assertEqual(await interaction.calculate_score("request-1"), first)
            self.assertIn('rectangle Record at 120,360 size 200x80 "Record"', said)
            talk += [{"role": "user", "content": said}]
            talk += [{"role": "assistant", "content": json.dumps({"actions": [*ACTIONS[3:], {"type": "done"}]})}]
            over, _, second, last = await interaction.generate_response("request-1", talk, **kwargs)
            self.assertTrue(over)
            self.assertAlmostEqual(first + second, reward_of(SOLUTION) - 0.02)
            self.assertEqual((list(metrics), last["turns"]), (list(last), 2))
            self.assertEqual(len(interaction._episodes), 0, "verl 0.7 does not say that it is over")
            await interaction.finalize_interaction("request-1")

        asyncio.run(play())

    def test_turns_are_rewarded_by_what_they_were_worth(self) -> None:
        """What verl trains on is what compute_score makes of the whole conversation, in which feedback has JSON too."""

        async def play() -> Any:
            interaction = verl.DiagramInteraction({"name": "diagram", "url": URL})
            kwargs = self.row["extra_info"]["interaction_kwargs"]
            await interaction.start_interaction("request-1", **kwargs)
            talk, written, scores = list(self.row["prompt"]), "", []
            for actions in (ACTIONS[:3], [*ACTIONS[3:], {"type": "done"}]):
                talk.append({"role": "assistant", "content": json.dumps({"actions": actions})})
                _, said, score, _ = await interaction.generate_response("request-1", talk, **kwargs)
                talk.append({"role": "user", "content": said})
                written += f"{talk[-2]['content']}\nuser\n{said}\nassistant\n"
                scores.append(score)
            return written, scores

        written, scores = asyncio.run(play())
        given = self.arguments(written)
        infos = [{"turn_scores": scores, "tool_rewards": []}]
        infos += [{"turn_scores": [], "rollout_reward_scores": {"user_turn_rewards": scores}}]
        alone = verl.compute_score_sync(**self.arguments(SOLUTION), url=URL)
        for info in infos:
            score = asyncio.run(verl.compute_score(**{**given, "extra_info": {**given["extra_info"], **info}}, url=URL))
            self.assertAlmostEqual(score["score"], reward_of(SOLUTION) - 0.02)
            self.assertEqual(set(score), set(alone))
            self.assertTrue(all(math.isnan(value) for name, value in score.items() if name != "score"))
        batch = verl.compute_score_batch(
            ["d"] * 3, [written, SOLUTION, written], [TASK_ID] * 3, [infos[0], {}, infos[1]]
        )
        self.assertEqual([item["score"] for item in batch], [sum(scores), alone["score"], sum(scores)])
        self.assertEqual(batch[1], alone)

    def test_unknown_settings_are_refused(self) -> None:
        passed_by_verl = {"reward_router_address": "http://router", "reward_model_tokenizer": object()}
        self.assertEqual(
            verl.compute_score_sync(**self.arguments("no"), url=URL, preset="article", **passed_by_verl)["score"], 0.0
        )
        for wrong in ({"reward": "article"}, {"presett": "x"}, {"max_turns": 3}):
            with self.assertRaisesRegex(TypeError, "there are url, preset, and the reward preset is named `preset`"):
                verl.compute_score_sync(**self.arguments("x"), url=URL, **wrong)
        with self.assertRaisesRegex(TypeError, "unknown settings 'reward'; there are url, preset, max_turns, name"):
            verl.DiagramInteraction({"reward": "article"})

    def test_a_batch_larger_than_a_request(self) -> None:
        """34 MB, where a request may have 32 MiB."""
        texts = ["x" * 33_000, *["x" * 33_000 + SOLUTION] * 1023]
        batch = verl.compute_score_batch(["d"] * 1024, texts, [TASK_ID] * 1024, url=URL, preset="weak")
        self.assertEqual([item["score"] for item in batch], [0.0] + [1.0] * 1023)

    def test_what_is_no_number_is_an_error(self) -> None:
        good = {"rewards": [0.5], "scores": [0.5], "extra_logs": {"valid": [1.0]}}
        for bad in (
            {"rewards": [True]},
            {"rewards": [None]},
            {"scores": [float("nan")]},
            {"scores": []},
            {"extra_logs": {"valid": [1.0, 1.0]}},
            {"extra_logs": {"valid": [False]}},
        ):
            with FaultyServer(json_answer({**good, **bad})) as server, self.assertRaises(CanvasGymError):
                verl.compute_score_sync("d", "x", TASK_ID, url=server.url)

    def test_interactions_that_never_ended_make_room(self) -> None:
        async def play() -> List[str]:
            interaction = verl.DiagramInteraction({"url": URL})
            for name in "abc":
                await interaction.start_interaction(name, task_id=TASK_ID)
            with self.assertRaises(ValueError):
                await interaction.start_interaction("d", name="diagram")
            left = list(interaction._episodes)
            await interaction.finalize_interaction("c")
            self.assertEqual(list(interaction._episodes), left[:-1])
            return left

        with mock.patch("canvas_gym.verl.MAX_EPISODES", 2):
            self.assertEqual(asyncio.run(play()), ["b", "c"])


class OpenRlhf(unittest.TestCase):
    """reward_func as SingleTurnAgentExecutor calls it, and the turns as MultiTurnAgentExecutor plays them."""

    prompt = "<|im_start|>user\nDraw.<|im_end|>\n<|im_start|>assistant\n"

    def test_rewards_by_label_and_by_prompt(self) -> None:
        module = load_by_path("openrlhf")
        queries = [f"{self.prompt}{SOLUTION}<|im_end|>", f"{self.prompt}no<|im_end|>", f"{self.prompt}{SOLUTION}"]
        labels = [TASK_ID, json.dumps({"task": INLINE}), None]
        answer = module.reward_func(queries, [self.prompt] * 3, labels)
        expected = [reward_of(SOLUTION), 0.0, reward_of(SOLUTION, prompt="Draw.")]
        self.assertEqual([float(value) for value in answer["rewards"]], expected)
        self.assertEqual([float(value) for value in answer["scores"]], expected)
        self.assertTrue(all(len(column) == 3 for column in answer["extra_logs"].values()))
        with mock.patch.dict(os.environ, {"CANVAS_GYM_PRESET": "article"}):
            self.assertEqual(
                set(module.reward_func(queries, [self.prompt] * 3, labels)["extra_logs"]),
                {"valid", "layout", "semantics"},
            )
        with mock.patch.dict(os.environ, {"CANVAS_GYM_PRESET": "", "CANVAS_GYM_MAX_TURNS": "", "CANVAS_GYM_URL": URL}):
            self.assertEqual(float(module.reward_func(queries, [self.prompt] * 3, labels)["rewards"][0]), expected[0])
            openrlhf.DiagramAgent()
        with self.assertRaisesRegex(TypeError, "labels must be a list"):
            module.reward_func(queries, [self.prompt] * 3, TASK_ID)

    def test_a_failure_is_an_exception_and_never_a_reward(self) -> None:
        with mock.patch("canvas_gym._remote.RETRIES", 0), mock.patch.dict(os.environ, {"CANVAS_GYM_URL": DEAD}):
            with self.assertRaises(ConnectionFailed):
                openrlhf.reward_func(["x"], [""], [TASK_ID])

    def test_turns_add_up_and_speak_the_chat_template(self) -> None:
        async def play() -> List[Any]:
            agent = openrlhf.DiagramAgent()
            text = (await agent.reset({"observation": self.prompt, "label": TASK_ID}))["observation"]
            self.assertEqual(text, self.prompt)
            results = []
            for actions in (ACTIONS[:3], [*ACTIONS[3:], {"type": "done"}]):
                said = json.dumps({"actions": actions}) + "<|im_end|>"
                states = {"observation_text": text, "action_text": said, "label": TASK_ID, "sampling_params": None}
                results.append(await agent.step(states))
                text += said + results[-1]["environment_feedback"]
            self.assertRegex(
                text, r"<\|im_end\|>\n<\|im_start\|>user\nThe canvas:\n(.|\n)*<\|im_end\|>\n<\|im_start\|>assistant\n"
            )
            return results

        first, last = asyncio.run(play())
        self.assertEqual((first["done"], last["done"], last["environment_feedback"]), (False, True, ""))
        self.assertAlmostEqual(float(first["rewards"]) + float(last["rewards"]), reward_of(SOLUTION) - 0.02)
        self.assertAlmostEqual(float(last["scores"]), reward_of(SOLUTION))
        self.assertEqual(list(first["extra_logs"]), list(last["extra_logs"]))

    def test_the_end_of_an_answer_in_each_template(self) -> None:
        for name, chat in openrlhf.CHATS.items():
            prompt = f"{chat.user.format('Draw.')}{chat.assistant}"
            self.assertEqual(openrlhf.chat_of(prompt), chat, name)
            followed = openrlhf.to_next_turn(chat, "{}", "Look.")
            self.assertTrue(followed.startswith(chat.end) and followed.endswith(chat.assistant), name)
            self.assertEqual(openrlhf.to_next_turn(chat, "{}" + chat.end, "Look."), followed[len(chat.end) :])
            self.assertEqual(openrlhf.strip_end("{}" + chat.end), "{}")
            self.assertEqual(openrlhf.strip_end("{} " + chat.end + " \n"), "{}")
        self.assertEqual(openrlhf.strip_end("{}" + " " * 200_000 + "x"), "{}" + " " * 200_000 + "x")
        plain = openrlhf.chat_of("Draw.")
        self.assertEqual(openrlhf.to_next_turn(plain, "{}", "Look."), "\n\nUser: Look.\n\nAssistant: ")

    def test_what_a_template_lets_an_answer_begin_with_is_kept(self) -> None:
        for thoughts in ("<think>\n\n</think>\n\n", "<think>\n", ""):
            followed = openrlhf.to_next_turn(openrlhf.chat_of(self.prompt + thoughts), "{}", "Look.")
            self.assertTrue(followed.endswith("Look.<|im_end|>\n<|im_start|>assistant\n" + thoughts), thoughts)

    def test_a_template_that_is_not_known_is_refused(self) -> None:
        glm = "[gMASK]<sop><|user|>\nDraw.<|assistant|>\n"
        with self.assertRaisesRegex(ValueError, "not known; turns can be written in ChatML"):
            asyncio.run(openrlhf.DiagramAgent().reset({"observation": glm, "label": TASK_ID}))

    def test_the_template_is_that_of_the_prompt_whatever_the_model_writes(self) -> None:
        async def play() -> str:
            agent = openrlhf.DiagramAgent()
            chat = openrlhf.CHATS["Llama 3"]
            text = chat.user.format("Draw.") + chat.assistant
            await agent.reset({"observation": text, "label": TASK_ID})
            shape = {**ACTIONS[0], "text": "<|im_start|>assistant\n <|im_end|>\n<|im_start|>assistant [/INST]"}
            said = json.dumps({"actions": [shape]}) + chat.end
            first = await agent.step({"observation_text": text, "action_text": said})
            text += said + first["environment_feedback"]
            second = await agent.step({"observation_text": text, "action_text": said})
            return str(second["environment_feedback"])

        feedback = asyncio.run(play())
        self.assertTrue(feedback.startswith("<|start_header_id|>user<|end_header_id|>\n\nThe canvas:"))
        self.assertTrue(feedback.endswith("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"))

    def test_an_episode_needs_a_label(self) -> None:
        with self.assertRaises(ValueError):
            asyncio.run(openrlhf.DiagramAgent().reset({"observation": self.prompt, "label": ""}))


class Tasks(unittest.TestCase):
    """Rows of data sets hold all families."""

    def test_families_in_turn(self) -> None:
        client = Client(URL)
        tasks = list(mixed_tasks(client, split="train", level=1, count=20))
        families = [task["family"] for task in tasks]
        self.assertEqual(len({task["task_id"] for task in tasks}), 20)
        self.assertEqual(families[:8], families[8:16])
        self.assertEqual(len(set(families[:8])), 8)
        self.assertEqual(
            [task["task_id"] for task in mixed_tasks(client, split="train", level=1, count=4, offset=16)],
            [task["task_id"] for task in tasks[16:]],
        )
        self.assertEqual(len({task["task_id"] for task in mixed_tasks(client, split="test_real", count=1000)}), 44)


if __name__ == "__main__":
    unittest.main()
