"""Any PyOD detector by its name, with the score direction and threshold of scikit-learn."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import inspect
import io
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from baselines.detector import Detector

#: Modules of detectors for graphs, time series, text and sound.
NOT_FOR_TABLES = ("pyg_", "ts_", "embedding", "audio_")


class PyODDetector(Detector):
    """Adapt a PyOD detector.

    Parameters
    ----------
    detector : str, default="ECOD"
        Name of the detector's class in PyOD, such as ECOD, COPOD, HBOS, KNN, INNE or LODA.
    contamination : float in (0, 0.5], default=0.1
        Share of anomalies among the training points, which sets `offset_`.
    params : mapping or None, default=None
        Further parameters of the detector's constructor.
    n_jobs : int, default=None
        Handed on to a detector that takes it.
    random_state : int, RandomState instance or None, default=None
        Handed on to a detector that takes it.
    training_scores : bool, default=False
        Whether `score_samples` takes the training points only, and returns the scores that they
        got in `fit` (PyOD's ``decision_scores_``), as benchmarks do that have no test part.
        Detectors by neighbours then leave a point out of its own neighbourhood.

    Attributes
    ----------
    detector_ : pyod.models.base.BaseDetector
        The fitted detector.
    offset_ : float
        Threshold on `score_samples`, minus PyOD's ``threshold_``.
    X_train_ : ndarray of shape (n_samples, n_features)
        The training points, with `training_scores`.

    Notes
    -----
    PyOD's scores are higher for more abnormal points; ``score_samples`` negates them. Some of its
    detectors (ECOD, COPOD) score a point relative to the training points and its whole batch.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "detector": [str],
        "contamination": [Interval(Real, 0, 0.5, closed="right")],
        "params": [Mapping, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "training_scores": ["boolean"],
    }

    def __init__(
        self,
        detector: str = "ECOD",
        *,
        contamination: float = 0.1,
        params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        training_scores: bool = False,
    ) -> None:
        self.detector = detector
        self.contamination = contamination
        self.params = params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.training_scores = training_scores

    def _validate_params(self) -> None:
        super()._validate_params()
        find_detector(self.detector)

    def _fit(self, X: NDArray[np.float64]) -> None:
        detector_class = self._checked_class(self.get_params(deep=False))
        accepted = inspect.signature(detector_class).parameters
        given = {"contamination": self.contamination, **(self.params or {})}
        for name, value in (("n_jobs", self.n_jobs), ("random_state", self.random_state)):
            if name in accepted and value is not None:
                given.setdefault(name, value)
        with self._third_party("fitted"):
            self.detector_ = detector_class(**given).fit(X)
        if not np.isfinite(self.detector_.threshold_):
            raise ValueError(
                f"PyOD's {self.detector} gives training points scores that are not finite"
            )
        if self.training_scores:
            # A copy: the caller may go on to change the array that was given to fit.
            self.X_train_ = X.copy()

    @classmethod
    def check_parameters(cls, given: Mapping[str, Any]) -> None:
        """Check the name of the detector, and its own parameters as far as a small table tells.

        PyOD looks at most parameters only when it fits. One that is of another kind than its
        default, or another word, is tried on random points; how large a number may be depends on
        the data, and is left to them.

        Parameters
        ----------
        given : mapping
            Parameters of this class; those that are absent have their defaults.

        Raises
        ------
        ImportError
            If PyOD, or the extra package that the detector needs, is not installed.
        ValueError
            If PyOD has no such detector, it learns from labels, has no such parameter, or refuses
            a value.
        TypeError
            If a value is not true or false where PyOD's own is.
        """
        accepted = inspect.signature(cls._checked_class(given)).parameters
        detector = given.get("detector") or "ECOD"
        params = given.get("params") or {}
        # The matrix of a metric, say, fits the data alone, and the metric's name needs it.
        bound = any(isinstance(value, Mapping) for value in params.values())
        for name, value in params.items():
            default = accepted[name].default
            if isinstance(default, bool) and not isinstance(value, bool):
                raise TypeError(f"PyOD's {detector}: params.{name} is true or false, not {value!r}")
            if not bound and not _left_to_the_data(value, default):
                cls._try_out(detector, name, value)

    @classmethod
    def _try_out(cls, detector: str, name: str, value: Any) -> None:
        """Fit a detector with one of its parameters to random points; refuse what it refuses."""
        rng = np.random.default_rng(0)
        for n_features in (8, 2):  # distances of a globe are for two
            X = rng.random((64, n_features))
            try:
                cls(detector, params={name: value}, random_state=0).fit(X)
            except (TypeError, AttributeError, ValueError) as error:
                words = " ".join(str(error).split())
                # A ValueError may be due to the points, or to a parameter that belongs to this one.
                wrong = not isinstance(error, ValueError) or str(value) in words
                if wrong and n_features == 2:
                    raise ValueError(
                        f"PyOD's {detector} refuses params.{name}={value!r}: {words}"
                    ) from error
            else:
                return

    @staticmethod
    def _checked_class(given: Mapping[str, Any]) -> Any:
        """Return the detector's class, if it is one for tables and has the parameters by name."""
        name = given.get("detector") or "ECOD"
        detector_class = find_detector(name)
        label = inspect.signature(detector_class.fit).parameters.get("y")
        if label is not None and label.default is inspect.Parameter.empty:
            raise ValueError(f"PyOD's {name} learns from labels, and is given none here")
        accepted = inspect.signature(detector_class).parameters
        if unknown := sorted(map(str, (given.get("params") or {}).keys() - accepted.keys())):
            raise ValueError(
                f"PyOD's {name} has no parameter {', '.join(unknown)}; it has {', '.join(accepted)}"
            )
        return detector_class

    @classmethod
    def warm_up(cls, given: Mapping[str, Any]) -> None:
        """Import the detector, and compile what numba compiles of it, which is not cached.

        A process that has done this can fork children that need not. A detector with kernels is
        fitted on a small table, unless these start threads, which do not survive a fork.

        Parameters
        ----------
        given : mapping
            Parameters of this class; those that are absent have their defaults.
        """
        detector_class = find_detector(given.get("detector") or "ECOD")
        kernels = _kernels(sys.modules[detector_class.__module__])
        if kernels and not any(kernel.targetoptions.get("parallel") for kernel in kernels):
            X = np.random.default_rng(0).random((64, 3))
            cls(**given).set_params(n_jobs=None, random_state=0).fit(X).score_samples(X)

    def _set_offset(self, X: NDArray[np.float64]) -> None:
        self.offset_ = -float(self.detector_.threshold_)

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._at_fit.training_scores:
            if not np.array_equal(X, self.X_train_):
                raise ValueError(
                    "training_scores=True: only the points that were trained on have such scores, "
                    "all of them in the same order"
                )
            scores = np.asarray(self.detector_.decision_scores_, dtype=np.float64)
        else:
            with self._third_party("scored"):
                scores = np.asarray(self.detector_.decision_function(X), dtype=np.float64)
        if not np.isfinite(scores).all():
            raise ValueError(
                f"PyOD's {self._at_fit.detector} gives {np.count_nonzero(~np.isfinite(scores))} of "
                f"{len(X)} points a score that is not finite"
            )
        return -scores.reshape(len(X))

    @contextlib.contextmanager
    def _third_party(self, what: str) -> Iterator[None]:
        """Run PyOD: what it warns of is harmless, or shows in the scores, which are checked."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                yield
            except (ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
                # Raised on degenerate data by detectors of PyOD, which do not refuse them.
                raise ValueError(
                    f"PyOD's {self._at_fit.detector} cannot be {what} on these points: "
                    f"{type(error).__name__}: {error}"
                ) from error


def find_detector(name: str) -> Any:
    """Return PyOD's detector class of this name.

    Parameters
    ----------
    name : str
        Name of the class.

    Returns
    -------
    detector : type
        The class.

    Raises
    ------
    ImportError
        If PyOD, or the extra package that the detector needs, is not installed.
    ValueError
        If PyOD has no detector of this name.
    """
    modules = _class_modules()
    if name not in modules:
        by_small = {known.lower(): known for known in modules}
        near = difflib.get_close_matches(name.lower(), by_small, n=3, cutoff=0.5)
        words = f"; near it are {', '.join(by_small[match] for match in near)}" if near else ""
        raise ValueError(
            f"PyOD has no detector {name!r}{words}; it has {', '.join(sorted(modules))}"
        )
    try:
        # Some modules print advice when their import fails; the error below says it better.
        with contextlib.redirect_stdout(io.StringIO()):
            module = importlib.import_module(modules[name])
    except ImportError as error:
        missing = error.name or str(error)
        raise ImportError(
            f"PyOD's {name} needs the package {missing!r}, which is not installed"
        ) from error
    return getattr(module, name)


def _left_to_the_data(value: Any, default: Any) -> bool:
    """Whether random points cannot tell if a value is valid in place of a default."""
    if isinstance(default, bool) or isinstance(value, bool):
        return value is default
    if isinstance(value, Real):
        return float(value) > 0 and (
            isinstance(value, Integral) or not isinstance(default, Integral)
        )
    if value is None or isinstance(value, str):
        return value == default
    return not isinstance(default, Real | str)


def _kernels(module: ModuleType) -> list[Any]:
    """Return what numba compiles of a module of PyOD and of those that it imports from."""
    dispatcher = sys.modules["numba.core.dispatcher"].Dispatcher if "numba" in sys.modules else ()
    sources = {module.__name__} | {
        source
        for value in vars(module).values()
        if (source := getattr(value, "__module__", None) or "").startswith("pyod.")
    }
    return [
        value
        for source in sorted(sources)
        for value in vars(sys.modules[source]).values()
        if isinstance(value, dispatcher)
    ]


@cache
def _class_modules() -> dict[str, str]:
    """Return the module of every detector class, read from source: an import may need extras."""
    package = find_spec("pyod.models") if find_spec("pyod") else None
    if package is None or not package.submodule_search_locations:
        raise ImportError("PyODDetector needs the package 'pyod', which is not installed")
    modules = {}
    for folder in package.submodule_search_locations:
        for path in sorted(Path(folder).glob("[!_]*.py")):
            if path.stem.startswith(NOT_FOR_TABLES):
                continue
            for match in re.finditer(
                r"^class (\w+)\(Base\w*Detector\b",
                path.read_text(encoding="utf-8"),
                flags=re.MULTILINE,
            ):
                if not match[1].startswith(("_", "Base")):
                    modules[match[1]] = f"pyod.models.{path.stem}"
    return modules
