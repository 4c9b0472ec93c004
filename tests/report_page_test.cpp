// Pages as a whole: the same bytes for the same input, small enough, and no way out of the text.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/report/features.hpp"
#include "fwsr/report/page.hpp"
#include "fwsr/report/text.hpp"
#include "problems.hpp"

namespace fwsr::report {
namespace {

using problems::Data;
using problems::Kind;
using problems::Storage;

constexpr const char* hostile[] = {"</script><script>alert(1)</script>",
                                   "<img src=x onerror=alert(1)>",
                                   "\"><b>",
                                   "' onload='x",
                                   "<!--",
                                   "-->",
                                   "]]>",
                                   "${alert(1)}",
                                   "{{7*7}}",
                                   "javascript:alert(1)",
                                   "&lt;b&gt;",
                                   "\xff\xfe",
                                   "\xe2\x80\xa8",
                                   ("\xe2\x80\xae"
                                    "abc"),
                                   "a\0b",
                                   "=1+1",
                                   "</style><style>*{display:none}",
                                   "</textarea></title></template>",
                                   "\\u003cscript\\u003e",
                                   "<svg/onload=alert(1)>"};

struct Answered {
  Data data;
  Request request;
  Selection selection;
  Labels labels;
  std::vector<std::string> ids, texts, columns;

  SelectPage page() const {
    SelectPage page{.rows = {.name = hostile[0], .points = data.view(), .labels = &labels}};
    page.rows.ids = ids;
    page.rows.texts = texts;
    page.rows.columns = columns;
    page.about = {.command = hostile[1], .again = {"fwsr", "select", hostile[2]}, .version = "1"};
    page.runs.push_back({.selection = &selection, .options = request.options});
    page.classes.emplace_back();
    page.warnings = {hostile[3], hostile[4]};
    return page;
  }
};

Answered answered(Index n, Index d, Index k, bool texts) {
  Rng rng(5);
  Answered a{
      .data =
          Data(n, d, problems::make_values(Kind::clustered, n, d, true, rng), Storage::dense_f64),
      .request = Request({.exemplars = k, .assignment = true, .threads = 2}, {.name = "fwsr"}),
      .selection = {},
      .labels = {},
      .ids = {},
      .texts = {},
      .columns = {}};
  const std::size_t kinds = std::size(hostile);
  for (Index i = 0; i < n; ++i) {
    a.labels.add(hostile[at(i) % kinds]);
    a.ids.push_back(std::to_string(i) + hostile[at(i + 1) % kinds]);
    if (texts) a.texts.push_back(hostile[at(i + 2) % kinds] + std::string(at(i % 50) * 100, 'x'));
  }
  for (Index j = 0; j < d; ++j) a.columns.push_back(hostile[at(j) % kinds] + std::to_string(j));
  a.selection = a.request.run(a.data.view(), a.request.plan(a.data.view()));
  return a;
}

/// What stands between two marks, the first of them.
std::string between(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find(end, from) - from);
}
nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(between(page, "id=\"data\">", "</script>"));
}
std::size_t occurrences(const std::string& page, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t p = page.find(what); p != std::string::npos; p = page.find(what, p + 1)) ++count;
  return count;
}

/// Of the tags and attributes that a page has, none came from the data.
void expect_no_way_out(const std::string& page) {
  EXPECT_EQ(occurrences(page, "<script"), 2u);
  EXPECT_EQ(occurrences(page, "</script"), 2u);
  EXPECT_EQ(occurrences(page, "<style"), 1u);
  EXPECT_EQ(occurrences(page, "</style"), 1u);
  EXPECT_EQ(occurrences(page, "<title"), 1u);
  EXPECT_EQ(occurrences(page, "<!--"), 0u);
  for (const char* never : {"<svg/", "onerror=alert(1)>", "\xe2\x80\xae", "\xff\xfe"})
    EXPECT_EQ(occurrences(page, never), 0u) << never;
  EXPECT_EQ(page.find('\0'), std::string::npos);
  EXPECT_EQ(clean(page), page);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  // Every tag is one of ours.
  const std::string body = between(page, "<body>", "<script");
  EXPECT_EQ(occurrences(body, " onload='x"), 0u);
  for (std::size_t p = body.find('<'); p != std::string::npos; p = body.find('<', p + 1)) {
    std::size_t end = p + 1 + (body[p + 1] == '/' ? 1 : 0);
    const std::size_t start = end;
    while (std::isalnum(static_cast<unsigned char>(body[end]))) ++end;
    const std::string name = " " + body.substr(start, end - start) + " ";
    EXPECT_NE(
        std::string(" header h1 h2 h3 h4 p dl div dt dd span pre noscript nav ul li a main section "
                    "table caption thead tbody tr th td svg rect path line circle text details "
                    "summary abbr "
                    "img ")
            .find(name),
        std::string::npos)
        << name;
  }
}

TEST(ReportPage, hostile_names_and_texts_stay_text) {
  for (const bool texts : {false, true}) {
    const Answered a = answered(120, 6, 8, texts);
    const std::string page = select_page(a.page(), 2);
    expect_no_way_out(page);
    const nlohmann::json data = data_of(page);
    EXPECT_EQ(data["exemplars"]["index"].size(), 8u);
    EXPECT_EQ(data["classes"].size(), std::size(hostile));
    for (std::size_t t = 0; t < 8; ++t) {
      const std::size_t row = at(a.selection.exemplars[t]);
      EXPECT_EQ(data["exemplars"]["id"][t], clean(a.ids[row]));
      EXPECT_NE(page.find(html(shortened(a.ids[row], 60))), std::string::npos);
    }
  }
}

TEST(ReportPage, the_same_input_has_the_same_bytes_whatever_the_threads) {
  const Answered a = answered(300, 6, 7, false);
  EXPECT_EQ(select_page(a.page(), 1), select_page(a.page(), 8));
}

TEST(ReportPage, the_curve_and_the_words_are_those_of_the_certificate) {
  const Answered a = answered(200, 10, 5, false);
  const nlohmann::json data = data_of(select_page(a.page(), 2));
  EXPECT_NEAR(data["curve"]["error"].back().get<double>(),
              a.selection.certificate->reconstruction_error, 1e-4);
  EXPECT_EQ(data["curve"]["error"].size(), 5u);
  double weight = 0;
  for (const auto& w : data["exemplars"]["weight"]) weight += w.get<double>();
  EXPECT_EQ(weight, 200);
}

TEST(ReportPage, pages_stay_small_whatever_they_are_to_show) {
  const Answered many = answered(9000, 4, 4, true);
  SelectPage page = many.page();
  const std::string book(30'000, 'y');
  std::vector<std::string> books(9000, book);
  page.rows.texts = books;
  EXPECT_LE(select_page(page, 2).size(), most_bytes);
  Answered all = answered(900, 5, 5, false);
  // Every point an exemplar.
  all.selection.exemplars.clear();
  all.selection.assignment.clear();
  for (Index i = 0; i < 900; ++i) all.selection.exemplars.push_back(i);
  all.selection.weights.assign(900, 1.0);
  EXPECT_LE(select_page(all.page(), 2).size(), most_bytes);
}

TEST(ReportPage, pictures_of_files_have_room_for_the_exemplars_first) {
  const Answered a = answered(300, 4, 5, false);
  SelectPage page = a.page();
  const std::vector<std::string> files(300, "photo.jpg");
  page.rows.pictures = files;
  std::size_t made = 0;
  page.rows.thumbnail = [&](const std::string&) {
    ++made;
    return PictureSource{.source = "data:image/png;base64," + std::string(100'000, 'A')};
  };
  const std::string text = select_page(page, 2);
  EXPECT_LE(text.size(), most_bytes_with_images);
  EXPECT_EQ(occurrences(text, "<img src=\"data:image/png"), 5u);
  EXPECT_GT(occurrences(text, "\"picture\":"), 20u);
  EXPECT_LE(made, 60u);  // what has no room is not made, and nothing twice
  // A file that cannot be shown says why.
  page.rows.thumbnail = {};
  EXPECT_NE(select_page(page, 2).find("photo.jpg: "), std::string::npos);
}

TEST(ReportPage, images_are_there_once_for_each_exemplar_and_on_sheets) {
  Answered a = answered(400, 16, 6, false);
  SelectPage page = a.page();
  page.rows.images = ImageShape{.height = 4, .width = 4};
  const std::string text = select_page(page, 2);
  EXPECT_EQ(occurrences(text, "<img "), 6u);
  const nlohmann::json data = data_of(text);
  std::size_t images = 0;
  for (const auto& sheet : data["images"]["sheets"]) images += sheet["rows"].size();
  EXPECT_EQ(images, 400u);
  EXPECT_LE(text.size(), most_bytes_with_images);
}

TEST(ReportPage, no_classes_no_exemplars_and_interrupted_runs_have_a_page) {
  Answered a = answered(30, 3, 2, false);
  SelectPage page = a.page();
  page.rows.labels = nullptr;
  page.rows.ids = {};
  a.selection.weights.clear();
  a.selection.strength.clear();
  a.selection.certificate.reset();
  a.selection.assignment.clear();
  a.selection.status = Status::interrupted;
  const std::string interrupted = select_page(page, 1);
  EXPECT_NE(interrupted.find("interrupted"), std::string::npos);
  // Nobody has counted: the page does.
  double stand_for = 0;
  const nlohmann::json found = data_of(interrupted);
  for (const auto& weight : found["exemplars"]["weight"]) stand_for += weight.get<double>();
  EXPECT_EQ(stand_for, 30);
  a.selection.exemplars.clear();
  EXPECT_NE(select_page(page, 1).find("0 exemplars"), std::string::npos);
}

TEST(ReportPage, what_contradicts_itself_is_refused) {
  const Answered a = answered(40, 4, 3, true);
  const auto refused = [&](auto&& spoil, const char* words) {
    SelectPage page = a.page();
    spoil(page);
    try {
      select_page(page);
      ADD_FAILURE() << "made, and should say: " << words;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  const std::vector<std::string> many(41, "x"), three(3, "x");
  Selection beyond = a.selection;
  beyond.exemplars.back() = 40;
  refused([](SelectPage& p) { p.runs.clear(); }, "of one run at least");
  refused([](SelectPage& p) { p.runs.front().selection = nullptr; }, "no selection");
  refused([&](SelectPage& p) { p.runs.front().selection = &beyond; },
          "exemplar 40 is none of the 40");
  refused([](SelectPage& p) { p.runs.push_back(p.runs.front()); }, "names of 1 classes");
  refused([&](SelectPage& p) { p.rows.texts = many; }, "41 texts");
  refused([&](SelectPage& p) { p.rows.ids = many; }, "41 ids");
  refused([&](SelectPage& p) { p.rows.pictures = many; }, "41 pictures");
  refused([&](SelectPage& p) { p.rows.columns = three; }, "3 names of features");
  refused([](SelectPage& p) { p.rows.images = ImageShape{.height = 3, .width = 3}; }, "9 pixels");
  refused([](SelectPage& p) { p.rows.images = ImageShape{.height = -2, .width = -2}; }, "4 pixels");
  refused([](SelectPage& p) { p.axes = {0, 4}; }, "two of 4 features");
  refused([](SelectPage& p) { p.axes = {1}; }, "two of 4 features");
  const std::vector<double> weights(39, 1.0);
  refused([&](SelectPage& p) { p.weights = weights; }, "39 weights");
  // Points that were brought along stand behind the others, and have no name.
  SelectPage page = a.page();
  page.rows.texts = page.rows.texts.first(30);
  EXPECT_FALSE(select_page(page).empty());
}

TEST(ReportPage, features_far_from_zero_tell_as_much_as_others) {
  const Index n = 200;
  std::vector<double> values;
  for (Index i = 0; i < n; ++i)  // the second is the first, 1e9 farther away
    values.insert(values.end(), {static_cast<double>(i % 10), 1e9 + static_cast<double>(i % 10)});
  const Rows rows{.name = "x", .points = MatrixView<const double>{values.data(), n, 2}};
  const std::vector<Telling> telling = Features(rows).of(9, 2);
  ASSERT_EQ(telling.size(), 2u);
  EXPECT_NEAR(telling[0].deviations, telling[1].deviations, 1e-6);
}

TEST(ReportPage, answers_that_are_the_same_are_shown_once) {
  const Answered a = answered(60, 5, 3, true);
  SweepPage sweep{.rows = a.page().rows};
  sweep.settings.resize(4);
  sweep.settings[0].exemplars = sweep.settings[2].exemplars = a.selection.exemplars;
  sweep.settings[1].exemplars = {0, 1};
  const std::string page = sweep_page(sweep);
  EXPECT_EQ(occurrences(page, "<ul class=\"strip\">"), 3u);
  EXPECT_EQ(occurrences(page, "The same exemplars as <a href=\"#s0\">"), 1u);
  for (const char* id : {"s0", "s1", "s2", "s3"})
    EXPECT_EQ(occurrences(page, std::string("id=\"") + id + "\""), 1u);
}

TEST(ReportPage, the_best_by_each_measure_stands_on_top) {
  const Answered a = answered(60, 5, 3, false);
  ComparePage page{.rows = a.page().rows, .exemplars = 3};
  for (const double error : {0.5, 0.25, 0.25, 0.75}) {
    ComparedMethod& method = page.methods.emplace_back();
    method.name = "<" + std::to_string(page.methods.size()) + ">";
    if (error > 0.7) continue;
    method.exemplars = a.selection.exemplars;
    method.spreads.assign(measures().size(), {.mean = std::nan("")});
    method.spreads[0] = {.mean = error};
  }
  const std::string text = compare_page(page);
  ASSERT_TRUE(measures()[0].less_is_better);
  EXPECT_NE(text.find(html(std::string("<2> and 1 other by ") + measures()[0].title)),
            std::string::npos);
  EXPECT_NE(text.find("<dt>no answer</dt><dd>&lt;4&gt;</dd>"), std::string::npos);
}

TEST(ReportPage, comparisons_and_sweeps_stay_text_and_have_every_method) {
  const Answered a = answered(60, 5, 3, true);
  ComparePage compared{.rows = a.page().rows, .about = a.page().about, .exemplars = 3};
  for (std::size_t m = 0; m < std::size(hostile); ++m) {
    Comparison one;
    one.name = hostile[m];
    one.reason = hostile[(m + 1) % std::size(hostile)];
    if (m % 3 != 0)
      one.trials.push_back({.exemplars = a.selection.exemplars,
                            .quality = {},
                            .seconds = 1.0 + static_cast<double>(m)});
    compared.methods.push_back(described(one));
  }
  const std::string page = compare_page(compared);
  expect_no_way_out(page);
  for (const char* name : hostile)
    EXPECT_NE(page.find("<th scope=\"row\">" + html(shortened(name, 60))), std::string::npos);

  SweepPage sweep{.rows = a.page().rows, .about = a.page().about};
  for (const char* alpha : {"auto", "<b>"})
    for (const double eta : {0.0, 0.5})
      sweep.settings.push_back({.alpha = alpha,
                                .eta = eta,
                                .status = "<i>",
                                .steps = 3,
                                .exemplars = a.selection.exemplars,
                                .error = 0.1 + eta});
  sweep.best = 0;
  const std::string swept = sweep_page(sweep);
  expect_no_way_out(swept);
  EXPECT_EQ(occurrences(swept, "<td class=\"h"), 4u);
}

}  // namespace
}  // namespace fwsr::report
