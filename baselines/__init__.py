"""The paper's algorithms that no library ships, and an adapter for those that PyOD ships."""

from baselines.detector import Detector, TransductiveDetector
from baselines.lsad import LeastSquaresAnomalyDetection
from baselines.ocrfsampling import SamplingOneClassForest, SupervisedSamplingOneClassForest
from baselines.orca import Orca
from baselines.pyod_detector import PyODDetector
from baselines.rfc import RandomForestClustering
from baselines.warming import warm_up

__all__ = [
    "Detector",
    "LeastSquaresAnomalyDetection",
    "Orca",
    "PyODDetector",
    "RandomForestClustering",
    "SamplingOneClassForest",
    "SupervisedSamplingOneClassForest",
    "TransductiveDetector",
    "warm_up",
]
