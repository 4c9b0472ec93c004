// Tables as people have them: written by pandas, NumPy, R or a spreadsheet.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fwsr/data/csv.hpp"
#include "memory_file.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::memory_file;
using Words = std::vector<std::string>;

Result<Dataset> read(std::string_view text, const ReadOptions& options = {}) {
  return read_csv(memory_file(text, "a.csv"), options);
}

/// What became of a text: its numbers row by row, and how it was understood.
struct Understood {
  std::vector<double> values;
  Index cols = 0;
  Words columns, ids;
  TableReading table;
};
Understood understand(std::string_view text, const ReadOptions& options = {}) {
  const auto data = read(text, options);
  EXPECT_TRUE(data) << text << "\n" << (data ? "" : data.error().message);
  if (!data) return {};
  const auto& points = std::get<DenseMatrix<double>>(data->points);
  EXPECT_TRUE(data->table);
  return {points.values, points.cols, data->columns, data->ids,
          data->table.value_or(TableReading{})};
}
bool has_header(std::string_view text, const ReadOptions& options = {}) {
  return understand(text, options).table.header;
}

// ---------------------------------------------------------------------------------------- headers

TEST(CsvTables, numbers_that_count_the_columns_are_a_header) {
  const Understood pandas = understand("0,1,2\n0.5,1.5,2.5\n3.5,4.5,5.5\n");
  EXPECT_TRUE(pandas.table.header);
  EXPECT_NE(pandas.table.header_why.find("counts the columns, 0 to 2"), std::string::npos);
  EXPECT_EQ(pandas.columns, (Words{"0", "1", "2"}));
  EXPECT_EQ(pandas.values, (std::vector<double>{.5, 1.5, 2.5, 3.5, 4.5, 5.5}));
  EXPECT_TRUE(has_header("1,2,3\n0.5,1.5,2.5\n"));
  EXPECT_TRUE(has_header("0,1,2,3\n0,0,5,13\n0,0,0,0\n"));
  EXPECT_TRUE(has_header("0,1\n0.5,1.5\n"));
  EXPECT_TRUE(has_header("\"0\",\"1\",\"2\"\n7,7,7\n"));
  EXPECT_TRUE(has_header("0;1;2\n7;7;7\n"));
  EXPECT_TRUE(has_header("0,1,2\n3,0,4\n1,2,3\n2,2,0\n4,1,1\n"));  // one that counts by chance
}

TEST(CsvTables, a_point_may_count_up_among_its_kind) {
  for (const char* text : {
           "0,1,2\n3,4,5\n6,7,8\n",          // consecutive numbers
           "1,2,3\n1,3,2\n2,1,3\n",          // rankings
           "1,2,3\n1,2,4\n1,3,4\n",          // combinations
           "1,2\n3,4\n",                     // whole numbers in two columns say nothing
           "0,1\n5,3\n2,2\n",                //
           "0,1\n0.5,3\n",                   //
           "0,1,2\n",                        // the only line
           "0,1,3\n7,7,7\n",                 // does not count
           "2,3,4\n0.5,0.5,0.5\n",           // begins elsewhere
           "0\n5\n",                         // one column
           "0,1,2\n.5,7,7\n3,4,5\n6,7,8\n",  // like most of the others
           "0,1\n.5,.5\n1,.5\n2,.5\n",       //
       })
    EXPECT_FALSE(has_header(text)) << text;
  EXPECT_NE(understand("1,2,3\n4,5,6\n").table.header_why.find("header yes makes it a header"),
            std::string::npos);
}

TEST(CsvTables, what_is_said_about_the_header_counts) {
  EXPECT_FALSE(has_header("0,1,2\n.5,.5,.5\n", {.header = Header::no}));
  EXPECT_TRUE(has_header("0,1,2\n3,4,5\n", {.header = Header::yes}));
  EXPECT_EQ(understand("0,1,2\n3,4,5\n", {.header = Header::yes}).table.header_why, "as asked");
  // No column has the number 0, so that it is a name.
  EXPECT_TRUE(has_header("0,1,2\n3,4,5\n", {.columns = {"0"}}));
}

TEST(CsvTables, a_name_that_is_a_number_comes_first) {
  const Understood u = understand("0,1,2\n.5,1.5,2.5\n", {.columns = {"1"}});
  EXPECT_EQ(u.values, (std::vector<double>{1.5}));
  EXPECT_EQ(u.table.left_out.size(), 2u);
}

// ------------------------------------------------------------------------------------------ index

TEST(CsvTables, a_first_column_without_a_name_is_an_index) {
  for (const char* text :
       {",a,b\n0,5,6\n1,7,8\n", ",0,1\n0,5,6\n1,7,8\n", "Unnamed: 0,a,b\n0,5,6\n1,7,8\n",
        "\"\",\"a\",\"b\"\n\"0\",5,6\n\"1\",7,8\n"}) {
    const Understood u = understand(text);
    EXPECT_TRUE(u.table.header) << text;
    EXPECT_EQ(u.ids, (Words{"0", "1"})) << text;
    EXPECT_EQ(u.values, (std::vector<double>{5, 6, 7, 8})) << text;
    EXPECT_FALSE(u.table.id_why.empty()) << text;
  }
  // After a split the numbers jump; R has names there.
  EXPECT_EQ(understand(",0\n0,5\n1,6\n").values, (std::vector<double>{5, 6}));
  EXPECT_EQ(understand(",a\n734,5\n12,6\n").ids, (Words{"734", "12"}));
  EXPECT_EQ(understand("\"\",\"mpg\"\n\"Mazda RX4\",21\n\"Fiat\",30\n").ids,
            (Words{"Mazda RX4", "Fiat"}));
}

TEST(CsvTables, an_index_that_was_written_twice_is_left_out) {
  const Understood u = understand(",Unnamed: 0,a\n0,0,5\n1,1,6\n");
  EXPECT_EQ(u.values, (std::vector<double>{5, 6}));
  EXPECT_EQ(u.ids, (Words{"0", "1"}));
  ASSERT_EQ(u.table.left_out.size(), 1u);
  EXPECT_EQ(u.table.left_out[0].column, "'Unnamed: 0' (column 2)");
}

TEST(CsvTables, other_columns_without_a_name_are_features) {
  EXPECT_EQ(understand(",b\n0.5,1\n1.5,2\n").cols, 2);    // measured, not counted
  EXPECT_EQ(understand(",b\n1,1\n1,2\n").cols, 2);        // twice the same
  EXPECT_EQ(understand("a,,c\n1,0,3\n4,1,6\n").cols, 3);  // not the first
  EXPECT_EQ(understand(",b\n0,1\n1,2\n", {.columns = {"1", "b"}}).cols, 2);  // asked for
  const Understood labelled = understand(",b,c\n0,1,2\n1,3,4\n", {.label_column = "1"});
  EXPECT_TRUE(labelled.ids.empty());
}

TEST(CsvTables, an_index_stays_the_id_of_chosen_columns) {
  const Understood u = understand(",a,b\n0,5,6\n1,7,8\n", {.columns = {"b"}});
  EXPECT_EQ(u.ids, (Words{"0", "1"}));
  EXPECT_EQ(u.values, (std::vector<double>{6, 8}));
  EXPECT_TRUE(understand(",a\n0,5\n1,7\n", {.exclude_columns = {"1"}}).ids.empty());
}

// ------------------------------------------------------------- comments, blank lines, empty columns

TEST(CsvTables, skips_comments_above_and_says_so) {
  const Understood u = understand("# made today\n# by \"me\na,b\n1,2\n");
  EXPECT_EQ(u.columns, (Words{"a", "b"}));
  EXPECT_EQ(u.table.comment_lines, 2);
  EXPECT_EQ(read("#x\n1,2\n3,4\n")->lines, (std::vector<std::int64_t>{2, 3}));
  expect_failure(read("# nothing\n#\n"), "a.csv: holds comments alone");
  expect_failure(read("1,2\n# later\n3,4\n"), "a.csv:2:1: ", {"comments may stand at the start"});
  expect_failure(read("a,b\n# c\n1,2\n"), "a.csv:2:1: ", {"comments may stand at the start"});
  expect_failure(read("1\n# later\n3\n"), "a.csv:2:1: ", {"comments may stand at the start"});
}

TEST(CsvTables, doubts_features_that_look_like_ids_or_labels) {
  const auto doubts = [](const std::string& text, fwsr::ReadOptions options = {}) {
    return read(text, options)->table->doubts;
  };
  const std::string ids = "customer_id,a\n17,0.5\n4,0.25\n9,1\n";
  ASSERT_EQ(doubts(ids).size(), 1u);
  EXPECT_EQ(
      doubts(ids)[0],
      "'customer_id' (column 1) is taken for a feature; if it holds ids, make it the id column");
  EXPECT_TRUE(doubts(ids, {.id_column = "customer_id"}).empty());
  EXPECT_TRUE(doubts(ids, {.columns = {"customer_id", "a"}}).empty());
  EXPECT_TRUE(doubts("customer_id,a\n1.5,0.5\n4,0.25\n9,1\n").empty());  // no whole numbers
  EXPECT_NE(doubts("n,a\n7,0.5\n8,0.25\n9,1\n")[0].find("counts the points"), std::string::npos);
  EXPECT_NE(doubts("7,0.5\n8,0.25\n9,1\n")[0].find("column 1"), std::string::npos);
  EXPECT_TRUE(doubts("n,a\n7,0.5\n8,0.25\n10,1\n").empty());
  EXPECT_NE(doubts("label,a\n0,0.5\n1,0.25\n1,1\n")[0].find("label column"), std::string::npos);
  EXPECT_TRUE(doubts("n\n1\n2\n3\n").empty());  // a column alone is the data
}

TEST(CsvTables, takes_names_from_the_comment_that_numpy_writes) {
  const Understood u = understand("# x,y\n1.5,2.5\n3.5,4.5\n");
  EXPECT_EQ(u.columns, (Words{"x", "y"}));
  EXPECT_EQ(u.values.size(), 4u);
  EXPECT_EQ(u.table.comment_lines, 0);
  EXPECT_EQ(understand("# x,y\n1.5,2.5\n", {.columns = {"y"}}).values, (std::vector<double>{2.5}));
  EXPECT_TRUE(understand("# 1,2\n3,4\n").columns.empty());  // a point that was taken out
  EXPECT_TRUE(understand("# x,y\n3,4\n", {.header = Header::no}).columns.empty());
  EXPECT_EQ(understand("# x,y\na,b\n3,4\n").columns, (Words{"a", "b"}));
}

TEST(CsvTables, takes_names_from_a_comment_when_labels_are_words) {
  const auto data = read("# x,y,kind\n1,2,cat\n3,4,dog\n", {.label_column = "kind"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->labels, (Words{"cat", "dog"}));
  EXPECT_EQ(data->columns, (Words{"x", "y"}));
  EXPECT_EQ(data->table->comment_lines, 0);
  EXPECT_EQ(read("# x,y,kind\n1,2,cat\n3,4,dog\n", {.label_column = "3"})->columns,
            (Words{"x", "y"}));
  // A first record that names numbers is the header, whatever the comment says.
  EXPECT_EQ(read("# a,b,c\nx,y,kind\n1,2,cat\n", {.label_column = "kind"})->columns,
            (Words{"x", "y"}));
  expect_failure(read("# x,y,kind\n1,2,cat\n3,4,dog\n"), "a.csv:2:5: ", {"kind"});
  // A number counts columns, also where the first point holds it.
  EXPECT_EQ(read("# x,y,kind\n1,2,3\n4,5,6\n", {.label_column = "3"})->columns, (Words{"x", "y"}));
  // Words of a title are no names when an option knows better.
  EXPECT_EQ(read("# GDP, in billions, nominal\n2019,2020,country\n1.5,2.5,cat\n3,4,dog\n",
                 {.label_column = "country"})
                ->columns,
            (Words{"2019", "2020"}));
}

TEST(CsvTables, skips_blank_lines_and_says_so) {
  const Understood u = understand("\n\na,b\n\n1,2\n \r\n\n3,4\n\n");
  EXPECT_EQ(u.values, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(u.table.blank_lines, 5);
  EXPECT_EQ(read("a,b\n\n1,2\n\n3,4\n")->lines, (std::vector<std::int64_t>{3, 5}));
  expect_failure(read("a,b\n\n1,2\n\n\n3,x\n"), "a.csv:6:3: field 2");
  // Between quotes a blank line is part of a field.
  EXPECT_EQ(read("a,b\n\"x\n\ny\",2\n\n\"z\",3\n", {.label_column = "a"})->labels,
            (Words{"x\n\ny", "z"}));
}

TEST(CsvTables, a_column_that_is_not_chosen_may_hold_anything) {
  std::string text = "a,b,\n";
  for (int i = 0; i < 9; ++i) text += "1,2,\n";
  text += "3,4,late\n";
  EXPECT_EQ(understand(text, {.columns = {"a", "b"}}).values.size(), 20u);
  expect_failure(read(text), "a.csv:11:5: ");
}

TEST(CsvTables, leaves_out_empty_columns_at_the_end) {
  for (const char* text : {"a,b,\n1,2,\n3,4,\n", "1,2,\n3,4,\n", "a,b,,\n1,2,,\n3,4,,\n"}) {
    const Understood u = understand(text);
    EXPECT_EQ(u.values, (std::vector<double>{1, 2, 3, 4})) << text;
    EXPECT_FALSE(u.table.left_out.empty()) << text;
  }
  expect_failure(read("a,b,c\n1,2,\n"), "a.csv:2:5: field 3 ('c'): is empty");
  const std::string many = "a,\n1,\n1,\n1,\n1,\n1,\n1,\n";
  expect_failure(read(many + "2,5\n"), "a.csv:8:3: ", {"holds '5'", "name it in a header"});
}

// ------------------------------------------------------------------------ separators and numbers

TEST(CsvTables, takes_vertical_bars) {
  const Understood u = understand("a|b\n1|2\n3|4\n");
  EXPECT_EQ(u.values, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(u.table.separator, '|');
  // Lists of words in a table with commas.
  const auto films = read("1,x,Drama|War\n2,y,Crime|Noir\n", {.columns = {"1"}});
  ASSERT_TRUE(films) << films.error().message;
  EXPECT_EQ(films->table->separator, ',');
}

TEST(CsvTables, says_what_commas_among_digits_are) {
  for (const char* number : {"1,000", "1,234,567", "-12,345.5"})
    expect_failure(read("a,b\n\"" + std::string(number) + "\",2\n"),
                   "a.csv:2:1: ", {"commas among its digits", "thousands"});
  expect_failure(read("a;b\n1,5;2\n"), "a.csv:2:1: ", {"decimal comma; write"});
  expect_failure(read("1 2\n3 4\n"), "a.csv:1:1: ", {"tr -s"});
}

// ---------------------------------------------------------------------------------------- columns

TEST(CsvTables, takes_ranges_of_columns) {
  const std::string text = "a,b,c,d,e\n1,2,3,4,5\n";
  EXPECT_EQ(understand(text, {.columns = {"b-d"}}).values, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(understand(text, {.columns = {"2-4", "a"}}).values, (std::vector<double>{2, 3, 4, 1}));
  EXPECT_EQ(understand(text, {.columns = {"b-4"}}).values, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(understand("1,7,3\n4,6,5\n", {.columns = {"2-3"}}).values,
            (std::vector<double>{7, 3, 6, 5}));
  EXPECT_EQ(understand("x-1,x-2,x-3\n1,2,3\n", {.columns = {"x-1-x-2"}}).values,
            (std::vector<double>{1, 2}));
  EXPECT_EQ(understand("1-2,3\n5,6\n", {.columns = {"1-2"}, .header = Header::yes}).values,
            (std::vector<double>{5}));  // a name
  // A range passes over what is no feature; what is named by itself does not.
  EXPECT_EQ(understand(text, {.label_column = "b", .columns = {"a-c"}}).values,
            (std::vector<double>{1, 3}));
  expect_failure(read(text, {.columns = {"d-b"}}), "a.csv: the range of columns 'd-b' runs back");
  expect_failure(read(text, {.columns = {"2-9"}}), "a.csv: there is no column 9");
  expect_failure(read(text, {.columns = {"a-x"}}), "a.csv: there is no column 'a-x'");
  expect_failure(read(text, {.columns = {"a-c", "b"}}), "a.csv: column 'b' is chosen twice");
}

TEST(CsvTables, excludes_columns) {
  const std::string text = "a,b,c,d,e\n1,2,3,4,5\n";
  const Understood u = understand(text, {.exclude_columns = {"b-c", "5"}});
  EXPECT_EQ(u.values, (std::vector<double>{1, 4}));
  EXPECT_EQ(u.table.left_out.size(), 3u);
  EXPECT_EQ(u.table.left_out[0].why, "excluded");
  EXPECT_EQ(understand(text, {.columns = {"a-d"}, .exclude_columns = {"b"}}).values,
            (std::vector<double>{1, 3, 4}));
  expect_failure(read(text, {.exclude_columns = {"1-5"}}), "a.csv: no column is left");
  expect_failure(read(text, {.exclude_columns = {"x"}}), "a.csv: there is no column 'x'");
  // Words in a column that is left out say nothing about a header.
  EXPECT_FALSE(has_header("x,1\ny,2\n", {.exclude_columns = {"1"}}));
}

TEST(CsvTables, names_the_columns_of_words_and_what_leaves_them_out) {
  const std::string text = "age,kind,size,where\n1,cat,2,in\n2,dog,3,out\n";
  expect_failure(read(text), "a.csv:2:3: field 2 ('kind'): 'cat' is not a number",
                 {"2 columns hold words: 'kind' (column 2), 'where'",
                  "--exclude-columns kind,where", "exclude_columns=['kind', 'where']"});
  EXPECT_EQ(understand(text, {.exclude_columns = {"kind", "where"}}).values,
            (std::vector<double>{1, 2, 2, 3}));
  // Without a header, or a doubtful one, by number.
  expect_failure(read("5.1,setosa\n4.9,setosa\n"), "a.csv:2:5: ",
                 {"--exclude-columns 2 ", "if the first line is a point, say header no"});
  expect_failure(read("1,2\n3,x\n", {.header = Header::no}), "a.csv:2:3: field 2: 'x' is not",
                 {"correct it, or leave the column out: --exclude-columns 2 "});
  expect_failure(read("a b,c\nx,1\n"), "a.csv:2:1: ", {"--exclude-columns 1 "});
  // Many of them, as ranges.
  std::string wide = "c1", row = "1";
  for (int c = 2; c < 40; ++c) wide += ",c" + std::to_string(c), row += c == 30 ? ",5" : ",w";
  expect_failure(read(wide + "\n" + row + "\n"), "a.csv:2:3: ", {"--exclude-columns 2-29,31-39 "});
  expect_failure(read("a,b\nx,y\n"), "a.csv:2:1: ", {"2 columns hold words", "choose the columns"});
}

// ----------------------------------------------------------------------------- control characters

TEST(CsvTables, reads_text_with_control_characters) {
  for (const std::string& filler : {std::string(), std::string(20000, ' ')}) {
    std::string text = "a,b,name\n";
    for (int row = 0; row < 5; ++row) text += "1,2," + filler + "x\n";
    const auto data =
        read_dataset(memory_file(text + "3,4,y\x1b[31m\x07z\n", "a.csv"), {.label_column = "name"});
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->labels.words().back(), "y\x1b[31m\x07z");
    expect_failure(
        read_dataset(memory_file(text + "3,4\x1b,y\n", "a.csv"), {.label_column = "name"}),
        "a.csv:7:3: field 2 ('b'): '4\\x1b' is not a number");
    // NUL is the one byte that no text has, wherever it stands.
    for (const char* field : {"name", "b"}) {
      std::string nul = text + "3,4,y\n";
      nul[nul.size() - (field == std::string("b") ? 4 : 2)] = '\0';
      expect_failure(read_dataset(memory_file(nul, "a.csv"), {.label_column = "name"}),
                     "a.csv:7:", {"NUL byte (\\x00)"});
    }
  }
}

TEST(CsvTables, files_of_other_kinds_are_not_taken_for_text) {
  expect_failure(read_dataset(memory_file("BZh91AY&SY\x01\x02\x03", "a.bz2")), "a.bz2: is bzip2");
  expect_failure(read_dataset(memory_file(std::string("\x7F"
                                                      "ELF\x02\0\0\0",
                                                      8),
                                          "a.out")),
                 "a.out: is in no format");
  EXPECT_TRUE(read_dataset(memory_file("PAR1,PAR2\n1,2\n", "a.csv")));
}

TEST(CsvTables, label_files_may_hold_control_characters_but_not_be_empty) {
  const auto labels = read_labels(memory_file("a\x1b\nb\n"));
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ((*labels)[0], "a\x1b");
  for (const char* text : {"", "\n", " \n\n"})
    expect_failure(read_labels(memory_file(text, "y.txt")), "y.txt: is empty; it needs a label");
}

// ------------------------------------------------------------------------------------ the summary

TEST(CsvTables, one_line_says_how_a_table_was_understood) {
  const Understood u = understand("# from pandas\n;a;kind;b;c;\n\n0;1;x;2;3;\n1;4;y;5;6;\n",
                                  {.label_column = "kind", .exclude_columns = {"c"}});
  EXPECT_EQ(
      describe(u.table),
      "separated by semicolons; with a header (an option names a column); labels from 'kind' "
      "(column 3); ids from column 1 (a first column without a name); left out (excluded): 'c' "
      "(column 5); left out (empty, commas at the end of the lines): column 6; 1 comment line "
      "skipped; 1 blank line skipped");
}

}  // namespace
}  // namespace fwsr
