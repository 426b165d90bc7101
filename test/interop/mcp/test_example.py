"""The example for MCP, run as it is."""

from examples import run_example


def test_its_drawing_has_a_good_reward() -> None:
    lines = run_example("mcp_client")
    assert lines[0] == "['text', 'image']"
    [reward] = [line for line in lines if line.startswith("Reward: ")]
    assert float(reward.split()[1]) > 0.9
