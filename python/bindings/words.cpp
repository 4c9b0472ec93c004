#include "python/bindings/words.hpp"

#include <string_view>
#include <utility>

namespace fwsr::python {

namespace {

struct Phrase {
  std::string_view of_the_core, of_python;
};

// Whole phrases, so that names that come from the data stay as they are.
constexpr Phrase phrases[] = {
    {"lambda and rho", "lambda_ and rho"},
    {"lambda must be", "lambda_ must be"},
    {"do not set certificate to none", "leave certificate='none' out"},
    {"the iteration limit must be", "max_iterations must be"},
    {"the iteration limit came first; raise it", "max_iterations came first; raise it"},
    {"try center feature", "try center='feature'"},
    {"metric = precomputed", "metric='precomputed'"},
    {"metric = manhattan", "metric='manhattan'"},
    {"is not yes or no", "is not True or False"},
    {"header yes makes", "header=True makes"},
    {"header no makes", "header=False makes"},
    {"say header no", "say header=False"},
    {"another kernel, such as rbf,", "another kernel, such as kernel='rbf',"},
    {"use python -m fwsr in place of fwsr, which reads files named .parquet, .arrow or .feather "
     "where "
     "pyarrow is installed, or save the numbers with numpy.save",
     "name it .parquet, .arrow or .feather, and pyarrow reads it"},
    {"the new points contain NaN", "X contains NaN"},
    {"; fill would add the farthest ones", "; fill=True would add the farthest ones"},
};

/// "--exclude-columns a,b (in Python exclude_columns=['a', 'b'])" without what the command line writes.
void keep_exclusion_of_python(std::string& sentence) {
  constexpr std::string_view option = "--exclude-columns ", ours = " (in Python ", end = "'])";
  const std::size_t start = sentence.find(option);
  const std::size_t middle = sentence.find(ours, start);
  const std::size_t close = sentence.find(end, middle);
  if (start == std::string::npos || middle == std::string::npos || close == std::string::npos)
    return;
  const std::size_t from = middle + ours.size(), to = close + end.size();
  sentence.replace(start, to - start, sentence.substr(from, to - 1 - from));
}

}  // namespace

std::string in_python_words(std::string sentence) {
  keep_exclusion_of_python(sentence);
  for (const Phrase& phrase : phrases)
    for (std::size_t at = 0; (at = sentence.find(phrase.of_the_core, at)) != std::string::npos;
         at += phrase.of_python.size())
      sentence.replace(at, phrase.of_the_core.size(), phrase.of_python);
  return sentence;
}

std::vector<std::string> in_python_words(std::vector<std::string> sentences) {
  for (std::string& sentence : sentences) sentence = in_python_words(std::move(sentence));
  return sentences;
}

std::string keyword_of(const char* option) {
  const std::string name = option;
  return name == "lambda" ? "lambda_" : name;  // a word of the language
}

}  // namespace fwsr::python
