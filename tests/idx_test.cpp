#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "binary_files.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/inflate.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::gzipped;
using testing::has_note;
using testing::memory_file;
using testing::raw_big;
using testing::values_of;

Result<Dataset> read(const std::string& file, const ReadOptions& options = {}) {
  return idx_format().read(memory_file(file, "x.idx"), options);
}
Result<std::vector<std::string>> labels(const std::string& file) {
  return idx_labels(memory_file(file, "y.idx"));
}

std::string idx(int type, const std::vector<std::uint32_t>& lengths, const std::string& data) {
  return std::string(2, '\0') + static_cast<char>(type) + static_cast<char>(lengths.size()) +
         raw_big(lengths) + data;
}

const std::string images = idx(8, {2, 2, 2}, std::string("\x00\x01\x02\x03\x04\x05\x06\xff", 8));

TEST(Idx, reads_images_as_points) {
  for (const std::string& file : {images, gzipped(images)}) {
    const auto data = read(file);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(rows_of(data->view()), 2);
    EXPECT_EQ(cols_of(data->view()), 4);
    EXPECT_TRUE(is_single(data->view()));
    EXPECT_EQ(values_of(*data), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 255}));
    EXPECT_EQ(data->type, "uint8");
    EXPECT_EQ(data->format, "idx");
    EXPECT_TRUE(has_note(*data, "2 images of 2 x 2 read as points of 4 features"));
    EXPECT_FALSE(has_note(*data, "converted"));
  }
}

TEST(Idx, reads_every_type_and_number_of_dimensions) {
  const auto check = [](int type, const std::string& bytes, bool single) {
    SCOPED_TRACE(type);
    for (const auto& lengths : {std::vector<std::uint32_t>{2, 2}, {2, 1, 2}, {2, 1, 1, 2}}) {
      const auto data = read(idx(type, lengths, bytes));
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(values_of(*data), (std::vector<double>{1, -2, 3, -4}));
      EXPECT_EQ(rows_of(data->view()), 2);
      EXPECT_EQ(is_single(data->view()), single);
    }
  };
  check(0x09, raw_big<std::int8_t>({1, -2, 3, -4}), true);
  check(0x0b, raw_big<std::int16_t>({1, -2, 3, -4}), true);
  check(0x0c, raw_big<std::int32_t>({1, -2, 3, -4}), false);
  check(0x0d, raw_big<float>({1, -2, 3, -4}), true);
  check(0x0e, raw_big<double>({1, -2, 3, -4}), false);
}

/// What is inflated in one go is what is inflated piece by piece; what is not whole is not taken.
TEST(Inflate, whole_files_are_those_of_an_inflater) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919 % 1000) + (i % 9 ? "," : "\n");
  const auto bytes = [](const std::string& s) { return std::as_bytes(std::span(s)); };
  const auto inflates = [&](const std::string& packed, std::size_t size) {
    std::string out(size, '\0');
    const bool done = inflate_whole(bytes(packed), std::as_writable_bytes(std::span(out)));
    if (done) {
      EXPECT_EQ(out, text);
    }
    return done;
  };
  const std::string packed = gzipped(text), parts = gzipped(text.substr(0, 1000)) + gzipped("") +
                                                    gzipped(text.substr(1000));
  const bool there = inflates(packed, text.size());  // else this build has no libdeflate
  EXPECT_EQ(inflates(parts, text.size()), there);
  for (const std::size_t size : {text.size() - 1, text.size() + 1, std::size_t{0}})
    EXPECT_FALSE(inflates(packed, size)) << size;
  EXPECT_FALSE(inflates(packed + "x", text.size()));
  EXPECT_FALSE(inflates(packed.substr(0, packed.size() - 1), text.size()));
  std::string broken = packed;
  broken[broken.size() - 6] = static_cast<char>(broken[broken.size() - 6] ^ 1);  // of the checksum
  EXPECT_FALSE(inflates(broken, text.size()));
  EXPECT_EQ(size_when_inflated(bytes(packed)), text.size());
  EXPECT_EQ(size_when_inflated(bytes(text)), std::nullopt);
  EXPECT_EQ(size_when_inflated(bytes(packed.substr(0, 12))), std::nullopt);
}

TEST(Idx, reads_gzip_in_several_members) {
  const std::string parts = gzipped(images.substr(0, 7)) + gzipped("") + gzipped(images.substr(7));
  const auto data = read(parts);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 255}));
}

TEST(Idx, refuses_what_is_not_points) {
  expect_failure(read(idx(8, {3}, "abc")), "x.idx: holds one list of 3 numbers", {"labels"});
  expect_failure(read(idx(8, {0, 3}, "")), "x.idx: 0 x 3 numbers are no points");
  expect_failure(read(idx(8, {3, 0}, "")), "x.idx: 3 x 0 numbers are no points");
  expect_failure(read(idx(8, {}, "")), "x.idx: does not begin like an idx file");
  expect_failure(read(idx(10, {1, 1}, "a")), "x.idx: does not begin like an idx file");
  expect_failure(read("\1" + images.substr(1)), "x.idx: does not begin like an idx file");
  expect_failure(read(images, {.label_column = "y"}), "x.idx: label column 'y'");
  expect_failure(read(images, {.variable = "v"}), "x.idx: variable 'v'");
}

TEST(Idx, wants_exactly_the_promised_bytes) {
  expect_failure(read(images.substr(0, images.size() - 1)), "x.idx: is cut off",
                 {"24 bytes", "23 "});
  expect_failure(read(images + "x"), "x.idx: has bytes after the numbers");
  expect_failure(read(gzipped(images.substr(0, images.size() - 1))), "x.idx: ", {"shorter"});
  expect_failure(read(gzipped(images + "x")), "x.idx: has bytes after the numbers");
  expect_failure(read(gzipped(images) + "x"), "x.idx: its gzip data is followed by stray bytes");
  const std::string packed = gzipped(images);
  expect_failure(read(packed.substr(0, packed.size() - 1)), "x.idx: its gzip data is cut off");
}

TEST(Idx, refuses_lengths_no_memory_holds) {
  const std::uint32_t big = 0xffffffff;
  for (const auto& lengths :
       {std::vector<std::uint32_t>{big, big}, {big, big, big}, {1u << 31, 1u << 31, 1}}) {
    expect_failure(read(idx(8, lengths, "abc")), "x.idx: ");
    expect_failure(read(idx(14, lengths, "abc")), "x.idx: ");
    expect_failure(read(gzipped(idx(8, lengths, "abc"))), "x.idx: ");
    expect_failure(labels(idx(8, lengths, "abc")), "y.idx: ");
  }
}

TEST(Idx, survives_every_truncation_and_every_broken_byte) {
  const auto survive = [](const std::string& file) {
    testing::expect_reader_survives(
        file, "x.idx", [](FileBytes f) { return idx_format().read(std::move(f), {}); });
    testing::expect_survives_damage(file, "y.idx",
                                    [](const std::string& broken) { return labels(broken); });
  };
  survive(images);
  survive(gzipped(images));
  survive(idx(0x0e, {2, 1}, raw_big<double>({1, 2})));
}

TEST(Idx, recognises_its_own) {
  EXPECT_TRUE(idx_format().recognises(memory_file(images)));
  EXPECT_TRUE(idx_format().recognises(memory_file(gzipped(images))));
  EXPECT_FALSE(idx_format().recognises(memory_file(gzipped("1,2,3\n4,5,6\n"))));
  EXPECT_FALSE(idx_format().recognises(memory_file(std::string(3, '\0'))));
  EXPECT_FALSE(idx_format().recognises(memory_file("")));
}

TEST(IdxLabels, read_one_number_per_point) {
  using Labels = std::vector<std::string>;
  const auto three = labels(gzipped(idx(8, {3}, std::string("\x05\x00\xff", 3))));
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_EQ(*three, (Labels{"5", "0", "255"}));
  const auto floats = labels(idx(13, {2, 1}, raw_big<float>({-1, 0.5f})));
  ASSERT_TRUE(floats) << floats.error().message;
  EXPECT_EQ(*floats, (Labels{"-1", "0.5"}));
  expect_failure(labels(images), "y.idx: 2 x 2 x 2 numbers are no list of labels");
  expect_failure(labels(idx(8, {0}, "")), "y.idx: 0 numbers are no list of labels");
  expect_failure(labels(idx(14, {1}, raw_big<double>({std::nan("")}))), "y.idx: label 0");
}

TEST(Gunzip, stops_when_asked_to) {
  // Of one member it may be inflated in one go, before which it is asked; of several piece by piece.
  const std::string one = gzipped("hello, hello, hello");
  EXPECT_THROW(
      (void)gunzip(std::as_bytes(std::span(one)), "z.gz", MemoryBudget(), [] { return false; }),
      Interrupted);
  const std::string text(20'000'000, 'a');
  const std::string packed = gzipped(text) + gzipped("");
  const auto bytes = std::as_bytes(std::span(packed));
  int asked = 0;
  const auto whole = gunzip(bytes, "z.gz", MemoryBudget(), [&] { return ++asked > 0; });
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->size(), text.size());
  EXPECT_GE(asked, 4);
  EXPECT_THROW((void)gunzip(bytes, "z.gz", MemoryBudget(), [&] { return --asked > 2; }),
               Interrupted);
  EXPECT_EQ(asked, 2);
}

TEST(Gunzip, inflates_up_to_its_limit) {
  const std::string text(100'000, 'a');
  const auto inflate = [](const std::string& packed, Index limit = 0) {
    return gunzip(std::as_bytes(std::span(packed)), "z.gz", MemoryBudget(limit));
  };
  const auto whole = inflate(gzipped(text), 2 * std::ssize(text));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->size(), text.size());
  const auto members = inflate(gzipped(text) + gzipped("b"));
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_EQ(members->size(), text.size() + 1);
  EXPECT_EQ(members->bytes().back(), std::byte{'b'});
  const auto nothing = inflate(gzipped(""));
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_TRUE(nothing->bytes().empty());
  expect_failure(inflate(gzipped(text), std::ssize(text) - 1), "z.gz: takes more memory",
                 {"97.7 KiB allowed (128 KiB or more)"});
  expect_failure(inflate(gzipped(text) + "b"), "z.gz: ", {"stray bytes"});
  expect_failure(inflate("plain"), "z.gz: its gzip data is broken");
  expect_failure(inflate(""), "z.gz: its gzip data is cut off");
  const std::string small = gzipped("hello, hello, hello");
  for (std::size_t size = 0; size < small.size(); ++size)
    expect_failure(inflate(small.substr(0, size)), "z.gz: its gzip data is cut off");
}

TEST(Idx, reads_mnist) {
  const auto points = testing::find_data("mnist/t10k-images-idx3-ubyte.gz");
  const auto classes = testing::find_data("mnist/t10k-labels-idx1-ubyte.gz");
  if (!points || !classes) GTEST_SKIP() << "no MNIST here; set FWSR_DATA to the folder of mnist/";
  const auto data = read_dataset(*points);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(rows_of(data->view()), 10'000);
  EXPECT_EQ(cols_of(data->view()), 784);
  double sum = 0;
  for (const double v : values_of(*data)) sum += v;
  EXPECT_NEAR(sum / (10'000 * 784), 33.79, 0.01);  // the known mean grey value of the test images
  const auto y = read_labels(*classes);
  ASSERT_TRUE(y) << y.error().message;
  ASSERT_EQ(y->size(), 10'000u);
  const std::vector<std::string> words = y->words();
  EXPECT_EQ(std::vector<std::string>(words.begin(), words.begin() + 5),
            (std::vector<std::string>{"7", "2", "1", "0", "4"}));
}

}  // namespace
}  // namespace fwsr
