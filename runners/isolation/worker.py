"""A worker: a zygote with its holders, in which the supervisor runs one experiment at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from runners import detectors
from runners.experiment import Experiment, Limits
from runners.isolation import messages
from runners.isolation.messages import Check, Checked, Hello, Hold, Load, Loaded, NoData, Result
from runners.isolation.watch import AbortedError, Holder, Watch
from runners.isolation.zygote_process import ZygoteProcess, await_message

_MOST_HOLDERS = 6  # data sets that one worker keeps
_MOST_BYTES = 1 << 30


class WorkerDiedError(Exception):
    """The zygote is gone; the experiment in it has no outcome."""


class HolderDiedError(Exception):
    """The holder is gone; the experiment in it has no outcome. The zygote can go on."""


class Worker:
    """A zygote and the data sets that its holders have loaded. Used by one thread at a time."""

    def __init__(self, threads: int):
        self.threads = threads
        self.zygote = ZygoteProcess(threads)
        self._holders: OrderedDict[str, Holder] = OrderedDict()
        self._without_data: dict[str, Result] = {}

    @property
    def started(self) -> bool:
        """Whether the zygote has imported everything and compiled what its experiments need."""
        return self.zygote.warm is not None

    def has(self, data_key: str) -> bool:
        """Whether a data set is loaded here."""
        return data_key in self._holders

    def run(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool] = lambda: False
    ) -> Result:
        """Run one experiment and return its result.

        Parameters
        ----------
        experiment : Experiment
        limits : Limits
        look : callable
            Called several times a second; if it returns true, the experiment is killed.

        Raises
        ------
        AbortedError
            If `look` said so.
        HolderDiedError
            If the process that forked the experiment died.
        WorkerDiedError
            If the zygote died. The worker cannot be used again.
        StartError
            If the zygote cannot start.
        """

        def look_at_both() -> bool:
            # What an experiment has forked may hold the sockets open when the zygote is gone.
            if self.zygote.returncode is not None:
                raise messages.ClosedError
            return look()

        try:
            holder = self._holder(experiment, limits, look)
            if isinstance(holder, Result):
                return holder
            try:
                return Watch(holder, self.forget, experiment, limits, look_at_both).outcome()
            except messages.ClosedError:
                if self.zygote.died():
                    raise
                self.forget(holder)
                raise HolderDiedError("the process that forked the experiment was killed") from None
        except messages.ClosedError as error:
            raise WorkerDiedError(self.zygote.last_words()) from error

    def check(
        self, check: Check, limits: Limits, look: Callable[[], bool] = lambda: False
    ) -> Checked:
        """Try a part of a configuration; return what is wrong with it.

        What takes too long, or ends the process, is left to the experiments, which record it.

        Raises
        ------
        StartError
            If the zygote cannot start.
        """
        self.zygote.wait_until_imported(limits, look)
        try:
            ours = self.zygote.fork(check)
        except messages.ClosedError:
            return Checked()
        holder = None
        try:
            while answer := await_message(ours, limits.preparation_timeout, look):
                match answer:
                    case Hello(pid):
                        holder = Holder(ours, pid)
                    case Checked():
                        return answer
                    case _:
                        raise messages.OrderError(answer)
        except messages.ClosedError:
            return Checked()
        finally:
            if holder is not None:
                self._drop(holder)
            ours.close()
        return Checked()

    def close(self) -> None:
        """End the zygote and everything below it."""
        for holder in self._holders.values():
            holder.end.close()
        self._holders.clear()
        self.zygote.close()

    def _holder(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> Holder | Result:
        """Return the holder of the experiment's data, or the result if they cannot be loaded."""
        key = experiment.cell.data_key
        packages = detectors.preloaded_packages(experiment.cell.config["algorithm"])
        self.zygote.wait_until_warm(packages, limits, look)
        if key in self._holders:
            if packages <= self._holders[key].packages:
                self._holders.move_to_end(key)
                return self._holders[key]
            # It was forked before these kernels were compiled.
            self.forget(self._holders[key])
        if key in self._without_data:
            return self._without_data[key]
        loaded = self._load(experiment, limits, look)
        if isinstance(loaded, NoData):
            # Not tried again in this run: a server that is down is down for all ten splits.
            self._without_data[key] = loaded.result
        if not isinstance(loaded, Holder):
            return loaded.result if isinstance(loaded, NoData) else loaded
        self._holders[key] = loaded
        while len(self._holders) > _MOST_HOLDERS or (
            len(self._holders) > 1 and sum(h.size for h in self._holders.values()) > _MOST_BYTES
        ):
            self._drop(self._holders.popitem(last=False)[1])
        return loaded

    def _load(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> Holder | NoData | Result:
        """Have the zygote fork a holder that loads the experiment's data."""
        config = experiment.cell.config
        ours = self.zygote.fork(Hold(config["algorithm"]))
        hello = await_message(ours, limits.preparation_timeout, look)
        if not isinstance(hello, Hello):
            # It may have been stopped, by SIGSTOP or a debugger.
            ours.close()
            raise WorkerDiedError(
                f"the zygote did not answer within {limits.preparation_timeout:g} s"
            )
        holder = Holder(ours, hello.pid, packages=self.zygote.warm or frozenset())
        try:
            load = Load(config["dataset"], config.get("data"), experiment.cell.content)
            messages.send(ours, load)
            answer = await_message(ours, limits.preparation_timeout, look)
        except AbortedError:
            self._drop(holder)
            raise
        except messages.ClosedError:
            self._drop(holder)
            return Result(
                "crashed", reason=f"the process that loads {experiment.cell.dataset} died"
            )
        if isinstance(answer, Loaded):
            holder.size = answer.size
            return holder
        self._drop(holder)
        if isinstance(answer, NoData):
            return answer
        reason = f"loading took longer than {limits.preparation_timeout:g} s"
        return NoData(Result("no_data", reason=reason))

    def _drop(self, holder: Holder) -> None:
        holder.end.close()
        self.zygote.kill(holder.pid)

    def forget(self, holder: Holder) -> None:
        """Kill a holder that does not do as it is told."""
        self._holders = OrderedDict((k, h) for k, h in self._holders.items() if h is not holder)
        self._drop(holder)
