"""Compose the cells of a sweep, each part of the configuration once.

Hydra needs a tenth of a second for a composition, and a sweep has hundreds of cells that are put
together from a few dozen parts. An *axis* of a sweep is a top-level key of the configuration with
the overrides that concern it. Hydra composes each value of an axis once; a cell takes each key from
the composition in which its overrides were applied. That is exact as long as the overrides of an
axis change nothing but its own key, which is checked; a sweep with any other override is composed
cell by cell. Where nothing but the chosen file fills a key, as one composition without the group
tells, that file is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from datasets import collections
from datasets.errors import UsageError
from datasets.mistakes import GROUPS, in_words
from datasets.own_folders import CONF, file_of

_OVERRIDE = re.compile(r"(?:\+\+|\+|~)?(\w+)(?:[./][\w./]+)?(?:=.*)?", re.DOTALL)
# What makes a file more than the keys of its group: `# @package ...`, and a list of defaults.
_MORE_THAN_KEYS = re.compile(r"^\s*#\s*@|^defaults\s*:", re.MULTILINE)

Plain = dict[str, Any]

PRIMARY = "config"
"""The name of the project's primary configuration."""


@dataclass(frozen=True)
class Composed:
    """A composed configuration.

    Attributes
    ----------
    unresolved : dict
        The configuration without Hydra's own part, interpolations as they are written.
    choices : dict
        The chosen options of all groups, by group.
    overrides : tuple of str
        The overrides that were applied, without those of Hydra's own options.
    folders : tuple of Path
        The folders of the search path, in its order.
    """

    unresolved: Plain
    choices: Mapping[str, Any]
    overrides: tuple[str, ...]
    folders: tuple[Path, ...] = ()

    @classmethod
    def from_config(cls, config: DictConfig, hydra: Any) -> Composed:
        """Take apart what Hydra composed: the configuration and Hydra's own part."""
        plain = OmegaConf.to_container(config, resolve=False)
        assert isinstance(plain, dict)
        return cls(
            {str(name): value for name, value in plain.items() if name != "hydra"},
            dict(hydra.runtime.choices),
            tuple(_texts(hydra.overrides.task)),
            tuple(Path(s.path) for s in hydra.runtime.config_sources if s.schema == "file"),
        )

    def file_of(self, group: str) -> Path | None:
        """Return the YAML file of the chosen option of a group; None if none was chosen."""
        return file_of(self.folders, group, self.choices.get(group))

    def resolved(self, known: dict[str, Plain] | None = None) -> Plain:
        """Return the configuration with its interpolations resolved.

        Parameters
        ----------
        known : dict or None
            What has been resolved for other cells of the sweep, by how it is written; it is added
            to.

        Raises
        ------
        UsageError
            If an interpolation leads nowhere, or a mandatory value is missing.
        """
        open_ones = self._unfinished()
        written = repr(open_ones)
        resolved = known.get(written) if known is not None else None
        if resolved is None:
            try:
                plain = OmegaConf.to_container(
                    OmegaConf.create(open_ones), resolve=True, throw_on_missing=True
                )
            except OmegaConfBaseException as error:
                raise UsageError(in_words(error)) from error
            assert isinstance(plain, dict)
            resolved = {str(name): value for name, value in plain.items()}
            if known is not None:
                known[written] = resolved
        return self.unresolved | resolved

    def _unfinished(self) -> Plain:
        """Return the keys with interpolations or mandatory values, and those that they may name.

        OmegaConf needs milliseconds for a whole configuration, of which little is interpolated.
        """
        texts = {name: str(value) for name, value in self.unresolved.items()}
        found: set[str] = set()
        waiting = [name for name, text in texts.items() if "${" in text or "???" in text]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                if "${" in texts[name]:
                    waiting += [word for word in re.findall(r"\w+", texts[name]) if word in texts]
        return {name: value for name, value in self.unresolved.items() if name in found}


class Composer:
    """Compose variations of one configuration inside of a running Hydra application.

    Parameters
    ----------
    hydra : DictConfig or HydraConf
        Hydra's own part of the configuration, which names the primary file and Hydra's overrides.
    """

    def __init__(self, hydra: Any):
        self._name = str(hydra.job.config_name)
        self._fixed = _texts(hydra.overrides.hydra)
        self._known: dict[tuple[str, ...], Composed] = {}
        self._alone: dict[str, bool] = {}

    def compose(self, overrides: Sequence[str]) -> Composed:
        """Return the configuration under some overrides, composed by Hydra."""
        key = tuple(overrides)
        if key not in self._known:
            config = compose(self._name, [*self._fixed, *overrides], return_hydra_config=True)
            HydraConfig.instance().set_config(config)  # for ${hydra:...}
            self._known[key] = Composed.from_config(config, config.hydra)
        return self._known[key]

    def compose_all(self, jobs: Sequence[Sequence[str]]) -> Iterator[Composed]:
        """Yield the configuration of each job of a sweep."""
        axes = [_axes(job) for job in jobs]
        first = axes[0] if axes else None
        if first is None or None in axes:
            yield from map(self.compose, jobs)
            return
        base = self.compose(jobs[0])
        simple = "${hydra:" not in str(base.unresolved)
        parts: dict[tuple[str, tuple[str, ...]], Composed | None] = {}
        for job, own in zip(jobs, axes, strict=True):
            assert own is not None
            composed = {**base.unresolved}
            choices = {**base.choices}
            independent = simple and own.keys() == first.keys()
            for axis, overrides in own.items():
                if not independent or overrides == first[axis]:
                    continue
                if (axis, overrides) not in parts:
                    parts[axis, overrides] = self._varied(base, first, axis, overrides)
                part = parts[axis, overrides]
                if part is None:
                    independent = False
                    break
                composed[axis] = part.unresolved.get(axis)
                choices |= _own_choices(part.choices, axis)
            if independent:
                yield Composed(composed, choices, tuple(job), base.folders)
            else:
                yield self.compose(job)

    def _varied(
        self,
        base: Composed,
        first: Mapping[str, tuple[str, ...]],
        axis: str,
        overrides: tuple[str, ...],
    ) -> Composed | None:
        """Compose the first job with other overrides on one axis.

        Returns None if that changes anything but the axis' own key.
        """
        chosen = self._chosen(base, first, axis, overrides)
        if chosen is not None:
            choice = overrides[0].partition("=")[2]
            unresolved = {**base.unresolved, axis: chosen}
            choices = {**base.choices, axis: choice}
            return Composed(unresolved, choices, base.overrides, base.folders)
        composed = self._with(first, axis, overrides)
        return composed if axis in composed.unresolved and _same_but(base, composed, axis) else None

    def _with(
        self, first: Mapping[str, tuple[str, ...]], axis: str, overrides: tuple[str, ...]
    ) -> Composed:
        """Compose the first job with other overrides on one axis."""
        varied = {**first, axis: overrides}
        return self.compose([override for values in varied.values() for override in values])

    def _chosen(
        self,
        base: Composed,
        first: Mapping[str, tuple[str, ...]],
        axis: str,
        overrides: tuple[str, ...],
    ) -> Plain | None:
        """Return the keys of an option that the overrides of an axis choose, and do nothing else.

        Returns None if they do more, or if more than the option's file fills the axis' key.
        """
        options = [_option(axis, first[axis]), _option(axis, overrides)]
        if None in options:
            return None
        if axis not in self._alone:
            try:
                without = self._with(first, axis, (f"~{axis}",))
            except HydraException:
                self._alone[axis] = False
            else:
                left = axis in without.unresolved
                self._alone[axis] = not left and _same_but(base, without, axis)
        return _content(base, axis, str(options[1])) if self._alone[axis] else None

    def own_parameters(self, composed: Composed, name: str) -> Plain:
        """Return the parameters of an algorithm as its YAML file has them."""
        # Nothing else fills the key in the project's own configuration; a sweep finds it out.
        ours = self._name == PRIMARY and CONF in composed.folders
        alone = self._alone.get("algorithm", ours)
        if alone and (content := _content(composed, "algorithm", name)):
            return content
        return dict(self.compose([f"algorithm={name}"]).unresolved["algorithm"])


def _option(group: str, overrides: tuple[str, ...]) -> str | None:
    """Return the option of a group that overrides choose, if they do that and nothing else."""
    name, _, choice = overrides[0].partition("=")
    return choice if name == group and group in GROUPS and len(overrides) == 1 else None


def _same_but(one: Composed, other: Composed, axis: str) -> bool:
    """Whether two compositions differ at most in an axis."""
    return all(
        _without(getattr(one, part), axis) == _without(getattr(other, part), axis)
        for part in ("unresolved", "choices")
    )


def _content(composed: Composed, group: str, choice: str) -> Plain | None:
    """Return the keys of an option of a group, if all that Hydra would do is to read them."""
    if group == "dataset" and (member := collections.find(choice)) is not None:
        return dict(member)
    file = file_of(composed.folders, group, choice)
    # The folder of an option in a folder would be part of where Hydra puts its keys.
    if file is None or file.stem != choice:
        return None
    text = file.read_text(encoding="utf-8")
    content = None if _MORE_THAN_KEYS.search(text) else OmegaConf.create(text)
    if not isinstance(content, DictConfig) or not content:
        return None
    plain = OmegaConf.to_container(content, resolve=False)
    assert isinstance(plain, dict)
    return {str(name): value for name, value in plain.items()}


def _texts(overrides: Any) -> list[str]:
    """Return Hydra's list of overrides, in which ``${...}`` is part of a text."""
    plain = OmegaConf.to_container(overrides, resolve=False)
    assert isinstance(plain, list)
    return [str(text) for text in plain]


def _axes(overrides: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """Return the overrides by the top-level key that they concern; None if one is not so simple."""
    axes: dict[str, tuple[str, ...]] = {}
    for override in overrides:
        found = _OVERRIDE.fullmatch(override)
        if found is None or found[1] == "hydra":
            return None
        axes[found[1]] = (*axes.get(found[1], ()), override)
    return axes


def _without(mapping: Mapping[str, Any], axis: str) -> Plain:
    """Return a mapping without an axis: its key, and its groups `axis/...`."""
    return {k: v for k, v in mapping.items() if k != axis and not k.startswith(f"{axis}/")}


def _own_choices(choices: Mapping[str, Any], axis: str) -> Plain:
    return {k: v for k, v in choices.items() if k == axis or k.startswith(f"{axis}/")}
