// The arguments that say which data to read and how, the same for every command that reads.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct DataArguments {
  std::string path;
  std::string labels;   // a file with one label per point
  std::string columns;  // "A,B-D" as given
  std::string exclude_columns;
  std::string header = "auto";
  std::string name;  // what the result calls the data; empty: the name of the file
  ReadOptions read;
  int threads = 0;  // 0: all cores
};

void add_data_arguments(CLI::App& app, DataArguments& arguments);
void add_threads_argument(CLI::App& app, DataArguments& arguments);

/// Refuses what can be seen to be wrong before a file is opened. Call after parsing.
void check_data_arguments(const CLI::App& app, DataArguments& arguments);

/// Reads the points, and the labels where they stand in a file of their own.
/// @throws Error with the reader's message
Dataset load(const DataArguments& arguments);

/// Points that were read, with the name and the labels that they are given.
Dataset with_labels(const DataArguments& arguments, Dataset data);

int threads_of(const DataArguments& arguments);

/// The distinct labels and how many points carry each, in the order of select_per_class: numbers
/// before words, numbers by value.
struct LabelCount {
  std::string name;
  Index points = 0;
};
std::vector<LabelCount> count_labels(const Labels& labels);

/// `message` about the points of `data` as a user reads it: the file's name in front, and the line
/// of the file behind "point 17" where the format has lines. Of a file that has changed while it was read,
/// that is the message.
std::string located(const Dataset& data, const std::string& message);

}  // namespace fwsr::app
