"""Points the openreward client at the server under test before anything imports it."""

import os

URL = os.environ["CANVAS_GYM_URL"].rstrip("/")

os.environ.update(
    OPENREWARD_URL=URL,
    OPENREWARD_API_URL=URL,
    OPENREWARD_SESSION_URL=URL,
    OPENREWARD_API_KEY="none",
    OPENREWARD_DISABLE_UPDATE_CHECK="1",
    TRL_EXPERIMENTAL_SILENCE="1",
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
)
