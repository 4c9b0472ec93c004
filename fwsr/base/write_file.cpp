#include "fwsr/base/write_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <streambuf>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/descriptor.hpp"

namespace fwsr {

namespace {

constexpr int patience = 50;  // milliseconds between two questions whether to go on
constexpr std::string_view part_end = ".part";
constexpr std::size_t random_digits = 16;

bool is_regular(int descriptor) {
  struct stat about = {};
  return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

bool write_bytes(int descriptor, std::string_view bytes, const KeepGoing& keep_going, bool* begun) {
  // A pipe that says it has room takes PIPE_BUF bytes without waiting, and perhaps no more. A terminal or a
  // socket may take fewer and wait for its reader all the same: then only the second signal ends it.
  const bool waits = !is_regular(descriptor);
  const std::size_t piece = waits ? PIPE_BUF : std::size_t{1} << 20;
  while (!bytes.empty()) {
    throw_if_cancelled(keep_going);
    struct pollfd room = {descriptor, POLLOUT, 0};
    if (waits && ::poll(&room, 1, patience) <= 0) continue;
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(piece, bytes.size()));
    if (written > 0 && begun) *begun = true;
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN)
      return false;
  }
  return true;
}

namespace {

/// Collects what goes to a descriptor. Throws what goes wrong: the stream passes it on.
class DescriptorBuffer : public std::streambuf {
 public:
  DescriptorBuffer(int descriptor, std::string name, KeepGoing keep_going)
      : descriptor_(descriptor), name_(std::move(name)), keep_going_(std::move(keep_going)) {
    setp(memory_.data(), memory_.data() + memory_.size());
  }
  bool has_begun() const { return begun_; }

 protected:
  int_type overflow(int_type c) override {
    sync();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    if (count <= epptr() - pptr()) {
      std::copy_n(from, count, pptr());
      pbump(static_cast<int>(count));
    } else {
      sync();
      put({from, static_cast<std::size_t>(count)});
    }
    return count;
  }
  int sync() override {
    const std::string_view held(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(memory_.data(), memory_.data() + memory_.size());
    put(held);
    return 0;
  }

 private:
  void put(std::string_view bytes) {
    if (bytes.empty()) return;
    if (write_bytes(descriptor_, bytes, keep_going_, &begun_)) return;
    const int code = errno;
    throw WriteError(
        fmt::format("{}: cannot be written: {}", name_, std::generic_category().message(code)),
        code);
  }

  int descriptor_;
  std::string name_;
  KeepGoing keep_going_;
  bool begun_ = false;
  std::array<char, 1 << 16> memory_;
};

/// How the parts of a file begin. Cut where it is long, as a name has at most 255 bytes.
std::string part_start(const std::string& name) {
  std::size_t length = std::min<std::size_t>(name.size(), 100);
  while (length < name.size() && length > 0 && (name[length] & 0xC0) == 0x80) --length;
  return fmt::format(".{}.", name.substr(0, length));
}

std::string random_text() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    struct timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);  // the name is created only if nobody has it
    number = static_cast<std::uint64_t>(now.tv_nsec) * 0x9E3779B97F4A7C15u;
  }
  return fmt::format("{:016x}", number);
}

bool is_part(std::string_view file, std::string_view start) {
  if (file.size() != start.size() + random_digits + part_end.size()) return false;
  return file.starts_with(start) && file.ends_with(part_end) &&
         file.substr(start.size(), random_digits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// A part that nobody holds a lock on belongs to nobody: its writer was killed.
void remove_if_dead(int folder, const char* name) {
  const Descriptor file(
      ::openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat about = {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0) return;
  if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return;
  if (::flock(file.fd, LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name, 0);
}

void remove_dead_parts(int folder, const std::string& start) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* list = again < 0 ? nullptr : ::fdopendir(again);
  if (!list) {  // not ours to read; then nothing is cleaned up
    if (again >= 0) ::close(again);
    return;
  }
  while (const struct dirent* entry = ::readdir(list))
    if (is_part(entry->d_name, start)) remove_if_dead(folder, entry->d_name);
  ::closedir(list);
}

/// A new file in `folder` that is locked, and its name.
std::pair<int, std::string> create_part(int folder, const std::string& start, mode_t mode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = start + random_text() + std::string(part_end);
    Descriptor file(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file.fd < 0 && errno == EEXIST) continue;
    if (file.fd < 0) return {-1, {}};
    // Before it was locked somebody may have taken it for dead. Where there are no locks, nobody can.
    const bool taken = ::flock(file.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat about = {};
    if (!taken && ::fstat(file.fd, &about) == 0 && about.st_nlink > 0)
      return {file.release(), std::move(name)};
    ::unlinkat(folder, name.c_str(), 0);
  }
  errno = EEXIST;
  return {-1, {}};
}

/// The parts there are, for remove_all_parts. `folder` is set last and cleared first.
struct KnownPart {
  std::atomic<bool> taken = false;
  std::atomic<int> folder = -1;
  char name[NAME_MAX + 1] = {};
};
std::array<KnownPart, 32> known_parts;
static_assert(std::atomic<int>::is_always_lock_free);

/// Null when more are written than anybody writes at a time.
KnownPart* make_known(int folder, const std::string& name) {
  for (KnownPart& part : known_parts) {
    if (part.taken.exchange(true)) continue;
    part.name[name.copy(part.name, NAME_MAX)] = '\0';
    part.folder = folder;
    return &part;
  }
  return nullptr;
}

void forget(KnownPart* part) {
  if (!part) return;
  part->folder = -1;
  part->taken = false;
}

/// Mode and owner of what is replaced. What the new owner may not give away is closed instead.
void take_over_rights(int folder, const std::string& name, int part) {
  struct stat before = {}, now = {};
  if (::fstatat(folder, name.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(before.st_mode) || ::fstat(part, &now) != 0)
    return;
  mode_t mode = before.st_mode & 0777;  // what ran as somebody else does not with other content
  if (before.st_uid != now.st_uid) {
    [[maybe_unused]] const int given = ::fchown(part, before.st_uid, static_cast<gid_t>(-1));
  }
  if (before.st_gid != now.st_gid && ::fchown(part, static_cast<uid_t>(-1), before.st_gid) != 0)
    mode = (mode & 0707) | (mode & 07) << 3;
  ::fchmod(part, mode);
}

/// fsync, but for file systems that have none.
bool reach_disk(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINVAL || errno == ENOSYS || errno == EROFS || errno == ENOTSUP) return true;
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

struct OutputFile::State {
  Place place;
  KeepGoing keep_going;
  Descriptor folder{-1};  // of a file, so that a folder that is moved takes its part along
  Descriptor file{-1};    // opened by us; standard output stays open
  std::string part;       // the name in `folder`; empty when there is nothing to remove
  KnownPart* known = nullptr;
  std::unique_ptr<DescriptorBuffer> buffer;
  std::ostream stream{nullptr};

  State(const Place& to, KeepGoing asked) : place(to), keep_going(std::move(asked)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    forget(known);
    if (!part.empty()) ::unlinkat(folder.fd, part.c_str(), 0);
  }

  [[noreturn]] void fail(const char* what) const {
    const int code = errno;
    throw WriteError(fmt::format("{}: cannot be {}: {}", place.path, what,
                                 std::generic_category().message(code)),
                     code);
  }

  void open_part() {
    folder.fd = ::open(place.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder.fd < 0 && errno == EACCES)  // one may write there and not look
      folder.fd = ::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder.fd < 0) fail("created");
    const std::string start = part_start(place.name);
    remove_dead_parts(folder.fd, start);
    // Nobody reads what replaces a protected file before it has the mode of that.
    std::tie(file.fd, part) = create_part(folder.fd, start, place.exists ? 0600 : 0666);
    if (file.fd < 0) fail("created");
    known = make_known(folder.fd, part);
  }

  /// Waits for the reader of a named pipe.
  void open_device() {
    for (;;) {
      throw_if_cancelled(keep_going);
      file.fd = ::open(place.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
      if (file.fd >= 0) return;
      struct stat about = {};
      const int code = errno;
      const bool waits =
          code == ENXIO && ::stat(place.path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
      errno = code;
      if (code != EINTR && !waits) fail("opened");
      ::poll(nullptr, 0, patience);
    }
  }
};

OutputFile::OutputFile(const Place& place, KeepGoing keep_going)
    : state_(std::make_unique<State>(place, keep_going)) {
  State& s = *state_;
  if (place.kind == Place::Kind::file) s.open_part();
  if (place.kind == Place::Kind::device) s.open_device();
  const int to = place.kind == Place::Kind::descriptor ? place.descriptor : s.file.fd;
  s.buffer = std::make_unique<DescriptorBuffer>(to, place.path, std::move(keep_going));
  s.stream.rdbuf(s.buffer.get());
  s.stream.exceptions(std::ios::badbit);  // passes on what the buffer throws
}

OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

std::ostream& OutputFile::stream() {
  return state_->stream;
}

void OutputFile::finish() {
  state_->stream.flush();
  if (state_->place.kind == Place::Kind::file && !reach_disk(state_->file.fd))
    state_->fail("written");
}

void OutputFile::commit() {
  State& s = *state_;
  if (s.part.empty()) return;
  take_over_rights(s.folder.fd, s.place.name, s.file.fd);
  if (::renameat(s.folder.fd, s.part.c_str(), s.folder.fd, s.place.name.c_str()) != 0)
    s.fail("put in place");
  forget(std::exchange(s.known, nullptr));
  s.part.clear();
  reach_disk(s.folder.fd);  // what could go wrong here does not undo the renaming
}

void remove_all_parts() {
  for (const KnownPart& part : known_parts)
    if (const int folder = part.folder; folder >= 0) ::unlinkat(folder, part.name, 0);
}

bool OutputFile::has_begun() const {
  return state_->place.kind != Place::Kind::file && state_->buffer->has_begun();
}

bool OutputFile::is_terminal() const {
  const Place& place = state_->place;
  return ::isatty(place.kind == Place::Kind::descriptor ? place.descriptor : state_->file.fd) == 1;
}

Result<Done> write_whole(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const Result<Place> place = find_place(path);
  if (!place) return place.error();
  try {
    OutputFile file(*place);
    write(file.stream());
    file.finish();
    file.commit();
    return Done{};
  } catch (const WriteError& e) {
    return Failure{place->kind == Place::Kind::file
                       ? fmt::format("{}; nothing was changed", e.what())
                       : std::string(e.what())};
  }
}

}  // namespace fwsr
