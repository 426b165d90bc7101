"""The README's recipe for FAI-RL, read by FAI-RL's own configuration and played by its reward."""

import yaml
from conftest import GOOD, PROSE, TASK_ID, load
from readme import readme_blocks

load("fai-rl", "utils.config_validation")
config = load("fai-rl", "core.config")
api_reward = load("fai-rl", "trainers.rewards.api_reward")


def test_its_recipe_gives_the_reward_of_the_environment(reward_of) -> None:
    (recipe,) = readme_blocks("FAI-RL", "yaml")
    settings = config.RewardAPIConfig(**yaml.safe_load(recipe)["reward_api"])
    rewards = api_reward.APIRewardFunction(settings)(
        prompts=["Draw it."] * 2, completions=[GOOD, PROSE], task_id=[TASK_ID] * 2
    )
    assert rewards == [reward_of(GOOD), reward_of(PROSE)]
    assert (settings.timeout_seconds, settings.max_retries + 1) == (30, 3)  # as its table of limits has it
