// Sentences of the core name options as they are called everywhere; Python writes a few of them otherwise.
#pragma once

#include <string>
#include <vector>

namespace fwsr::python {

/// A sentence of the core with what Python's users write: lambda_, metric='precomputed', True or False.
std::string in_python_words(std::string sentence);
std::vector<std::string> in_python_words(std::vector<std::string> sentences);

/// The name of an option as a keyword of Python.
std::string keyword_of(const char* option);

}  // namespace fwsr::python
