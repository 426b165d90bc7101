"""The example for OpenEnv, run as it is."""

from examples import run_example


def test_its_drawing_has_a_good_reward() -> None:
    lines = run_example("openenv_client")
    assert "Record, Review, Edit Episode" in lines[0]
    reward, is_over, errors = lines[1].split(" ", 2)
    assert float(reward) > 0.9 and (is_over, errors) == ("True", "[]")
