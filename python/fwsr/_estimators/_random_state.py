"""What the parameter ``random_state`` may be."""

import numpy as np

RandomState = int | np.random.RandomState | np.random.Generator | None
