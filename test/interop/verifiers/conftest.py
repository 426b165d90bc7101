"""The stand-in for the model and the runner of evaluations are those of the suite verifiers_tasksets."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "verifiers_tasksets"))
