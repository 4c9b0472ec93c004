"""Pictures of exemplars, with matplotlib: ``from fwsr import plot``.

Every function draws into a figure of its own, or into the ``ax`` it is given, and returns the
figure. Its own figures are unknown to pyplot: nothing stays open, no setting changes. Notebooks
show them, ``figure.savefig("picture.png")`` writes them, and ``figure.axes[0]`` is where to change
them. For a window, draw into an axes of pyplot: ``ax=plt.subplots()[1]``, then ``plt.show()``.
Text that comes from the data is shown as it is, dollar signs included.
"""

try:
    from ._comparison import comparison
    from ._convergence import convergence
    from ._error_path import error_path
    from ._gallery import gallery
    from ._map2d import map2d
except ImportError as e:
    raise ImportError("fwsr.plot draws with matplotlib, which is not here; "
                      "pip install 'fwsr[plot]'") from e

__all__ = ["comparison", "convergence", "error_path", "gallery", "map2d"]
