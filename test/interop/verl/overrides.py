"""What the project's README tells a user of verl to write on the command line, tried on verl's own configuration."""

import re
from importlib.metadata import distribution
from pathlib import Path
from typing import List, Tuple

from omegaconf import OmegaConf

README = Path(__file__).parents[3] / "README.md"
CONFIG = "verl/trainer/config/_generated_ppo_trainer.yaml"


def readme_overrides() -> List[Tuple[str, str]]:
    """Key and value of every override in the code blocks, and in other lines, that are about verl."""
    fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    text = README.read_text(encoding="utf-8")
    parts = [*fence.findall(text), *fence.sub("", text).split("\n")]
    about_verl = [part for part in parts if re.search(r"\bverl\b", part)]
    return [match for part in about_verl for match in re.findall(r"(?<![\w.+/])(\+{0,2}\w+(?:\.\w+)+)=([^\s`]+)", part)]


def apply(overrides: List[Tuple[str, str]]) -> None:
    """Apply overrides as verl does, by Hydra's rules: a key that is not there needs a `+`, one that is there none."""
    config = OmegaConf.load(str(distribution("verl").locate_file(CONFIG)))
    OmegaConf.set_struct(config, True)
    for key, value in overrides:
        name = key.lstrip("+")
        if key == f"+{name}":
            assert OmegaConf.select(config, name) is None, f"{name} is there; leave the + out"
        OmegaConf.update(config, name, value, force_add=key != name)
