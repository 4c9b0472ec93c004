#include "fwsr/base/place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace fwsr {

namespace {

FileIdentity identity_in(const struct stat& about) {
  return {S_ISREG(about.st_mode), about.st_dev, about.st_ino};
}

Failure refused(const std::string& path, const std::string& why) {
  return Failure{fmt::format("{}: cannot be written: {}", path, why)};
}

Failure refused_by_system(const std::string& path) {
  return refused(path, std::generic_category().message(errno));
}

void split(const std::string& path, Place& place) {
  const std::size_t slash = path.rfind('/');
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  place.folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : std::string();
}

/// The number of the descriptor that a link of /proc/self/fd stands for. Its text is no path to
/// follow: opened anew, a file loses the place that a redirection with >> had in it.
std::optional<int> descriptor_behind(const Place& link) {
  const std::string own = real_path("/proc/self/fd");  // by the names of the /proc that is mounted
  if (own.empty() || real_path(link.folder) != own) return std::nullopt;
  int number = -1;
  const char* end = link.name.data() + link.name.size();
  const auto [last, code] = std::from_chars(link.name.data(), end, number);
  if (code != std::errc{} || last != end || number < 0) return std::nullopt;
  return number;
}

Result<Place> at_descriptor(Place place, int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return refused_by_system(place.path);
  if ((flags & O_ACCMODE) == O_RDONLY) return refused(place.path, "it is open for reading only");
  place.kind = Place::Kind::descriptor;
  place.descriptor = descriptor;
  place.identity = identity_of(descriptor);
  return place;
}

/// In a folder with the sticky bit (/tmp) only the owner may put another file in a file's place.
bool others_may_not_replace(const struct stat& folder, const struct stat& file) {
  const uid_t user = ::geteuid();
  return (folder.st_mode & S_ISVTX) != 0 && user != 0 && user != folder.st_uid &&
         user != file.st_uid;
}

/// A file that is mounted by itself, as into a container, cannot be replaced.
bool is_mounted(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx about = {};
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &about) == 0 &&
         (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  static_cast<void>(path);
  return false;
#endif
}

Result<Place> at_file(Place place, const std::string& end, const struct stat* file) {
  struct stat folder = {};
  if (::stat(place.folder.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode))
    return refused(place.path, fmt::format("there is no folder {}; make it first", place.folder));
  if (place.name.empty()) return refused(place.path, "it names a folder; name a file in it");
  const auto may_write = [](const std::string& path, int how) {
    return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
  };
  if (file && !may_write(end, W_OK))
    return refused(place.path,
                   errno == EACCES
                       ? "the file is write-protected; name another or change its permissions"
                       : std::generic_category().message(errno));
  if (!may_write(place.folder, W_OK | X_OK))
    return refused(
        place.path,
        errno == EACCES
            ? fmt::format("no permission to write in folder {}; name another", place.folder)
            : std::generic_category().message(errno));
  if (file && others_may_not_replace(folder, *file))
    return refused(place.path, "it belongs to somebody else; name another file");
  if (file && is_mounted(end))
    return refused(place.path, "it is mounted by itself; name a file in a folder");
  place.exists = file != nullptr;
  if (file) place.identity = identity_in(*file);
  return place;
}

}  // namespace

FileIdentity identity_of(int descriptor) {
  struct stat about = {};
  return ::fstat(descriptor, &about) == 0 ? identity_in(about) : FileIdentity{};
}

FileIdentity identity_of(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 ? identity_in(about) : FileIdentity{};
}

Place standard_output() {
  Place place;
  place.kind = Place::Kind::descriptor;
  place.path = "standard output";
  place.descriptor = STDOUT_FILENO;
  place.identity = identity_of(STDOUT_FILENO);
  return place;
}

Result<Place> find_place(const std::string& path) {
  Place place;
  place.path = path;
  std::string end = path;
  for (int links = 0; links < 40; ++links) {
    split(end, place);
    struct stat about = {};
    if (::lstat(end.c_str(), &about) != 0) {
      if (errno != ENOENT) return refused_by_system(path);
      if (const auto number = descriptor_behind(place))
        return refused(path, fmt::format("no file is open as descriptor {}", *number));
      return at_file(std::move(place), end, nullptr);
    }
    if (S_ISDIR(about.st_mode)) return refused(path, "it is a folder; name a file in it");
    if (S_ISREG(about.st_mode)) return at_file(std::move(place), end, &about);
    if (!S_ISLNK(about.st_mode)) {
      place.kind = Place::Kind::device;
      if (::faccessat(AT_FDCWD, end.c_str(), W_OK, AT_EACCESS) != 0) return refused_by_system(path);
      return place;
    }
    if (const auto number = descriptor_behind(place))
      return at_descriptor(std::move(place), *number);
    std::array<char, PATH_MAX> target = {};
    const ssize_t length = ::readlink(end.c_str(), target.data(), target.size());
    if (length < 0) return refused_by_system(path);
    const std::string to(target.data(), static_cast<std::size_t>(length));
    end = to.starts_with('/') ? to : place.folder + "/" + to;
  }
  errno = ELOOP;
  return refused_by_system(path);
}

bool same_file(const Place& a, const Place& b) {
  if (a.identity == b.identity) return true;
  if (a.kind != Place::Kind::file || b.kind != Place::Kind::file || a.exists || b.exists)
    return false;
  struct stat one = {}, other = {};
  return a.name == b.name && ::stat(a.folder.c_str(), &one) == 0 &&
         ::stat(b.folder.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

}  // namespace fwsr
