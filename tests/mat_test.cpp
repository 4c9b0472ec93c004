#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "binary_files.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::has_note;
using testing::memory_file;
using testing::raw;
using testing::raw_big;
using testing::u32;
using testing::values_of;

// Classes and element types of the MATLAB format.
constexpr std::uint32_t mx_char = 4, mx_sparse = 5, mx_double = 6, mx_uint8 = 9, mx_int64 = 14;
constexpr std::uint32_t logical = 0x0200, complex = 0x0800;
constexpr std::uint32_t mi_int8 = 1, mi_uint8 = 2, mi_int32 = 5, mi_uint32 = 6, mi_double = 9,
                        mi_int64 = 12, mi_matrix = 14, mi_compressed = 15;

std::string header(bool big_endian = false) {
  std::string text = "MATLAB 5.0 MAT-file, built by a test";
  text.resize(124, ' ');
  return text + (big_endian ? std::string("\x01\x00MI", 4) : std::string("\x00\x01IM", 4));
}

std::string part(std::uint32_t type, std::string data) {
  const auto length = data.size();
  data.resize((length + 7) / 8 * 8);
  return u32(type) + u32(length) + data;
}
/// Up to four bytes inside the tag.
std::string small_part(std::uint32_t type, std::string data) {
  const auto length = data.size();
  data.resize(4);
  return u32(static_cast<std::uint32_t>(length << 16) | type) + data;
}

/// A variable whose numbers (or sparse parts) are `body`.
std::string variable(std::uint32_t flags, const std::vector<std::int32_t>& shape,
                     const std::string& name, const std::string& body) {
  const std::string inside = part(mi_uint32, u32(flags) + u32(0)) + part(mi_int32, raw(shape)) +
                             (name.size() <= 4 ? small_part(mi_int8, name) : part(mi_int8, name)) +
                             body;
  return u32(mi_matrix) + u32(inside.size()) + inside;
}
std::string compressed(const std::string& element) {
  const std::string packed = testing::deflated(element, 15);
  return u32(mi_compressed) + u32(packed.size()) + packed;
}
std::string doubles(const std::string& name, std::int32_t rows, std::int32_t cols,
                    const std::vector<double>& by_columns) {
  return variable(mx_double, {rows, cols}, name, part(mi_double, raw(by_columns)));
}

const std::vector<double> one_to_six{1, 2, 3, 4, 5, 6};
const std::string points = doubles("points", 2, 3, {1, 4, 2, 5, 3, 6});
const std::string classes = doubles("gnd", 2, 1, {7, 8});

Result<Dataset> read(const std::string& file, const ReadOptions& options = {}) {
  return mat_format().read(memory_file(file, "x.mat"), options);
}
Result<std::vector<std::string>> labels(const std::string& file) {
  return mat_labels(memory_file(file, "y.mat"));
}

/// [[0, 10], [20, 0], [0, 30]] with one spare entry, as MATLAB leaves it.
std::string sparse(const std::string& rows = raw<std::int32_t>({1, 0, 2, 0}),
                   const std::string& starts = raw<std::int32_t>({0, 1, 3}),
                   const std::string& numbers = raw<double>({20, 10, 30}),
                   const std::vector<std::int32_t>& shape = {3, 2}) {
  return variable(mx_sparse, shape, "A",
                  part(mi_int32, rows) + part(mi_int32, starts) + part(mi_double, numbers));
}

TEST(Mat, reads_a_matrix_row_by_row) {
  for (const std::string& file : {header() + points, header() + compressed(points)}) {
    const auto data = read(file);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(rows_of(data->view()), 2);
    EXPECT_EQ(cols_of(data->view()), 3);
    EXPECT_EQ(values_of(*data), one_to_six);
    EXPECT_EQ(data->type, "float64");
    EXPECT_EQ(data->format, "mat");
    EXPECT_TRUE(has_note(*data, "transposed once (48 bytes)"));
  }
}

TEST(Mat, converts_other_classes) {
  const auto bytes =
      read(header() + variable(mx_uint8, {2, 3}, "b", part(mi_uint8, "\1\4\2\5\3\6")));
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(values_of(*bytes), one_to_six);
  EXPECT_TRUE(is_single(bytes->view()));
  EXPECT_EQ(bytes->type, "uint8");
  EXPECT_TRUE(has_note(*bytes, "uint8 converted once to float32 (24 bytes)"));
  // MATLAB stores whole doubles in as few bytes as hold them.
  const auto packed =
      read(header() + variable(mx_double, {1, 2}, "d", small_part(mi_uint8, "\7\xff")));
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(values_of(*packed), (std::vector<double>{7, 255}));
  EXPECT_EQ(packed->type, "uint8");
  const auto less = read(header() + variable(mx_double, {1, 2}, "d",
                                             part(mi_int32, raw<std::int32_t>({-7, 1 << 30 | 1}))));
  ASSERT_TRUE(less) << less.error().message;
  EXPECT_EQ(values_of(*less), (std::vector<double>{-7, 1 << 30 | 1}));
  EXPECT_EQ(less->type, "int32");
  const auto wide =
      read(header() +
           variable(mx_int64, {1, 2}, "w", part(mi_int64, raw<std::int64_t>({-1, 1LL << 60 | 1}))));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(values_of(*wide)[0], -1);
  EXPECT_TRUE(has_note(*wide, "1 value beyond 2^53"));
  const auto flags = read(header() + variable(mx_uint8 | logical, {1, 2}, "f",
                                              small_part(mi_uint8, std::string("\0\1", 2))));
  ASSERT_TRUE(flags) << flags.error().message;
  EXPECT_EQ(flags->type, "bool");
}

TEST(Mat, reads_big_endian_files) {
  const auto tag = [](std::uint32_t type, std::uint32_t length) {
    return raw_big<std::uint32_t>({type, length});
  };
  const std::string inside =
      tag(mi_uint32, 8) + raw_big<std::uint32_t>({mx_double, 0}) + tag(mi_int32, 8) +
      raw_big<std::int32_t>({1, 2}) + raw_big<std::uint32_t>({1 << 16 | mi_int8}) +
      std::string("x\0\0\0", 4) + tag(mi_double, 16) + raw_big<double>({1.5, -2});
  const auto data =
      read(header(true) + tag(mi_matrix, static_cast<std::uint32_t>(inside.size())) + inside);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), (std::vector<double>{1.5, -2}));
}

/// 7, and 5 or -5, in every type in which numbers can be stored.
TEST(Mat, reads_every_type_whatever_the_class) {
  const auto check = [](std::uint32_t type, const std::string& data, const char* name,
                        double second) {
    for (std::uint32_t of_class = mx_double; of_class <= 15; ++of_class) {
      SCOPED_TRACE(std::string(name) + ", class " + std::to_string(of_class));
      const std::string v = variable(of_class, {1, 2}, "v", part(type, data));
      for (const std::string& file : {header() + v, header() + compressed(v)}) {
        const auto read_back = read(file);
        ASSERT_TRUE(read_back) << read_back.error().message;
        EXPECT_EQ(values_of(*read_back), (std::vector<double>{7, second}));
        EXPECT_EQ(read_back->type, name);
      }
    }
  };
  check(1, raw<std::int8_t>({7, -5}), "int8", -5);
  check(2, raw<std::uint8_t>({7, 5}), "uint8", 5);
  check(3, raw<std::int16_t>({7, -5}), "int16", -5);
  check(4, raw<std::uint16_t>({7, 5}), "uint16", 5);
  check(5, raw<std::int32_t>({7, -5}), "int32", -5);
  check(6, raw<std::uint32_t>({7, 5}), "uint32", 5);
  check(7, raw<float>({7, -5}), "float32", -5);
  check(9, raw<double>({7, -5}), "float64", -5);
  check(12, raw<std::int64_t>({7, -5}), "int64", -5);
  check(13, raw<std::uint64_t>({7, 5}), "uint64", 5);
  for (const std::uint32_t no_number : {0u, 8u, 10u, 11u, 14u, 15u, 16u})
    expect_failure(
        read(header() + variable(mx_double, {1, 1}, "v", part(no_number, raw<double>({7})))),
        "x.mat: variable 'v': its numbers are missing or cut off");
}

TEST(Mat, takes_no_memory_for_sizes_that_lie) {
  // A hundred thousand to one: what inflates so well must still be as long as it says.
  const std::string zeros =
      variable(mx_uint8, {1 << 20, 1}, "z", part(mi_uint8, std::string(1 << 20, '\0')));
  const auto honest = read(header() + compressed(zeros));
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_EQ(rows_of(honest->view()), 1 << 20);
  // The inner length says four gigabytes, which so few bytes cannot hold.
  std::string lying = zeros;
  lying.replace(4, 4, u32(0xfffffff8));
  expect_failure(read(header() + compressed(lying)), "x.mat: the variable at byte 128 is damaged");
  // It says a megabyte, and a few bytes come, which do not shrink: they could hold one.
  std::string noise;
  for (std::uint32_t i = 0; i < 4000; ++i) noise += static_cast<char>(i * i * 2654435761u >> 24);
  expect_failure(read(header() + compressed(zeros.substr(0, 64) + noise)),
                 "x.mat: variable 'z': its compressed data does not end where stated");
  // And less than comes.
  expect_failure(read(header() + compressed(points + "more")),
                 "x.mat: variable 'points': its compressed data does not end where stated");
}

TEST(Mat, chooses_among_variables) {
  const std::string both = header() + points + compressed(classes);
  const auto guessed = read(both);
  ASSERT_TRUE(guessed) << guessed.error().message;
  EXPECT_EQ(values_of(*guessed), one_to_six);
  EXPECT_TRUE(has_note(*guessed, "points taken from variable 'points'"));
  const auto named = read(both, {.variable = "gnd"});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(values_of(*named), (std::vector<double>{7, 8}));
  expect_failure(read(both, {.variable = "nope"}), "x.mat: has no variable 'nope'",
                 {"'points (2 x 3)'", "'gnd (2 x 1)'"});
  expect_failure(read(both + doubles("more", 2, 2, {1, 2, 3, 4})),
                 "x.mat: holds several matrices: 'points (2 x 3)', 'gnd (2 x 1)', 'more (2 x 2)'");
  expect_failure(read(header() + classes + doubles("t", 1, 1, {3})),
                 "x.mat: holds several matrices");
  expect_failure(read(header()), "x.mat: holds no matrix of numbers");
}

TEST(Mat, takes_names_as_long_as_matlab_makes_them) {
  const std::string name(63, 'n');
  const auto data = read(header() + doubles(name, 1, 1, {7}), {.variable = name});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), (std::vector<double>{7}));
  // A few bytes inflate to names of any length, and a file may have millions of them.
  expect_failure(read(header() + compressed(doubles(std::string(300, 'n'), 1, 1, {7}))),
                 "x.mat: the variable at byte 128 is damaged");
}

TEST(Mat, takes_labels_from_a_variable) {
  const auto data = read(header() + points + classes, {.label_column = "gnd"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_EQ(data->labels, (std::vector<std::string>{"7", "8"}));
  const auto row = read(header() + points + doubles("y", 1, 2, {0.5, 1}), {.label_column = "y"});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->labels, (std::vector<std::string>{"0.5", "1"}));
  expect_failure(read(header() + points + doubles("y", 3, 1, {1, 2, 3}), {.label_column = "y"}),
                 "x.mat: variable 'y': 3 labels for 2 points");
  expect_failure(read(header() + points, {.label_column = "y"}), "x.mat: has no variable 'y'");
  expect_failure(read(header() + points, {.label_column = "points", .variable = "points"}),
                 "x.mat: variable 'points': is no list of labels");
}

TEST(Mat, skips_what_is_not_numbers) {
  const std::string word = variable(mx_char, {1, 2}, "word", small_part(mi_uint8, "hi"));
  const std::string nameless = variable(mx_uint8, {1, 2}, "", small_part(mi_uint8, "hi"));
  const auto data = read(header() + word + nameless + points);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
  expect_failure(read(header() + word), "x.mat: holds no matrix of numbers");
  expect_failure(read(header() + word, {.variable = "word"}),
                 "x.mat: variable 'word': is not a matrix");
}

TEST(Mat, reads_sparse_matrices) {
  for (const std::string& file : {header() + sparse(), header() + compressed(sparse())}) {
    const auto data = read(file);
    ASSERT_TRUE(data) << data.error().message;
    const auto& m = std::get<SparseMatrix<double>>(data->points);
    EXPECT_EQ(m.rows, 3);
    EXPECT_EQ(m.cols, 2);
    EXPECT_EQ(m.starts, (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(m.columns, (std::vector<std::int64_t>{1, 0, 1}));
    EXPECT_EQ(m.values, (std::vector<double>{10, 20, 30}));
  }
}

TEST(Mat, refuses_broken_sparse_matrices) {
  const auto ints = [](const std::vector<std::int32_t>& v) { return raw(v); };
  const auto refused = [](const std::string& element, const std::string& why) {
    SCOPED_TRACE(why);
    expect_failure(read(header() + element), "x.mat: variable 'A'", {why});
  };
  refused(sparse(ints({1, 0, 3})), "column 3");
  refused(sparse(ints({1, 0, -1})), "column -1");
  refused(sparse(ints({1, 0})), "fewer entries");
  refused(sparse(ints({1, 0, 2}), ints({0, 1, 4})), "fewer entries");
  refused(sparse(ints({1, 0, 2}), ints({0, 3, 2}), raw<double>({1, 2, 3})),
          "ends before it starts");
  refused(sparse(ints({1, 0, 2}), ints({1, 2, 3})), "starts at entry 1");
  refused(sparse(ints({1, 0, 2}), ints({0, 3})), "2 column starts for 2 columns");
  refused(sparse(ints({1, 0, 2}), ints({0, 1, 3}), raw<double>({1, 2, 3}), {0x7fffffff, 2}),
          "so many empty points are not read");
}

TEST(Mat, refuses_what_cannot_be_points) {
  expect_failure(read(header() + variable(mx_double | complex, {1, 1}, "z",
                                          part(mi_double, raw<double>({1})) +
                                              part(mi_double, raw<double>({2})))),
                 "x.mat: variable 'z': holds complex numbers");
  expect_failure(
      read(header() + variable(mx_double, {1, 1, 2}, "c", part(mi_double, raw<double>({1, 2}))),
           {.variable = "c"}),
      "x.mat: variable 'c': is not a matrix");
  expect_failure(read(header() + doubles("e", 0, 3, {})), "x.mat: variable 'e': holds no numbers");
  expect_failure(read(header() + points, {.id_column = "id"}), "x.mat: id column 'id'");
}

TEST(Mat, refuses_other_versions) {
  std::string newer = "MATLAB 7.3 MAT-file, Platform: GLNXA64";
  newer.resize(512, ' ');
  expect_failure(read(newer + "\x89HDF\r\n\x1a\n"), "x.mat: is a MATLAB 7.3 (HDF5) file",
                 {"-v7", "h5py"});
  std::string unmarked = header() + points;
  unmarked[126] = 'X';
  expect_failure(read(unmarked), "x.mat: is not a MATLAB file of version 5 to 7.2");
  std::string of_no_version = header() + points;
  of_no_version[125] = '\xfe';
  expect_failure(read(of_no_version), "x.mat: is not a MATLAB file of version 5 to 7.2");
  expect_failure(read("MATLAB 5.0 MAT-file"), "x.mat: is cut off");
  const std::string numbers = raw<double>({1, 2});
  const std::string name("x\0", 2);
  for (const std::string& older :
       {raw<std::uint32_t>({0, 1, 2, 0, 2}) + name + numbers,
        raw_big<std::uint32_t>({1000, 1, 2, 0, 2}) + name + raw_big<double>({1, 2})}) {
    EXPECT_TRUE(mat_format().recognises(memory_file(older)));
    expect_failure(read(older), "x.mat: is a MATLAB 4 file", {"-v7"});
    EXPECT_TRUE(read(older).error().message.ends_with("scipy.io.loadmat(file)['X'])"));
    expect_failure(labels(older), "y.mat: is a MATLAB 4 file");
  }
}

TEST(Mat, refuses_numbers_that_do_not_fill_the_shape) {
  expect_failure(read(header() + doubles("d", 2, 3, {1, 2, 3, 4, 5})), "x.mat: variable 'd'",
                 {"needs 6 numbers, 5 found"});
  expect_failure(read(header() + doubles("d", 2, 2, {1, 2, 3, 4, 5})), "x.mat: variable 'd'",
                 {"needs 4 numbers, 5 found"});
  const std::int32_t huge = 0x7fffffff;
  for (const std::string& element : {doubles("d", huge, huge, {1}), doubles("d", huge, 1, {1})}) {
    expect_failure(read(header() + element), "x.mat: variable 'd'");
    expect_failure(read(header() + compressed(element)), "x.mat: variable 'd'");
  }
  expect_failure(read(header() + doubles("d", -1, 1, {1})),
                 "x.mat: the variable at byte 128 is damaged");
  const std::string good = header() + points;
  expect_failure(read(good.substr(0, good.size() - 8)),
                 "x.mat: the variable at byte 128 is cut off");
  expect_failure(read(good + "1234"), "x.mat: the variable at byte", {"is cut off"});
}

TEST(Mat, finds_damage_in_compressed_variables) {
  const std::string good = header() + compressed(points);
  for (std::size_t at = 136; at < good.size(); ++at) {
    std::string broken = good;
    broken[at] = static_cast<char>(broken[at] ^ 4);
    const auto data = read(broken);  // another way to write the same numbers is no damage
    if (data) {
      EXPECT_EQ(values_of(*data), one_to_six) << "byte " << at;
    }
  }
}

TEST(Mat, survives_every_truncation_and_every_broken_byte) {
  const auto survive = [](const std::string& file) {
    testing::expect_reader_survives(
        file, "x.mat", [](FileBytes f) { return mat_format().read(std::move(f), {}); });
  };
  survive(header() + points + classes);
  survive(header() + compressed(points));
  survive(header() + sparse());
  testing::expect_survives_damage(header() + classes, "y.mat",
                                  [](const std::string& broken) { return labels(broken); });
}

TEST(Mat, reads_a_file_of_labels) {
  const auto alone = labels(header() + classes);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(*alone, (std::vector<std::string>{"7", "8"}));
  const auto beside = labels(header() + points + classes);
  ASSERT_TRUE(beside) << beside.error().message;
  EXPECT_EQ(*beside, (std::vector<std::string>{"7", "8"}));
  expect_failure(labels(header() + points), "y.mat: holds 0 variables");
  expect_failure(labels(header() + doubles("a", 1, 2, {1, std::nan("")})),
                 "y.mat: variable 'a': label 1");
}

TEST(Mat, reads_yale_b) {
  const auto path = testing::find_data("yaleb/YaleB_32x32.mat");
  if (!path) GTEST_SKIP() << "no Yale B here; set FWSR_DATA to the folder of yaleb/";
  const auto data = read_dataset(*path, {.label_column = "gnd"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(rows_of(data->view()), 2414);
  EXPECT_EQ(cols_of(data->view()), 1024);
  EXPECT_TRUE(is_single(data->view()));
  EXPECT_EQ(data->type, "uint8");
  double sum = 0;
  for (const double v : values_of(*data)) sum += v;
  EXPECT_EQ(sum, 171'356'015);  // as SciPy reads it
  ASSERT_EQ(data->labels.size(), 2414u);
  EXPECT_EQ(data->labels[0], "1");
  EXPECT_EQ(data->labels[2413], "38");
  const auto y = read_labels(*path);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(*y, data->labels);
}

TEST(Mat, recognises_its_own) {
  const auto recognises = [](const std::string& file) {
    return mat_format().recognises(memory_file(file));
  };
  EXPECT_TRUE(recognises(header() + points));
  EXPECT_TRUE(recognises("MATLAB 7.3 MAT-file, Platform: GLNXA64"));
  std::string other_words = header() + points;
  other_words.replace(0, 6, "Octave");
  EXPECT_TRUE(recognises(other_words));
  EXPECT_FALSE(recognises("MATLAB,R,Julia\n1,2,3\n"));
  EXPECT_FALSE(recognises(""));
  EXPECT_FALSE(recognises(std::string(200, '\0')));
}

}  // namespace
}  // namespace fwsr
