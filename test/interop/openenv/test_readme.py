"""The README's lines for OpenEnv, run as they are."""

from typing import Any, Dict

from readme import readme_blocks


def test_its_lines_play_an_episode() -> None:
    (code,) = readme_blocks("OpenEnv, AgileRL", "python")
    scope: Dict[str, Any] = {}
    exec(code, scope)
    assert "Record, Review, Edit Episode" in scope["start"].observation["prompt"]
    assert scope["end"].done and scope["end"].reward == 0
    assert [error["code"] for error in scope["end"].observation["errors"]] == ["no_json"]
