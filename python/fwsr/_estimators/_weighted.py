"""What estimators share whose points may count more or less, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import ExemplarSelector

if TYPE_CHECKING:
    from typing_extensions import Self


class Weighted(ExemplarSelector):
    """Estimators that take weights in fit."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose exemplars.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            The points, one a row; a square matrix where the kernel or the metric is
            ``"precomputed"``. Never changed; float32 and float64 rows and CSR matrices are used in
            place.
        y : array-like, optional
            Labels; needed for ``per_class``, else not looked at.
        sample_weight : array-like, optional
            What each point counts where it is represented, 0 or more: 2 is the same as two points.
            Whom to choose is not asked of it.

        Returns
        -------
        self
        """
        return self._fit(X, y, {"sample_weight": sample_weight})
