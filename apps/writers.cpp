#include "apps/writers.hpp"

#include <cctype>

#include <fmt/format.h>

#include "apps/command.hpp"

namespace fwsr::app {

namespace {

/// Whether a name ends so, in letters of any size, and has something in front of that.
bool ends_so(const std::string& path, std::string_view suffix) {
  if (path.size() <= suffix.size()) return false;
  const std::string_view end = std::string_view(path).substr(path.size() - suffix.size());
  for (std::size_t i = 0; i < suffix.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(end[i])) != suffix[i]) return false;
  return true;
}

/// ".csv or .json", "CSV or JSON".
std::string one_of(const std::vector<FileFormat>& formats, const char* FileFormat::*part) {
  std::string text;
  for (const FileFormat& format : formats)
    text += (text.empty() ? "" : " or ") + std::string(format.*part);
  return text;
}

std::size_t place_by_name(const std::vector<FileFormat>& formats, const std::string& path) {
  std::size_t place = 0;
  while (place < formats.size() && !ends_so(path, formats[place].suffix)) ++place;
  return place;
}

}  // namespace

std::size_t place_of_result(const std::vector<FileFormat>& formats, const std::string& path,
                            std::string_view asked) {
  const std::size_t place = place_by_name(formats, path);
  if (place == formats.size())
    for (const char* other :
         {".npy", ".npz", ".parquet", ".feather", ".arrow", ".xlsx", ".xls", ".mat", ".pkl"})
      if (path == other || ends_so(path, other))
        throw UsageError(
            fmt::format("-o {}: results are written as {}; name a file that ends in {}", path,
                        one_of(formats, &FileFormat::name), one_of(formats, &FileFormat::suffix)));
  for (std::size_t i = 0; i < formats.size(); ++i)
    if (asked == formats[i].name) return i;
  return place < formats.size() ? place : 0;
}

std::size_t place_of_output(const std::vector<FileFormat>& formats, const std::string& path,
                            const std::string& option) {
  const std::size_t place = place_by_name(formats, path);
  if (place < formats.size()) return place;
  throw UsageError(fmt::format("{} {}: name a file that ends in {}", option, path,
                               one_of(formats, &FileFormat::suffix)));
}

}  // namespace fwsr::app
