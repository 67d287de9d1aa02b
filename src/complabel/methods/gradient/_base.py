"""The base class of methods that are trained by gradient descent."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from complabel._parameters import (
    AnyArray,
    Array,
    Constraints,
    Features,
    RandomState,
    check_random_state,
)
from complabel._training import (
    LinearMap,
    LinearTraining,
    Schedule,
    factory_of,
    factory_parts,
    network_outputs,
    network_parts,
    resolve_device,
    set_output_bias,
    torch_as_released,
    train_network,
    trained_network,
)
from complabel.errors import InputError
from complabel.losses import LogitLoss
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._door import warn_user
from complabel.methods._features import FAR, far_centre, range_of, refuse_beyond_single
from complabel.methods._saving import MISSING, Numbers
from complabel.methods.gradient._side_by_side import Fitting, finished, run

NetworkFactory = Callable[[Any, int], torch.nn.Module]
"""Makes a network for a number of features (or the shape of an item) and a number of labels."""

ProgressCallback = Callable[[str, int, int, float], None]
"""Called after each epoch with what is trained, the epoch, the number of epochs, the mean loss."""

Model = LinearMap | torch.nn.Module

# After training, scores are checked for this many rows at a time, to save memory.
_CHECKED_ROWS = 4096


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class GradientClassifier(ComplementaryClassifier):
    """Base class of methods whose scores are the sigmoid of a trained linear map or network.

    :class:`MLCLClassifier` describes the parameters and the attributes.
    """

    trains_side_by_side: ClassVar[bool] = True
    _constraints: ClassVar[Constraints] = {"random_state": RandomState()}
    _fitted: ClassVar[Constraints] = {
        "model_": {  # a network, or a linear map
            "layers": (MISSING, list),
            "weights": (MISSING, dict),
            "coef": (MISSING, Numbers("K", "d")),
            "intercept": (MISSING, Numbers("K")),
        }
    }

    network: NetworkFactory | None = None
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    batch_size: int = 256
    epochs: int = 200
    threshold: str = "probability"
    device: str = "auto"
    random_state: int | np.random.Generator | None = None
    callback: ProgressCallback | None = None

    model_: Any = dataclasses.field(init=False)
    _item_shape: tuple[int, ...] = dataclasses.field(init=False)

    @property
    def coef_(self) -> Array:
        """Weights of the linear map, of shape (K, n_features); only without ``network``."""
        return self._linear_map().coef

    @property
    def intercept_(self) -> Array:
        """Biases of the linear map, of shape (K,); only without ``network``."""
        return self._linear_map().intercept

    def _linear_map(self) -> LinearMap:
        model = getattr(self, "model_", None)
        if not isinstance(model, LinearMap):
            raise AttributeError("only a fitted linear model has coef_ and intercept_")
        return model

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._schedule()
        resolve_device(self.device)

    def _plain_parameters(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        plain = factory_parts(self.network, sizes["d"], sizes["K"])
        return {**super()._plain_parameters(sizes), "network": plain}

    @classmethod
    def _from_plain(cls, parameters: dict[str, Any]) -> Self:
        device = parameters["device"]
        try:
            resolve_device(device)
        except ValueError:  # the machine that saved it had this device
            device = "auto"
        network = factory_of(parameters["network"])
        return super()._from_plain({**parameters, "device": device, "network": network})

    def _state(self) -> dict[str, Any]:
        model = self.model_
        plain = vars(model) if isinstance(model, LinearMap) else network_parts(model)
        return {**super()._state(), "model_": plain}

    def _set_state(self, state: dict[str, Any], sizes: Mapping[str, int]) -> None:
        plain = state["model_"]
        model = LinearMap(**plain) if "coef" in plain else trained_network(**plain)
        super()._set_state({**state, "model_": model}, sizes)

    def _schedule(self) -> Schedule:
        names = [field.name for field in dataclasses.fields(Schedule) if hasattr(self, field.name)]
        return Schedule(**{**{n: getattr(self, n) for n in names}, "learning_rate": self._rate()})

    def _rate(self) -> float:
        return self.learning_rate

    def _generator(self) -> torch.Generator:
        seed = int(check_random_state(self.random_state).integers(2**62))
        return torch.Generator(device="cpu").manual_seed(seed)

    def _train(
        self, X: Features, loss: LogitLoss, labels: Mapping[str, AnyArray], **settings: Any
    ) -> Model:
        """Train a new linear map or network, and return it; ``settings`` as for ``_training``."""
        model: Model = finished(self._training(X, loss, labels, **settings))
        return model

    def _fit_model(self, X: Features, loss: LogitLoss, labels: Mapping[str, AnyArray]) -> None:
        """Train ``model_``, side by side with those of other classifiers if they are fitted so."""

        def fitting() -> Fitting:
            self.model_ = yield from self._training(X, loss, labels)

        run(self, fitting())

    def _training(
        self,
        X: Features,
        loss: LogitLoss,
        labels: Mapping[str, AnyArray],
        *,
        generator: torch.Generator | None = None,
        stage: str = "classifier",
        initial_bias: float | None = None,
    ) -> Generator[list[LinearTraining], list[LinearMap], Model]:
        """Train a new linear map or network; ``labels`` (n, K) are named like the loss's arguments.

        The biases start at ``initial_bias``; None leaves them random.
        """
        generator = generator or self._generator()
        settings = self._settings(X, generator, stage)
        model: Model
        centre = self._centre(X)
        if self.network is None:
            rows = X if centre is None else X - centre
            (model,) = yield [
                LinearTraining(
                    X=rows, loss=loss, labels=labels, initial_bias=initial_bias, **settings
                )
            ]
            if centre is not None:
                model = LinearMap(model.coef, model.intercept - model.coef @ centre)
        else:
            n_labels = next(iter(labels.values())).shape[1]
            with self._new_network(X, n_labels, generator) as network:
                if initial_bias is not None and not set_output_bias(
                    network, n_labels, initial_bias
                ):
                    raise InputError(
                        f"the last layer of the network has no bias of {n_labels} numbers, one per"
                        " label, to start from: use one that has, or leave bias_init='random'"
                    )
                train_network(network, X, loss, labels, **settings)
                model = network
        self._refuse_divergence(model, X, stage)
        return model

    def _settings(self, X: Features, generator: torch.Generator, stage: str) -> dict[str, Any]:
        """Return the settings of a training; remember the shape of an item of several axes."""
        refuse_beyond_single(X)
        self._forget("_item_shape")
        if len(X.shape) > 2:
            self._item_shape = X.shape[1:]
        return {
            "schedule": self._schedule(),
            "generator": generator,
            "device": resolve_device(self.device),
            "on_epoch": None if self.callback is None else partial(self.callback, stage),
        }

    @contextlib.contextmanager
    def _new_network(
        self, X: Features, n_labels: int, generator: torch.Generator
    ) -> Iterator[torch.nn.Module]:
        """Make the network for the rows of X; torch's global generator is seeded for the block."""
        with torch.random.fork_rng(), torch_as_released():
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator, device="cpu")))
            shape: Any = X.shape[1] if len(X.shape) == 2 else tuple(X.shape[1:])
            made = (self.network or torch.nn.Linear)(shape, n_labels)
            _check_network(made, tuple(X.shape[1:]), n_labels)
            yield made

    def _keep(self, network: torch.nn.Module, X: Features, centre: Array | None) -> None:
        """Keep a trained network as ``model_``, or its linear map; it learned from X - centre."""
        self.model_: Model = network
        if self.network is None:
            coef, intercept = (x.detach().double().cpu().numpy() for x in network.parameters())
            if centre is not None:
                intercept = intercept - coef @ centre
            self.model_ = LinearMap(coef, intercept)
        self._refuse_divergence(self.model_, X, "classifier")

    def _refuse_divergence(self, model: Model, X: Features, stage: str) -> None:
        for rows in gen_batches(X.shape[0], _CHECKED_ROWS):
            row = _infinite_row(self._raw_outputs(model, X[rows]))
            if row is not None:
                problem = f"the training of the {stage} diverged: row {rows.start + row} of X"
                raise not_learnable(X, f"{problem} has scores that are not finite")

    def _validate_new(self, X: ArrayLike) -> Features:
        fitted = getattr(self, "_item_shape", None)
        if fitted is None:
            return super()._validate_new(X)
        shape = tuple(getattr(X, "shape", ()) or np.asarray(X).shape)[1:]
        if shape != fitted:
            raise InputError(
                f"the items of X have shape {shape}, but fit was given items of shape {fitted};"
                " give items of the same shape"
            )
        return super()._validate_new(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only networks know what to do with more than two axes.
        tags.input_tags.three_d_array = self.network is not None
        return tags

    def _centre(self, X: Features) -> Array | None:
        """Return means (d,) to subtract if X is far from 0; warn if that cannot be done here."""
        centre = far_centre(X)
        if centre is None or (self.network is None and not sparse.issparse(X)):
            return centre
        warn_user(
            f"X is far from 0: the largest mean of a feature is {np.abs(centre).max():.3g}, more"
            f" than {FAR} times the spread of the features, so gradient descent may learn little;"
            " centre and scale the features first, as scikit-learn's StandardScaler does",
            ConvergenceWarning,
        )
        return None

    def _decision(self, X: Features) -> Array:
        return self._outputs(self.model_, X)

    def _outputs(self, model: Model, X: Features) -> Array:
        """Return a trained model's logits (n, K); refuse features that make them infinite."""
        outputs = self._raw_outputs(model, X)
        row = _infinite_row(outputs)
        if row is not None:
            raise InputError(
                f"row {row} of X has scores that are not finite. {range_of(X)}; scale the features"
                " as those given to fit"
            )
        return outputs

    def _raw_outputs(self, model: Model, X: Features) -> Array:
        if isinstance(model, torch.nn.Module):
            return network_outputs(model, X, device=resolve_device(self.device))
        with np.errstate(over="ignore", invalid="ignore"):
            return model(X)


def not_learnable(X: Features, problem: str) -> InputError:
    """Return the error for features that gradient descent cannot learn from."""
    return InputError(
        f"{problem}. {range_of(X)}; centre and scale the features to values near 1 first, as"
        " scikit-learn's StandardScaler does, or lower learning_rate"
    )


def _infinite_row(outputs: Array) -> int | None:
    finite = np.isfinite(outputs).all(axis=1)
    return None if finite.all() else int(np.argmin(finite))


def _check_network(network: object, shape: tuple[int, ...], n_labels: int) -> None:
    if not isinstance(network, torch.nn.Module):
        raise InputError(
            f"network must return a torch.nn.Module, got {type(network).__name__};"
            " pass a factory such as lambda n_features, n_labels: torch.nn.Linear(...)"
        )
    inputs = f"{shape[0]} features" if len(shape) == 1 else f"items of shape {shape}"
    network.eval()
    try:
        with torch.no_grad():
            shape_of_outputs = tuple(network(torch.zeros(1, *shape)).shape)
    except (RuntimeError, ValueError) as error:
        raise InputError(f"network does not take {inputs}: {error}") from error
    if shape_of_outputs != (1, n_labels):
        raise InputError(
            f"network maps one instance of {inputs} to shape {shape_of_outputs},"
            f" expected (1, {n_labels}): one output per label"
        )
