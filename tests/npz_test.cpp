#include <gtest/gtest.h>

#include <cstdint>

#include "binary_files.hpp"
#include "fwsr/data/csr.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::has_note;
using testing::memory_file;
using testing::npy;
using testing::raw;
using testing::u16;
using testing::u32;
using testing::values_of;
using testing::zip;
using testing::ZipMember;

const std::vector<double> one_to_six{1, 2, 3, 4, 5, 6};
const std::string matrix = npy("<f4", "(2, 3)", raw<float>({1, 2, 3, 4, 5, 6}));

Result<Dataset> read(const std::string& file, const ReadOptions& options = {}) {
  return npz_format().read(memory_file(file, "x.npz"), options);
}

/// What scipy.sparse.save_npz writes for the 2 x 3 matrix [[0, 10, 20], [30, 0, 0]], with parts to
/// replace.
struct CsrFile {
  std::string format = npy("|S3", "()", "csr");
  std::string shape = npy("<i8", "(2,)", raw<std::int64_t>({2, 3}));
  std::string data = npy("<f8", "(3,)", raw<double>({10, 20, 30}));
  std::string indices = npy("<i4", "(3,)", raw<std::int32_t>({1, 2, 0}));
  std::string indptr = npy("<i4", "(3,)", raw<std::int32_t>({0, 2, 3}));

  std::string zipped(bool deflate = true) const {
    return zip({{"indices.npy", indices, deflate},
                {"indptr.npy", indptr, deflate},
                {"format.npy", format, deflate},
                {"shape.npy", shape, deflate},
                {"data.npy", data, deflate}});
  }
};

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
}

TEST(Npz, reads_one_array_however_it_is_stored) {
  for (const bool deflate : {false, true})
    for (const bool zip64 : {false, true}) {
      const auto data = read(zip({{"a.npy", matrix, deflate, zip64}}));
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(values_of(*data), one_to_six);
      EXPECT_EQ(rows_of(data->view()), 2);
      EXPECT_EQ(data->format, "npz");
      EXPECT_EQ(data->type, "float32");
      EXPECT_TRUE(data->notes.empty());
    }
}

TEST(Npz, reads_the_zip64_end_of_a_directory) {
  std::string file = zip({{"a.npy", matrix}});
  const std::string end = file.substr(file.size() - 22);
  file.resize(file.size() - 22);
  const std::size_t record = file.size();
  std::uint32_t bytes = 0;
  std::uint32_t at = 0;
  std::memcpy(&bytes, end.data() + 12, 4);
  std::memcpy(&at, end.data() + 16, 4);
  file += u32(0x06064b50) + testing::u64(44) + u16(45) + u16(45) + u32(0) + u32(0) +
          testing::u64(1) + testing::u64(1) + testing::u64(bytes) + testing::u64(at);
  file += u32(0x07064b50) + u32(0) + testing::u64(record) + u32(1);
  file += u32(0x06054b50) + u16(0) + u16(0) + u16(0xffff) + u16(0xffff) + u32(0xffffffff) +
          u32(0xffffffff) + u16(0);
  const auto data = read(file);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
}

TEST(Npz, reads_past_a_comment_at_the_end) {
  std::string file = zip({{"a.npy", matrix}});
  file.resize(file.size() - 2);
  const auto data = read(file + u16(5) + "hello");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
}

TEST(Npz, takes_the_named_array_and_lists_the_names_otherwise) {
  const std::string other = npy("|u1", "(1, 2)", "\7\10");
  const std::string file = zip({{"train.npy", matrix, true}, {"test.npy", other, true}});
  expect_failure(read(file), "x.npz: holds several arrays: 'train', 'test'", {"variable"});
  const auto data = read(file, {.variable = "test"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), (std::vector<double>{7, 8}));
  EXPECT_EQ(std::get<NarrowView>(data->view()).number, NarrowNumber::uint8);
  EXPECT_FALSE(has_note(*data, "converted"));
  expect_failure(read(file, {.variable = "tset"}), "x.npz: has no array 'tset'", {"'train'"});
}

TEST(Npz, takes_labels_from_an_array) {
  const std::string y = npy("<i8", "(2,)", raw<std::int64_t>({4, -1}));
  const std::string file = zip({{"X.npy", matrix, true}, {"y.npy", y, true}});
  const auto data = read(file, {.label_column = "y"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_EQ(data->labels, (std::vector<std::string>{"4", "-1"}));
  expect_failure(read(file, {.label_column = "z"}), "x.npz: ");
  const std::string three = npy("|u1", "(3,)", "\1\2\3");
  expect_failure(read(zip({{"X.npy", matrix}, {"y.npy", three}}), {.label_column = "y"}),
                 "x.npz: array 'y': 3 labels for 2 points");
  expect_failure(read(zip({{"y.npy", y}}), {.label_column = "y"}), "x.npz: holds nothing but 'y'");
}

TEST(Npz, takes_ids_from_an_array) {
  const std::string y = npy("<i8", "(2,)", raw<std::int64_t>({4, -1}));
  const std::string names = npy("|S2", "(2,)", "abcd");
  const std::string file = zip({{"X.npy", matrix}, {"y.npy", y}, {"names.npy", names}});
  const auto data = read(file, {.label_column = "y", .id_column = "names"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), one_to_six);
  EXPECT_EQ(data->labels, (std::vector<std::string>{"4", "-1"}));
  EXPECT_EQ(data->ids, (std::vector<std::string>{"ab", "cd"}));
  expect_failure(read(file, {.id_column = "names"}), "x.npz: holds several arrays: 'X', 'y'");
  const std::string three = npy("|S1", "(3,)", "abc");
  expect_failure(read(zip({{"X.npy", matrix}, {"names.npy", three}}), {.id_column = "names"}),
                 "x.npz: array 'names': 3 ids for 2 points");
}

TEST(Npz, reads_scipy_csr) {
  for (const bool deflate : {false, true}) {
    const auto data = read(CsrFile().zipped(deflate));
    ASSERT_TRUE(data) << data.error().message;
    const auto& m = std::get<SparseMatrix<double>>(data->points);
    EXPECT_EQ(m.rows, 2);
    EXPECT_EQ(m.cols, 3);
    EXPECT_EQ(m.starts, (std::vector<std::int64_t>{0, 2, 3}));
    EXPECT_EQ(m.columns, (std::vector<std::int64_t>{1, 2, 0}));
    EXPECT_EQ(m.values, (std::vector<double>{10, 20, 30}));
    EXPECT_TRUE(data->notes.empty());
  }
}

TEST(Npz, reads_csr_of_other_types_and_with_labels) {
  CsrFile file;
  file.format = npy("<U3", "()", raw<std::uint32_t>({'c', 's', 'r'}));
  file.data = npy("|u1", "(3,)", "\1\2\3");
  file.indices = npy("<i8", "(3,)", raw<std::int64_t>({1, 2, 0}));
  const auto data = read(file.zipped());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(std::get<SparseMatrix<float>>(data->points).values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(data->type, "uint8");
  EXPECT_TRUE(has_note(*data, "uint8 converted once to float32"));
  file.data = npy("<f4", "(0,)", "");
  file.indices = npy("<i4", "(0,)", "");
  file.indptr = npy("<i4", "(3,)", raw<std::int32_t>({0, 0, 0}));
  const auto empty = read(file.zipped());
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(entries_of(empty->view()), 0);
}

TEST(Npz, puts_csr_rows_in_order_and_adds_up_duplicates) {
  CsrFile file;
  file.data = npy("<f8", "(5,)", raw<double>({1, 2, 4, 8, 16}));
  file.indices = npy("<i4", "(5,)", raw<std::int32_t>({2, 0, 2, 1, 1}));
  file.indptr = npy("<i4", "(3,)", raw<std::int32_t>({0, 3, 5}));
  const auto data = read(file.zipped());
  ASSERT_TRUE(data) << data.error().message;
  const auto& m = std::get<SparseMatrix<double>>(data->points);
  EXPECT_EQ(m.starts, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(m.columns, (std::vector<std::int64_t>{0, 2, 1}));
  EXPECT_EQ(m.values, (std::vector<double>{2, 5, 24}));
  EXPECT_TRUE(has_note(*data, "1 sparse row put in ascending order"));
  EXPECT_TRUE(has_note(*data, "2 duplicate sparse entries added up"));
}

TEST(Npz, refuses_broken_csr) {
  const auto refused = [](const CsrFile& file, const std::string& why) {
    SCOPED_TRACE(why);
    expect_failure(read(file.zipped()), "x.npz: ", {why});
  };
  const auto ints = [](const std::vector<std::int32_t>& v) {
    return npy("<i4", "(" + std::to_string(v.size()) + ",)", raw(v));
  };
  CsrFile file;
  refused((file = {}, file.indptr = ints({1, 2, 3}), file), "starts at entry 1");
  refused((file = {}, file.indptr = ints({0, 4, 3}), file), "ends before it starts");
  refused((file = {}, file.indptr = ints({0, 2, 4}), file), "end at entry 4");
  refused((file = {}, file.indptr = ints({0, 2, 2}), file), "end at entry 2");
  refused((file = {}, file.indptr = ints({0, 3}), file), "2 row starts for 2 rows");
  refused((file = {}, file.indices = ints({1, 3, 0}), file), "column 3");
  refused((file = {}, file.indices = ints({1, -1, 0}), file), "column -1");
  refused((file = {}, file.indices = ints({1, 2}), file), "2 column numbers, but 3 values");
  refused((file = {}, file.shape = ints({2}), file), "1 lengths");
  refused((file = {}, file.shape = ints({2, -3}), file), "holds no points");
  refused((file = {}, file.shape = ints({0, 3}), file), "holds no points");
  refused(
      (file = {}, file.shape = npy("<i8", "(2,)", raw<std::int64_t>({1LL << 62, 1LL << 62})), file),
      "too large");
  refused((file = {}, file.shape = npy("<f8", "(2,)", raw<double>({2, 3})), file), "integers");
  refused((file = {}, file.indices = npy("<i4", "(3, 1)", raw<std::int32_t>({1, 2, 0})), file),
          "no list of integers");
  refused(
      (file = {}, file.indices = npy("<u8", "(3,)", raw<std::uint64_t>({1, UINT64_MAX, 0})), file),
      "beyond 2^63");
  refused((file = {}, file.format = npy("|S3", "()", "csc"), file), "'csc'; save it as csr");
  refused((file = {}, file.format = npy("|S3", "()", "coo"), file), "'coo'; save it as csr");
  refused((file = {}, file.format = npy("<i8", "()", raw<std::int64_t>({3})), file),
          "sparse format");
  refused((file = {}, file.data = npy("<c8", "(3,)", std::string(24, '\0')), file), "complex");
  const std::string missing = zip(
      {{"format.npy", file.format}, {"shape.npy", CsrFile().shape}, {"data.npy", CsrFile().data}});
  expect_failure(read(missing), "x.npz: ");
}

TEST(Npz, refuses_zip_files_it_should_not_touch) {
  expect_failure(read(zip({{"sheet.xml", "<a/>"}})), "x.npz: is a zip file without NumPy arrays");
  expect_failure(read(zip({})), "x.npz: is a zip file without NumPy arrays");
  expect_failure(read("PK"), "x.npz: has no zip directory");
  expect_failure(read(zip({{"a.npy", matrix}, {"a.npy", matrix}})),
                 "x.npz: holds two entries called 'a.npy'");
  expect_failure(read(zip({{"a.npy", "not an array"}})), "x.npz: array 'a': does not begin");
  std::string encrypted = zip({{"a.npy", matrix}});
  replace(encrypted, u32(0x02014b50) + u16(20) + u16(20) + u16(0),
          u32(0x02014b50) + u16(20) + u16(20) + u16(1));
  expect_failure(read(encrypted), "x.npz: entry 'a.npy' is encrypted");
  std::string method = zip({{"a.npy", matrix}});
  replace(method, u32(0x02014b50) + u16(20) + u16(20) + u16(0) + u16(0),
          u32(0x02014b50) + u16(20) + u16(20) + u16(0) + u16(14));
  expect_failure(read(method), "x.npz: entry 'a.npy' is compressed by method 14");
  expect_failure(read(zip({{"a.npy", matrix}}), {.id_column = "id"}), "x.npz: has no array 'id'");
}

TEST(Npz, refuses_sizes_that_do_not_agree) {
  // The array ends before the entry does, and the other way round.
  expect_failure(read(zip({{"a.npy", matrix + "x", true}})), "x.npz: array 'a': shape (2, 3)");
  expect_failure(read(zip({{"a.npy", matrix.substr(0, matrix.size() - 1), true}})),
                 "x.npz: array 'a': shape (2, 3)");
  expect_failure(read(zip({{"a.npy", npy("<f4", "(4611686018427387904, 1)", ""), true}})),
                 "x.npz: array 'a': shape");
}

/// The directory's statement of the inflated size, replaced.
std::string with_stated_size(std::string file, std::uint32_t size) {
  const auto line = file.rfind(u32(0x02014b50));
  return file.replace(line + 24, 4, u32(size));
}

TEST(Npz, is_no_victim_of_bombs) {
  // 64 MiB of zeros in some 65 KiB: honest, and read.
  const std::string zeros = npy("|u1", "(8192, 8192)", std::string(std::size_t{1} << 26, '\0'));
  const std::string honest = zip({{"a.npy", zeros, true}});
  ASSERT_LT(honest.size(), 100'000u);
  const auto data = read(honest);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(rows_of(data->view()), 8192);
  // The same data with a small array's header or a small stated size in front: refused.
  expect_failure(read(with_stated_size(honest, 1000)), "x.npz: array 'a': shape (8192, 8192)");
  const std::string hidden = npy("|u1", "(1, 1)", std::string(std::size_t{1} << 20, '\0'));
  expect_failure(read(zip({{"a.npy", hidden, true}})), "x.npz: array 'a': shape (1, 1)");
  expect_failure(read(with_stated_size(zip({{"a.npy", hidden, true}}), 129)),
                 "x.npz: array 'a': its compressed data does not end where stated");
  // A tiny entry that claims four gigabytes: refused before memory is taken.
  expect_failure(read(with_stated_size(zip({{"a.npy", matrix, true}}), 0xfffffff0)),
                 "x.npz: array 'a': ", {"cannot hold"});
}

TEST(Npz, finds_every_damaged_number) {
  for (const bool deflate : {false, true}) {
    const std::string good = zip({{"a.npy", matrix, deflate}});
    const std::size_t first = 30 + 5;  // after the local header and the name
    const std::size_t last = good.find(u32(0x02014b50));
    for (std::size_t at = first; at < last; ++at) {
      std::string broken = good;
      broken[at] = static_cast<char>(broken[at] ^ 4);
      const auto data = read(broken);  // another way to write the same numbers is no damage
      if (data) {
        EXPECT_TRUE(deflate && values_of(*data) == one_to_six) << "byte " << at;
      }
    }
  }
}

TEST(Npz, survives_every_truncation_and_every_broken_byte) {
  const auto survive = [](const std::string& file) {
    testing::expect_reader_survives(
        file, "x.npz", [](FileBytes f) { return npz_format().read(std::move(f), {}); });
  };
  survive(zip({{"a.npy", matrix, false}}));
  survive(zip({{"a.npy", matrix, true, true}}));
  survive(CsrFile().zipped());
}

TEST(Npz, recognises_its_own) {
  EXPECT_TRUE(npz_format().recognises(memory_file(zip({{"a.npy", matrix}}))));
  EXPECT_TRUE(npz_format().recognises(memory_file(zip({}))));
  EXPECT_FALSE(npz_format().recognises(memory_file("PK")));
}

TEST(NpzLabels, come_from_the_only_array) {
  const ZipMember y{"y.npy", npy("<f8", "(3, 1)", raw<double>({1, 2, 2.5})), true};
  const auto labels = npz_labels(memory_file(zip({y}), "y.npz"));
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(*labels, (std::vector<std::string>{"1", "2", "2.5"}));
  expect_failure(npz_labels(memory_file(zip({y, {"X.npy", matrix}}), "y.npz")),
                 "y.npz: holds several arrays: 'y', 'X'");
  testing::expect_survives_damage(zip({y}), "y.npz", [](const std::string& broken) {
    return npz_labels(memory_file(broken, "y.npz"));
  });
}

TEST(Csr, transposes_there_and_back) {
  const SparseMatrix<float> m{2, 4, {0, 3, 4}, {0, 2, 3, 2}, {1, 2, 3, 4}};
  const auto t = transpose(m);
  EXPECT_EQ(t.rows, 4);
  EXPECT_EQ(t.cols, 2);
  EXPECT_EQ(t.starts, (std::vector<std::int64_t>{0, 1, 1, 3, 4}));
  EXPECT_EQ(t.columns, (std::vector<std::int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(t.values, (std::vector<float>{1, 2, 4, 3}));
  const auto back = transpose(t);
  EXPECT_EQ(back.starts, m.starts);
  EXPECT_EQ(back.columns, m.columns);
  EXPECT_EQ(back.values, m.values);
}

}  // namespace
}  // namespace fwsr
