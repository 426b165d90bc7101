"""The example for SkyRL, run as it is."""

import ast

from examples import run_example


def test_its_drawing_has_a_good_reward() -> None:
    lines = run_example("skyrl_env")
    assert "Record, Review, Edit Episode" in lines[0]
    output = ast.literal_eval(lines[1])
    assert output["reward"] > 0.9 and output["done"] and output["metadata"]["errors"] == []
