#include "apps/destination.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "fwsr/base/write_file.hpp"

namespace fwsr::app {

namespace fs = std::filesystem;

namespace {

/// Names of one file, also through links and for files that do not exist yet.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  if (fs::equivalent(a, b, code) && !code) return !fs::is_character_file(a, code);
  const fs::path one = fs::weakly_canonical(fs::absolute(a, code), code);
  if (code) return false;
  const fs::path other = fs::weakly_canonical(fs::absolute(b, code), code);
  return !code && one == other && !fs::is_character_file(one, code);
}

void check_writable(const Destination& output) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: cannot be written ({}): {}", output.path, output.option, why));
  };
  std::error_code code;
  const fs::file_status status = fs::status(output.path, code);
  if (fs::is_directory(status)) refuse("it is a folder; name a file in it");
  fs::path folder = fs::path(output.path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, code))
    refuse(fmt::format("there is no folder {}; make it first", folder.string()));
  if (fs::exists(status)) {
    if (::access(output.path.c_str(), W_OK) != 0)
      refuse("the file is write-protected; name another or change its permissions");
    if (!fs::is_regular_file(status)) return;  // /dev/stdout and the like need no folder
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("no permission to write in folder {}; name another", folder.string()));
}

}  // namespace

void check_destinations(const std::vector<Destination>& outputs,
                        const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    for (const std::string& input : inputs)
      if (!input.empty() && input != "-" && same_file(outputs[i].path, input))
        throw UsageError(fmt::format("{} {} would overwrite the input; name another file",
                                     outputs[i].option, outputs[i].path));
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[j].path.empty() && same_file(outputs[i].path, outputs[j].path))
        throw UsageError(fmt::format("{} and {} name the same file {}; name two files",
                                     outputs[j].option, outputs[i].option, outputs[i].path));
    check_writable(outputs[i]);
  }
}

void write_result(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (!path.empty() && path != "-") {
    must(write_whole(path, write));
    return;
  }
  errno = 0;
  write(std::cout);
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0) return;
  const int reason = errno;
  if (reason == EPIPE) throw ClosedPipe{};
  throw Error(fmt::format("standard output: cannot be written: {}; make room or use -o FILE",
                          reason ? std::generic_category().message(reason) : "unknown reason"));
}

}  // namespace fwsr::app
