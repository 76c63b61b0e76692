"""OCRFsampling: one-class random forests with generated outliers (Desir et al. 2013)."""

from baselines.ocrfsampling.forest import SamplingOneClassForest
from baselines.ocrfsampling.supervised import SupervisedSamplingOneClassForest

__all__ = ["SamplingOneClassForest", "SupervisedSamplingOneClassForest"]
