#include "fwsr/data/unknown.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/data/text.hpp"

namespace fwsr {

namespace {

using namespace std::string_view_literals;

struct Known {
  std::string_view start;  // the first bytes
  const char* what;
  const char* remedy;
};

constexpr const char* via_numpy = "load it in Python and save the numbers with numpy.save";

constexpr const char* via_pyarrow =
    "use python -m fwsr in place of fwsr, which reads files named .parquet, .arrow or .feather "
    "where "
    "pyarrow is installed, or save the numbers with numpy.save";

constexpr Known known[] = {
    {"PAR1"sv, "a Parquet file", via_pyarrow},
    {"ARROW1"sv, "an Arrow or Feather file", via_pyarrow},
    {"FEA1"sv, "a Feather file of version 1", via_numpy},
    {"\xD0\xCF\x11\xE0"sv, "an old Excel or Office document", "save it as csv"},
    {"\x89HDF\r\n\x1A\n"sv, "an HDF5 file",
     "load it with h5py and save the numbers with numpy.save"},
    {"\x80\x02"sv, "a Python pickle", via_numpy},
    {"\x80\x03"sv, "a Python pickle", via_numpy},
    {"\x80\x04"sv, "a Python pickle", via_numpy},
    {"\x80\x05"sv, "a Python pickle", via_numpy},
    {"\x89PNG"sv, "a PNG image", "make a matrix with one image a row and save it with numpy.save"},
    {"\xFF\xD8\xFF"sv, "a JPEG image",
     "make a matrix with one image a row and save it with numpy.save"},
    {"GIF8"sv, "a GIF image", "make a matrix with one image a row and save it with numpy.save"},
    {"\xFD"
     "7zXZ\0"sv,
     "xz-compressed", "unpack it first: xz -dk FILE"},
    {"BZh"sv, "bzip2-compressed", "unpack it first: bzip2 -dk FILE"},
    {"\x28\xB5\x2F\xFD"sv, "zstd-compressed", "unpack it first: zstd -d FILE"},
    {"\x1F\x8B"sv, "gzip-compressed data inside gzip-compressed data", "unpack it first: gunzip"},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", "unpack it first"},
    {"\xFF\xFE"sv, "UTF-16 text", "save it as UTF-8"},
    {"\xFE\xFF"sv, "UTF-16 text", "save it as UTF-8"},
    {"%PDF"sv, "a PDF document", "give the data it was made from"},
    {"{"sv, "JSON", "write the numbers as csv, or load it in Python and save with numpy.save"},
    {"["sv, "JSON", "write the numbers as csv, or load it in Python and save with numpy.save"},
    {"<"sv, "XML or HTML", "write the numbers as csv"},
};

/// JSON and XML may have blanks in front.
const Known* find_known(std::string_view text) {
  const std::size_t ink = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  for (const Known& k : known)
    if (text.starts_with(k.start) || (k.start.size() == 1 && text.substr(ink).starts_with(k.start)))
      return &k;
  return nullptr;
}

}  // namespace

bool is_known_binary(const FileBytes& file) {
  return find_known(file.text()) && has_control_characters(file.bytes());
}

std::optional<Trouble> find_nul_in_text(const FileBytes& file) {
  const std::string_view text = file.text().substr(0, 65536);
  auto nul = find_nul(text, 0);
  if (!nul || find_known(text)) return std::nullopt;
  const auto before = file.bytes().first(nul->at);
  const auto nuls = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\0'));
  const bool is_text =
      !before.empty() && !has_control_characters(before) && 20 * nuls < text.size();
  return is_text ? nul : std::nullopt;
}

std::string describe_unknown(const FileBytes& file) {
  const std::string_view text = file.text();
  if (content_of(text).empty() && (text.empty() || looks_like_text(file.bytes())))
    return "is empty; give a file with at least one point";
  if (const Known* const k = find_known(text)) return fmt::format("is {}; {}", k->what, k->remedy);
  std::string bytes;
  for (const char c : text.substr(0, 8))
    bytes += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return fmt::format(
      "is in no format known here (its first bytes are{}); save the numbers as csv, "
      "or with numpy.save",
      bytes);
}

}  // namespace fwsr
