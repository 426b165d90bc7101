"""Checks that Python's `tokenizers` reads a checkpoint's tokenizer.json as the trainer does.

    pip install tokenizers
    python3 test/interop/tokenizer_check.py FILES.json

FILES.json holds {"tokenizer": <tokenizer.json>, "cases": [{"text": ..., "ids": [...]}]} as the trainer encodes them.
Exits with 1 and prints the first differences if ids or round trips differ.
"""

import json
import sys

from tokenizers import Tokenizer


def check(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    tokenizer = Tokenizer.from_str(json.dumps(data["tokenizer"]))
    faults = []
    for case in data["cases"]:
        ids = tokenizer.encode(case["text"], add_special_tokens=False).ids
        if ids != case["ids"]:
            faults.append(("ids", case["text"], ids, case["ids"]))
        elif tokenizer.encode(case["text"]).ids != [tokenizer.token_to_id("<bos>"), *ids]:
            faults.append(("no <bos>", case["text"], tokenizer.encode(case["text"]).ids, ids))
        elif tokenizer.decode(ids, skip_special_tokens=True) != case["text"]:
            faults.append(("round trip", case["text"], tokenizer.decode(ids)))
    return len(data["cases"]), faults


if __name__ == "__main__":
    count, faults = check(sys.argv[1])
    for fault in faults[:10]:
        print(*fault, file=sys.stderr)
    print(f"{count - len(faults)} of {count} texts have equal ids and come back")
    sys.exit(1 if faults or count == 0 else 0)
