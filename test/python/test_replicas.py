"""Several servers behind one client: which is asked, and what becomes of those that fail."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import time
import unittest
from unittest import mock

from faulty_server import FaultyServer, hang_up, refusal

from canvas_gym import Client, ConnectionFailed, ResponseError
from canvas_gym.replicas import Replicas, connect

URL = os.environ["CANVAS_GYM_URL"]
DEAD = "http://127.0.0.1:9"


class SeveralServers(unittest.TestCase):
    """Requests go around, and past what fails."""

    def setUp(self) -> None:
        sleep = mock.patch("canvas_gym.replicas.time.sleep")
        self.slept = sleep.start()
        self.addCleanup(sleep.stop)

    def test_requests_go_to_the_servers_in_turn(self) -> None:
        with FaultyServer() as a, FaultyServer() as b, FaultyServer() as c:
            client = Replicas([a.url, b.url, c.url])
            for _ in range(9):
                client.health()
            self.assertEqual([len(server.requests) for server in (a, b, c)], [3, 3, 3])
            client.close()

    def test_what_fails_is_passed_over_without_a_wait(self) -> None:
        cases = {"dead": None, "hangs up": hang_up, "503": refusal(503, "internal"), "429": refusal(429, "busy")}
        for name, answer in cases.items():
            with FaultyServer(*[answer] * 20 if answer else []) as faulty, FaultyServer() as good:
                client = Replicas([faulty.url if answer else DEAD, good.url], retries=0)
                for _ in range(6):
                    self.assertEqual(client.health()["status"], "healthy", name)
                self.assertEqual(len(good.requests), 6, name)
                client.close()
        self.slept.assert_not_called()

    def test_when_all_fail_they_are_tried_again_later(self) -> None:
        busy = [refusal(503, "internal", retry_after="7")] * 2
        with FaultyServer(*busy) as a, FaultyServer(*busy) as b:
            client = Replicas([a.url, b.url], retries=2)
            self.assertEqual(client.health()["status"], "healthy")
            self.assertEqual(len(a.requests) + len(b.requests), 5)
            client.close()
        self.assertEqual([call.args[0] >= 7 for call in self.slept.call_args_list], [True, True])

    def test_the_last_failure_is_raised(self) -> None:
        with self.assertRaises(ConnectionFailed):
            Replicas([DEAD, DEAD], retries=3).health()
        self.assertEqual(self.slept.call_count, 3)
        with FaultyServer(*[refusal(503, "internal")] * 2) as server, self.assertRaises(ResponseError):
            Replicas([server.url, server.url], retries=0).health()

    def test_a_refusal_is_not_repeated(self) -> None:
        with FaultyServer(refusal(404, "unknown_task")) as a, FaultyServer(refusal(404, "unknown_task")) as b:
            with self.assertRaises(ResponseError) as raised:
                Replicas([a.url, b.url]).task(task_id="x")
            self.assertEqual(raised.exception.code, "unknown_task")
            self.assertEqual(len(a.requests) + len(b.requests), 1)

    def test_an_episode_goes_on_when_its_server_is_gone(self) -> None:
        client = Replicas([DEAD, URL])
        started = client.reset(seed=7, max_turns=2)
        first = client.step(state=started["state"], action="{}")
        last = client.step(state=first["state"], action="{}")
        self.assertTrue(last["done"])
        self.assertEqual(started, Client(URL).reset(seed=7, max_turns=2))

    def test_one_that_hangs_is_asked_last_for_a_while(self) -> None:
        wait = threading.Event()
        with FaultyServer(*[lambda _: wait.wait(9)] * 20) as hanging, FaultyServer() as good:
            with Replicas([hanging.url, good.url], retries=0, timeout=0.3) as client:
                for _ in range(10):
                    self.assertEqual(client.health()["status"], "healthy")
                self.assertEqual((len(hanging.requests), len(good.requests)), (1, 10))
                with mock.patch("canvas_gym.replicas.time.monotonic", return_value=time.monotonic() + 11):
                    order = [client._in_turn()[0] for _ in range(4)]
                self.assertEqual(sorted(order), [0, 0, 1, 1], "it has its turns again")
            wait.set()

    def test_one_that_says_when_rests_until_then(self) -> None:
        busy = [refusal(503, "overloaded", retry_after="30")] * 20
        with FaultyServer(*busy) as a, FaultyServer() as b, Replicas([a.url, b.url], retries=0) as client:
            for _ in range(10):
                client.health()
            self.assertEqual((len(a.requests), len(b.requests)), (1, 10))

    def test_of_those_that_rest_the_longest_rest_is_asked_last(self) -> None:
        client = Replicas([f"http://127.0.0.1:{port}" for port in (1, 2, 3)])
        client._rest(0, 600)
        client._rest(1, 1)
        for _ in range(3):
            self.assertEqual(client._in_turn(), [2, 1, 0])

    @unittest.skipUnless(hasattr(os, "fork"), "this system cannot fork")
    def test_forked_processes_begin_at_different_servers(self) -> None:
        client = Replicas([f"http://127.0.0.1:{port}" for port in range(1, 1001)])
        context = multiprocessing.get_context("fork")
        firsts = context.SimpleQueue()
        children = [context.Process(target=lambda: firsts.put(client._in_turn()[0])) for _ in range(4)]
        for child in children:
            child.start()
        for child in children:
            child.join(30)
        self.assertGreater(len({firsts.get() for _ in children}), 1)

    def test_it_pickles(self) -> None:
        client = Replicas([URL, DEAD], timeout=5, retries=1, headers={"x": "y"})
        copy = pickle.loads(pickle.dumps(client))
        self.assertEqual((copy.urls, copy.timeout, copy.retries, copy.headers), ([URL, DEAD], 5, 1, {"x": "y"}))
        self.assertEqual(copy.health()["status"], "healthy")

    def test_addresses(self) -> None:
        with mock.patch.dict(os.environ, {"CANVAS_GYM_URL": "http://a, http://b"}):
            self.assertEqual(repr(connect()), "Replicas(['http://a', 'http://b'], timeout=60.0, retries=4)")
        with mock.patch.dict(os.environ):
            del os.environ["CANVAS_GYM_URL"]
            self.assertEqual(repr(connect(timeout=1)), "Client('http://127.0.0.1:8000', timeout=1, retries=4)")
        self.assertEqual(connect(["http://a"]).url, "http://a")  # type: ignore[union-attr]
        token = {"authorization": "Bearer x"}
        for url in ("http://a", "http://a,http://b"):
            with connect(url, headers=token) as client:
                self.assertEqual(client.headers, token)
        for urls in ([], ""):
            with self.assertRaises(ValueError):
                connect(urls)


if __name__ == "__main__":
    unittest.main()
