"""What verifiers and PRIME-RL import for the taskset id `canvas-gym-verifiers`; see canvas_gym.verifiers."""

from canvas_gym.verifiers import DiagramEnv, DiagramTaskset, load_environment

__all__ = ["DiagramEnv", "DiagramTaskset", "load_environment"]
