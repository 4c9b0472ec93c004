#pragma once

/// Whether views of Eigen's matrices are what they should be; a word about it on standard output.
bool eigen_works();
