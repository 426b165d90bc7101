"""The client against a running server (CANVAS_GYM_URL) and against servers that misbehave."""

from __future__ import annotations

import copy
import importlib
import json
import multiprocessing
import os
import pickle
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from faulty_server import (
    GOOD,
    FaultyServer,
    bytes_answer,
    chunked,
    cut,
    hang_up,
    json_answer,
    refusal,
    slow_head,
    until_closed,
)

from canvas_gym import CanvasGymError, Client, ConnectionFailed, ResponseError, types
from canvas_gym.client import DEFAULT_URL, split_urls
from canvas_gym.replicas import connect
from canvas_gym.trl import RewardFunction

URL = os.environ["CANVAS_GYM_URL"]
CERTIFICATE = str(Path(__file__).with_name("localhost.pem"))
BOX = {"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "Größe 😀"}
DRAWING = json.dumps({"actions": [BOX]})


class Api(unittest.TestCase):
    """The methods are the routes of the OpenAPI document, and the routes answer them."""

    def setUp(self) -> None:
        self.client = Client(URL, timeout=30, retries=0)
        self.addCleanup(self.client.close)

    def test_every_operation_and_field_is_there(self) -> None:
        document: Any = self.client.openapi()
        components = document["components"]["schemas"]
        documented = {}
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if not {"episode", "scoring", "tasks", "about"} & set(operation["tags"]):
                    continue
                fields = {parameter["name"] for parameter in operation.get("parameters", [])}
                if "requestBody" in operation:
                    schema = operation["requestBody"]["content"]["application/json"]["schema"]
                    fields |= set(components[schema["$ref"].split("/")[-1]]["properties"])
                documented[operation["operationId"]] = (method.upper(), path, fields)
        ours = {
            name: (row.method, row.path, {*row.path_fields, *row.query_fields, *row.body_fields})
            for name, row in types.OPERATIONS.items()
        }
        self.assertEqual(ours, documented)
        for name, (_, _, fields) in documented.items():
            taken = set(getattr(Client, name).__code__.co_varnames) - {"self", "fields"}
            self.assertEqual(taken, fields, name)

    def test_every_field_and_failure_is_described(self) -> None:
        for name, row in types.OPERATIONS.items():
            described = " ".join((getattr(Client, name).__doc__ or "").split())
            for field in (*row.path_fields, *row.query_fields, *row.body_fields):
                self.assertRegex(described, rf" {field}: [A-Z].*\.", name)
            self.assertIn("Raises: ResponseError: ", described)
            self.assertIn("ConnectionFailed: ", described)
        self.assertIn("max_turns: Turns of the episode, default 1; 1 to 1000.", Client.reset.__doc__ or "")
        self.assertIn("split: Split of the suite; one of train, val, ", Client.tasks.__doc__ or "")

    def test_an_episode(self) -> None:
        started = self.client.reset(seed=7, max_turns=2)
        self.assertEqual(started, self.client.reset(seed=7, max_turns=2))
        self.assertIsNone(started["reward"])
        first = self.client.step(state=started["state"], action=DRAWING)
        again = self.client.step(state=started["state"], action=DRAWING)
        self.assertEqual(first, again)
        self.assertEqual(first["observation"]["canvas"]["shapes"][0]["text"], "Größe 😀")
        last = self.client.step(state=first["state"], action={"actions": [BOX]})
        self.assertTrue(last["truncated"] and last["done"] and not last["terminated"])
        with self.assertRaises(ResponseError) as raised:
            self.client.step(state=last["state"], action=DRAWING)
        self.assertEqual((raised.exception.status, raised.exception.code), (409, "episode_over"))

    def test_scores(self) -> None:
        prompts = ["Draw a box.", [{"role": "user", "content": "Draw a box."}]]
        batch = self.client.score(prompts=prompts, completions=[DRAWING, "none"], reward="graded")
        singles = [
            self.client.reward(prompt="Draw a box.", completion=text, reward="graded") for text in [DRAWING, "none"]
        ]
        self.assertEqual(batch["rewards"], [single["reward"] for single in singles])
        self.assertGreater(batch["rewards"][0], batch["rewards"][1])
        self.assertEqual(self.client.score(completions=[])["rewards"], [])
        by_task = self.client.score(completions=[DRAWING], context={"task_id": ["val.er.2.7"], "other": [1]})
        self.assertEqual(len(by_task["components"]), 1)

    def test_pictures_are_bytes_and_pages_texts(self) -> None:
        begins = {"svg": b"<svg", "png": b"\x89PNG", "mermaid": b"flowchart", "tldraw": b"{", "excalidraw": b"{"}
        for name, begin in begins.items():
            self.assertEqual(self.client.render(actions=[BOX], format=name)[: len(begin)], begin)
        self.assertIn("<html", self.client.docs())
        self.assertIn("# TYPE", self.client.metrics())

    def test_tasks(self) -> None:
        page = self.client.tasks(split="val", family="er", level=2, limit=3, offset=7)
        self.assertEqual([task["task_id"] for task in page["tasks"]], ["val.er.2.7", "val.er.2.8", "val.er.2.9"])
        self.assertEqual(self.client.task(task_id="val.er.2.7"), page["tasks"][0])

    def test_what_is_about_the_server(self) -> None:
        self.assertEqual(self.client.health()["status"], "healthy")
        self.assertIn("graded", [preset["name"] for preset in self.client.metadata()["presets"]])
        self.assertEqual(set(self.client.schema()), {"action", "observation", "state"})
        self.assertIn("create_shape", [tool["name"] for tool in self.client.tools()["tools"]])
        self.assertIn("/reset", [route["path"] for route in self.client.root()["routes"]])

    def test_any_action_reaches_the_server_as_it_is(self) -> None:
        for action in [None, 7, "", [], "\ud800", "\0", {"a": [1.5, True, None]}, "é中😀" * 1000]:
            self.assertGreaterEqual(self.client.step(prompt="Draw.", action=action)["reward"], 0)

    def test_bodies_are_no_larger_than_their_characters(self) -> None:
        with FaultyServer() as server, Client(server.url) as client:
            client.score(completions=["中é😀\ud800"])
        self.assertEqual(server.bodies, [b'{"completions":["' + "中é😀".encode() + b'\\ud800"]}'])
        rewards = self.client.score(prompts=["Draw."] * 4, completions=["中" * 1_950_000] * 4)["rewards"]
        self.assertEqual(rewards, [0, 0, 0, 0])

    def test_large_seeds_are_texts(self) -> None:
        self.assertEqual(self.client.reset(seed=str(2**64 - 1))["info"]["seed"], str(2**64 - 1))
        with self.assertRaises(ResponseError) as raised:
            self.client.reset(seed=2**64)
        self.assertEqual(raised.exception.code, "bad_seed")

    def test_values_of_other_libraries_become_plain_ones(self) -> None:
        class Scalar:
            def tolist(self) -> int:
                return 7

        seed: Any = Scalar()
        self.assertEqual(self.client.reset(seed=seed), self.client.reset(seed=7))
        with self.assertRaises(TypeError):
            self.client.step(prompt="Draw.", action=object())
        with self.assertRaises(ValueError):
            self.client.step(prompt="Draw.", action=float("nan"))

    def test_refusals_say_what_to_change(self) -> None:
        with self.assertRaises(ResponseError) as raised:
            self.client.reset(level=9)  # type: ignore[arg-type]
        error = raised.exception
        self.assertEqual((error.status, error.code, error.path), (422, "invalid_request", "body.level"))
        self.assertEqual(error.detail[0]["loc"], ["body", "level"])
        with self.assertRaises(ResponseError) as raised:
            self.client.task(task_id="no/such?task")
        self.assertEqual((raised.exception.status, raised.exception.code), (404, "unknown_task"))

    def test_errors_pickle(self) -> None:
        errors = [
            ResponseError(422, "invalid_request", "level: 1 to 5", [{"loc": ["body"]}], "body.level", 1.5),
            ConnectionFailed("http://x/reset", "refused"),
        ]
        for error in errors:
            self.assertIsInstance(error, CanvasGymError)
            twin = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(twin), str(twin), vars(twin)), (type(error), str(error), vars(error)))


class Connections(unittest.TestCase):
    """Connections are kept, shared by nobody, and never travel."""

    def test_one_connection_serves_one_thread(self) -> None:
        with FaultyServer() as server, Client(server.url, retries=0) as client:
            for _ in range(20):
                client.health()
            self.assertEqual((server.connections, len(server.requests)), (1, 20))

    def test_threads_share_a_client(self) -> None:
        seeds = range(200)
        with Client(URL, retries=0) as client, ThreadPoolExecutor(16) as pool:
            prompts = list(pool.map(lambda seed: client.reset(seed=seed)["observation"]["prompt"], seeds))
            self.assertEqual(prompts, [client.reset(seed=seed)["observation"]["prompt"] for seed in seeds])
        with FaultyServer() as server, Client(server.url, retries=0) as client, ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: client.health(), range(400)))
            self.assertLessEqual(server.connections, 8)

    def test_a_connection_that_the_server_closed_is_no_failure(self) -> None:
        with FaultyServer() as server, Client(server.url, retries=0) as client:
            client.health()
            server.drop_connections()
            self.assertEqual(client.health(), GOOD)
            self.assertEqual(server.connections, 2)

    def test_an_answer_that_is_cut_on_a_kept_connection_counts(self) -> None:
        with FaultyServer(json_answer(GOOD), cut) as server, Client(server.url, retries=0) as client:
            client.health()
            with self.assertRaisesRegex(ConnectionFailed, "IncompleteRead"):
                client.health()
            self.assertEqual(len(server.requests), 2)

    def test_many_closed_connections_cost_one_repeat(self) -> None:
        slow = [chunked(b"{}", pause_s=0.2)] * 8
        with FaultyServer(*slow, *[hang_up] * 8) as server, Client(server.url, retries=0) as client:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda _: client.health(), range(8)))
            self.assertEqual(server.connections, 8)
            with self.assertRaises(ConnectionFailed):
                client.health()
            self.assertEqual(len(server.requests), 8 + 2)

    def test_every_way_to_end_a_body(self) -> None:
        text = json.dumps(GOOD).encode()
        answers = [
            bytes_answer(text),
            chunked(text[:7], text[7:]),
            until_closed(text),
            bytes_answer(text, connection="close"),
        ]
        with FaultyServer(*answers) as server, Client(server.url, retries=0) as client:
            for _ in range(6):
                self.assertEqual(client.health(), GOOD)
            self.assertEqual(server.connections, 3, "two of the answers close their connection")

    def test_copies_have_the_settings_and_connections_of_their_own(self) -> None:
        with FaultyServer() as server:
            client = Client(server.url + "/gym/", timeout=3.5, retries=1, headers={"x-key": "k"})
            client.health()
            for twin in [pickle.loads(pickle.dumps(client)), copy.deepcopy(client)]:
                self.assertEqual(repr(twin), repr(client))
                twin.health()
                self.assertEqual(server.requests[-1], ("GET", "/gym/health"))
                self.assertEqual(server.headers[-1]["x-key"], "k")
                twin.close()
            self.assertEqual(server.connections, 3)
            client.close()

    @unittest.skipUnless(hasattr(os, "fork"), "this system cannot fork")
    def test_forked_processes_do_not_share_a_connection(self) -> None:
        with FaultyServer() as server, Client(server.url, retries=0) as client:
            client.health()
            context = multiprocessing.get_context("fork")
            children = [context.Process(target=_call_twice, args=(client,)) for _ in range(4)]
            for child in children:
                child.start()
            for child in children:
                child.join(30)
                self.assertEqual(child.exitcode, 0)
            client.health()
            self.assertEqual((server.connections, len(server.requests)), (5, 10))

    def test_a_closed_client_may_be_used_again(self) -> None:
        with FaultyServer() as server:
            client = Client(server.url, retries=0)
            client.health()
            client.close()
            client.close()
            self.assertEqual(client.health(), GOOD)
            client.close()

    def test_tls_and_a_prefix(self) -> None:
        with FaultyServer(certificate=CERTIFICATE) as server:
            with self.assertRaisesRegex(ConnectionFailed, "certificate"):
                Client(server.url, retries=0).health()
            with mock.patch.dict(os.environ, SSL_CERT_FILE=CERTIFICATE):
                with Client(f"{server.url}/gym/", retries=0) as client:
                    self.assertEqual([client.health(), client.health()], [GOOD, GOOD])
            self.assertEqual(server.requests, [("GET", "/gym/health")] * 2)

    def test_the_user_in_the_address_is_sent(self) -> None:
        with FaultyServer() as server:
            with Client(server.url.replace("//", "//ann:p%40ss@"), retries=0) as client:
                client.health()
                twin = pickle.loads(pickle.dumps(client))
                twin.health()
                twin.close()
            self.assertEqual([sent["authorization"] for sent in server.headers], ["Basic YW5uOnBAc3M="] * 2)

    def test_the_password_is_in_no_message(self) -> None:
        url = "http://ann:secret@127.0.0.1:9/gym"
        for client in (Client(url, retries=0), connect([url, url], retries=0)):
            with self.assertRaisesRegex(ConnectionFailed, "no answer from http://127.0.0.1:9/gym/health") as raised:
                client.health()
            function = repr(RewardFunction([url, url]))
            self.assertEqual(function, "RewardFunction('http://127.0.0.1:9/gym,http://127.0.0.1:9/gym', 'graded')")
            for shown in (repr(client), str(raised.exception), repr(raised.exception.__cause__)):
                self.assertNotIn("secret", shown)
        for fault in [
            "ftp://ann:secret@host",
            "ann:secret@host",
            url + "?a=1",
            "http://ann:se/secret@host",
            url + ",b",
        ]:
            with self.subTest(fault), self.assertRaisesRegex(ValueError, "url must") as refused:
                Client(fault)
            self.assertNotIn("secret", str(refused.exception))

    def test_addresses_of_ipv6_have_a_port(self) -> None:
        cases = {"http://[::1]": 80, "https://[::1]": 443, "http://[::1]:8000": 8000}
        for url, port in cases.items():
            with self.subTest(url), mock.patch("socket.create_connection", side_effect=OSError("none")) as dialled:
                with self.assertRaises(ConnectionFailed):
                    Client(url, retries=0).health()
                self.assertEqual(dialled.call_args.args[0], ("::1", port))

    def test_limits_that_cannot_be_kept_are_refused(self) -> None:
        limits: Any = [{"retries": -1}, {"timeout": 0}, {"timeout": float("nan")}, {"connect_timeout": -1}]
        for limit in limits:
            for url in (URL, [URL, URL]):
                with self.subTest(limit), self.assertRaisesRegex(ValueError, f"{next(iter(limit))} must be"):
                    connect(url, **limit)

    def test_connecting_has_a_limit_of_its_own(self) -> None:
        with mock.patch("socket.create_connection", side_effect=OSError("none")) as dialled:
            with self.assertRaises(ConnectionFailed):
                Client("http://127.0.0.1:9", retries=0, connect_timeout=2).health()
        self.assertEqual(dialled.call_args.args[1], 2)

    def test_addresses_that_cannot_be(self) -> None:
        several, port = "http://a:8000,http://b:8000", "http://a:99999"
        with self.assertRaisesRegex(ValueError, r"url must be one address, .* canvas_gym.connect\(\) takes several"):
            Client(several)
        for url in [
            several,
            port,
            "http://a:x",
            "127.0.0.1:8000",
            "ftp://host",
            "http://",
            "http://host/?a=1",
            "http://host/#a",
        ]:
            with self.subTest(url), self.assertRaisesRegex(ValueError, "url must"):
                Client(url)


class Addresses(unittest.TestCase):
    """Where the server is, when nobody says."""

    def test_the_variable_counts_unless_it_is_empty(self) -> None:
        cases = {None: DEFAULT_URL, "": DEFAULT_URL, " , ": DEFAULT_URL, "http://a:1": "http://a:1"}
        for value, url in {**cases, "http://a:1, http://b:2": "http://a:1"}.items():
            kept = {name: text for name, text in os.environ.items() if name != "CANVAS_GYM_URL"}
            said = {} if value is None else {"CANVAS_GYM_URL": value}
            with self.subTest(value), mock.patch.dict(os.environ, {**kept, **said}, clear=True):
                self.assertEqual(Client().url, url)
                several = split_urls(None)
                self.assertEqual(several[0], url)
                self.assertEqual(repr(connect())[:8], "Replicas" if len(several) > 1 else "Client('")

    def test_an_empty_address_is_refused(self) -> None:
        for call in (Client, connect):
            with self.assertRaises(ValueError):
                call("")


class Frameworks(unittest.TestCase):
    """An adapter whose framework is missing says how to install it."""

    def test_the_error_names_the_extra(self) -> None:
        modules = {"gymnasium": "gymnasium", "ray": "ray", "skyrl": "skyrl_gym", "verifiers": "verifiers.v1"}
        for extra, needed in {**modules, "openrlhf": "openrlhf.utils.agent"}.items():
            name = "canvas_gym.openrlhf_agent" if extra == "openrlhf" else f"canvas_gym.{extra}"
            hidden = {needed: None, needed.split(".")[0]: None}
            with self.subTest(extra), mock.patch.dict("sys.modules", hidden):
                with self.assertRaisesRegex(ModuleNotFoundError, rf"pip install './clients/python\[{extra}\]'"):
                    importlib.import_module(name)


def _call_twice(client: Client) -> None:
    client.health()
    client.health()


class Failures(unittest.TestCase):
    """What is repeated, how long it takes, and what is raised."""

    def setUp(self) -> None:
        patched = mock.patch("canvas_gym.client.FIRST_DELAY_S", 0.01)
        patched.start()
        self.addCleanup(patched.stop)

    def test_what_passes_is_repeated(self) -> None:
        kinds = {
            **{str(status): refusal(status, "overloaded") for status in (408, 429, 502, 503, 504)},
            **{"hang_up": hang_up, "cut": cut},
        }
        for name, fault in kinds.items():
            with self.subTest(name), FaultyServer(fault, fault) as server, Client(server.url, retries=2) as client:
                self.assertEqual(client.health(), GOOD)
                self.assertEqual(len(server.requests), 3)

    def test_what_stays_is_raised_at_once(self) -> None:
        for status, code in [(400, "not_json"), (404, "unknown_task"), (409, "episode_over"), (500, "internal")]:
            with self.subTest(status), FaultyServer(refusal(status, code)) as server, Client(server.url) as client:
                with self.assertRaises(ResponseError) as raised:
                    client.reset()
                self.assertEqual((raised.exception.status, raised.exception.code), (status, code))
                self.assertEqual(len(server.requests), 1)

    def test_the_last_failure_is_raised(self) -> None:
        answers = [refusal(503, "overloaded", retry_after="0")] * 3
        with FaultyServer(*answers) as server, Client(server.url, retries=2) as client:
            with self.assertRaises(ResponseError) as raised:
                client.reset()
            self.assertEqual((raised.exception.status, raised.exception.retry_after_s), (503, 0))
            self.assertEqual(len(server.requests), 3)
        with FaultyServer(cut, cut) as server, Client(server.url, retries=1) as client:
            with self.assertRaises(ConnectionFailed):
                client.reset()
            self.assertEqual(len(server.requests), 2)

    def test_waits_grow_and_retry_after_is_kept(self) -> None:
        waits = []
        answers = [refusal(503, "overloaded")] * 4 + [refusal(429, "overloaded", retry_after="2")]
        with mock.patch("time.sleep", waits.append), FaultyServer(*answers) as server:
            with Client(server.url, retries=5) as client:
                client.health()
        self.assertEqual(len(waits), 5)
        for i, wait in enumerate(waits[:4]):
            self.assertTrue(0.5 <= wait / (0.01 * 2**i) <= 1.5, waits)
        self.assertEqual(waits[4], 2)

    def test_nobody_listens(self) -> None:
        with FaultyServer() as server:
            url = server.url
        with self.assertRaisesRegex(ConnectionFailed, f"no answer from {url}/health: .*refused"):
            Client(url, retries=1).health()

    def test_the_time_limit_holds_for_the_whole_answer(self) -> None:
        slow = [chunked(*[b" "] * 40, pause_s=0.05)] * 2
        for answers in [[lambda _: time.sleep(3)], slow, [slow_head(12, 0.3)]]:
            with FaultyServer(*answers) as server:
                began = time.monotonic()
                with self.assertRaisesRegex(ConnectionFailed, "timed out"):
                    Client(server.url, retries=0, timeout=0.4).health()
                self.assertLess(time.monotonic() - began, 1)

    def test_answers_of_others_are_one_line_that_says_so(self) -> None:
        page = b"<h1>It works</h1>"
        answers = {
            "200 text/html": bytes_answer(page, content_type="text/html; charset=utf-8"),
            "404 text/html": bytes_answer(page, 404, content_type="text/html"),
            "404 application/json": json_answer({"detail": "Not Found"}, 404, content_type="application/json"),
            "302": bytes_answer(b"", 302),
        }
        with FaultyServer(*answers.values()) as server, Client(server.url) as client:
            for said in answers:
                with self.assertRaises(ResponseError) as raised:
                    client.health()
                self.assertEqual((raised.exception.status, raised.exception.code), (int(said[:3]), "unknown"))
                message = f"no canvas-gym server at {server.url} (answered {said})"
                self.assertEqual(raised.exception.message, message)

    def test_a_missing_reward_is_none(self) -> None:
        scored = {"rewards": [0.5, None], "preset": {}, "components": [{}, {}], "errors": [[], []]}
        with FaultyServer(json_answer(scored)) as server, Client(server.url) as client:
            self.assertEqual(client.score(completions=["a", "b"])["rewards"], [0.5, None])

    def test_threads_that_fail_together_all_recover(self) -> None:
        answers = [hang_up, refusal(503, "overloaded"), cut] * 10
        with FaultyServer(*answers) as server, Client(server.url, retries=12) as client:
            with ThreadPoolExecutor(8) as pool:
                self.assertEqual(list(pool.map(lambda _: client.health(), range(100))), [GOOD] * 100)
        self.assertEqual(len(server.requests), 130)


if __name__ == "__main__":
    threading.excepthook = lambda args: os._exit(1)
    unittest.main(verbosity=2)
