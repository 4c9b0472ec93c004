#include "fwsr/base/write_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace fwsr {

namespace {

std::string system_reason() {
  return std::generic_category().message(errno);
}

}  // namespace

Result<Done> write_whole(const std::string& path, const std::function<void(std::ostream&)>& write) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  if (fs::is_directory(status))
    return Failure{fmt::format("{}: is a folder; name a file to write", path)};
  // The temporary name stands in the same folder, so that the rename stays on one file system.
  const fs::path target = in_place ? fs::path(path) : fs::weakly_canonical(path, code);
  const fs::path place = in_place || code ? fs::path(path) : target;
  const std::string temporary =
      in_place ? path : fmt::format("{}.part-{}", place.string(), ::getpid());
  const auto give_up = [&](std::string_view what) {
    const std::string reason = errno ? system_reason() : "unknown reason";
    if (!in_place) ::unlink(temporary.c_str());
    return Failure{fmt::format("{}: cannot be {}: {}; nothing was changed", path, what, reason)};
  };
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  if (!out) return give_up("created");
  errno = 0;
  try {
    write(out);
  } catch (...) {
    if (!in_place) ::unlink(temporary.c_str());
    throw;
  }
  if (out) errno = 0, out.flush();
  if (!out) return give_up("written");
  out.close();
  if (!out) return give_up("written");
  if (!in_place && std::rename(temporary.c_str(), place.c_str()) != 0)
    return give_up("put in place");
  return Done{};
}

}  // namespace fwsr
