// What a shard has to be asked again, in this order, to be as it was: the questions that have changed it. The same questions
// in the same order leave the same bits, so that a shard that was lost is made anew from its points and this list.
//
// What no longer matters is struck out: the steps of a run whose scores were computed anew, all of a run that is
// forgotten, sums that have been asked for. So the list grows by a step's 3 d + 2 numbers at most while a run lasts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fwsr/base/archive.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// What the bytes of a question (transport.hpp) say about it.
struct QuestionFacts {
  bool known = false;    // else another program wrote it
  bool changes = false;  // a shard is not as it was after it has answered
  bool tells = false;    // nothing is answered; it may be told together with the next question
};
QuestionFacts facts_of_question(std::span<const std::byte> question);

class Journal {
 public:
  struct Entry {
    Index id = 0;  // counts the questions that were added
    Bytes question;
    std::int32_t number = -1;             // which kind of question
    std::vector<Index> runs = {};         // that it is about
    std::vector<Index> covariances = {};  // that it needs ...
    Index makes = -1;                     // ... and the one it makes
  };

  /// A question that every shard has been asked. @return its id; -1: it changes nothing and is not kept
  Index add(std::span<const std::byte> question);
  const std::vector<Entry>& entries() const { return entries_; }
  Index bytes() const;

 private:
  bool forget_run(Index run);
  bool forget_covariance(Index covariance);

  std::vector<Entry> entries_;
  Index next_ = 0;
};

}  // namespace fwsr
