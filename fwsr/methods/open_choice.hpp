// Who may be chosen next, for methods that choose one exemplar after the other: candidates, floors and caps.
#pragma once

#include <vector>

#include "fwsr/methods/task.hpp"

namespace fwsr {

class OpenChoice {
 public:
  explicit OpenChoice(const Task& task) : open_(task.open) { open_.update(chosen_); }

  /// Not of those that were added: what they score is the method's own matter.
  bool operator()(Index i) const {
    return !open_.conditional() || open_.prices()[static_cast<std::size_t>(i)] > 0;
  }
  void add(Index exemplar) {
    chosen_.push_back(exemplar);
    open_.update(chosen_);
  }
  /// Nobody else may be chosen.
  bool ended() const { return open_.ended().has_value(); }

 private:
  OpenRows open_;
  std::vector<Index> chosen_;
};

}  // namespace fwsr
