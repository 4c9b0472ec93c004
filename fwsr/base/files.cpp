#include "fwsr/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/descriptor.hpp"
#include "fwsr/base/file_watch.hpp"
#include "fwsr/base/growing_bytes.hpp"
#include "fwsr/base/let_go.hpp"

namespace fwsr {

// ---- bytes of a file ----

struct FileBytes::State {
  std::string name;
  void* mapping = nullptr;  // from mmap, `length` bytes; null when `memory` holds the bytes
  std::size_t length = 0;
  int descriptor = -1;     // of a mapped file: a reader must not find another one under its name
  struct stat about = {};  // of a mapped file, when it was opened
  int place = -1;          // where the mapping is announced
  GrowingBytes memory;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    forget_mapping(place);
    if (mapping) ::munmap(mapping, length);
    if (descriptor >= 0) ::close(descriptor);
  }
};

namespace {

std::string system_reason() {
  return std::generic_category().message(errno);
}

Result<GrowingBytes> read_stream(int fd, const std::string& name, const MemoryBudget& budget,
                                 const LookAtStart& look) {
  constexpr std::size_t enough = 4096;  // pipes may bring a few bytes at a time
  bool looked = !look;
  GrowingBytes all(budget);
  for (;;) {
    const auto room = all.room(name);
    if (!room) return room.error();
    const ssize_t got = ::read(fd, room->data(), room->size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure{fmt::format("{}: cannot be read: {}", name, system_reason())};
    if (got == 0) break;
    all.filled(static_cast<std::size_t>(got));
    if (looked || all.size() < enough) continue;
    looked = true;
    if (auto refused = look(name, all.bytes().first(enough))) return *refused;
  }
  all.finish();
  return all;
}

}  // namespace

FileBytes::FileBytes(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileBytes::FileBytes(FileBytes&&) noexcept = default;
FileBytes& FileBytes::operator=(FileBytes&&) noexcept = default;
FileBytes::~FileBytes() = default;

Result<FileBytes> FileBytes::open(const std::string& path, const MemoryBudget& budget,
                                  const LookAtStart& look) {
  auto state = std::make_unique<State>();
  const bool standard_input = path == "-";
  state->name = standard_input ? "standard input" : path;
  Descriptor file(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0)
    return Failure{
        fmt::format("{}: cannot be opened: {}; check the path", state->name, system_reason())};
  struct stat about = {};
  if (::fstat(file.fd, &about) != 0)
    return Failure{fmt::format("{}: cannot be examined: {}", state->name, system_reason())};
  if (S_ISDIR(about.st_mode))
    return Failure{fmt::format("{}: is a folder; name a file", state->name)};
  if (S_ISREG(about.st_mode) && about.st_size > 0 && !standard_input) {
    state->length = static_cast<std::size_t>(about.st_size);
    void* at = ::mmap(nullptr, state->length, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (at == MAP_FAILED)
      return Failure{fmt::format("{}: cannot be mapped: {}", state->name, system_reason())};
    state->mapping = at;
    state->descriptor = file.release();
    state->about = about;
    state->place = announce_mapping(at, state->length, state->name.c_str());
  } else {
    auto bytes = read_stream(file.fd, state->name, budget, look);
    if (!bytes) return bytes.error();
    state->memory = std::move(*bytes);
  }
  return FileBytes(std::move(state));
}

FileBytes FileBytes::from_memory(std::string name, GrowingBytes bytes) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->memory = std::move(bytes);
  return FileBytes(std::move(state));
}

FileBytes FileBytes::from_memory(std::string name, const std::vector<std::byte>& bytes) {
  GrowingBytes held;
  for (std::span<const std::byte> rest = bytes; !rest.empty();) {
    const auto room = held.room(name);
    if (!room) throw MemoryError(room.error().message);
    const auto piece = rest.first(std::min(rest.size(), room->size()));
    std::copy(piece.begin(), piece.end(), room->begin());
    held.filled(piece.size());
    rest = rest.subspan(piece.size());
  }
  held.finish();
  return from_memory(std::move(name), std::move(held));
}

std::span<const std::byte> FileBytes::bytes() const {
  if (state_->mapping) return {static_cast<const std::byte*>(state_->mapping), state_->length};
  return state_->memory.bytes();
}

std::string_view FileBytes::text() const {
  const auto b = bytes();
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

const std::string& FileBytes::name() const {
  return state_->name;
}
bool FileBytes::is_mapped() const {
  return state_->mapping != nullptr;
}

namespace {

/// The same open file once more; -1 when there is none.
int copy_of(int descriptor) {
  return descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

}  // namespace

std::unique_ptr<FileReader> FileBytes::reader() const {
  const int copy = copy_of(state_->descriptor);
  return copy < 0 ? nullptr : std::make_unique<FileReader>(copy, state_->name);
}

std::shared_ptr<const FileWatch> FileBytes::watch() const {
  const int copy = copy_of(state_->descriptor);
  return copy < 0 ? nullptr : std::make_shared<FileWatch>(copy, state_->about, state_->name);
}

void let_go(std::span<const std::byte> bytes) {
  // From the start of the first page, which was read before, to that of the last, which is not done.
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = start / page * page, end = (start + bytes.size()) / page * page;
  const char* const file = begin < end ? mapped_file_at(bytes.data()) : nullptr;
  if (file && file == mapped_file_at(&bytes.back()))
    ::madvise(reinterpret_cast<void*>(begin), end - begin,
              MADV_DONTNEED);  // a file: nothing is lost
}

void copy_and_let_go(std::span<const std::byte> from, std::span<std::byte> out) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (!from.empty()) {
    const std::size_t here = std::min(piece, from.size());
    std::memcpy(out.data(), from.data(), here);
    let_go(from.first(here));
    from = from.subspan(here);
    out = out.subspan(here);
  }
}

// ---- piece by piece ----

FileReader::FileReader(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);  // advice: may be ignored
}

FileReader::~FileReader() {
  ::close(descriptor_);
}

void FileReader::read(Index offset, std::span<std::byte> out) const {
  // Several threads read on from places of their own, which the system's own read-ahead takes for
  // jumps: at every step of this many bytes it is told about the next one.
  constexpr Index ahead = Index{8} << 20;
  const Index step = (offset + ahead - 1) / ahead * ahead;
  const Index end = offset + static_cast<Index>(out.size());
  if (step < end) ::posix_fadvise(descriptor_, step + ahead, ahead, POSIX_FADV_WILLNEED);
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(fmt::format("{}: cannot be read: {}", name_, system_reason()));
    if (got == 0)
      throw Error(
          fmt::format("{}: was cut off while it was read: it ends at byte {} and had {} or more; "
                      "leave the file alone and start again",
                      name_, offset, end));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

}  // namespace fwsr
