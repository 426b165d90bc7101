"""The example for Ray, run as it is."""

import ast

from examples import run_example


def test_its_drawing_has_a_good_reward() -> None:
    lines = run_example("ray_scores")
    good, bad, *again = ast.literal_eval(lines[-1])
    assert good > 0.9 > bad and again == [good, bad]
