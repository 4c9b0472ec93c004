// Bytes between the ranks of a communicator, which stays its owner's: from one to all, and from all to one. What is
// waited for is asked about now and then, not all the time, so that ranks which wait leave their core to others.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "fwsr/base/archive.hpp"

namespace fwsr::mpi {

class Communicator {
 public:
  /// A copy of `theirs`, so that our messages meet no others. All ranks make it together.
  explicit Communicator(MPI_Comm theirs);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }
  MPI_Comm handle() const { return comm_; }

  /// The leader's bytes, on every rank.
  void broadcast(Bytes& bytes) const;
  /// On the leader those of all ranks, in their order; on others nothing.
  std::vector<Bytes> gather(Bytes own) const;
  /// How many ranks share this machine, and the place of this one among them.
  int on_this_machine() const { return on_this_machine_; }
  int place_on_this_machine() const { return place_; }

  /// Bytes that this rank has sent and received.
  struct Traffic {
    Index sent = 0, received = 0, messages = 0;
  };
  const Traffic& traffic() const { return traffic_; }

 private:
  /// `flows`: the other side is at it, and every look moves a piece of a long message.
  void wait(MPI_Request& request, bool flows = false) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, on_this_machine_ = 1, place_ = 0;
  mutable Traffic traffic_;
};

/// "Open MPI v4.1.4, ...", in a few words.
std::string library_name();

}  // namespace fwsr::mpi
