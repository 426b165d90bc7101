"""The example for ORS, run as it is."""

from examples import run_example


def test_its_drawing_has_a_good_reward() -> None:
    task, result = run_example("ors_client")[:2]
    assert "Record, Review, Edit Episode" in task
    reward, finished = result.split()
    assert float(reward) > 0.9 and finished == "True"
