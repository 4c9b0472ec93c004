"""Who carries questions to the workers, and brings back what a worker took with it.

A worker holds its part of the points in an actor of Dask's. When it is lost, Dask computes its
chunks again on another, and the journal of all that changed the shards is told to a new actor: the
same questions in the same order leave the same bits.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _core
from ._chunks import Chunks, release
from ._layout import Part, cut, share_out
from ._shards import Shards, digest, rows_of

_LOOK = 1.0  # seconds between looks at workers that take their time
_TRIES = 20  # workers that may be lost one after the other over the same points


class _Stranded(Exception):
    """What is waited for was meant for workers that are lost, all of them."""


class LostPoints(RuntimeError):
    """Points went with their worker, and cannot be had again.

    Examples
    --------
    >>> import fwsr.dask
    >>> try:
    ...     chosen = fwsr.dask.select(X, 20)  # doctest: +SKIP
    ... except fwsr.dask.LostPoints as e:
    ...     print(e)  # which points, and what to do
    """


@dataclass(eq=False)
class Home:
    """An actor with its parts, by their numbers."""

    parts: list[int]
    place: str
    future: Any
    helpers: list[Any] = field(default_factory=list)  # futures of chunks and of pieces of them
    actor: Any = None
    why: str = ""  # it was lost
    among: set[str] = field(default_factory=set)  # the workers that there were when it was begun


@dataclass
class Wire:
    """What went over the network, as numbers of messages and bytes."""

    questions: int = 0
    round_trips: int = 0
    sent: int = 0
    received: int = 0
    lost: int = 0
    replayed: int = 0


class Leader:
    """The points of a run, in actors on workers."""

    def __init__(self, client: Any, chunks: Chunks, timeout: float):
        self.client = client
        self.timeout = timeout
        self.chunks = chunks
        self.homes: list[Home] = []
        self.parts: list[Part] = []
        self.wire = Wire()
        self.notes: list[str] = []
        self._preprocessing = b""
        self._journal = _core.Journal()
        self._digests: dict[int, list[bytes]] = {}
        self._pending: list[bytes] = []
        self._number = 0
        self._own = f"fwsr-{uuid.uuid4().hex[:12]}"
        self._futures: list[Any] = []
        try:
            self._look()
            if not sum(self.chunks.sizes):
                raise ValueError("X has no points: all its chunks are empty")
        except BaseException:
            self.close()
            raise
        if self.chunks.counted:
            self.notes.append(f"sizes of {len(self.chunks)} chunks were unknown and counted: "
                              f"{len(self)} points")

    def __len__(self) -> int:
        return sum(self.chunks.sizes)

    def _look(self) -> None:
        """Has all chunks computed, and learns what they are."""
        while True:
            workers = self._workers()
            self._futures = self.chunks.begin(self.client, workers)
            wait = functools.partial(self._wait, among=set(workers))
            try:
                self.chunks.look(self.client, self._futures, wait)
                return
            except _Stranded:
                self.wire.lost += 1
                self._release_chunks()

    # ------------------------------------------------------------------------------------- actors

    def settle(self, preprocessing: bytes) -> None:
        """Has every worker hold what it has of the points."""
        self._preprocessing = preprocessing
        there = self.client.who_has(self._futures)
        workers = self._workers()
        places: list[str] = []
        for future, wanted in zip(self._futures, share_out(self.chunks.sizes, workers)):
            known = [w for w in there.get(future.key, ()) if w in workers] or [wanted]
            near = [w for w in (wanted, *places[-1:]) if w in known]  # where several have it
            places.append((near or known)[0])
        self.parts = cut(self.chunks.sizes, places, _core.segment_size(len(self)))
        for place in dict.fromkeys(part.place for part in self.parts):
            own = [p for p, part in enumerate(self.parts) if part.place == place]
            self.homes.append(self._begin(own, place))
        self._wait_for(self.homes, lambda: False)
        self._release_chunks()

    def _begin(self, parts: list[int], place: str) -> Home:
        """An actor for some parts, on its way."""
        pieces = [piece for p in parts for piece in self.parts[p].pieces]
        whole = sorted({piece.chunk for piece in pieces if 2 * len(piece) >= self._rows(piece)})
        others = sorted({piece.chunk for piece in pieces} - set(whole))
        futures = dict(zip([*whole, *others],
                           self.chunks.again(self.client, [*whole, *others], place)))
        where = {"workers": [place], "allow_other_workers": True}
        given, found = [futures[chunk] for chunk in whole], {}
        for piece in pieces:
            if piece.chunk in whole:
                found[piece] = (whole.index(piece.chunk), piece.start, piece.stop)
            else:
                given.append(self.client.submit(rows_of, futures[piece.chunk], piece.start,
                                                piece.stop, key=self._key("rows"), pure=False))
                found[piece] = (len(given) - 1, 0, len(piece))
        spec = [(self.parts[p].first, [found[piece] for piece in self.parts[p].pieces])
                for p in parts]
        future = self.client.submit(Shards, spec, len(self), self.chunks.dtype,
                                    self._preprocessing, *given, actor=True, pure=False,
                                    key=self._key("shards"), **where)
        return Home(parts, place, future, [*futures.values(), *given], among=set(self._workers()))

    def _rows(self, piece: Any) -> int:
        return self.chunks.sizes[piece.chunk]

    def _key(self, what: str) -> str:
        return f"{self._own}-{what}-{uuid.uuid4().hex[:8]}"

    def _wait(self, futures: list[Any], broken_off: Callable[[], bool] = lambda: False, *,
              some: bool = False, among: set[str] | None = None) -> None:
        """Until all of them are there, or failed; or some of them. ``among``: the workers that were
        there when they were begun. What was meant for one of them is given to another, but where
        all of them are lost at once it waits for these forever, whoever joins (distributed keeps
        the names that are meant): then _Stranded is raised."""
        from distributed import wait

        silence, begun = Silence(self.client, self.timeout), time.monotonic()
        while True:
            self._require_going_on(broken_off)
            try:
                wait(futures, timeout=0.2,
                     return_when="FIRST_COMPLETED" if some else "ALL_COMPLETED")
            except (TimeoutError, asyncio.TimeoutError):
                if time.monotonic() - begun > _LOOK:
                    begun = time.monotonic()
                    there = list(self._workers())
                    silence.look(there, self._describe)
                    if among is not None and there and among.isdisjoint(there):
                        raise _Stranded from None
                continue
            except Exception:  # one was cancelled: whoever asked looks at it
                pass
            return

    def _wait_for(self, homes: list[Home], broken_off: Callable[[], bool]) -> None:
        """Until these actors are there; those whose worker is lost on the way begin anew."""
        tries = 0
        while homes:
            stranded: list[Home] = []
            try:
                self._wait([home.future for home in homes], broken_off, some=True,
                           among=set().union(*(home.among for home in homes)))
            except _Stranded:
                stranded = [home for home in homes if home.future.status == "pending"]
            for home in [home for home in homes
                         if home.future.status != "pending" or home in stranded]:
                homes = [one for one in homes if one is not home]
                if home.future.status == "error":
                    self._raise_unless_lost(home)
                if home.future.status == "finished":
                    try:
                        home.actor = home.future.result(timeout=self.timeout)
                        # The key is held by our own future. With its own an actor whose worker went
                        # away waits for it inside the loop, which then never turns again.
                        home.actor._future = None
                        home.place, notes = home.actor.where().result(timeout=self.timeout)
                        self.notes.extend(note for note in notes if note not in self.notes)
                        release(home.helpers)
                        home.helpers = []
                        continue
                    except (OSError, RuntimeError, ValueError):
                        pass  # lost between the two
                tries += 1
                if tries > _TRIES:
                    raise LostPoints(self._sorry(home))
                self._restart(home, broken_off)
                homes.append(home)

    def _restart(self, home: Home, broken_off: Callable[[], bool]) -> None:
        """The same home on another worker."""
        self.wire.lost += 1
        self._drop(home)
        fresh = self._begin(home.parts, self._least_busy(home.place, broken_off))
        home.place, home.future, home.helpers = fresh.place, fresh.future, fresh.helpers
        home.among = fresh.among
        home.actor = None

    def _raise_unless_lost(self, home: Home) -> None:
        from distributed.scheduler import KilledWorker

        error = home.future.exception()
        if isinstance(error, KilledWorker):
            raise LostPoints(f"{self._sorry(home)} ({error})") from error
        if isinstance(error, OSError) or "lost" in str(error).lower():
            return
        raise error

    def _sorry(self, home: Home) -> str:
        first = self.parts[home.parts[0]].first
        rows = sum(len(self.parts[p]) for p in home.parts)
        return (f"{rows} points, the first of them point {first}, were lost with their workers "
                f"{_TRIES} times; look at the workers' logs (most often their memory is too small)"
                + (f": {home.why}" if home.why else ""))

    def _drop(self, home: Home) -> None:
        """What is our own of a home goes; chunks may be somebody else's."""
        futures = [home.future, *home.helpers]
        home.actor, home.helpers, home.future = None, [], None
        own = [future for future in futures if str(future.key).startswith(self._own)]
        try:
            self.client.cancel(own, asynchronous=False, force=True)
            release(futures)
        except Exception:  # a cluster that is gone holds nothing
            pass

    def _release_chunks(self) -> None:
        futures, self._futures = self._futures, []
        release(futures)

    # ---------------------------------------------------------------------------------- questions

    def ask(self, question: bytes, broken_off: Callable[[], bool]) -> list[bytes]:
        """What all parts answer, first to last: a Transport of the core."""
        self.wire.questions += 1
        changes, tells = _core.question_facts(question)
        if tells:  # it goes with the next one
            self._pending.append(question)
            return [_core.told()] * len(self.parts)
        questions, self._pending = [*self._pending, question], []
        self._number += 1
        answers = self._exchange(questions, broken_off)
        for one in questions:
            entry = self._journal.add(one)
            if entry >= 0 and one is question:
                self._digests[entry] = [digest(answer) for answer in answers]
        return answers

    def _exchange(self, questions: list[bytes], broken_off: Callable[[], bool]) -> list[bytes]:
        answers: dict[int, bytes] = {}
        waiting, tries = self.homes, 0
        while waiting:
            said = self._call(waiting, self._number, questions, broken_off)
            lost = [home for home in waiting if home not in said]
            for home, replies in said.items():
                answers.update(zip(home.parts, replies))
                self.wire.received += sum(map(len, replies))
            if lost:
                tries += 1
                if tries > _TRIES:
                    raise LostPoints(self._sorry(lost[0]))
                self._bring_back(lost, broken_off)
            waiting = lost
        return [answers[p] for p in range(len(self.parts))]

    def _call(self, homes: list[Home], number: int, questions: list[bytes],
              broken_off: Callable[[], bool]) -> dict[Home, list[bytes]]:
        """Their answers; those that are not there were lost."""
        self.wire.round_trips += 1
        self.wire.sent += len(homes) * sum(map(len, questions))
        return self._all(homes, lambda home: home.actor.answer(number, questions), broken_off)

    def _all(self, homes: Sequence[Home], call: Callable[[Home], Any],
             broken_off: Callable[[], bool]) -> dict[Home, Any]:
        """What calls of actors return; those that are not there were lost."""
        calls: dict[Any, Home] = {}
        said: dict[Home, Any] = {}

        async def one(home: Home) -> Any:
            return await call(home)

        async def begin_and_wait(seconds: float) -> None:
            if not calls:
                calls.update({asyncio.ensure_future(one(home)): home for home in homes})
            done, _ = await asyncio.wait(list(calls), timeout=seconds)
            for task in done:
                home = calls.pop(task)
                error = task.exception()
                if error is None:
                    said[home] = task.result()
                elif not isinstance(error, (OSError, RuntimeError, ValueError, KeyError)):
                    raise error
                else:
                    home.why = str(error)

        async def give_up() -> None:
            for task in calls:
                task.cancel()
            for home in homes:
                if home.actor is not None:
                    try:
                        home.actor.stop()
                    except Exception:  # it is gone
                        pass

        silence = Silence(self.client, self.timeout)
        seconds, begun = 0.1, time.monotonic()
        try:
            while True:
                self.client.sync(begin_and_wait, seconds)
                if not calls:
                    return said
                self._require_going_on(broken_off)
                if time.monotonic() - begun > _LOOK:
                    seconds, begun = 0.2, time.monotonic()
                    waiting = list(calls.values())
                    silence.look([home.place for home in waiting], self._describe)
                    if gone := [h for h in waiting if h.future.status != "finished"
                                or h.place in silence.gone]:
                        self.client.sync(self._forget_calls, calls, gone)
                        if not calls:
                            return said
        except BaseException:
            self.client.sync(give_up)
            raise

    @staticmethod
    async def _forget_calls(calls: dict[Any, Home], gone: list[Home]) -> None:
        for task in [task for task, home in calls.items() if home in gone]:
            task.cancel()
            del calls[task]

    def _describe(self, place: str) -> str:
        own = [self.parts[p] for home in self.homes if home.place == place for p in home.parts]
        held = own and f", which holds {sum(map(len, own))} points from point {own[0].first} on"
        return f"{place}{held or ''}"

    def _bring_back(self, lost: list[Home], broken_off: Callable[[], bool]) -> None:
        """Homes whose worker is gone, elsewhere, and as they were."""
        for home in lost:
            self._restart(home, broken_off)
        self._wait_for(list(lost), broken_off)
        entries = self._journal.entries
        questions = [question for _, question in entries]
        self.wire.replayed += len(questions)
        self.wire.sent += len(lost) * sum(map(len, questions))
        replies = self._all(lost, lambda home: home.actor.replay(questions), broken_off)
        for home, digests in replies.items():
            for (entry, _), found in zip(entries, digests):
                known = self._digests.get(entry)
                if known is not None and [known[p] for p in home.parts] != found:
                    first = self.parts[home.parts[0]].first
                    raise LostPoints(
                        f"the points from point {first} on were computed again on {home.place}, "
                        "and are not what they were: what X is computed from is not the same "
                        "twice, or that machine has another kind of processor; give "
                        "client.persist(X), which is computed once, or machines of one kind")

    def rows(self, points: Sequence[int]) -> tuple[Any, list[Any] | None]:
        """Rows of some points as they are stored, and their ids where a table has them."""
        import scipy.sparse as sp

        wanted = [int(point) for point in points]
        found: dict[Home, Any] = {}
        while missing := [home for home in self.homes if home not in found]:
            found.update(self._all(missing, lambda home: home.actor.rows(wanted), lambda: False))
            if lost := [home for home in missing if home not in found]:
                self._bring_back(lost, lambda: False)
        order: dict[int, tuple[Any, Any]] = {}
        for which, rows, ids in found.values():
            for place, where in enumerate(which):
                order[where] = (rows[place:place + 1], ids[place])
        if not wanted:
            return np.empty((0, self.chunks.features), dtype=np.float32), None
        rows = [order[place][0] for place in range(len(wanted))]
        labels = [order[place][1] for place in range(len(wanted))]
        joined = sp.vstack(rows).tocsr() if sp.issparse(rows[0]) else np.concatenate(rows)
        return joined, labels if self.chunks.frame else None

    # ------------------------------------------------------------------------------------ workers

    def _workers(self) -> dict[str, int]:
        return dict(self.client.nthreads())

    def _least_busy(self, but: str, broken_off: Callable[[], bool]) -> str:
        """The worker with the fewest of our points; waits for one where there is none."""
        until = time.monotonic() + self.timeout
        while True:
            self._require_going_on(broken_off)
            there = {place: 0 for place in self._workers() if place != but}
            if there:
                break
            if time.monotonic() > until:
                raise LostPoints(f"no worker is left, and none came within {self.timeout:g} s; "
                                 "start some, and choose again (timeout= sets how long to wait)")
            time.sleep(0.1)
        for home in self.homes:
            if home.place in there:
                there[home.place] += sum(len(self.parts[p]) for p in home.parts)
        return min(there, key=lambda place: (there[place], place))

    @staticmethod
    def _require_going_on(broken_off: Callable[[], bool]) -> None:
        if broken_off():
            raise _core.Interrupted("nobody waits for the answer any more")

    def close(self) -> None:
        """Nothing is left on the workers."""
        homes, self.homes = self.homes, []
        self._release_chunks()
        for home in homes:
            if home.future is not None:
                self._drop(home)


class Silence:
    """How long the scheduler has not heard of workers."""

    def __init__(self, client: Any, timeout: float):
        self.client = client
        self.timeout = timeout
        self.gone: set[str] = set()
        # What they said last, and when by our clock.
        self._heard: dict[str, tuple[float, float]] = {}

    def look(self, places: list[str], describe: Callable[[str], str]) -> None:
        """Raises TimeoutError that names one that is silent; notes those that are gone."""
        there, now = last_seen(self.client), time.monotonic()
        self.gone = {place for place in places if place not in there}
        for place in set(places) - self.gone:
            said, when = self._heard.get(place, (0.0, now))
            if there[place] != said:
                when = now
            self._heard[place] = there[place], when
            if now - when > self.timeout:
                raise TimeoutError(
                    f"nothing was heard for {self.timeout:g} s of worker {describe(place)}: it is "
                    "stopped, or cannot be reached; end it, and its points are taken over by "
                    "others (timeout= sets how long to wait)")


def last_seen(client: Any) -> dict[str, float]:
    """When the scheduler heard of each worker, by its clock."""
    all_of_them = {"n_workers": -1} if "n_workers" in inspect.signature(
        client.scheduler_info).parameters else {}
    workers = client.scheduler_info(**all_of_them)["workers"]
    return {place: float(one.get("last_seen", 0.0)) for place, one in workers.items()}
