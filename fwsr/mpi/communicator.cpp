#include "fwsr/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "fwsr/base/result.hpp"

namespace fwsr::mpi {

namespace {

constexpr int tag = 1;
constexpr Index most = Index{1} << 30;  // bytes of one message: MPI counts in int
/// The length, and as many of the bytes as most questions have: these travel in one message.
constexpr std::size_t first_bytes = 4096;

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string("MPI failed while ") + what + ": " + text.data());
}

}  // namespace

Communicator::Communicator(MPI_Comm theirs) {
  check(MPI_Comm_dup(theirs, &comm_), "copying the communicator");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(comm_, &rank_), "asking for the rank");
  check(MPI_Comm_size(comm_, &size_), "asking how many ranks there are");
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here),
        "asking who is on this machine");
  MPI_Comm_size(here, &on_this_machine_);
  MPI_Comm_rank(here, &place_);
  MPI_Comm_free(&here);
}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm_);
}

void Communicator::wait(MPI_Request& request, bool flows) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int done = 0;;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "waiting");
    if (done) return;
    // Who sleeps is woken soon where there are more ranks than cores; who asks on is put at the end of the queue.
    constexpr auto at_first = std::chrono::microseconds(200),
                   at_once = std::chrono::microseconds(50),
                   at_most = std::chrono::microseconds(2000);
    const auto waited = Clock::now() - start;
    if (waited > (flows ? 100 * at_first : at_first))
      std::this_thread::sleep_for(flows ? at_once
                                        : std::min<Clock::duration>(waited / 20, at_most));
    else
      std::this_thread::yield();
  }
}

void Communicator::broadcast(Bytes& bytes) const {
  std::array<std::byte, first_bytes> start{};
  constexpr std::size_t room = first_bytes - sizeof(Index);
  auto length = static_cast<Index>(bytes.size());
  if (leads()) {
    std::memcpy(start.data(), &length, sizeof length);
    if (length > 0)
      std::memcpy(start.data() + sizeof length, bytes.data(), std::min(bytes.size(), room));
  }
  MPI_Request request{};
  const auto send = [&](void* data, Index count, bool flows) {
    check(MPI_Ibcast(data, static_cast<int>(count), MPI_BYTE, 0, comm_, &request),
          "telling all ranks");
    wait(request, flows);
    (leads() ? traffic_.sent : traffic_.received) += count;
    ++traffic_.messages;
  };
  send(start.data(), static_cast<Index>(first_bytes), false);
  if (!leads()) {
    std::memcpy(&length, start.data(), sizeof length);
    bytes.resize(static_cast<std::size_t>(length));
    if (length > 0)
      std::memcpy(bytes.data(), start.data() + sizeof length, std::min(bytes.size(), room));
  }
  for (auto begin = static_cast<Index>(room); begin < length; begin += most)
    send(bytes.data() + begin, std::min(most, length - begin), true);
}

std::vector<Bytes> Communicator::gather(Bytes own) const {
  MPI_Request request{};
  const auto finish = [&](Index& counted, Index count, bool flows) {
    wait(request, flows);
    counted += count;
    ++traffic_.messages;
  };
  if (!leads()) {
    auto length = static_cast<Index>(own.size());
    // The length and the first bytes in one message, as above.
    Bytes start(sizeof length + std::min(own.size(), first_bytes));
    std::memcpy(start.data(), &length, sizeof length);
    if (length > 0)
      std::memcpy(start.data() + sizeof length, own.data(), start.size() - sizeof length);
    check(
        MPI_Isend(start.data(), static_cast<int>(start.size()), MPI_BYTE, 0, tag, comm_, &request),
        "answering");
    finish(traffic_.sent, static_cast<Index>(start.size()), false);
    for (auto begin = static_cast<Index>(first_bytes); begin < length; begin += most) {
      const Index count = std::min(most, length - begin);
      check(
          MPI_Isend(own.data() + begin, static_cast<int>(count), MPI_BYTE, 0, tag, comm_, &request),
          "answering");
      finish(traffic_.sent, count, true);
    }
    return {};
  }
  std::vector<Bytes> all;
  all.push_back(std::move(own));
  std::array<std::byte, sizeof(Index) + first_bytes> start{};
  for (int from = 1; from < size_; ++from) {
    check(MPI_Irecv(start.data(), static_cast<int>(start.size()), MPI_BYTE, from, tag, comm_,
                    &request),
          "hearing an answer");
    Index length = 0;
    finish(traffic_.received, 0, false);
    std::memcpy(&length, start.data(), sizeof length);
    Bytes bytes(static_cast<std::size_t>(length));
    const std::size_t first = std::min(bytes.size(), first_bytes);
    traffic_.received += static_cast<Index>(sizeof length + first);
    if (first > 0) std::memcpy(bytes.data(), start.data() + sizeof length, first);
    for (auto begin = static_cast<Index>(first_bytes); begin < length; begin += most) {
      const Index count = std::min(most, length - begin);
      check(MPI_Irecv(bytes.data() + begin, static_cast<int>(count), MPI_BYTE, from, tag, comm_,
                      &request),
            "hearing an answer");
      finish(traffic_.received, count, true);
    }
    all.push_back(std::move(bytes));
  }
  return all;
}

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(std::max(0, length)));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace fwsr::mpi
