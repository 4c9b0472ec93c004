#include "fwsr/mpi/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fwsr/base/result.hpp"

namespace fwsr::mpi {

namespace {

template <class Command>
Bytes with_command(Command command, std::span<const std::byte> rest) {
  Bytes all(sizeof command + rest.size());
  std::memcpy(all.data(), &command, sizeof command);
  if (!rest.empty()) std::memcpy(all.data() + sizeof command, rest.data(), rest.size());
  return all;
}

Bytes outcome(Outcome how, std::string what) {
  BytesWriter writer;
  writer(how, what);
  return writer.take();
}

/// What the work says, or what was wrong with it.
template <class Work>
Bytes outcome_of(Work&& work) noexcept {
  try {
    try {
      const Bytes said = work();
      Bytes all = outcome(Outcome::answered, {});
      all.insert(all.end(), said.begin(), said.end());
      return all;
    } catch (const MemoryError& e) {
      return outcome(Outcome::memory_error, e.what());
    } catch (const std::bad_alloc&) {
      return outcome(Outcome::memory_error, "a rank has not the memory for its points");
    } catch (const std::exception& e) {
      return outcome(Outcome::error, e.what());
    }
  } catch (...) {  // not even memory to say so
    return {};
  }
}

/// What each rank said. Throws what the first threw that said nothing.
std::vector<Bytes> said(const std::vector<Bytes>& replies) {
  std::vector<Bytes> all;
  for (const Bytes& reply : replies) {
    if (reply.empty()) throw MemoryError("a rank has not the memory to say what went wrong");
    BytesReader reader(reply);
    Outcome how = Outcome::error;
    std::string what;
    reader(how, what);
    if (how == Outcome::memory_error) throw MemoryError(what);
    if (how != Outcome::answered) throw Error(what);
    all.emplace_back(reader.rest().begin(), reader.rest().end());
  }
  return all;
}

}  // namespace

Bytes Ranks::do_open(std::span<const std::byte> about) noexcept {
  return outcome_of([&] {
    shard_.reset();
    shard_ = open_(about);
    return Bytes();
  });
}

Bytes Ranks::do_listen(std::span<const std::byte> what) noexcept {
  return outcome_of([&] { return listen_(what); });
}

Bytes Ranks::do_answer(std::span<const std::byte> question) noexcept {
  if (shard_) return shard_->answer(question);
  return do_open({});  // says what is wrong: nothing can be opened from nothing
}

void Ranks::open(Bytes about) {
  Bytes message = with_command(Command::open, about);
  communicator_.broadcast(message);
  said(communicator_.gather(do_open(about)));
}

std::vector<Bytes> Ranks::tell(const Bytes& what) {
  Bytes message = with_command(Command::told, what);
  communicator_.broadcast(message);
  return said(communicator_.gather(do_listen(what)));
}

std::vector<Bytes> Ranks::ask(const Bytes& question) {
  Bytes message = with_command(Command::question, question);
  communicator_.broadcast(message);
  return communicator_.gather(do_answer(question));
}

void Ranks::end(int code, std::string message) noexcept {
  try {
    BytesWriter writer;
    writer(code, message);
    Bytes bytes = with_command(Command::end, writer.take());
    communicator_.broadcast(bytes);
  } catch (...) {  // nobody can be told: MPI ends them
    MPI_Abort(MPI_COMM_WORLD, code ? code : 1);
  }
}

Ranks::Ended Ranks::serve() {
  for (;;) {
    Bytes message;
    communicator_.broadcast(message);
    Command command = Command::end;
    if (message.size() < sizeof command) throw Error("MPI delivered half a message");
    std::memcpy(&command, message.data(), sizeof command);
    const auto rest = std::span<const std::byte>(message).subspan(sizeof command);
    if (command == Command::end) {
      Ended ended;
      BytesReader reader(rest);
      reader(ended.code, ended.message);
      shard_.reset();
      return ended;
    }
    communicator_.gather(command == Command::open   ? do_open(rest)
                         : command == Command::told ? do_listen(rest)
                                                    : do_answer(rest));
  }
}

Portion portion_of(Index n, int rank, int ranks) {
  const Index segment = segment_size(n), segments = block_count(n, segment);
  const auto border = [&](Index r) { return std::min(n, segments * r / ranks * segment); };
  return {border(rank), border(rank + 1) - border(rank), n};
}

}  // namespace fwsr::mpi
