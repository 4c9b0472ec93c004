// Text on a page: whatever the bytes are, they are neither markup nor script. Pictures hold what was drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include "fwsr/base/random.hpp"
#include "fwsr/report/images.hpp"
#include "fwsr/report/json_writer.hpp"
#include "fwsr/report/png.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {
namespace {

using namespace std::string_literals;

std::string of(std::string_view text) {
  return std::string(text);
}

/// Bytes that are all that: markup, quotes, line separators, broken UTF-8, NUL, marks of direction.
std::string random_bytes(Rng& rng) {
  static const std::vector<std::string> parts = {"</script>",
                                                 "<!--",
                                                 "]]>",
                                                 "&lt;",
                                                 "\"",
                                                 "'",
                                                 "`",
                                                 "\\",
                                                 "\xe2\x80\xa8",
                                                 "\xe2\x80\xa9",
                                                 "\xff",
                                                 "\xc3",
                                                 "\xed\xa0\x80",
                                                 "\0"s,
                                                 "\x1b[31m",
                                                 "\xe2\x80\xae",
                                                 "a",
                                                 "\xf0\x9f\x98\x80",
                                                 "\n",
                                                 "\t",
                                                 "<img onerror=x>"};
  std::string text;
  for (std::uint64_t n = rng.below(12); n > 0; --n) text += parts[rng.below(parts.size())];
  return text;
}

TEST(ReportText, markup_is_shown_and_not_obeyed) {
  EXPECT_EQ(html("<b a=\"1\" b='2'>&`"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;&#96;");
  EXPECT_EQ(json("</script><!--"), "\"\\u003c/script\\u003e\\u003c!--\"");
  EXPECT_EQ(json("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(json("\xe2\x80\xa8\xe2\x80\xa9"), "\"\\u2028\\u2029\"");
}

TEST(ReportText, what_is_no_text_is_replaced) {
  const std::string no = "\xef\xbf\xbd";
  EXPECT_EQ(clean("a\xff"
                  "b"),
            "a" + no + "b");
  EXPECT_EQ(clean("\xc3"), no);
  EXPECT_EQ(clean("\xed\xa0\x80"), no + no + no);  // half of a pair
  EXPECT_EQ(clean("\xc0\xaf"), no + no);           // longer than it need be
  EXPECT_EQ(clean("\xf4\x90\x80\x80"), no + no + no + no);
  EXPECT_EQ(clean("\0\x1b\x7f\xc2\x85"s), no + no + no + no);
  EXPECT_EQ(clean("\xe2\x80\xae\xe2\x81\xa6"), no + no);  // turn the direction of writing
  EXPECT_EQ(clean("\xf0\x9f\x98\x80 \xc3\xa9\n\t"), "\xf0\x9f\x98\x80 \xc3\xa9\n\t");
}

TEST(ReportText, any_bytes_are_json_that_no_script_element_ends_at) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    const std::string bytes = random_bytes(rng), text = json(bytes);
    for (const char* mark : {"<", ">", "&", "\xe2\x80\xa8", "\n"})
      EXPECT_EQ(text.find(mark), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(text).get<std::string>(), clean(bytes));
    const std::string markup = html(bytes);
    for (const char* mark : {"<", ">", "\"", "'", "`"})
      EXPECT_EQ(markup.find(mark), std::string::npos) << markup;
  }
}

TEST(ReportText, long_texts_are_cut_between_characters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc\xe2\x80\xa6");
  EXPECT_EQ(shortened("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
  EXPECT_EQ(length_of(shortened(std::string(1'000'000, 'x'), 10)), 11u);
}

TEST(ReportText, base64_and_words_of_a_shell) {
  const auto encoded = [](std::string_view text) {
    const std::vector<unsigned char> bytes(text.begin(), text.end());
    return base64(bytes);
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(shell_word("a/b.csv"), "a/b.csv");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's $(here)"), "'it'\\''s $(here)'");
}

TEST(ReportText, json_is_put_together_with_its_commas) {
  JsonWriter out;
  out.object().field("a", 1).key("b").array().value(true).null().value(0.5).end_array();
  out.key("c").object().end_object().field("d", "x").key("e").value(std::nan("")).end_object();
  EXPECT_EQ(out.text(), R"({"a":1,"b":[true,null,0.5],"c":{},"d":"x","e":null})");
}

std::uint32_t number_at(const std::vector<unsigned char>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

TEST(ReportImages, a_png_holds_the_pixels) {
  for (const Index channels : {1, 3}) {
    Picture picture{.height = 5, .width = 7, .channels = channels, .pixels = {}};
    for (Index i = 0; i < 5 * 7 * channels; ++i)
      picture.pixels.push_back(static_cast<unsigned char>(i * 37));
    const std::vector<unsigned char> file = png_of(picture);
    EXPECT_EQ(number_at(file, 16), 7u);
    EXPECT_EQ(number_at(file, 20), 5u);
    const std::size_t size = number_at(file, 33);
    EXPECT_EQ(of({reinterpret_cast<const char*>(file.data()) + 37, 4}), "IDAT");
    EXPECT_EQ(number_at(file, 41 + size), crc32(0, file.data() + 37, static_cast<uInt>(size + 4)));
    uLongf length = static_cast<uLongf>(5 * (7 * channels + 1));
    std::vector<unsigned char> raw(length);
    ASSERT_EQ(uncompress(raw.data(), &length, file.data() + 41, size), Z_OK);
    for (Index y = 0; y < 5; ++y)
      for (Index x = 0; x < 7 * channels; ++x)
        EXPECT_EQ(raw[static_cast<std::size_t>(y * (7 * channels + 1) + 1 + x)],
                  picture.pixels[static_cast<std::size_t>(y * 7 * channels + x)]);
  }
}

TEST(ReportImages, shapes_are_read_and_others_refused) {
  EXPECT_EQ(*parse_image_shape("28x20"), (ImageShape{.height = 28, .width = 20}));
  EXPECT_EQ(*parse_image_shape("32x30x3"), (ImageShape{.height = 32, .width = 30, .channels = 3}));
  EXPECT_EQ(*parse_image_shape("3x32x30"),
            (ImageShape{.height = 32, .width = 30, .channels = 3, .planes = true}));
  for (const char* wrong : {"", "28", "28x", "x28", "28x-1", "0x5", "4x4x4x4", "28 x 28", "7x7x7"})
    EXPECT_FALSE(parse_image_shape(wrong)) << wrong;
}

TEST(ReportImages, greys_go_from_the_darkest_to_the_brightest_and_large_images_shrink) {
  // Two images of 130 x 2: thumbnails of a third of that.
  std::vector<double> values(2 * 260);
  std::iota(values.begin(), values.end(), 0.0);
  const Rows rows{.name = "",
                  .points = MatrixView<const double>(values.data(), 2, 260),
                  .images = ImageShape{.height = 130, .width = 2}};
  const std::vector<Index> shown = {0, 1};
  const Images images(rows, shown);
  EXPECT_EQ(images.height(), 43);
  EXPECT_EQ(images.width(), 1);
  const Picture first = images.of(0), second = images.of(1);
  EXPECT_EQ(first.pixels.front(),
            std::lround((0 + 1 + 1 + 2 + 3 + 3 + 4 + 5 + 5) / 9.0 / 519 * 255));
  EXPECT_GT(second.pixels.back(), 250);
  EXPECT_EQ(make_sheets(images, shown, 0).size(), 0u);
  EXPECT_EQ(make_sheets(images, shown, 100'000).size(), 1u);
}

TEST(ReportImages, colours_one_after_the_other_become_pixels) {
  const std::vector<double> values = {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 255, 0};
  const Rows planes{.name = "",
                    .points = MatrixView<const double>(values.data(), 1, 12),
                    .images = *parse_image_shape("3x2x2")};
  const std::vector<Index> shown = {0};
  EXPECT_EQ(Images(planes, shown).of(0).pixels,
            (std::vector<unsigned char>{1, 10, 100, 2, 20, 200, 3, 30, 255, 4, 40, 0}));
}

}  // namespace
}  // namespace fwsr::report
