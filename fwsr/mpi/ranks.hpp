// The ranks of a communicator as places that hold points (solver/transport.hpp): rank 0 leads and holds some itself, the
// others serve it until it says that all is over.
//
// Whatever goes wrong on a rank while it serves is an answer like others, so that nobody waits for it in vain; whatever
// goes wrong on the leader ends in `end`, which the others hear.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "fwsr/mpi/communicator.hpp"
#include "fwsr/solver/transport.hpp"

namespace fwsr::mpi {

class Ranks {
 public:
  /// Makes this rank's points ready from what the leader said about them. Called on every rank.
  using Open = std::function<std::unique_ptr<ByteShard>(std::span<const std::byte> about)>;
  /// Answers anything else that the leader tells. Called on every rank.
  using Listen = std::function<Bytes(std::span<const std::byte> what)>;
  Ranks(const Communicator& communicator, Open open, Listen listen = {})
      : communicator_(communicator), open_(std::move(open)), listen_(std::move(listen)) {}

  const Communicator& communicator() const { return communicator_; }

  // The leader:
  /// New points on every rank. Throws what the first rank threw that could not have them.
  void open(Bytes about);
  std::vector<Bytes> ask(const Bytes& question);
  /// What the ranks say to this, in their order. Throws what the first rank threw that could not.
  std::vector<Bytes> tell(const Bytes& what);
  /// All is over; `message` says why, where it is an error. Never throws.
  void end(int code, std::string message = {}) noexcept;

  // The others:
  struct Ended {
    int code = 0;
    std::string message;
  };
  /// Answers until all is over.
  Ended serve();

 private:
  enum class Command : std::int32_t { question, open, told, end };
  Bytes do_open(std::span<const std::byte> about) noexcept;
  Bytes do_listen(std::span<const std::byte> what) noexcept;
  Bytes do_answer(std::span<const std::byte> question) noexcept;

  const Communicator& communicator_;
  Open open_;
  Listen listen_;
  std::unique_ptr<ByteShard> shard_;
};

/// What asks them. @pre `ranks` outlives it
class RanksTransport final : public Transport {
 public:
  explicit RanksTransport(Ranks& ranks) : ranks_(ranks) {}
  std::vector<Bytes> ask(const Bytes& question) override { return ranks_.ask(question); }

 private:
  Ranks& ranks_;
};

/// How n points are cut among so many ranks: whole segments, as evenly as these allow.
Portion portion_of(Index n, int rank, int ranks);

}  // namespace fwsr::mpi
