// Real data: the picks of the library beside those of the literal algorithm. The files are found
// under $FWSR_DATA, or in ../shared/data beside the sources; without them the tests are skipped.
// Suites begin with Real, so that slow builds can leave them out.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "compare.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/solver/select.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using fwsr::SelectOptions;
using oracle::Real;
using Points = oracle::Matrix<Real>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

std::string data_file(const std::string& name) {
  const char* folder = std::getenv("FWSR_DATA");
  return (folder ? std::string(folder) : std::string(FWSR_SOURCE_DIR) + "/../shared/data") + '/' +
         name;
}

#define SKIP_WITHOUT(path)            \
  if (!std::filesystem::exists(path)) \
  GTEST_SKIP() << "no " << (path) << "; set FWSR_DATA to the folder with the real data"

fwsr::Dataset read(const std::string& path, const fwsr::ReadOptions& how = {}) {
  return fwsr::read_dataset(path, how).value();
}

/// float32 points, some of them taken out of a data set.
struct Part {
  Index rows = 0, cols = 0;
  std::vector<float> values;

  fwsr::MatrixView<const float> view() const { return {values.data(), rows, cols, cols}; }
  Points exact() const {
    Points p(rows, cols);
    std::copy(values.begin(), values.end(), p.values.begin());
    return p;
  }
};

Part take(const fwsr::PointsView& all, const std::vector<Index>& which) {
  const auto& view = std::get<fwsr::MatrixView<const float>>(all);
  Part part{static_cast<Index>(which.size()), view.cols, {}};
  for (const Index i : which) {
    const auto row = view.row(i);
    part.values.insert(part.values.end(), row.begin(), row.end());
  }
  return part;
}

std::map<std::string, std::vector<Index>> members(const fwsr::Labels& labels) {
  std::map<std::string, std::vector<Index>> classes;
  for (std::size_t i = 0; i < labels.size(); ++i)
    classes[labels[i]].push_back(static_cast<Index>(i));
  return classes;
}

std::vector<Index> everything(Index n) {
  std::vector<Index> all(at(n));
  for (Index i = 0; i < n; ++i) all[at(i)] = i;
  return all;
}

/// <a_i, a_l> + eta^2 between preprocessed points, both halves, in double.
oracle::Matrix<double> linear_kernel(const Points& a, Real eta) {
  oracle::Matrix<double> k(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i)
    for (Index l = 0; l <= i; ++l) {
      Real sum = eta * eta;
      for (Index j = 0; j < a.cols; ++j) sum += a(i, j) * a(l, j);
      k(i, l) = k(l, i) = static_cast<double>(sum);
    }
  return k;
}

struct Compared {
  Index sets = 0, whole = 0, steps = 0;
};

/// The library, plain and precise, beside the oracle on the linear kernel.
std::vector<Index> expect_oracle_picks(const Part& part, SelectOptions options,
                                       Compared& compared) {
  const auto center = static_cast<oracle::Center>(fwsr::effective_center(options));
  const Points points = oracle::preprocess(
      part.exact(), {.center = center,
                     .scale = static_cast<oracle::Scale>(options.scale),
                     .normalize = options.kernel.type == fwsr::KernelType::cosine});
  const Real rms = oracle::root_mean_square(points);
  const auto k = linear_kernel(points, options.eta_relative ? options.eta * rms : options.eta);
  auto settings = problems::settings_of(options, part.rows);
  settings.copy_of = problems::copies_in(part.exact());
  const auto run = oracle::select(k, settings);
  for (const bool precise : {true, false}) {
    options.precise = precise;
    const auto selection = fwsr::select(part.view(), options);
    SCOPED_TRACE(testing::Message() << part.rows << " x " << part.cols << ' '
                                    << form_of(selection.plan) << (precise ? ", precise" : ""));
    const auto outcome = compare::expect_same_run(
        selection, run, compare::tolerance_of(true, precise, selection.plan),
        options.when_converged == fwsr::WhenConverged::grow);
    ++compared.sets;
    compared.whole += outcome.whole ? 1 : 0;
    compared.steps += outcome.steps;
    if (precise) {
      EXPECT_TRUE(outcome.whole) << "real data has no ties";
      EXPECT_EQ(selection.exemplars, run.exemplars);
    }
    EXPECT_TRUE(selection.certificate && selection.certificate->feasible);
  }
  return run.exemplars;
}

void print(const char* name, const Compared& c) {
  std::cout << name << ": " << c.sets << " runs, " << c.whole << " compared to their end, "
            << c.steps << " steps\n";
}

/// Every class by itself, and all of them through select_per_class.
void expect_oracle_picks_per_class(const char* name, const fwsr::PointsView& view,
                                   const fwsr::Labels& labels, SelectOptions options) {
  Compared compared;
  std::map<std::string, std::vector<Index>> wanted;
  for (const auto& [label, which] : members(labels)) {
    SCOPED_TRACE(std::string(name) + " class " + label);
    for (const Index e : expect_oracle_picks(take(view, which), options, compared))
      wanted[label].push_back(which[at(e)]);
  }
  print(name, compared);
  options.precise = true;
  fwsr::ClassCounts counts;
  counts.number = options.exemplars;
  const auto classes = fwsr::select_per_class(view, labels, counts, options);
  ASSERT_EQ(classes.size(), wanted.size());
  for (const auto& c : classes)
    EXPECT_EQ(c.selection.exemplars, wanted[c.name]) << name << " class " << c.name;
}

SelectOptions asking_for(Index k) {
  SelectOptions o;
  o.exemplars = k;
  return o;
}

TEST(RealYaleB, every_class) {
  const auto path = data_file("yaleb/YaleB_32x32.mat");
  SKIP_WITHOUT(path);
  fwsr::ReadOptions how;
  how.variable = "fea";
  how.label_column = "gnd";
  const auto faces = read(path, how);
  ASSERT_EQ(fwsr::rows_of(faces.view()), 2414);
  ASSERT_EQ(fwsr::cols_of(faces.view()), 1024);
  ASSERT_EQ(members(faces.labels).size(), 38u);
  expect_oracle_picks_per_class("Yale B", faces.view(), faces.labels, asking_for(7));
}

TEST(RealCredit, all_points) {
  const auto path = data_file("credit/credit_paper5492_X_f32.npy");
  SKIP_WITHOUT(path);
  const auto credit = read(path);
  ASSERT_EQ(fwsr::rows_of(credit.view()), 5492);
  ASSERT_EQ(fwsr::cols_of(credit.view()), 29);
  Compared compared;
  SelectOptions options = asking_for(10);
  options.scale = fwsr::Scale::standard;
  options.center = fwsr::Center::feature;
  expect_oracle_picks(take(credit.view(), everything(5492)), options, compared);
  print("Credit", compared);
}

TEST(RealDigits, every_class) {
  const auto digits = read("digits");
  SelectOptions options = asking_for(10);
  expect_oracle_picks_per_class("digits", digits.view(), digits.labels, options);
  options.alpha = 0;
  options.center = fwsr::Center::none;
  expect_oracle_picks_per_class("digits, matching pursuit", digits.view(), digits.labels, options);
}

TEST(RealDigits, whole) {
  const auto digits = read("digits");
  const Index n = fwsr::rows_of(digits.view());
  ASSERT_EQ(n, 1797);
  Compared compared;
  SelectOptions options = asking_for(40);
  options.eta = 0.5;
  options.eta_relative = true;
  expect_oracle_picks(take(digits.view(), everything(n)), options, compared);
  print("digits", compared);
}

// ---- text --------------------------------------------------------------------------------------

struct Document {
  int label = 0;
  std::map<std::string, int> words;  // how often
};

/// Lower-case words of at least two letters or digits.
std::map<std::string, int> count_words(const std::string& text) {
  std::map<std::string, int> words;
  std::string word;
  for (const char c : text + ' ') {
    const auto u = static_cast<unsigned char>(c);
    if (u < 128 && std::isalnum(u)) {
      word += static_cast<char>(std::tolower(u));
    } else {
      if (word.size() >= 2) ++words[word];
      word.clear();
    }
  }
  return words;
}

std::string gunzip(const std::string& path) {
  std::string text;
  std::vector<char> buffer(1 << 20);
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return text;
  for (int got = 0; (got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
    text.append(buffer.data(), at(got));
  gzclose(file);
  return text;
}

std::vector<Document> read_documents(const std::string& path) {
  std::vector<Document> documents;
  const std::string text = gunzip(path);
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    const auto record = nlohmann::json::parse(text.begin() + static_cast<Index>(first),
                                              text.begin() + static_cast<Index>(end));
    documents.push_back(
        {record.at("label").get<int>(), count_words(record.at("text").get<std::string>())});
    first = end + 1;
  }
  return documents;
}

/// Rows of TF-IDF weights: count x (log((1 + n) / (1 + documents with the word)) + 1), to norm 1.
struct TfIdf {
  Index features = 0;
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows;
};

TfIdf weigh(const std::vector<Document>& documents) {
  std::map<std::string, std::pair<std::int32_t, double>> vocabulary;  // column, document frequency
  for (const Document& d : documents)
    for (const auto& [word, count] : d.words) ++vocabulary[word].second;
  std::int32_t next = 0;
  for (auto& [word, entry] : vocabulary) entry.first = next++;
  TfIdf out;
  out.features = next;
  const double n = static_cast<double>(documents.size());
  for (const Document& d : documents) {
    auto& row = out.rows.emplace_back();
    double squares = 0;
    for (const auto& [word, count] : d.words) {
      const auto& entry = vocabulary.at(word);
      row.emplace_back(entry.first, count * (std::log((1 + n) / (1 + entry.second)) + 1));
      squares += row.back().second * row.back().second;
    }
    for (auto& entry : row) entry.second /= std::sqrt(squares);
  }
  return out;
}

struct Csr {
  std::vector<std::int32_t> starts = {0}, columns;
  std::vector<double> values;
};

/// <a_i, a_l> of points from which their own means were taken: <x_i, x_l> - d mean_i mean_l.
oracle::Matrix<double> centred_kernel(const Csr& x, Index n, Index d) {
  std::vector<Real> mean(at(n));
  for (Index i = 0; i < n; ++i) {
    for (auto e = x.starts[at(i)]; e < x.starts[at(i + 1)]; ++e) mean[at(i)] += x.values[at(e)];
    mean[at(i)] /= static_cast<Real>(d);
  }
  oracle::Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l <= i; ++l) {
      Real sum = -static_cast<Real>(d) * mean[at(i)] * mean[at(l)];
      auto e = x.starts[at(i)], f = x.starts[at(l)];
      while (e < x.starts[at(i + 1)] && f < x.starts[at(l + 1)]) {
        const auto ce = x.columns[at(e)], cf = x.columns[at(f)];
        if (ce == cf) sum += Real(x.values[at(e)]) * x.values[at(f)];
        if (ce <= cf) ++e;
        if (cf <= ce) ++f;
      }
      k(i, l) = k(l, i) = static_cast<double>(sum);
    }
  return k;
}

TEST(RealNews20, ten_classes_as_sparse_tf_idf) {
  const auto path = data_file("news20/news20_train.jsonl.gz");
  SKIP_WITHOUT(path);
  const auto documents = read_documents(path);
  ASSERT_EQ(documents.size(), 11314u);
  const TfIdf text = weigh(documents);
  Compared compared;
  for (int label = 0; label < 10; ++label) {
    Csr x;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (documents[i].label != label) continue;
      for (const auto& [column, value] : text.rows[i]) {
        x.columns.push_back(column);
        x.values.push_back(value);
      }
      x.starts.push_back(static_cast<std::int32_t>(x.columns.size()));
    }
    const Index n = static_cast<Index>(x.starts.size()) - 1;
    const fwsr::CsrView<double, std::int32_t> view{n, text.features, x.starts.data(),
                                                   x.columns.data(), x.values.data()};
    const SelectOptions options = asking_for(20);
    const auto selection = fwsr::select(view, options);
    SCOPED_TRACE(testing::Message()
                 << "class " << label << ", " << n << " documents, " << form_of(selection.plan));
    const auto run =
        oracle::select(centred_kernel(x, n, text.features), problems::settings_of(options, n));
    const auto outcome = compare::expect_same_run(selection, run, compare::fine, true);
    EXPECT_TRUE(outcome.whole);
    EXPECT_EQ(selection.exemplars, run.exemplars);
    ++compared.sets;
    compared.whole += outcome.whole ? 1 : 0;
    compared.steps += outcome.steps;
  }
  print("News20", compared);
}

}  // namespace
