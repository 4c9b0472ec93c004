#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

#include "binary_files.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::has_note;
using testing::memory_file;
using testing::npy;
using testing::npy_around;
using testing::raw;
using testing::raw_big;
using testing::values_of;

const std::vector<double> one_to_six{1, 2, 3, 4, 5, 6};

Result<Dataset> read(const std::string& image, const ReadOptions& options = {}) {
  return npy_format().read(memory_file(image, "x.npy"), options);
}
Result<std::vector<std::string>> labels(const std::string& image) {
  return npy_labels(memory_file(image, "y.npy"));
}

/// 1 .. 6 as T, in either byte order.
template <class T>
std::string six(bool big = false) {
  const std::vector<T> numbers{1, 2, 3, 4, 5, 6};
  return big ? raw_big(numbers) : raw(numbers);
}

TEST(Npy, uses_floats_of_a_file_in_place) {
  const auto path = std::filesystem::temp_directory_path() / "fwsr_npy_test.npy";
  std::ofstream(path, std::ios::binary) << npy("<f4", "(2, 3)", six<float>());
  auto file = FileBytes::open(path.string());
  ASSERT_TRUE(file) << file.error().message;
  const std::byte* start = file->bytes().data();
  const auto data = npy_format().read(std::move(*file), {});
  std::filesystem::remove(path);
  ASSERT_TRUE(data) << data.error().message;
  const auto* mapped = std::get_if<MappedMatrix<float>>(&data->points);
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(mapped->offset % 64, 0);
  const auto view = std::get<MatrixView<const float>>(data->view());
  EXPECT_EQ(static_cast<const void*>(view.data), start + mapped->offset) << "it was copied";
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_EQ(data->type, "float32");
  EXPECT_EQ(data->format, "npy");
  EXPECT_TRUE(data->notes.empty());
}

TEST(Npy, reads_every_version_and_spelling_of_the_header) {
  const std::string numbers = six<double>();
  const std::string dicts[] = {
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
      "{'shape':(2,3),'descr':'=f8','fortran_order':False}",
      "{ \"fortran_order\" : False , \"shape\" : (2L, 3L,) , \"descr\" : \"<f8\" , }",
  };
  for (const auto& dict : dicts)
    for (const int version : {1, 2, 3}) {
      const auto data = read(npy_around(dict, numbers, version));
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(rows_of(data->view()), 2);
      EXPECT_EQ(cols_of(data->view()), 3);
      EXPECT_EQ(values_of(*data), one_to_six);
    }
}

TEST(Npy, copies_numbers_that_do_not_stand_aligned) {
  const auto data = read(npy_around("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                                    six<double>(), 1, 3));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_TRUE(std::holds_alternative<DenseMatrix<double>>(data->points));
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_TRUE(has_note(*data, "copied once (48 bytes)"));
}

TEST(Npy, leaves_narrow_types_and_converts_wide_ones_to_float64) {
  const auto check = [](const std::string& descr, const std::string& bytes, bool single,
                        const std::string& name) {
    SCOPED_TRACE(descr);
    const auto data = read(npy(descr, "(2, 3)", bytes));
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(values_of(*data), one_to_six);
    EXPECT_EQ(is_single(data->view()), single);
    EXPECT_EQ(data->type, name);
    const std::string held = !single ? "float64 (48 bytes)"
                             : is_narrow(data->view())
                                 ? name + " (" + std::to_string(bytes.size()) + " bytes)"
                                 : "float32 (24 bytes)";
    EXPECT_EQ(has_note(*data, name + " converted once to " + held),
              !is_narrow(data->view()) || descr[0] == '>');
  };
  check("|u1", six<std::uint8_t>(), true, "uint8");
  check("|i1", six<std::int8_t>(), true, "int8");
  check("<u2", six<std::uint16_t>(), true, "uint16");
  check("<i2", six<std::int16_t>(), true, "int16");
  check("<u4", six<std::uint32_t>(), false, "uint32");
  check("<i4", six<std::int32_t>(), false, "int32");
  check("<u8", six<std::uint64_t>(), false, "uint64");
  check("<i8", six<std::int64_t>(), false, "int64");
  check(">i2", six<std::int16_t>(true), true, "int16");
  check(">u4", six<std::uint32_t>(true), false, "uint32");
  check(">i8", six<std::int64_t>(true), false, "int64");
  check(">f4", six<float>(true), true, "float32");
  check(">f8", six<double>(true), false, "float64");
}

TEST(Npy, keeps_negative_numbers_and_booleans) {
  const auto small = read(npy("<i2", "(1, 3)", raw<std::int16_t>({-32768, -1, 32767})));
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(values_of(*small), (std::vector<double>{-32768, -1, 32767}));
  const auto flags = read(npy("|b1", "(1, 3)", std::string("\0\1\7", 3)));
  ASSERT_TRUE(flags) << flags.error().message;
  EXPECT_EQ(values_of(*flags), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(flags->type, "bool");
  EXPECT_TRUE(has_note(*flags, "bool converted once to uint8 (3 bytes)"));
}

TEST(Npy, reads_half_precision_exactly) {
  // 1, -2, the largest, the smallest normal, the smallest subnormal, minus zero, infinity, a NaN
  const auto data = read(
      npy("<f2", "(2, 4)",
          raw<std::uint16_t>({0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0x7e01})));
  ASSERT_TRUE(data) << data.error().message;
  const auto v = values_of(*data);
  EXPECT_EQ(v[0], 1);
  EXPECT_EQ(v[1], -2);
  EXPECT_EQ(v[2], 65504);
  EXPECT_EQ(v[3], 0x1p-14);
  EXPECT_EQ(v[4], 0x1p-24);
  EXPECT_TRUE(v[5] == 0 && std::signbit(v[5]));
  EXPECT_EQ(v[6], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(v[7]));
  EXPECT_FALSE(has_note(*data, "converted"));
}

TEST(Npy, says_when_large_integers_lose_digits) {
  const std::int64_t limit = std::int64_t{1} << 53;
  const auto exact = read(npy("<i8", "(1, 2)", raw<std::int64_t>({limit, -limit})));
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_FALSE(has_note(*exact, "2^53"));
  const auto lossy = read(npy("<i8", "(1, 3)", raw<std::int64_t>({limit + 1, -limit - 1, 5})));
  ASSERT_TRUE(lossy) << lossy.error().message;
  EXPECT_TRUE(has_note(*lossy, "2 values beyond 2^53 lost digits"));
  const auto unsigned_one = read(npy("<u8", "(1, 1)", raw<std::uint64_t>({UINT64_MAX})));
  ASSERT_TRUE(unsigned_one) << unsigned_one.error().message;
  EXPECT_TRUE(has_note(*unsigned_one, "1 value beyond 2^53 lost digits"));
}

TEST(Npy, transposes_fortran_order) {
  const auto data = read(npy("<f4", "(2, 3)", raw<float>({1, 4, 2, 5, 3, 6}), true));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_TRUE(has_note(*data, "column by column, transposed once (24 bytes)"));
}

TEST(Npy, transposes_shapes_that_are_no_multiple_of_the_group_of_columns) {
  for (const Index rows : {1, 2, 7, 33})
    for (const Index cols : {1, 31, 64, 100, 999}) {
      std::vector<double> by_columns(static_cast<std::size_t>(rows * cols));
      std::vector<double> by_rows(by_columns.size());
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) {
          const double value = static_cast<double>(1000 * i + j);
          by_columns[static_cast<std::size_t>(j * rows + i)] = value;
          by_rows[static_cast<std::size_t>(i * cols + j)] = value;
        }
      const auto shape = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
      const auto data = read(npy("<f8", shape, raw(by_columns), true));
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(values_of(*data), by_rows) << shape;
    }
}

TEST(Npy, converts_more_numbers_than_fit_in_one_piece) {
  const Index rows = 50'001;  // x 3 is more than two pieces of 65536, and no multiple
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows * 3));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  const auto data = read(npy("|u1", "(50001, 3)", raw(bytes)));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), std::vector<double>(bytes.begin(), bytes.end()));
}

TEST(Npy, refuses_arrays_that_are_not_points) {
  const auto data = six<float>();
  expect_failure(read(npy("<f4", "(6,)", data)), "x.npy: shape (6,)", {"reshape(-1, 1)"});
  expect_failure(read(npy("<f4", "()", raw<float>({1}))), "x.npy: shape ()", {"reshape"});
  expect_failure(read(npy("<f4", "(1, 2, 3)", data)), "x.npy: shape (1, 2, 3)",
                 {"two dimensions", "reshape(len(x), -1)"});
  expect_failure(read(npy("<f4", "(0, 3)", "")), "x.npy: shape (0, 3)", {"no numbers"});
  expect_failure(read(npy("<f4", "(3, 0)", "")), "x.npy: shape (3, 0)", {"no numbers"});
}

TEST(Npy, refuses_types_that_are_not_numbers) {
  const std::string data(96, '\0');
  const auto refused = [&](const std::string& descr, const std::string& why) {
    SCOPED_TRACE(descr);
    expect_failure(read(npy(descr, "(2, 3)", data)), "x.npy: ", {why});
  };
  refused("<c8", "complex");
  refused("<c16", "complex");
  refused("|O", "objects");
  refused("|V8", "structured");
  refused("<M8[ns]", "dates");
  refused("<f16", "long doubles");
  refused("|S4", "text");
  refused("<U4", "text");
  for (const char* descr :
       {"<f3", "<i16", "<q8", "|b2", "", "<", "<f", "<f-4", "<f4x", "<f99999999999999999999"})
    refused(descr, "type");
  expect_failure(
      read(npy_around("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", data)),
      "x.npy: holds structured records");
}

TEST(Npy, refuses_headers_that_are_not_a_dictionary_of_three_keys) {
  for (const char* dict :
       {"", "{}", "{'descr': '<f4'}", "'descr'",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'extra': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3)}"}) {
    SCOPED_TRACE(dict);
    expect_failure(read(npy_around(dict, six<float>())), "x.npy: its header cannot be read");
  }
}

TEST(Npy, refuses_shapes_no_memory_holds) {
  for (const char* shape :
       {"(4611686018427387904, 1)", "(4611686018427387904, 4611686018427387904)",
        "(9223372036854775807, 3)", "(18446744073709551616, 3)", "(1099511627776, 3)"}) {
    SCOPED_TRACE(shape);
    expect_failure(read(npy("<f4", shape, six<float>())), "x.npy: ");
    expect_failure(read(npy("|u1", shape, six<float>())), "x.npy: ");
  }
}

TEST(Npy, says_how_many_bytes_are_missing_or_too_many) {
  const std::string good = npy("<f4", "(2, 3)", six<float>());
  expect_failure(read(good.substr(0, good.size() - 1)), "x.npy: is cut off",
                 {std::to_string(good.size()), std::to_string(good.size() - 1)});
  expect_failure(read(good + "ab"), "x.npy: has 2 bytes after the array");
  expect_failure(read("\x93NUMPX" + good.substr(6)), "x.npy: does not begin like a NumPy array");
  expect_failure(read(std::string("\x93NUMPY\4", 7) + good.substr(7)),
                 "x.npy: is of npy version 4");
}

TEST(Npy, refuses_options_it_cannot_honour) {
  const std::string good = npy("<f4", "(2, 3)", six<float>());
  expect_failure(read(good, {.label_column = "y"}), "x.npy: label column 'y'", {"npy files"});
  expect_failure(read(good, {.id_column = "id"}), "x.npy: id column 'id'");
  expect_failure(read(good, {.columns = {"a"}}), "x.npy: a choice of columns");
  expect_failure(read(good, {.variable = "v"}), "x.npy: variable 'v'");
  expect_failure(read(good, {.header = Header::yes}), "x.npy: a header line");
}

TEST(Npy, survives_every_truncation_and_every_broken_byte) {
  const auto survive = [](const std::string& image) {
    testing::expect_reader_survives(
        image, "x.npy", [](FileBytes file) { return npy_format().read(std::move(file), {}); });
  };
  survive(npy("<f4", "(2, 3)", six<float>()));
  survive(npy("|u1", "(2, 3)", six<std::uint8_t>()));
  survive(npy(">i8", "(2, 3)", six<std::int64_t>(true), true));
}

TEST(Npy, recognises_its_own) {
  EXPECT_TRUE(npy_format().recognises(memory_file(npy("<f4", "(2, 3)", ""))));
  EXPECT_FALSE(npy_format().recognises(memory_file("\x93NUMP")));
  EXPECT_FALSE(npy_format().recognises(memory_file("")));
}

TEST(NpyLabels, writes_whole_numbers_without_a_decimal_point) {
  using Labels = std::vector<std::string>;
  const auto same = [](const Result<Labels>& got, const Labels& expected) {
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, expected);
  };
  same(labels(npy("|u1", "(3,)", "\x01\x02\xff")), {"1", "2", "255"});
  same(labels(npy("<i8", "(2, 1)", raw<std::int64_t>({-5, INT64_MAX}))),
       {"-5", "9223372036854775807"});
  same(labels(npy("<u8", "(1,)", raw<std::uint64_t>({UINT64_MAX}))), {"18446744073709551615"});
  same(labels(npy("<f8", "(4,)", raw<double>({3, -0.0, 0.5, 1e300}))), {"3", "0", "0.5", "1e+300"});
  same(labels(npy("<f4", "(2,)", raw<float>({7, 0.1f}))), {"7", "0.1"});
  same(labels(npy("|b1", "(2,)", std::string("\0\1", 2))), {"False", "True"});
  same(labels(npy("|S3", "(3,)", std::string("ab\0cde\0\0\0", 9))), {"ab", "cde", ""});
  same(labels(npy("<U2", "(2,)", raw<std::uint32_t>({'h', 0xe9, 0x1f600, 0}))),
       {"h\xc3\xa9", "\xf0\x9f\x98\x80"});
  same(labels(npy(">U1", "(2,)", raw_big<std::uint32_t>({'a', 0x20ac}))), {"a", "\xe2\x82\xac"});
}

TEST(NpyLabels, refuses_what_is_no_list_of_labels) {
  expect_failure(labels(npy("<f4", "(2, 3)", six<float>())), "y.npy: shape (2, 3)");
  expect_failure(labels(npy("<f4", "(0,)", "")), "y.npy: shape (0,)", {"no labels"});
  expect_failure(labels(npy("|S0", "(4611686018427387904,)", "")), "y.npy: ", {"no labels"});
  expect_failure(labels(npy("<f8", "(2,)", raw<double>({1, std::nan("")}))), "y.npy: label 1");
  expect_failure(labels(npy("<U1", "(1,)", raw<std::uint32_t>({0xd800}))), "y.npy: label 0",
                 {"Unicode"});
  expect_failure(labels(npy("<i4", "(3,)", raw<std::int32_t>({1, 2}))), "y.npy: is cut off");
}

TEST(NpyLabels, survives_every_truncation_and_every_broken_byte) {
  const auto survive = [](const std::string& image) {
    testing::expect_survives_damage(image, "y.npy",
                                    [](const std::string& broken) { return labels(broken); });
  };
  survive(npy("<i2", "(3,)", raw<std::int16_t>({1, 2, 3})));
  survive(npy("<U2", "(2,)", raw<std::uint32_t>({'a', 'b', 'c', 'd'})));
}

TEST(Npy, reads_the_credit_data) {
  const auto points = testing::find_data("credit/credit_paper5492_X_f32.npy");
  const auto classes = testing::find_data("credit/credit_paper5492_y_u8.npy");
  if (!points || !classes) GTEST_SKIP() << "no credit data here; set FWSR_DATA to its folder";
  const auto data = read_dataset(*points);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_TRUE(std::holds_alternative<MappedMatrix<float>>(data->points));
  EXPECT_EQ(rows_of(data->view()), 5492);
  const auto y = read_labels(*classes);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(y->size(), 5492u);
}

}  // namespace
}  // namespace fwsr
