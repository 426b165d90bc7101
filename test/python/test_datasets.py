"""Tasks listed for a data set, from a running server (CANVAS_GYM_URL)."""

from __future__ import annotations

import os
import unittest
from itertools import islice, zip_longest
from typing import Any, List, get_args

from canvas_gym import Client, types
from canvas_gym.datasets import mixed_tasks, suite_tasks

URL = os.environ["CANVAS_GYM_URL"]


def ids(tasks: Any) -> List[str]:
    return [task["task_id"] for task in tasks]


class MixedTasks(unittest.TestCase):
    """Tasks of all families in turn."""

    def setUp(self) -> None:
        self.client = Client(URL)
        self.addCleanup(self.client.close)

    def test_an_offset_cuts_the_same_list_where_families_differ_in_size(self) -> None:
        total = self.client.tasks(split="test_real")["total"]
        columns = [ids(suite_tasks(self.client, split="test_real", family=f)) for f in get_args(types.Family)]
        whole = [task for row in zip_longest(*columns) for task in row if task is not None]
        self.assertEqual(ids(mixed_tasks(self.client, split="test_real")), whole)
        self.assertEqual((len(whole), len(set(whole))), (total, total))
        self.assertGreater(len({len(column) for column in columns}), 2)
        for size in (1, 7, 20, total, total + 5):
            for offset in range(0, total + 2, 3):
                part = ids(mixed_tasks(self.client, split="test_real", count=size, offset=offset))
                self.assertEqual(part, whole[offset : offset + size], (size, offset))
        self.assertEqual(ids(mixed_tasks(self.client, split="test_real", count=0)), [])

    def test_a_far_offset_of_a_large_split_is_near(self) -> None:
        far = 3_000_000_007
        near = ids(mixed_tasks(self.client, level=1, count=25, offset=far))
        self.assertEqual(len(set(near)), 25)
        longer = ids(islice(mixed_tasks(self.client, level=1, count=100, offset=far - 10), 10, 35))
        self.assertEqual(near, longer)


if __name__ == "__main__":
    unittest.main()
