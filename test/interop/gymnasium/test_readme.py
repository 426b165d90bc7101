"""The README's lines for Gymnasium, run as they are."""

from typing import Any, Dict

from readme import readme_blocks


def test_its_lines_play_an_episode() -> None:
    (code,) = readme_blocks("Gymnasium", "python")
    scope: Dict[str, Any] = {}
    exec(code, scope)
    assert scope["terminated"] and not scope["truncated"] and 0 <= scope["reward"] < 0.5
    assert "level" not in scope["observation"] and scope["observation"]["prompt"]
