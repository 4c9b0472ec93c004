#include "fwsr/report/pictures.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/files.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

PictureSource embed_file(const std::string& path) {
  const auto file = FileBytes::open(path);
  if (!file) return {.problem = file.error().message};
  const auto bytes = file->bytes();
  const std::span<const unsigned char> content(reinterpret_cast<const unsigned char*>(bytes.data()),
                                               bytes.size());
  const auto begins = [&](std::string_view with) {
    return content.size() > with.size() &&
           std::equal(with.begin(), with.end(), content.begin(),
                      [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; });
  };
  const char* const type = begins("\x89PNG\r\n")    ? "png"
                           : begins("\xff\xd8\xff") ? "jpeg"
                                                    : nullptr;
  if (!type) return {.problem = path + ": is neither png nor jpeg"};
  if (content.size() > largest_file)
    return {.problem = fmt::format(
                "{}: has {} bytes, and a page takes pictures of at most {} as they are; make a "
                "smaller copy of it, or the page in Python with Pillow, which makes small ones",
                path, content.size(), largest_file)};
  return {.source = fmt::format("data:image/{};base64,{}", type, base64(content))};
}

const PictureSource& Pictures::of(Index row) {
  const auto [place, is_new] = known_.try_emplace(row);
  if (is_new) {
    const std::string& path = rows_.pictures[at(row)];
    place->second = rows_.thumbnail ? rows_.thumbnail(path) : embed_file(path);
  }
  return place->second;
}

}  // namespace fwsr::report
