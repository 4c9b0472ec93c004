"""The C++ core. Internal: users call the functions and estimators of fwsr."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str

class Interrupted(RuntimeError): ...

class Points:
    @staticmethod
    def dense(matrix: NDArray[Any], bfloat16: bool = False) -> Points: ...
    @staticmethod
    def sparse(
        values: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any], features: int
    ) -> Points: ...
    @staticmethod
    def on_card(matrix: Any) -> Points: ...
    @staticmethod
    def on_card_at(
        address: int, type: str, rows: int, cols: int, stride: int, device: int
    ) -> Points: ...
    @staticmethod
    def in_file(path: str, type: str, rows: int, cols: int, offset: int) -> Points: ...
    @staticmethod
    def read(
        path: str,
        label_column: str,
        id_column: str,
        columns: Sequence[str],
        exclude_columns: Sequence[str],
        header: str,
        variable: str,
        hold_at_most: int,
        memory: int,
    ) -> Points: ...
    @property
    def number(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    @property
    def single(self) -> bool: ...
    @property
    def streamed(self) -> bool: ...
    @property
    def arrays(self) -> Any: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def image(self) -> list[int]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def table(self) -> dict[str, Any] | None: ...
    @property
    def can_be_streamed(self) -> bool: ...
    def read_rows(self, first: int, last: int) -> NDArray[Any]: ...

class Frame:
    @staticmethod
    def of(points: Points, center: str, scale: str, normalize: bool) -> Frame: ...
    def load(self, points: Points) -> NDArray[np.float64]: ...
    @property
    def deviation(self) -> NDArray[np.float64] | None: ...
    @property
    def mean(self) -> NDArray[np.float64] | None: ...

class KnownPoints:
    def __init__(
        self,
        frame: Frame | None,
        kernel: Any,
        gamma: float,
        degree: int,
        coef0: float,
        vectors: NDArray[np.float64],
        shift: NDArray[np.float64] | None = None,
    ) -> None: ...
    @staticmethod
    def by_absolute_distance(
        frame: Frame | None, vectors: NDArray[np.float64]
    ) -> KnownPoints: ...
    @staticmethod
    def columns(columns: Any) -> KnownPoints: ...
    def codes(
        self,
        points: Points,
        map: NDArray[np.float64] | None = None,
        extra: float = 0.0,
        offset: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]: ...
    def largest_code(
        self,
        points: Points,
        map: NDArray[np.float64] | None = None,
        extra: float = 0.0,
        offset: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]: ...
    def nearest(
        self,
        points: Points,
        add: NDArray[np.float64],
        times: NDArray[np.float64],
        rounding: float,
    ) -> tuple[NDArray[np.int64], float]: ...
    def shares(
        self,
        points: Points,
        lower: NDArray[np.float64] | None = None,
        squares: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.float64], float, float]: ...

class Record:
    def __init__(
        self,
        known: dict[str, Any] | None,
        points: int,
        seconds: float,
        write: Callable[[dict[str, Any]], None],
    ) -> None: ...
    def as_python(self) -> dict[str, Any] | None: ...

class Planned:
    def __init__(
        self,
        points: Points,
        options: dict[str, Any],
        method: str,
        settings: dict[str, str],
        seed: int,
        labels: NDArray[np.int64] | None,
        names: Sequence[str],
        counts: tuple[str, Any] | None,
    ) -> None: ...
    @property
    def plan(self) -> Any: ...
    @property
    def long_run(self) -> str: ...
    def select(self, callback: Callable[..., Any] | None, every_step: bool) -> Any: ...

class PlannedSweep:
    def __init__(
        self,
        points: Points,
        options: dict[str, Any],
        alphas: list[Any],
        etas: Sequence[float],
        labels: NDArray[np.int64] | None,
        names: Sequence[str],
        counts: tuple[str, Any] | None,
    ) -> None: ...
    def sweep(
        self, callback: Callable[..., Any] | None, every_step: bool
    ) -> list[tuple[float | str, float, Any]]: ...

class Shard:
    def __init__(
        self, pieces: list[Points], preprocessing: bytes, first: int, of: int, threads: int
    ) -> None: ...
    def answer(self, questions: list[bytes]) -> bytes: ...
    def stop(self) -> None: ...

class ShardedRun:
    def __init__(
        self,
        points: int,
        features: int,
        sparse: bool,
        single: bool,
        options: dict[str, Any],
        method: str,
        settings: dict[str, str],
        seed: int,
    ) -> None: ...
    def preprocessing(self, for_sweep: bool) -> bytes: ...
    @property
    def kernel(self) -> str: ...
    @property
    def frame(self) -> Frame: ...
    def select(
        self, ask: Callable[..., list[bytes]], callback: Callable[..., Any] | None, every_step: bool
    ) -> Any: ...
    def sweep(
        self,
        ask: Callable[..., list[bytes]],
        alphas: list[Any],
        etas: Sequence[float],
        callback: Callable[..., Any] | None,
        every_step: bool,
    ) -> list[tuple[float | str, float, Any]]: ...

class Journal:
    def __init__(self) -> None: ...
    def add(self, question: bytes) -> int: ...
    @property
    def entries(self) -> list[tuple[int, bytes]]: ...
    @property
    def size(self) -> int: ...

def question_facts(question: bytes) -> tuple[bool, bool]: ...
def told() -> bytes: ...
def segment_size(points: int) -> int: ...
def kernels() -> list[dict[str, Any]]: ...
def words_for_seconds(seconds: float) -> str: ...
def compare(
    points: Points,
    contestants: list[tuple[str, str, dict[str, str], dict[str, Any], int]],
    judged_by: dict[str, Any],
    labels: NDArray[np.int64] | None,
    names: Sequence[str],
    counts: tuple[str, Any] | None,
    repeats: int,
    time_limit: float | None,
    callback: Callable[..., Any] | None,
    every_step: bool,
) -> list[dict[str, Any]]: ...
def methods() -> list[dict[str, Any]]: ...
def measures() -> list[tuple[str, str, bool, str]]: ...
def comparison_table(rows: list[tuple[str, str, list[float], list[float]]]) -> str: ...
def best_of(measure: str, means: Sequence[float]) -> list[bool]: ...
def measured_text(measure: str, mean: float, deviation: float) -> str: ...

default_method: str
default_methods: str

def options() -> list[tuple[str, Any, str]]: ...
def compare_options() -> list[str]: ...
def select_page(
    points: Points,
    runs: Sequence[Any],
    method: str,
    settings: dict[str, Any],
    options: dict[str, Any],
    words: dict[str, Any],
    labels: NDArray[np.int64] | None,
    names: Sequence[str],
    threads: int,
) -> str: ...
def compare_page(
    points: Points,
    methods: Sequence[Any],
    words: dict[str, Any],
    labels: NDArray[np.int64] | None,
    names: Sequence[str],
) -> str: ...
def sweep_page(
    points: Points,
    settings: Sequence[Any],
    words: dict[str, Any],
    labels: NDArray[np.int64] | None,
    names: Sequence[str],
) -> str: ...
def write_file(path: str, text: str) -> None: ...
def result_fields() -> dict[str, list[tuple[str, str]]]: ...

result_schema: int

def read_labels(path: str, memory: int) -> list[str]: ...
def parse_bytes(text: str) -> int: ...
def format_bytes(bytes: float) -> str: ...
def available_memory() -> int: ...
def default_threads() -> int: ...
def cards() -> tuple[list[str], str]: ...
