// A selection from points that the ranks of an MPI communicator hold between them: the answer of all points in one
// place, to the last bit.
#pragma once

#include <mpi.h>

#include "fwsr/solver/select.hpp"

namespace fwsr {

/// Every rank calls it with its own rows, which may be none; they are numbered rank by rank. The options are those of rank
/// 0, and so is the observer. Rank 0 is given the whole answer, the others exemplars, weights, strength and status. What is
/// wrong anywhere is thrown everywhere. The communicator stays the caller's; MPI must allow calls from any one thread at a
/// time (MPI_THREAD_SERIALIZED).
///
/// With a card for device every rank takes one of its machine, its place there modulo their number.
/// Dense points whose ranks hold whole segments (Portion in base/blocks.hpp: 1024 rows of up to 262,144) are used in
/// place; else every rank copies its own, and a few of the next rank's.
Selection select(MPI_Comm comm, const PointsView& points, const SelectOptions& options,
                 const Observer& observer = {});

}  // namespace fwsr
