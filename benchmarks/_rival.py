"""Apps of FastAPI that predict as ``complabel serve`` does."""

import io
from pathlib import Path

import joblib
import numpy as np
from pydantic import BaseModel


class Rows(BaseModel):
    """A request to the rival."""

    rows: list[list[float]]


class Predictions(BaseModel):
    """The rival's answer."""

    label_names: list[str]
    labels: list[list[str]]
    probabilities: list[list[float]]


def rival(folder: Path, *, tuned: bool) -> object:
    """Return the FastAPI app: as its documentation writes one, or as fast as it can be made."""
    import orjson
    from fastapi import FastAPI, Request, Response

    app = FastAPI()
    pipeline = joblib.load(folder / "pipeline.joblib")
    names = [str(k) for k in range(len(pipeline.steps[1][1].classes_))]

    def found(probabilities: np.ndarray) -> dict[str, object]:
        return {
            "label_names": names,
            "labels": [[names[k] for k in np.flatnonzero(row > 0.5)] for row in probabilities],
            "probabilities": probabilities.round(7).tolist(),
        }

    @app.post("/predict-npy")
    async def of_npy(request: Request) -> Response:
        file = io.BytesIO()
        np.save(file, predict(np.load(io.BytesIO(await request.body()))).astype(np.float32))
        return Response(file.getvalue(), media_type="application/x-npy")

    if not tuned:
        predict = pipeline.predict_proba

        @app.post("/predict")
        def of_rows(asked: Rows) -> Predictions:
            return Predictions(**found(predict(np.array(asked.rows))))

        return app

    # One product for all labels, in place of a call for each label, and no models of pydantic.
    scaler, models = (step for _, step in pipeline.steps)
    weights = np.stack([each.coef_[0] for each in models.estimators_], axis=1)
    weights /= scaler.scale_[:, None]
    constant = np.array([each.intercept_[0] for each in models.estimators_])
    constant = constant - scaler.mean_ @ weights

    def predict(X: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(X @ weights + constant)))

    @app.post("/predict")
    async def of_rows(request: Request) -> Response:
        rows = np.array(orjson.loads(await request.body())["rows"])
        return Response(orjson.dumps(found(predict(rows))), media_type="application/json")

    return app


def serve_rival(folder: str, port: int, *, tuned: bool) -> None:
    """Run the rival's server, with the settings of ours."""
    import uvicorn

    uvicorn.run(rival(Path(folder), tuned=tuned), port=port, access_log=False, log_level="warning")
