// Points that stay in their file: the same answer as from memory, bit for bit, read in few large
// pieces, and a clear end when the file changes meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "binary_files.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/solver/select.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace {

using fwsr::Center;
using fwsr::Dataset;
using fwsr::Error;
using fwsr::FormKind;
using fwsr::Index;
using fwsr::KernelType;
using fwsr::MatrixView;
using fwsr::PointsView;
using fwsr::ReadOptions;
using fwsr::Rng;
using fwsr::Scale;
using fwsr::Selection;
using fwsr::SelectOptions;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// The rows of a matrix as a source, which counts what is asked of it.
template <class T>
class LentRows final : public fwsr::RowSource<T> {
 public:
  explicit LentRows(MatrixView<const T> m) : m_(m) {}
  void read(Index first, Index last, T* out) const override {
    if (first < 0 || first >= last || last > m_.rows) throw Error("no such rows");
    for (Index i = first; i < last; ++i)
      std::memcpy(out + (i - first) * m_.cols, m_.row(i).data(), at(m_.cols) * sizeof(T));
    rows_ += last - first;
    ++calls_;
  }
  PointsView view() const { return fwsr::StreamView<T>{this, m_.rows, m_.cols}; }
  Index rows_read() const { return rows_; }
  Index calls() const { return calls_; }

 private:
  MatrixView<const T> m_;
  mutable std::atomic<Index> rows_{0}, calls_{0};
};

/// use(source) for the same points as a stream.
template <class Use>
void with_stream(const PointsView& dense, Use&& use) {
  if (const auto* single = std::get_if<MatrixView<const float>>(&dense))
    use(LentRows<float>(*single));
  else
    use(LentRows<double>(std::get<MatrixView<const double>>(dense)));
}

SelectOptions some_options(Index k) {
  SelectOptions o;
  o.exemplars = k;
  o.codes = o.assignment = true;
  o.lambda = 0.1;
  o.rho = 0.2;
  return o;
}

void expect_same_from_stream(const PointsView& dense, SelectOptions o) {
  with_stream(dense, [&](const auto& source) {
    o.threads = 1;
    const Selection held = fwsr::select(dense, o);
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << threads << " threads");
      o.threads = threads;
      same::expect_same(held, fwsr::select(source.view(), o));
    }
  });
}

TEST(Stream, random_problems_have_the_same_answer) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const problems::Problem p = problems::make_problem(seed);
    if (fwsr::is_sparse(p.data.view()) || p.options.kernel.type == KernelType::precomputed)
      continue;
    SCOPED_TRACE(describe(p));
    expect_same_from_stream(p.data.view(), p.options);
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

struct Shape {
  Index n, d;
};

TEST(Stream, every_centring_and_scaling_of_points_that_no_block_divides) {
  // Many points to a buffer, about one chunk, and a few only.
  for (const Shape shape : {Shape{2601, 3}, Shape{1543, 61}, Shape{301, 419}})
    for (const Storage storage : {Storage::dense_f32, Storage::dense_f64})
      for (const Center center : {Center::none, Center::point, Center::feature})
        for (const Scale scale : {Scale::none, Scale::standard, Scale::unit}) {
          SCOPED_TRACE(testing::Message()
                       << shape.n << " x " << shape.d << ", storage " << int(storage) << ", "
                       << fwsr::name_of(center) << ", " << fwsr::name_of(scale));
          Rng rng(7);
          const Data data(shape.n, shape.d,
                          problems::make_values(Kind::clustered, shape.n, shape.d, true, rng),
                          storage);
          SelectOptions o = some_options(5);
          o.center = center;
          o.scale = scale;
          o.eta = scale == Scale::unit ? 0.5 : 0;
          o.eta_relative = true;
          expect_same_from_stream(data.view(), o);
        }
}

TEST(Stream, rows_longer_than_a_buffer) {
  Rng rng(8);
  const Index n = 12, d = 40000;  // 320 kB each
  const Data data(n, d, problems::make_values(Kind::gaussian, n, d, false, rng),
                  Storage::dense_f64);
  expect_same_from_stream(data.view(), some_options(4));
}

TEST(Stream, kernels_and_other_norms) {
  Rng rng(9);
  const Index n = 331, d = 9;
  const Data data(n, d, problems::make_values(Kind::clustered, n, d, false, rng),
                  Storage::dense_f64);
  for (const KernelType type :
       {KernelType::rbf, KernelType::laplacian, KernelType::polynomial, KernelType::cosine}) {
    SCOPED_TRACE(fwsr::name_of(type));
    SelectOptions o = some_options(6);
    o.kernel.type = type;
    expect_same_from_stream(data.view(), o);
  }
  SelectOptions o = some_options(6);
  o.q = fwsr::Norm::one;
  expect_same_from_stream(data.view(), o);
  o.q = fwsr::Norm::two;
  o.kernel.type = KernelType::rbf;
  o.rank = 40;
  expect_same_from_stream(data.view(), o);
}

void expect_same_classes(const PointsView& dense, const std::vector<std::string>& labels,
                         const SelectOptions& options) {
  const fwsr::ClassCounts counts{.number = 4, .named = {}};
  SelectOptions o = options;
  with_stream(dense, [&](const auto& source) {
    o.threads = 1;
    const auto held = fwsr::select_per_class(dense, labels, counts, o);
    for (const int threads : {1, 2, 3}) {
      o.threads = threads;
      const auto streamed = fwsr::select_per_class(source.view(), labels, counts, o);
      ASSERT_EQ(held.size(), streamed.size());
      for (std::size_t c = 0; c < held.size(); ++c) {
        SCOPED_TRACE(testing::Message() << threads << " threads, class " << held[c].name);
        same::expect_same(held[c].selection, streamed[c].selection);
      }
    }
  });
}

TEST(Stream, class_by_class) {
  for (const Shape shape : {Shape{2113, 5}, Shape{611, 300}, Shape{97, 1500}})
    for (const bool sorted : {true, false}) {
      SCOPED_TRACE(testing::Message()
                   << shape.n << " x " << shape.d << (sorted ? ", sorted" : ", mixed"));
      Rng rng(10);
      const Data data(shape.n, shape.d,
                      problems::make_values(Kind::gaussian, shape.n, shape.d, true, rng),
                      Storage::dense_f32);
      std::vector<std::string> labels;
      for (Index i = 0; i < shape.n; ++i)
        labels.push_back(std::to_string(sorted ? 3 * i / shape.n : Index(rng.below(3))));
      SelectOptions o = some_options(1);
      o.center = Center::feature;
      expect_same_classes(data.view(), labels, o);
    }
}

TEST(Stream, new_points_can_be_streamed_too) {
  Rng rng(11);
  const Index n = 300, m = 700, d = 20;
  const Data data(n, d, problems::make_values(Kind::gaussian, n, d, false, rng),
                  Storage::dense_f64);
  const Data fresh(m, d, problems::make_values(Kind::gaussian, m, d, false, rng),
                   Storage::dense_f64);
  const SelectOptions o = some_options(5);
  const Selection s = fwsr::select(data.view(), o);
  with_stream(fresh.view(), [&](const auto& source) {
    same::expect_same_bits(fwsr::encode(data.view(), o, s, fresh.view()),
                           fwsr::encode(data.view(), o, s, source.view()), "codes");
  });
}

// -------------------------------------------------------------------------------- what is read

/// The plan tells all passes over the points, and they are made in large pieces.
TEST(Stream, passes_are_as_planned) {
  Rng rng(12);
  const Index n = 6000, d = 16;
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64})
    for (const Center center : {Center::point, Center::feature})
      for (const Scale scale : {Scale::none, Scale::standard, Scale::unit})
        for (const bool certificate : {true, false}) {
          SCOPED_TRACE(testing::Message() << int(storage) << fwsr::name_of(center)
                                          << fwsr::name_of(scale) << certificate);
          const Data data(n, d, problems::make_values(Kind::gaussian, n, d, true, rng), storage);
          SelectOptions o;
          o.exemplars = 6;
          o.threads = 2;
          o.center = center;
          o.scale = scale;
          o.certificate = certificate ? fwsr::CertificateKind::full : fwsr::CertificateKind::none;
          with_stream(data.view(), [&](const auto& source) {
            const Selection s = fwsr::select(source.view(), o);
            ASSERT_EQ(s.plan.form, FormKind::covariance);
            const auto steps = static_cast<Index>(s.trace.size());
            const double passes = static_cast<double>(source.rows_read()) / n;
            // Single rows beside them: picks, exemplars, a sample of 256.
            EXPECT_LE(passes, double(s.plan.passes + steps - o.exemplars) + 0.1);
            EXPECT_GE(passes, double(s.plan.passes + steps - o.exemplars) - 1.5);
            // 16 KiB to a call at least, single rows apart.
            EXPECT_LE(source.calls(), source.rows_read() / 250 + 1000);
            ASSERT_EQ(s.plan.notes.size(), 1u);
            EXPECT_NE(s.plan.notes[0].find("streamed in blocks"), std::string::npos);
          });
        }
}

TEST(Stream, plan_counts_buffers_and_refuses_before_it_reads) {
  struct Untouched final : fwsr::RowSource<float> {
    void read(Index, Index, float*) const override { FAIL() << "was read"; }
  } source;
  const PointsView huge = fwsr::StreamView<float>{&source, Index{1} << 30, 256};  // 1 TiB
  SelectOptions o;
  o.exemplars = 10;
  o.threads = 4;
  o.memory = Index{128} << 30;
  const fwsr::Plan plan = fwsr::plan(huge, o);
  EXPECT_LE(plan.data_bytes, Index{4} << 20);
  EXPECT_GT(plan.data_bytes, 0);
  o.memory = Index{32} << 30;
  try {
    fwsr::select(huge, o);
    FAIL() << "not refused";
  } catch (const fwsr::MemoryError& e) {
    EXPECT_NE(std::string(e.what()).find("streamed in blocks, need"), std::string::npos)
        << e.what();
  }
  const PointsView kernel = fwsr::StreamView<float>{&source, 1000, 1000};
  o.kernel.type = KernelType::precomputed;
  EXPECT_THROW(fwsr::select(kernel, o), fwsr::MemoryError);
}

// -------------------------------------------------------------------------------------- files

class StreamFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("fwsr-stream-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static Dataset read(const std::string& path, Index hold_at_most) {
    ReadOptions options;
    options.hold_at_most = hold_at_most;
    return fwsr::read_dataset(path, options).value();
  }
  static Dataset streamed(const std::string& path) {
    Dataset data = read(path, 0);
    EXPECT_TRUE(fwsr::is_streamed(data.view()));
    return data;
  }
  static Dataset held(const std::string& path) {
    Dataset data = read(path, ReadOptions{}.hold_at_most);
    EXPECT_FALSE(fwsr::is_streamed(data.view()));
    EXPECT_TRUE(data.can_be_streamed);
    return data;
  }

  std::filesystem::path folder_;
};

template <class T>
std::string bytes_of(const std::vector<T>& values, bool reversed = false) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  if (reversed)
    for (std::size_t i = 0; i < out.size(); i += sizeof(T))
      std::reverse(out.begin() + std::ptrdiff_t(i), out.begin() + std::ptrdiff_t(i + sizeof(T)));
  return out;
}

template <class T>
std::vector<T> numbers(Index count) {
  Rng rng(13);
  std::vector<T> v(at(count));
  for (T& x : v)
    x = std::is_floating_point_v<T> ? static_cast<T>(rng.normal() * 100)
                                    : static_cast<T>(rng.below(200));
  return v;
}

TEST_F(StreamFile, npy_of_every_type_is_as_in_memory) {
  using fwsr::testing::npy;
  const Index n = 777, d = 53;  // more than one piece of conversion
  const std::string shape = "(777, 53)";
  std::vector<std::string> files;
  const auto add = [&]<class T>(T, const char* code) {
    const std::vector<T> v = numbers<T>(n * d);
    const std::string name = std::string("x") + code[0] + code[1] + ".npy";
    const bool wide = sizeof(T) > 1;
    files.push_back(
        write("l" + name, npy(std::string(wide ? "<" : "|") + code, shape, bytes_of(v))));
    if (wide)
      files.push_back(write("b" + name, npy(std::string(">") + code, shape, bytes_of(v, true))));
  };
  add(float{}, "f4"), add(double{}, "f8"), add(std::int8_t{}, "i1"), add(std::uint8_t{}, "u1");
  add(std::uint8_t{}, "b1"), add(std::int16_t{}, "i2"), add(std::uint16_t{}, "u2");
  add(std::int32_t{}, "i4"), add(std::uint32_t{}, "u4"), add(std::int64_t{}, "i8");
  add(std::uint64_t{}, "u8"), add(std::uint16_t{}, "f2");
  files.push_back(
      write("odd.npy", fwsr::testing::npy_around(
                           "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }",
                           bytes_of(numbers<float>(n * d)), 1, 3)));
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Dataset a = streamed(file), b = read(file, ReadOptions{}.hold_at_most);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(fwsr::is_single(a.view()), fwsr::is_single(b.view()));
    same::expect_same_bits(fwsr::testing::values_of(a), fwsr::testing::values_of(b), "numbers");
    EXPECT_EQ(a.notes.empty(), file.find("lxf4") != std::string::npos ||
                                   file.find("lxf8") != std::string::npos ||
                                   file.find("odd") != std::string::npos);
  }
}

std::string idx_image(int type, Index n, Index d, const std::string& body) {
  std::string head{'\0', '\0', static_cast<char>(type), 3};
  for (const Index length : {n, Index{1}, d})
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(length >> shift & 0xff);
  return head + body;
}

TEST_F(StreamFile, idx_is_as_in_memory) {
  const Index n = 1201, d = 37;
  for (const auto& file :
       {write("u.idx", idx_image(8, n, d, bytes_of(numbers<std::uint8_t>(n * d)))),
        write("s.idx", idx_image(0x0b, n, d, bytes_of(numbers<std::int16_t>(n * d), true))),
        write("f.idx", idx_image(0x0d, n, d, bytes_of(numbers<float>(n * d), true))),
        write("d.idx", idx_image(0x0e, n, d, bytes_of(numbers<double>(n * d), true)))}) {
    SCOPED_TRACE(file);
    const Dataset a = streamed(file), b = held(file);
    same::expect_same_bits(fwsr::testing::values_of(a), fwsr::testing::values_of(b), "numbers");
    const SelectOptions o = some_options(7);
    same::expect_same(fwsr::select(a.view(), o), fwsr::select(b.view(), o));
  }
}

TEST_F(StreamFile, npy_selection_is_that_of_the_mapped_file) {
  const Index n = 5003, d = 41;
  const std::string file =
      write("x.npy", fwsr::testing::npy("<f4", "(5003, 41)", bytes_of(numbers<float>(n * d))));
  const Dataset a = streamed(file), b = held(file);
  for (const int threads : {1, 2, 3}) {
    SelectOptions o = some_options(9);
    o.threads = threads;
    same::expect_same(fwsr::select(a.view(), o), fwsr::select(b.view(), o));
  }
}

TEST_F(StreamFile, limit_decides) {
  const std::string file =
      write("x.npy", fwsr::testing::npy("<f4", "(100, 10)", bytes_of(numbers<float>(1000))));
  EXPECT_TRUE(fwsr::is_streamed(read(file, 3999).view()));
  EXPECT_FALSE(fwsr::is_streamed(read(file, 4000).view()));
  const std::string bytes =
      write("u.npy", fwsr::testing::npy("|u1", "(100, 10)", bytes_of(numbers<std::uint8_t>(1000))));
  EXPECT_TRUE(fwsr::is_streamed(read(bytes, 999).view()));
  EXPECT_FALSE(fwsr::is_streamed(read(bytes, 1000).view()));
  // One column is the same in either order.
  const std::string column =
      write("c.npy", fwsr::testing::npy("<f4", "(1000, 1)", bytes_of(numbers<float>(1000)), true));
  EXPECT_TRUE(fwsr::is_streamed(read(column, 0).view()));
}

TEST_F(StreamFile, what_cannot_be_streamed_is_refused_by_name) {
  ReadOptions little;
  little.hold_at_most = 999;
  const std::string columns =
      write("c.npy", fwsr::testing::npy("<f4", "(100, 10)", bytes_of(numbers<float>(1000)), true));
  fwsr::testing::expect_failure(fwsr::read_dataset(columns, little), columns + ": ",
                                {"3.9 KiB", "column by column", "ascontiguousarray"});
  const std::string packed =
      write("p.idx.gz",
            fwsr::testing::gzipped(idx_image(8, 100, 10, bytes_of(numbers<std::uint8_t>(1000)))));
  fwsr::testing::expect_failure(fwsr::read_dataset(packed, little), packed + ": ",
                                {"compressed", "unpack"});
}

TEST_F(StreamFile, cut_off_while_it_is_read) {
  const Index n = 3000, d = 20;
  const std::string file =
      write("x.npy", fwsr::testing::npy("<f8", "(3000, 20)", bytes_of(numbers<double>(n * d))));
  const Dataset data = streamed(file);
  std::filesystem::resize_file(file, 100000);
  for (const int threads : {1, 3}) {
    SelectOptions o = some_options(3);
    o.threads = threads;
    try {
      fwsr::select(data.view(), o);
      FAIL() << "no error";
    } catch (const Error& e) {
      const std::string message = e.what();
      EXPECT_TRUE(message.starts_with(file + ": was cut off while it was read")) << message;
    }
  }
  // After a few steps, too.
  const std::string again =
      write("y.npy", fwsr::testing::npy("<f8", "(3000, 20)", bytes_of(numbers<double>(n * d))));
  const Dataset later = streamed(again);
  EXPECT_THROW(fwsr::select(later.view(), some_options(8),
                            [&](const fwsr::Progress& p) {
                              if (p.step == 3) std::filesystem::resize_file(again, 1000);
                              return true;
                            }),
               Error);
}

TEST_F(StreamFile, another_file_under_its_name_does_not_matter) {
  const Index n = 2000, d = 20;
  const auto v = numbers<double>(n * d);
  const std::string file = write("x.npy", fwsr::testing::npy("<f8", "(2000, 20)", bytes_of(v)));
  const Dataset data = streamed(file);
  std::filesystem::rename(write("y.npy", "something else"), file);
  const SelectOptions o = some_options(5);
  const PointsView dense = MatrixView<const double>{v.data(), n, d, d};
  same::expect_same(fwsr::select(dense, o), fwsr::select(data.view(), o));
}

TEST_F(StreamFile, names_the_first_number_that_is_not_finite) {
  auto v = numbers<float>(4000 * 10);
  v[31234] = std::numeric_limits<float>::quiet_NaN();
  const std::string file = write("x.npy", fwsr::testing::npy("<f4", "(4000, 10)", bytes_of(v)));
  const Dataset data = streamed(file);
  try {
    fwsr::select(data.view(), some_options(3));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 3123 has NaN in feature 4"), std::string::npos)
        << e.what();
  }
}

}  // namespace
