"""Answer the first round: one half in a spreadsheet, the other half in Label Studio's form."""

import json

import pandas as pd


def main() -> None:
    """Read the questions, and write a spreadsheet and an export."""
    truth = pd.read_csv("everything.csv", index_col="item")
    questions = pd.read_csv("round-1.csv", keep_default_na=False, dtype=str)
    applies = [bool(truth.loc[row.item, row.label]) for row in questions.itertuples()]
    half = len(questions) // 2

    sheet = questions[:half].assign(answer=["y" if yes else "n" for yes in applies[:half]])
    sheet.to_excel("round-1.xlsx", index=False)

    keep = ["item", "label", "question", "probability"]
    tasks = [
        {
            "id": number,
            "data": {"text": row["item"], **{name: row[name] for name in keep if name in row}},
            "annotations": [
                {
                    "completed_by": 1,
                    "lead_time": 1.5,
                    "result": [
                        {
                            "from_name": "answer",
                            "to_name": "item",
                            "type": "choices",
                            "value": {"choices": ["yes" if yes else "no"]},
                        }
                    ],
                }
            ],
        }
        for number, (row, yes) in enumerate(
            zip(questions[half:].to_dict("records"), applies[half:], strict=True)
        )
    ]
    with open("yes-no.json", "w") as file:
        json.dump(tasks, file)


if __name__ == "__main__":
    main()
