// Numbers above a table that are no point. Internal.
//
// pandas names columns 0, 1, 2, ... when nobody names them, and writes these names as a header; it writes its
// index as a first column without a name, which it reads as "Unnamed: 0" and writes so again.
#pragma once

#include <string>

#include "fwsr/data/csv_opening.hpp"

namespace fwsr {

struct HeaderGuess {
  bool header = false;
  std::string why;
};

/// Whether the first record counts the columns, from 0 or 1 on, and the next ones show that it is no point.
///
/// A point can count up as well, but then a neighbour tends to: in a table of consecutive numbers
/// (0,1,2 / 3,4,5), of rankings (1,2,3 / 1,3,2) or of combinations (1,2,3 / 1,2,4). Such a record is a point,
/// and one without a neighbour too. Of two columns, (0,1) and (1,2) are common points among whole numbers:
/// there the next records have to be written otherwise, with decimals.
HeaderGuess guess_from_numbers(const Opening& opening);

/// Whether field f, with the names of `opening.first` above it, holds an index: it has no name, or one that pandas
/// gives to such columns, and whole numbers, each once, or words below.
bool is_index(const std::string& name, const Opening& opening, Index f);

}  // namespace fwsr
