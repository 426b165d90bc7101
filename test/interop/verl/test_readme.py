"""The README's interaction for verl, read and played by verl's own registry."""

import asyncio
from pathlib import Path

from partial_import import load
from readme import readme_blocks

registry = load("verl", "verl.interactions.utils.interaction_registry")


def test_its_file_is_an_interaction_that_plays(url: str, tmp_path: Path) -> None:
    (text,) = readme_blocks("verl", "yaml")
    (tmp_path / "diagram.yaml").write_text(text)
    interaction = registry.initialize_interactions_from_config(str(tmp_path / "diagram.yaml"))["diagram"]

    async def play() -> list:
        await interaction.start_interaction("0", name="diagram", task_id="train.pipeline.1.3")
        answer = [{"role": "assistant", "content": '{"actions": []}'}]
        return [(await interaction.generate_response("0", answer))[0] for _ in range(3)]

    assert asyncio.run(play()) == [False, False, True]
