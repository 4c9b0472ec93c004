// Text files that the ranks of fwsr-mpi read together: each looks through a part of them, is told where all rows are, and
// then reads its own, once, before anything else is done.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fwsr/data/many_files.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/text_set.hpp"
#include "fwsr/mpi/ranks.hpp"

namespace fwsr::app {

class SharedText {
 public:
  SharedText(const mpi::Communicator& communicator, int ranks_on_this_machine)
      : communicator_(communicator), on_this_machine_(ranks_on_this_machine) {}

  /// On rank 0: all points, of which every rank then has its own, with the ids and labels of all. `memory` and `threads`
  /// are those of each rank, 0 where nobody has said.
  Dataset load(mpi::Ranks& ranks, const std::vector<std::string>& paths, const ReadOptions& options,
               Index memory, int threads);
  /// On every rank: its part of that.
  Bytes answer(std::span<const std::byte> what);

  /// Whether there is one.
  bool loaded() const { return set_ != nullptr; }
  bool sparse() const { return set_->sparse(); }
  Index entries() const { return set_->entries(); }
  Index rows() const { return set_->rows(); }
  /// Rows first .. last: those that this rank has, or others, which it reads.
  RowsHere rows(Index first, Index last);
  /// Some rows, in ascending order. Those that this rank had are gone then.
  RowsHere some_rows(std::span<const Index> some);

 private:
  const mpi::Communicator& communicator_;
  int on_this_machine_;
  std::shared_ptr<TextSet> set_;
  Portion own_{0};
  std::shared_ptr<const Dataset> here_;  // its own rows
};

}  // namespace fwsr::app
